package proofjob

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
)

var (
	wrongGPU = api.WithdrawnDevice{
		UUID: "GPU-0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0", Name: "NVIDIA H200",
		Reason: "it computed a wrong proof: another computation of the same proof verifies",
	}
	bareGPU = api.WithdrawnDevice{UUID: "GPU-00112233-4455-6677-8899-aabbccddeeff"}
)

func TestWithdrawnDevicesAreToldOfOnce(t *testing.T) {
	s := newScene(t, 2).begin()
	s.prove(0)
	first := s.pod(1, corev1.PodRunning)
	s.report(1, first, "proof-1", "11").WithdrawnDevices = []api.WithdrawnDevice{wrongGPU, bareGPU}

	want := []Withdrawals{{Partition: 1, PodUID: string(first.UID), Notes: []string{
		"Pod batch-1-00001 on node node-a gives GPU GPU-0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0 (NVIDIA H200) no more work, after partition 1: it computed a wrong proof: another computation of the same proof verifies.",
		"Pod batch-1-00001 on node node-a gives GPU GPU-00112233-4455-6677-8899-aabbccddeeff no more work, after partition 1.",
	}}}
	if diff := cmp.Diff(want, s.plan().Withdrawals); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	s.WithdrawalsTold = map[int32]string{1: string(first.UID)}
	if got := s.plan().Withdrawals; got != nil {
		t.Errorf("told again: %+v", got)
	}

	// The next pod of the partition tells of another device, or of the same one: it got it in its turn.
	second := s.pod(1, corev1.PodRunning)
	r := s.report(1, second, "")
	r.Error = &api.ReportError{Class: api.ErrorClassBackend, Message: "no GPU is left"}
	r.WithdrawnDevices = []api.WithdrawnDevice{wrongGPU}
	got := s.plan().Withdrawals
	if len(got) != 1 || got[0].PodUID != string(second.UID) || len(got[0].Notes) != 1 {
		t.Errorf("%+v", got)
	}
}

// The device of a pod that was replaced before anybody looked is told of all the same, though no proof of that pod counts.
func TestWithdrawnDeviceOfAReplacedPod(t *testing.T) {
	s := newScene(t, 1).begin()
	s.report(0, s.pod(0, corev1.PodFailed), "proof", "1").WithdrawnDevices = []api.WithdrawnDevice{wrongGPU}
	s.pod(0, corev1.PodRunning)
	if got := s.plan().Withdrawals; len(got) != 1 {
		t.Errorf("%+v", got)
	}
}

func TestTellingOfWithdrawnDevices(t *testing.T) {
	s := newScene(t, 2).begin()
	pod := s.pod(0, corev1.PodRunning)
	s.report(0, pod, "proof", "1").WithdrawnDevices = []api.WithdrawnDevice{wrongGPU}
	recorder := events.NewFakeRecorder(10)
	r := &Reconciler{Recorder: recorder}
	before := counted(t)
	for range 3 { // reconciliations
		s.WithdrawalsTold = r.withdrawals.of(s.Job)
		r.tellWithdrawals(s.Job, s.plan().Withdrawals)
	}
	if n := counted(t) - before; n != 1 {
		t.Errorf("counted %v devices, want 1", n)
	}
	if len(recorder.Events) != 1 {
		t.Fatalf("%d events, want 1", len(recorder.Events))
	}
	if e := <-recorder.Events; !strings.HasPrefix(e, "Warning DeviceWithdrawn Pod batch-0-00000 on node node-a gives GPU "+wrongGPU.UUID) {
		t.Errorf("event %q", e)
	}

	// After a restart what a settled partition reports was told of before, and what another one does may not have been.
	s.Job = s.Job.DeepCopy()
	s.Job.Status.Partitions[0].State = api.PartitionSucceeded
	s.report(1, s.pod(1, corev1.PodRunning), "proof-1", "1").WithdrawnDevices = []api.WithdrawnDevice{bareGPU}
	var restarted toldWithdrawals
	s.WithdrawalsTold = restarted.of(s.Job)
	if got := s.plan().Withdrawals; len(got) != 1 || got[0].Partition != 1 {
		t.Errorf("after a restart: %+v", got)
	}

	restarted.forget(s.Job.UID)
	if len(restarted.pods) != 0 {
		t.Errorf("remembered of a job that is forgotten: %v", restarted.pods)
	}
	restarted.tell(s.Job.UID, 1, "late")
	if len(restarted.pods) != 0 {
		t.Errorf("remembered of a job that was forgotten: %v", restarted.pods)
	}
}

// counted reads cuzk_withdrawn_devices_total.
func counted(t *testing.T) float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "cuzk_withdrawn_devices_total" {
			return f.GetMetric()[0].GetCounter().GetValue()
		}
	}
	t.Fatal("no metric cuzk_withdrawn_devices_total")
	return 0
}
