package cpu

// coordinate is the arithmetic of a field in which points have their coordinates: Fp or Fp².
type coordinate[F any] interface {
	*F
	Set(*F) *F
	SetOne() *F
	IsZero() bool
	Add(x, y *F) *F
	Sub(x, y *F) *F
	Mul(x, y *F) *F
	Square(x *F) *F
	Inverse(x *F) *F
}

// point is an affine point as gnark-crypto and keys lay it out.
type point[F any] struct{ X, Y F }

// maxLanes is how many sums run side by side. One inversion is shared by that many additions; at 512 it costs less than
// half a multiplication an addition, and the lanes still fit into the second-level cache (G2 of BLS12-381: 96 KiB).
const maxLanes = 512

// lanes adds up many points whose scalar is one. It adds in affine coordinates, one point to each of many running sums at
// a time, so that the slope's inversion is shared by all: six multiplications a point instead of the ten or more of the
// mixed formulas that a bucket would use.
type lanes[F any, PF coordinate[F]] struct {
	sums []point[F]
	// For each lane: the difference of abscissas and the product of those before it. Temporaries are here because what
	// is passed through a type parameter's method escapes to the heap.
	differences, products []F
	inverse, slope, t     F
	skipped               []bool
}

func newLanes[F any, PF coordinate[F]](n int) *lanes[F, PF] {
	// Few points are not worth many lanes: each lane is added with the mixed formulas in the end.
	count := min(maxLanes, max(1, n/16))
	return &lanes[F, PF]{
		sums:        make([]point[F], count),
		differences: make([]F, count),
		products:    make([]F, count),
		skipped:     make([]bool, count),
	}
}

// add sums up the points at the indices, none of which may be infinity. It must be called once. What it returns are
// points that could not be added to their lane, because both had the same abscissa; they belong to the total as well.
func (l *lanes[F, PF]) add(points []point[F], indices []uint32) (rest []point[F]) {
	n := min(len(l.sums), len(indices))
	l.sums = l.sums[:n]
	for i, index := range indices[:n] {
		l.sums[i] = points[index]
	}
	for indices = indices[n:]; len(indices) > 0; {
		m := min(n, len(indices))
		rest = l.round(points, indices[:m], rest)
		indices = indices[m:]
	}
	return rest
}

// round adds one point to each of the first lanes.
func (l *lanes[F, PF]) round(points []point[F], indices []uint32, rest []point[F]) []point[F] {
	PF(&l.inverse).SetOne()
	for i, index := range indices {
		p, d := &points[index], &l.differences[i]
		PF(d).Sub(&p.X, &l.sums[i].X)
		if l.skipped[i] = PF(d).IsZero(); l.skipped[i] {
			rest = append(rest, *p)
			PF(d).SetOne()
		}
		PF(&l.products[i]).Set(&l.inverse)
		PF(&l.inverse).Mul(&l.inverse, d)
	}
	PF(&l.inverse).Inverse(&l.inverse)
	for i := len(indices) - 1; i >= 0; i-- {
		// inverse is 1/(d₀⋯dᵢ): one product gives 1/dᵢ, another goes on to dᵢ₋₁.
		PF(&l.slope).Mul(&l.inverse, &l.products[i])
		PF(&l.inverse).Mul(&l.inverse, &l.differences[i])
		if l.skipped[i] {
			continue
		}
		p, s := &points[indices[i]], &l.sums[i]
		PF(&l.t).Sub(&p.Y, &s.Y)
		PF(&l.slope).Mul(&l.slope, &l.t)
		// x = slope² − x₁ − x₂, y = slope·(x₁ − x) − y₁
		PF(&l.t).Square(&l.slope)
		PF(&l.t).Sub(&l.t, &s.X)
		PF(&l.t).Sub(&l.t, &p.X)
		PF(&s.X).Sub(&s.X, &l.t)
		PF(&l.slope).Mul(&l.slope, &s.X)
		PF(&s.X).Set(&l.t)
		PF(&s.Y).Sub(&l.slope, &s.Y)
	}
	return rest
}
