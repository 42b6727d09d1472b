package app

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/prover/worker/order"
)

// A pod on the processor computes with the threads of its order, and never with more than it has cores.
func TestPodComputesWithItsThreads(t *testing.T) {
	cores := runtime.GOMAXPROCS(4)
	t.Cleanup(func() { runtime.GOMAXPROCS(cores) })
	for _, c := range []struct{ ordered, want int }{{0, 4}, {3, 3}, {1024, 4}} {
		runtime.GOMAXPROCS(4)
		a := &app{log: slog.New(slog.DiscardHandler)}
		backend, err := a.podBackend(&order.Order{Backend: order.Backend{Type: string(v1alpha1.BackendCPU), GPUThreads: c.ordered}}, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if got := runtime.GOMAXPROCS(0); got != c.want {
			t.Errorf("%d threads are ordered and %d compute, want %d", c.ordered, got, c.want)
		}
		if err := backend.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A pod whose image is not of the operator's release, or that runs elsewhere, says so before it ends.
func TestPodThatCannotBeginLeavesAWord(t *testing.T) {
	t.Setenv(order.EnvPodName, "pod")
	t.Setenv(order.EnvPodNamespace, "proofs")
	t.Setenv(order.EnvPodUID, "")
	for _, c := range []struct {
		name, order string
		inspect     bool
		says        string
	}{
		{"order of another release", `{"version":99}`, false, "use a prover image of the operator's release"},
		{"inspection order of another release", `{"version":99}`, true, "use a prover image of the operator's release"},
		{"no pod", `{"version":1,"partitions":1,"partitionsPerPod":1,"inputs":[{}]}`, false, order.EnvPodUID},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			f := &workFlags{inspectKey: c.inspect, order: filepath.Join(dir, "order"), scratch: dir, termination: filepath.Join(dir, "word")}
			if err := os.WriteFile(f.order, []byte(c.order), 0o600); err != nil {
				t.Fatal(err)
			}
			a := &app{log: slog.New(slog.DiscardHandler)}
			if err := a.work(t.Context(), f); err == nil {
				t.Fatal("it worked")
			}
			data, err := os.ReadFile(f.termination)
			if err != nil {
				t.Fatal(err)
			}
			var word struct{ Class, Message string }
			if err := json.Unmarshal(data, &word); err != nil || word.Class != "Usage" || !strings.Contains(word.Message, c.says) {
				t.Errorf("last word %s (%v), want %q in it", data, err, c.says)
			}
		})
	}
}
