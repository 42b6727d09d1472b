package filparams

import (
	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/internal/mapped"
)

// OpenVerifyingKey reads a .vk file: the six single points and ic. Every point is checked. Errors are *failure.Error of
// class Key, Usage or IO, naming file, section and offset.
func OpenVerifyingKey(path string) (*groth16.VerifyingKey, error) {
	file, err := mapped.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return ParseVerifyingKey(path, file.Bytes())
}

// ParseVerifyingKey is OpenVerifyingKey for a file in memory; name is for messages.
func ParseVerifyingKey(name string, data []byte) (vk *groth16.VerifyingKey, err error) {
	err = mapped.Guard(func() error {
		l, err := parse(data, arrayIC+1)
		if err != nil {
			return err
		}
		vk, err = l.verifyingKey()
		return err
	})
	return vk, failure.InFile(err, name)
}

// CheckPublic refuses a verifying key of another circuit.
func CheckPublic(vk *groth16.VerifyingKey, public int) error {
	if vk.Public() == public {
		return nil
	}
	return failure.New(failure.Key, "the verifying key is for %d public inputs, the circuit has %d: it is that of another circuit", vk.Public(), public).
		WithFix("use the file that belongs to the circuit (cuzk params derive-name tells its name)")
}

func (l *layout) verifyingKey() (*groth16.VerifyingKey, error) {
	vk := &groth16.VerifyingKey{Curve: id}
	for i, to := range []*[]byte{
		(*[]byte)(&vk.AlphaG1), (*[]byte)(&vk.BetaG1), (*[]byte)(&vk.BetaG2), (*[]byte)(&vk.GammaG2), (*[]byte)(&vk.DeltaG1), (*[]byte)(&vk.DeltaG2),
	} {
		point, err := l.vertices[i].raw(0)
		if err != nil {
			return nil, err
		}
		*to = point
	}
	ic := &l.arrays[arrayIC]
	if ic.len() == 0 {
		return nil, ic.lengthErrorf("is empty, but the one has a point").WithFix("%s", fetchAgain)
	}
	vk.IC = make([]curve.G1, ic.len())
	for i := range vk.IC {
		point, err := ic.raw(i)
		if err != nil {
			return nil, err
		}
		vk.IC[i] = point
	}
	return vk, nil
}
