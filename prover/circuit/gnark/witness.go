package gnark

import (
	"bytes"
	"context"
	"encoding/binary"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/internal/mapped"
	"github.com/cuzk-dev/cuzk/prover/internal/parallel"
)

// Witness is a file of gnark's package backend/witness: the values of the public inputs, then of the secret ones. The one
// is not in it. The values are secret: no error tells any.
type Witness struct {
	name     string
	file     *mapped.File
	id       curve.ID
	public   int
	secret   int
	elements []byte // big-endian, canonical
}

// witnessHeader is three big-endian 32-bit numbers: public, secret, and the length of the vector.
const witnessHeader = 12

const fixWitness = "hand in a full witness as gnark's witness.MarshalBinary or WriteTo wrote it"

// elementsPerStep is how many field elements a core takes at a time.
const elementsPerStep = 1 << 14

// OpenWitness maps a witness and checks its lengths and that each value is below r of the curve, which the file does not
// tell. Errors are of class Input.
func OpenWitness(ctx context.Context, path string, id curve.ID) (*Witness, error) {
	f, err := mapped.Open(path)
	if err != nil {
		return nil, err
	}
	w, err := ParseWitness(ctx, path, f.Bytes(), id)
	if err != nil {
		_ = f.Close() // Why the witness cannot be used matters more.
		return nil, err
	}
	w.file = f
	return w, nil
}

// ParseWitness is OpenWitness for a witness in memory, which must not change until Close. The name is for messages.
func ParseWitness(ctx context.Context, name string, data []byte, id curve.ID) (*Witness, error) {
	w := &Witness{name: name, id: id}
	if err := mapped.Guard(func() error { return w.parse(data) }); err != nil {
		return nil, err
	}
	if err := checkElements(ctx, w.elements, id, w.name, "values", witnessHeader); err != nil {
		return nil, err
	}
	return w, nil
}

func (w *Witness) parse(data []byte) error {
	if len(data) == 0 {
		return failure.New(failure.Input, "the file is empty").In(w.name).WithFix("%s", fixWitness)
	}
	if len(data) < witnessHeader {
		return failure.New(failure.Input, "the file ends inside its header of %d bytes", witnessHeader).In(w.name).
			At("header", int64(len(data))).WithFix("%s", fixWitness)
	}
	public, secret, n := binary.BigEndian.Uint32(data), binary.BigEndian.Uint32(data[4:]), binary.BigEndian.Uint32(data[8:])
	if uint64(public)+uint64(secret) != uint64(n) {
		return failure.New(failure.Input, "it says it has %d public and %d secret values, but %d in all", public, secret, n).
			In(w.name).At("header", 0).WithFix("%s", fixWitness)
	}
	w.elements = data[witnessHeader:]
	if want := uint64(n) * curve.ScalarBytes; want != uint64(len(w.elements)) {
		return failure.New(failure.Input, "%d values take %d bytes, but %d bytes follow the header: the file is truncated, or is no witness", n, want, len(w.elements)).
			In(w.name).At("values", witnessHeader).WithFix("%s", fixWitness)
	}
	w.public, w.secret = int(public), int(secret)
	return nil
}

// checkElements refuses big-endian elements that are not below r.
func checkElements(ctx context.Context, elements []byte, id curve.ID, name, section string, offset int64) error {
	r := id.ScalarModulus().FillBytes(make([]byte, curve.ScalarBytes))
	return parallel.Ranges(ctx, len(elements)/curve.ScalarBytes, elementsPerStep, func(start, end int) error {
		for i := start; i < end; i++ {
			if bytes.Compare(elements[i*curve.ScalarBytes:(i+1)*curve.ScalarBytes], r) >= 0 {
				return failure.New(failure.Input, "value %d is not below r, the modulus of the scalar field of %s", i, id).In(name).
					At(section, offset+int64(i)*curve.ScalarBytes).WithFix("hand in a witness for this curve")
			}
		}
		return nil
	})
}

func bigEndianScalar(b []byte) curve.Scalar {
	return curve.Scalar{binary.BigEndian.Uint64(b[24:]), binary.BigEndian.Uint64(b[16:]), binary.BigEndian.Uint64(b[8:]), binary.BigEndian.Uint64(b)}
}

// Name is the path of the file.
func (w *Witness) Name() string { return w.name }

// Public counts the public values, without the one, and Secret the others.
func (w *Witness) Public() int { return w.public }
func (w *Witness) Secret() int { return w.secret }

// PublicInputs are the public values, canonical, without the one.
func (w *Witness) PublicInputs() []curve.Scalar {
	public := make([]curve.Scalar, w.public)
	for i := range public {
		public[i] = bigEndianScalar(w.elements[i*curve.ScalarBytes:])
	}
	return public
}

// fits refuses a witness of another circuit.
func (w *Witness) fits(s *System) error {
	if w.id != s.Curve {
		return failure.New(failure.Internal, "the witness was read for %s, but the constraint system is for %s", w.id, s.Curve).In(w.name)
	}
	if w.public == s.Public && w.secret == s.Secret {
		return nil
	}
	err := failure.New(failure.Input, "it has %d public and %d secret values, but the constraint system %s has %d and %d inputs",
		w.public, w.secret, s.name, s.Public, s.Secret).In(w.name).At("header", 0)
	if w.public == s.Public && w.secret == 0 {
		return err.WithFix("this is the public part alone: hand in the full witness")
	}
	return err.WithFix("hand in a witness of this circuit")
}

// Close unmaps the file.
func (w *Witness) Close() error {
	if w.file == nil {
		return nil
	}
	return w.file.Close()
}
