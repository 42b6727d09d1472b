package constraints

import "github.com/cuzk-dev/cuzk/prover/circuit/filecoin/gadget"

// compress is SHA-256's compression of 512 message bits, the first of each byte the most significant.
func (g *Gadgets) compress(message []Boolean, state [8]word) [8]word {
	r := registers{
		a: known(state[0]), b: state[1], c: state[2], d: state[3],
		e: known(state[4]), f: state[5], g: state[6], h: state[7],
	}
	for i, w := range g.schedule(messageWords(message)) {
		g.round(&r, constantWord(gadget.SHA256Round[i]), w)
	}
	q := &g.equalities
	out := [8]word{
		q.addMany(append(r.a.operands, state[0])...), q.addMany(state[1], r.b), q.addMany(state[2], r.c), q.addMany(state[3], r.d),
		q.addMany(append(r.e.operands, state[4])...), q.addMany(state[5], r.f), q.addMany(state[6], r.g), q.addMany(state[7], r.h),
	}
	q.flush()
	return out
}

// registers are those of the compression. a and e are sums that are added up when they are used.
type registers struct {
	a, e             sum
	b, c, d, f, g, h word
}

// sum is a word, or the operands of the addition that yields it.
type sum struct {
	value    word
	operands []word
}

func known(w word) sum { return sum{value: w} }

func (s *sum) resolve(q *equalities) word {
	if s.operands != nil {
		s.value = q.addMany(s.operands...)
	}
	return s.value
}

func (g *Gadgets) round(r *registers, constant, message word) {
	e := r.e.resolve(&g.equalities)
	s1 := g.xor3(e.rotated(6), e.rotated(11), e.rotated(25))
	ch := bitwise(g.choose, e, r.f, r.g)
	a := r.a.resolve(&g.equalities)
	s0 := g.xor3(a.rotated(2), a.rotated(13), a.rotated(22))
	maj := bitwise(g.majority, a, r.b, r.c)
	r.e = sum{operands: []word{r.h, s1, ch, constant, message, r.d}}
	r.a = sum{operands: []word{r.h, s1, ch, constant, message, s0, maj}}
	r.h, r.g, r.f = r.g, r.f, e
	r.d, r.c, r.b = r.c, r.b, a
}

// schedule extends the message to the words of the rounds.
func (g *Gadgets) schedule(message [16]word) (w [64]word) {
	copy(w[:], message[:])
	for i := 16; i < 64; i++ {
		x, y := &w[i-15], &w[i-2]
		s0 := g.xor3(x.rotated(7), x.rotated(18), x.shifted(3))
		s1 := g.xor3(y.rotated(17), y.rotated(19), y.shifted(10))
		w[i] = g.equalities.addMany(w[i-16], s0, w[i-7], s1)
	}
	return w
}

func (g *Gadgets) xor3(a, b, c word) word { return g.xorWords(g.xorWords(a, b), c) }

func bitwise(f func(a, b, c Boolean) Boolean, a, b, c word) (out word) {
	for i := range out {
		out[i] = f(a[i], b[i], c[i])
	}
	return out
}

// messageWords splits 512 bits into words, whose most significant bits come first.
func messageWords(message []Boolean) (out [16]word) {
	for i := range out {
		for j := range out[i] {
			out[i][31-j] = message[32*i+j]
		}
	}
	return out
}

// sha256 hashes a message and returns the bits of the digest, in the order of the message's.
func (g *Gadgets) sha256(message []Boolean) []Boolean {
	length := uint64(len(message))
	padded := append(message[:len(message):len(message)], True)
	for len(padded)%512 != 448 {
		padded = append(padded, False)
	}
	for i := 63; i >= 0; i-- {
		padded = append(padded, constant(length>>i&1 == 1))
	}
	var state [8]word
	for i, value := range gadget.SHA256Initial {
		state[i] = constantWord(value)
	}
	for ; len(padded) > 0; padded = padded[512:] {
		state = g.compress(padded[:512], state)
	}
	digest := make([]Boolean, 0, 256)
	for i := range state {
		for j := 31; j >= 0; j-- {
			digest = append(digest, state[i][j])
		}
	}
	return digest
}
