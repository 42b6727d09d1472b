package constraints

// pick is cond ? a : b: (b - a)·cond = b - c.
func (g *Gadgets) pick(cond Boolean, a, b variable) variable {
	c := g.Alloc()
	g.Enforce([]term{times(b, plus), times(a, minus)}, cond.terms(nil, false), []term{times(b, plus), times(c, minus)})
	return c
}

// Insert puts a number at the position among its siblings that the bits tell, the least significant first.
func (g *Gadgets) Insert(n variable, bits []Boolean, siblings []variable) []variable {
	switch len(bits) {
	case 1:
		return []variable{g.pick(bits[0], siblings[0], n), g.pick(bits[0], n, siblings[0])}
	case 2:
		return g.insertFour(n, bits, siblings)
	case 3:
		return g.insertEight(n, bits, siblings)
	}
	panic("an insertion among other than 2, 4 or 8")
}

func (g *Gadgets) insertFour(a variable, bits []Boolean, s []variable) []variable {
	b, c, d := s[0], s[1], s[2]
	p0 := g.pick(bits[1], b, g.pick(bits[0], b, a))
	p1 := g.pick(bits[1], c, g.pick(bits[0], a, b))
	p2 := g.pick(bits[1], g.pick(bits[0], d, a), c)
	p3 := g.pick(bits[1], g.pick(bits[0], a, d), d)
	return []variable{p0, p1, p2, p3}
}

func (g *Gadgets) insertEight(a variable, bits []Boolean, s []variable) []variable {
	b, c, d, e, f, x, y := s[0], s[1], s[2], s[3], s[4], s[5], s[6]
	b0, b1, b2 := bits[0], bits[1], bits[2]
	neither, both := g.and(b0.not(), b1.not()), g.and(b0, b1)
	var p [8]variable
	p[0] = g.pick(b2, b, g.pick(neither, a, b))
	p[1] = g.pick(b2, c, g.pick(b1, c, g.pick(b0, a, b)))
	p[2] = g.pick(b2, d, g.pick(b1, g.pick(b0, d, a), c))
	p[3] = g.pick(b2, e, g.pick(both, a, d))
	p[4] = g.pick(b2, g.pick(neither, a, f), e)
	p[5] = g.pick(b2, g.pick(b1, x, g.pick(b0, a, f)), f)
	p[6] = g.pick(b2, g.pick(b1, g.pick(b0, y, a), x), x)
	p[7] = g.pick(b2, g.pick(both, a, y), y)
	return p[:]
}

// Select picks the number of the index that the bits tell, the least significant first, level by level from the last bit.
func (g *Gadgets) Select(from []variable, bits []Boolean) variable {
	for i := len(bits) - 1; i >= 0; i-- {
		half := len(from) / 2
		next := make([]variable, half)
		for j := range next {
			next[j] = g.pick(bits[i], from[half+j], from[j])
		}
		from = next
	}
	return from[0]
}
