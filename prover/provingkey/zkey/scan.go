package zkey

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/internal/binfile"
	"github.com/cuzk-dev/cuzk/prover/internal/parallel"
	"github.com/cuzk-dev/cuzk/prover/progress"
)

// scanBytes is how much of a section one step of a scan takes: enough to hide the cost of handing it out, little enough
// to spread a small section over the cores.
const scanBytes = 1 << 20

// scannedBytes is what the two scans below look at.
func (k *Key) scannedBytes() int64 {
	n := int64(k.coefficients.Len() - 4)
	for _, r := range k.runs() {
		n += int64(r.section.Len())
	}
	return n
}

// checkCoefficients checks the indices and values of all coefficients and finds the number of rows.
func (k *Key) checkCoefficients(ctx context.Context, checked *progress.Counter) error {
	const entry = coefficientHead + curve.ScalarBytes
	body := k.coefficients.Bytes()[4:]
	n := len(body) / entry
	domain, wires := uint32(k.header.domain), uint32(k.header.wires)
	var mu sync.Mutex
	rows := 0
	err := parallel.Ranges(ctx, n, scanBytes/entry, func(start, end int) error {
		highest := -1
		for i := start; i < end; i++ {
			e := body[i*entry : (i+1)*entry]
			offset := 4 + i*entry
			matrix, row, wire := binary.LittleEndian.Uint32(e), binary.LittleEndian.Uint32(e[4:]), binary.LittleEndian.Uint32(e[8:])
			switch {
			case matrix > 1:
				return k.coefficients.Errorf(offset, "coefficient %d belongs to matrix %d, but there are only 0 (A) and 1 (B)", i, matrix)
			case row >= domain:
				return k.coefficients.Errorf(offset+4, "coefficient %d is in row %d, but the domain has only %d", i, row, domain)
			case wire >= wires:
				return k.coefficients.Errorf(offset+8, "coefficient %d is of wire %d, but there are only %d", i, wire, wires)
			case k.header.curve.FirstUnreducedScalar(e[coefficientHead:]) >= 0:
				return k.coefficients.Errorf(offset+coefficientHead, "the value of coefficient %d is not below r (not canonical)", i)
			}
			highest = max(highest, int(row))
		}
		mu.Lock()
		rows = max(rows, highest+1)
		mu.Unlock()
		checked.Add((end - start) * entry)
		return nil
	})
	k.rows = rows
	return err
}

// runs are the key's runs of points, with the size of one point.
func (k *Key) runs() []run {
	g1, g2 := k.header.curve.G1Bytes(), k.header.curve.G2Bytes()
	return []run{
		{k.ic, g1, false},
		{k.points[groth16.SectionA], g1, false},
		{k.points[groth16.SectionB1], g1, false},
		{k.points[groth16.SectionB2], g2, true},
		{k.points[groth16.SectionL], g1, false},
		{k.points[groth16.SectionH], g1, false},
	}
}

type run struct {
	section *binfile.Section
	size    int
	g2      bool
}

func (r run) len() int { return r.section.Len() / r.size }

func (r run) point(i int) []byte { return r.section.Bytes()[i*r.size : (i+1)*r.size] }

// checkCoordinates checks that every coordinate of every point is below p.
func (k *Key) checkCoordinates(ctx context.Context, checked *progress.Counter) error {
	base := k.header.curve.BaseBytes()
	for _, r := range k.runs() {
		data := r.section.Bytes()
		err := parallel.Ranges(ctx, len(data)/base, scanBytes/base, func(start, end int) error {
			if i := k.header.curve.FirstUnreducedCoordinate(data[start*base : end*base]); i >= 0 {
				i += start
				perPoint := r.size / base
				return r.section.Errorf(i*base, "coordinate %s of point %d is not below the prime p (not canonical)",
					coordinateName(i%perPoint, r.g2), i/perPoint).WithFix("the key is damaged; fetch or make it again")
			}
			checked.Add((end - start) * base)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func coordinateName(i int, g2 bool) string {
	if g2 {
		return [...]string{"x.c0", "x.c1", "y.c0", "y.c1"}[i]
	}
	return [...]string{"x", "y"}[i]
}

// checkVertices checks the header's points fully; they are few.
func (k *Key) checkVertices() error {
	for _, v := range k.header.vertices() {
		if err := k.checkVertex(v); err != nil {
			return err
		}
	}
	// The rows that bind the public inputs give each of these wires a polynomial in A, so its point is not infinity
	// but by damage. The proof would not verify; say why beforehand.
	a := run{k.points[groth16.SectionA], k.header.curve.G1Bytes(), false}
	for i := range k.header.public + 1 {
		if curve.IsInfinity(a.point(i)) {
			k.warnings = append(k.warnings, fmt.Sprintf("%s: %v", k.name,
				a.section.Errorf(i*a.size, "the point of public wire %d is infinity, so proofs will probably not verify", i).In("")))
			break
		}
	}
	return nil
}

func (k *Key) checkVertex(v vertex) error {
	if curve.IsInfinity(v.raw) {
		return k.header.section.Errorf(v.offset, "%s is the point at infinity", v.name).
			WithFix("the key is damaged or was made wrongly; make it again")
	}
	if err := k.checkPoint(v.raw, v.g2); err != nil {
		return k.header.section.Errorf(v.offset, "%s: %w", v.name, err).WithFix("the key is damaged; fetch or make it again")
	}
	return nil
}

func (k *Key) checkPoint(raw []byte, g2 bool) error {
	if g2 {
		return k.header.curve.CheckG2(raw)
	}
	return k.header.curve.CheckG1(raw)
}
