package app

import (
	"log/slog"
	"runtime"
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
