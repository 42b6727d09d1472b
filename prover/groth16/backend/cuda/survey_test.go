package cuda

import (
	"strings"
	"testing"

	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16/backend/cuda/internal/libcuzk"
)

func TestLookTellsEachDevice(t *testing.T) {
	engines := []*fakeEngine{
		{}, {selfTestError: &libcuzk.Error{Code: libcuzk.SelfTestFailed, Message: "NTT differs"}},
		{openError: &libcuzk.Error{Code: libcuzk.ArchNotBuilt, Message: "7.0"}},
	}
	s, err := look(&fakeLibrary{engines: engines}, true)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"", "NTT differs", "no code for this GPU"} {
		d := s.Devices[i]
		if (d.Fault == nil) != (want == "") || d.Fault != nil && !strings.Contains(d.Fault.Error(), want) {
			t.Errorf("device %d: %v, want %q", i, d.Fault, want)
		}
		if !d.Tested || d.FreeBytes == 0 || d.UUID == "" {
			t.Errorf("device %d: %+v", i, d)
		}
	}
	if engines[0].closed != 1 || engines[1].closed != 1 {
		t.Error("a device was left open")
	}
	if s, err := look(&fakeLibrary{engines: engines}, false); err != nil || s.Devices[1].Fault != nil || s.Devices[1].Tested {
		t.Errorf("without a test: %+v, %v", s, err)
	}
	if _, err := look(&fakeLibrary{}, true); failure.ClassOf(err) != failure.Backend {
		t.Errorf("without a device: %v", err)
	}
}
