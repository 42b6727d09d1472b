package structure

import "slices"

// normalise sorts terms, adds up those of one variable and drops zeros, in place.
func (r *Recorder) normalise(terms []Term) []Term {
	if isNormal(terms) {
		return terms
	}
	sortTerms(terms)
	kept := 0
	for i := 0; i < len(terms); {
		t := terms[i]
		i++
		if i < len(terms) && terms[i].Var == t.Var {
			sum := r.value(t.Coefficient)
			for ; i < len(terms) && terms[i].Var == t.Var; i++ {
				next := r.value(terms[i].Coefficient)
				sum.Add(&sum, &next)
			}
			t.Coefficient = r.Coefficient(sum)
		}
		if t.Coefficient != zeroCoefficient {
			terms[kept] = t
			kept++
		}
	}
	return terms[:kept]
}

func isNormal(terms []Term) bool {
	for i := range terms {
		if terms[i].Coefficient == zeroCoefficient || i > 0 && terms[i].Var <= terms[i-1].Var {
			return false
		}
	}
	return true
}

// sortTerms sorts by variable; most rows are too short for a general sort to pay.
func sortTerms(terms []Term) {
	if len(terms) > 12 {
		slices.SortFunc(terms, func(a, b Term) int { return int(a.Var) - int(b.Var) })
		return
	}
	for i := 1; i < len(terms); i++ {
		for j := i; j > 0 && terms[j].Var < terms[j-1].Var; j-- {
			terms[j], terms[j-1] = terms[j-1], terms[j]
		}
	}
}
