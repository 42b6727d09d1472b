package structure

import (
	"context"
	"encoding/binary"

	"golang.org/x/crypto/blake2s"

	"github.com/cuzk-dev/cuzk/prover/curve"
)

// DigestBytes is the length of a digest.
const DigestBytes = blake2s.Size

// Digest identifies the constraint system: it is what bellpepper's TestConstraintSystem calls its hash. It is the
// BLAKE2s-256 of the numbers of inputs (with the one), other variables and constraints, then for each constraint and for
// each of its A, B and C the number of terms and the terms, inputs first, each by number: a byte I or A, the variable's
// number and the coefficient. Numbers are 64 bits, coefficients 256, all with the most significant byte first.
//
// done, if not nil, is told after each copy of a block how many constraints have been hashed. Hashing takes one core
// and about a minute for 10^9 entries.
func (s *Structure) Digest(ctx context.Context, done func(constraints int)) ([DigestBytes]byte, error) {
	h, err := blake2s.New256(nil)
	if err != nil {
		return [DigestBytes]byte{}, err
	}
	blocks := make(chan []byte, 4)
	free := make(chan []byte, cap(blocks)+2)
	hashed := make(chan struct{})
	go func() {
		defer close(hashed)
		for block := range blocks {
			h.Write(block)
			free <- block[:0]
		}
	}()
	w := &digestWriter{structure: s, coefficients: s.serialCoefficients(), blocks: blocks, free: free}
	for range cap(free) {
		free <- make([]byte, 0, digestBlock+maxRowBytes)
	}
	w.block = <-free
	for _, n := range []int{s.Inputs, s.Aux, s.Constraints} {
		w.block = binary.BigEndian.AppendUint64(w.block, uint64(n))
	}
	err = w.write(ctx, done)
	close(blocks)
	<-hashed
	return [DigestBytes]byte(h.Sum(nil)), err
}

const (
	// digestBlock is how much is handed to the hash at once.
	digestBlock = 1 << 20
	termBytes   = 1 + 8 + curve.ScalarBytes
	maxRowBytes = 1 << 16
)

// digestWriter serialises rows while the hash takes what has been serialised.
type digestWriter struct {
	structure    *Structure
	coefficients [][curve.ScalarBytes]byte
	blocks, free chan []byte
	block        []byte
}

func (s *Structure) serialCoefficients() [][curve.ScalarBytes]byte {
	canonical := append([]curve.Scalar(nil), s.Coefficients...)
	curve.BLS12381.FromMontgomery(canonical)
	out := make([][curve.ScalarBytes]byte, len(canonical))
	for i, c := range canonical {
		for j, limb := range c {
			binary.BigEndian.PutUint64(out[i][24-8*j:], limb)
		}
	}
	return out
}

func (w *digestWriter) write(ctx context.Context, done func(int)) error {
	for i := range w.structure.Sections {
		section := &w.structure.Sections[i]
		for c := range section.Copies {
			rows := w.structure.reader(section, c)
			for row := range section.Template.Rows {
				if row%(1<<16) == 0 && ctx.Err() != nil {
					return ctx.Err()
				}
				for matrix := range 3 {
					w.row(rows.row(matrix, row))
				}
				if len(w.block) >= digestBlock {
					w.blocks <- w.block
					w.block = <-w.free
				}
			}
			if done != nil {
				done(section.FirstRow + (c+1)*section.Template.Rows)
			}
		}
	}
	w.blocks <- w.block
	return nil
}

func (w *digestWriter) row(entries []Entry) {
	inputs := uint32(w.structure.Inputs)
	out := binary.BigEndian.AppendUint64(w.block, uint64(len(entries)))
	for _, e := range entries {
		letter, number := byte('A'), e.Wire-inputs
		if e.Wire < inputs {
			letter, number = 'I', e.Wire
		}
		out = append(out, letter)
		out = binary.BigEndian.AppendUint64(out, uint64(number))
		out = append(out, w.coefficients[e.Coefficient][:]...)
	}
	w.block = out
}
