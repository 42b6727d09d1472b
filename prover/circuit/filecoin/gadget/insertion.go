package gadget

// Insert allocates a list of 2, 4 or 8 numbers that has n at the position that the bits tell, its siblings elsewhere.
func Insert[N, B, W any](s System[N, B, W], n N, bits []B, siblings []N) []N {
	switch len(bits) {
	case 1:
		return []N{s.Pick(bits[0], siblings[0], n), s.Pick(bits[0], n, siblings[0])}
	case 2:
		return insertFour(s, n, bits, siblings)
	case 3:
		return insertEight(s, n, bits, siblings)
	}
	panic("an insertion among other than 2, 4 or 8")
}

func insertFour[N, B, W any](s System[N, B, W], a N, bits []B, siblings []N) []N {
	b, c, d := siblings[0], siblings[1], siblings[2]
	p0 := s.Pick(bits[1], b, s.Pick(bits[0], b, a))
	p1 := s.Pick(bits[1], c, s.Pick(bits[0], a, b))
	p2 := s.Pick(bits[1], s.Pick(bits[0], d, a), c)
	p3 := s.Pick(bits[1], s.Pick(bits[0], a, d), d)
	return []N{p0, p1, p2, p3}
}

func insertEight[N, B, W any](s System[N, B, W], a N, bits []B, siblings []N) []N {
	b, c, d, e := siblings[0], siblings[1], siblings[2], siblings[3]
	f, x, y := siblings[4], siblings[5], siblings[6]
	b0, b1, b2 := bits[0], bits[1], bits[2]
	neither, both := s.Neither(b0, b1), s.Both(b0, b1)
	var p [8]N
	p[0] = s.Pick(b2, b, s.Pick(neither, a, b))
	p[1] = s.Pick(b2, c, s.Pick(b1, c, s.Pick(b0, a, b)))
	p[2] = s.Pick(b2, d, s.Pick(b1, s.Pick(b0, d, a), c))
	p[3] = s.Pick(b2, e, s.Pick(both, a, d))
	p[4] = s.Pick(b2, s.Pick(neither, a, f), e)
	p[5] = s.Pick(b2, s.Pick(b1, x, s.Pick(b0, a, f)), f)
	p[6] = s.Pick(b2, s.Pick(b1, s.Pick(b0, y, a), x), x)
	p[7] = s.Pick(b2, s.Pick(both, a, y), y)
	return p[:]
}

// Select allocates the number of a list of 2^k at the position that k bits tell, level by level from the last bit.
func Select[N, B, W any](s System[N, B, W], from []N, bits []B) N {
	for i := len(bits) - 1; i >= 0; i-- {
		half := len(from) / 2
		next := make([]N, half)
		for j := range next {
			next[j] = s.Pick(bits[i], from[half+j], from[j])
		}
		from = next
	}
	return from[0]
}
