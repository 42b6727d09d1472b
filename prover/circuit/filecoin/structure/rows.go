package structure

// Entry is an entry of a row: a wire, which is an input, or Inputs plus the number of another variable, and the number of
// its coefficient.
type Entry struct{ Wire, Coefficient uint32 }

// reader reads the rows of one copy of a template, in order, with their entries in the order of wires.
type reader struct {
	structure *Structure
	section   *Section
	copy      int
	bits      []uint32 // wires of the external bits
	full      []uint32
	firstWire uint32
	next      [3]int // the next long row of each matrix
	entries   []Entry
}

func (s *Structure) reader(section *Section, copy int) *reader {
	t := section.Template
	r := &reader{structure: s, section: section, copy: copy, firstWire: uint32(s.Inputs + section.FirstAux + copy*t.Aux)}
	for _, v := range ofCopy(section.Bits, t.BitExternals, copy) {
		r.bits = append(r.bits, s.wire(v))
	}
	for _, v := range ofCopy(section.Full, t.FullExternals, copy) {
		r.full = append(r.full, s.wire(v))
	}
	return r
}

// wire is the number of a variable that is no argument.
func (s *Structure) wire(v Var) uint32 {
	if v.kind() == input {
		return uint32(v.index())
	}
	return uint32(s.Inputs + v.index())
}

// row returns the entries of row i in a matrix; the slice is used again by the next call. Rows of a matrix must be asked
// for in ascending order.
func (r *reader) row(matrix, i int) []Entry {
	t := r.section.Template
	r.entries = r.entries[:0]
	if l, n := &t.Long[matrix], r.next[matrix]; n < len(l.Row) && int(l.Row[n]) == i {
		r.next[matrix]++
		r.long(l, n)
		return r.entries
	}
	switch matrix {
	case 0:
		r.small(t.Products[i].A[:])
	case 1:
		r.factor(t.Products[i].B)
	case 2:
		r.small(t.Sums[i][:])
	}
	r.sort()
	return r.entries
}

func (r *reader) small(terms []Small) {
	for _, s := range terms {
		if s != 0 {
			r.add(r.bitWire(s.slot()), uint32(coefficientOf[s&7]))
		}
	}
}

// coefficientOf numbers the coefficients of small terms.
var coefficientOf = [8]Coefficient{1: Plus, 2: Twice, 7: Minus}

func (r *reader) factor(b Small) {
	if b == 0 {
		return
	}
	if b.coefficient() < 0 {
		r.add(0, uint32(Plus))
	}
	r.add(r.bitWire(b.slot()), uint32(coefficientOf[b&7]))
}

func (r *reader) long(l *LongRows, n int) {
	start, split, end := l.Start[n], l.Split[n], l.Start[n+1]
	for i := start; i < split; i++ {
		r.add(r.bitWire(l.Slot[i]), uint32(l.Coefficient[i]))
	}
	for i := split; i < end; i++ {
		r.add(r.fullWire(l.Slot[i]), uint32(l.Coefficient[i]))
	}
	r.sort()
}

func (r *reader) add(wire, coefficient uint32) {
	r.entries = append(r.entries, Entry{wire, coefficient})
}

func (r *reader) bitWire(slot uint32) uint32 {
	t := r.section.Template
	switch {
	case slot < uint32(t.Aux):
		return r.firstWire + slot
	case slot == t.oneSlot():
		return 0
	}
	return r.bits[slot-uint32(t.Aux)]
}

func (r *reader) fullWire(slot uint32) uint32 {
	t := r.section.Template
	if slot < uint32(len(t.Full)) {
		return r.firstWire + t.Full[slot]
	}
	slot -= uint32(len(t.Full))
	if slot < uint32(t.Inputs) {
		return uint32(r.section.FirstInput+r.copy*t.Inputs) + slot
	}
	return r.full[slot-uint32(t.Inputs)]
}

// sort sorts by wire: entries are almost always in order, or two runs of them are.
func (r *reader) sort() {
	e := r.entries
	for i := 1; i < len(e); i++ {
		for j := i; j > 0 && e[j].Wire < e[j-1].Wire; j-- {
			e[j], e[j-1] = e[j-1], e[j]
		}
	}
}
