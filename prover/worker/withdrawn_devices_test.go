package worker

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/groth16/backend/cpu"
	"github.com/cuzk-dev/cuzk/prover/pipeline"
	"github.com/cuzk-dev/cuzk/prover/worker/order"
)

var (
	wrongGPU = groth16.Withdrawal{
		Device: "GPU-0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0", Name: "NVIDIA H200", Reason: errors.New("it computed a wrong proof: another computation of the same proof verifies"),
	}
	lostGPU = groth16.Withdrawal{
		Device: "GPU-00112233-4455-6677-8899-aabbccddeeff", Name: "NVIDIA H200", Reason: errors.New("the GPU failed"),
	}
)

// watchedBackend is a backend some of whose devices are withdrawn.
type watchedBackend struct {
	groth16.Backend
	all []groth16.Withdrawal
}

func (b *watchedBackend) Withdrawn() []groth16.Withdrawal { return b.all }

func TestEnginesTellWithdrawnDevices(t *testing.T) {
	b := &watchedBackend{Backend: cpu.New(cpu.Config{}), all: []groth16.Withdrawal{wrongGPU}}
	for name, got := range map[string][]groth16.Withdrawal{
		"pipeline": (&Pipeline{Backend: b}).Withdrawn(),
		"filecoin": (&sharedInput{engine: &Filecoin{Backend: b}}).withdrawn(),
	} {
		if len(got) != 1 || got[0].Device != wrongGPU.Device {
			t.Errorf("%s tells of %+v", name, got)
		}
	}
	if got := (&Pipeline{Backend: b.Backend}).Withdrawn(); got != nil {
		t.Errorf("the processor withdrew %+v", got)
	}
}

// A device stays withdrawn for the rest of a pod, and is told of once, unless the report was lost.
func TestDevicesAreToldOnce(t *testing.T) {
	var w withdrawnDevices
	wrong := v1alpha1.WithdrawnDevice{UUID: wrongGPU.Device, Name: wrongGPU.Name, Reason: wrongGPU.Reason.Error()}
	lost := v1alpha1.WithdrawnDevice{UUID: lostGPU.Device, Name: lostGPU.Name, Reason: lostGPU.Reason.Error()}
	for _, step := range []struct {
		all  []groth16.Withdrawal
		want []v1alpha1.WithdrawnDevice
		lost bool
	}{
		{},
		{all: []groth16.Withdrawal{wrongGPU}, want: []v1alpha1.WithdrawnDevice{wrong}, lost: true},
		{all: []groth16.Withdrawal{wrongGPU}, want: []v1alpha1.WithdrawnDevice{wrong}},
		{all: []groth16.Withdrawal{wrongGPU}},
		{all: []groth16.Withdrawal{lostGPU, wrongGPU}, want: []v1alpha1.WithdrawnDevice{lost}},
		{all: []groth16.Withdrawal{lostGPU, wrongGPU}},
	} {
		got := w.untold(step.all)
		if diff := cmp.Diff(step.want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if !step.lost {
			w.tell(got)
		}
	}
}

func TestReportOfAProofThatWasComputedAgain(t *testing.T) {
	device := v1alpha1.WithdrawnDevice{UUID: wrongGPU.Device, Name: wrongGPU.Name, Reason: wrongGPU.Reason.Error()}
	proved := &Proved{
		Proof: "proof", Backend: v1alpha1.BackendCUDA, Runs: []v1alpha1.RunTimings{{Type: v1alpha1.RunCold}, {Type: v1alpha1.RunWarm}},
		Refusals: refusals([]pipeline.Run{{Refusals: 1}, {}, {Refusals: 2}}),
	}
	fill := func(partitions int, a attempt) v1alpha1.PartitionReport {
		var r v1alpha1.PartitionReport
		(&Worker{Order: &order.Order{Partitions: partitions}}).fill(&r, a)
		return r
	}

	r := fill(1, attempt{proved: proved, withdrawn: []v1alpha1.WithdrawnDevice{device}})
	if r.Refusals != 3 || len(r.Runs) != 2 {
		t.Errorf("%d refusals, %d runs", r.Refusals, len(r.Runs))
	}
	if diff := cmp.Diff([]v1alpha1.WithdrawnDevice{device}, r.WithdrawnDevices); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	// In a large job they take the room of the runs.
	if r := fill(33, attempt{proved: proved}); r.Runs != nil || r.Refusals != 3 {
		t.Errorf("%d refusals, %d runs", r.Refusals, len(r.Runs))
	}
	sound := *proved
	sound.Refusals = 0
	if r := fill(256, attempt{proved: &sound}); len(r.Runs) != 2 {
		t.Errorf("%d runs", len(r.Runs))
	}
	r = fill(256, attempt{proved: &sound, withdrawn: []v1alpha1.WithdrawnDevice{device}})
	if len(r.Runs) != 0 || len(r.WithdrawnDevices) != 1 || r.WithdrawnDevices[0].UUID != wrongGPU.Device {
		t.Errorf("%d runs, %+v", len(r.Runs), r.WithdrawnDevices)
	}

	// Where no other device is left there is no proof, and the device all the same.
	r = fill(1, attempt{err: failure.New(failure.Backend, "no GPU is left"), withdrawn: []v1alpha1.WithdrawnDevice{device}})
	if r.Error == nil || len(r.WithdrawnDevices) != 1 {
		t.Errorf("%+v", r)
	}
}
