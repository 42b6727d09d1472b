package cpu

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
)

func TestTurnsGoByPriorityThenByOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := &turns{free: 1}
		if err := turns.wait(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, w := range []struct {
			name     string
			priority int
		}{{"first", 0}, {"second", 0}, {"urgent", 5}, {"third", 0}, {"less urgent", 3}} {
			go func() {
				if err := turns.wait(t.Context(), w.priority); err != nil {
					t.Error(err)
				}
				got = append(got, w.name)
				turns.next()
			}()
			synctest.Wait()
		}
		turns.next()
		synctest.Wait()
		if diff := cmp.Diff([]string{"urgent", "less urgent", "first", "second", "third"}, got); diff != "" {
			t.Error(diff)
		}
		if turns.free != 1 {
			t.Errorf("%d turns are free, want 1", turns.free)
		}
	})
}

func TestTurnsSurviveCancelledWaiters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := &turns{free: 1}
		if err := turns.wait(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var failed atomic.Int32
		for range 3 {
			go func() {
				if turns.wait(ctx, 9) != nil {
					failed.Add(1)
				}
			}()
		}
		served := false
		go func() {
			served = turns.wait(t.Context(), 0) == nil
			turns.next()
		}()
		synctest.Wait()
		cancel()
		synctest.Wait()
		turns.next()
		synctest.Wait()
		if failed.Load() != 3 || !served {
			t.Errorf("%d of 3 gave up, the one that stayed was served: %t", failed.Load(), served)
		}
		if turns.free != 1 {
			t.Errorf("%d turns are free, want 1", turns.free)
		}
	})
}
