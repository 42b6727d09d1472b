package cuda

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
)

func anyone(*device) bool { return false }

func TestQueueServesByPriority(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &device{free: 1}
		q := &queue{devices: []*device{d}}
		if _, err := q.acquire(t.Context(), &claim{refuses: anyone, prefers: anyone}); err != nil {
			t.Fatal(err)
		}
		var order []int
		for i, priority := range []int{0, 2, 1, 2} {
			go func() {
				if _, err := q.acquire(t.Context(), &claim{priority: priority, refuses: anyone, prefers: anyone}); err != nil {
					t.Error(err)
				}
				order = append(order, i)
				q.release(d)
			}()
			synctest.Wait()
		}
		q.release(d)
		synctest.Wait()
		if want := []int{1, 3, 2, 0}; !slices.Equal(order, want) {
			t.Errorf("served in the order %v, want %v", order, want)
		}
		if d.free != 1 {
			t.Errorf("%d lanes are free", d.free)
		}
	})
}

func TestQueueChoosesTheLeastLoaded(t *testing.T) {
	a, b, c := &device{free: 2}, &device{free: 2}, &device{free: 2}
	q := &queue{devices: []*device{a, b, c}}
	holds := func(d *device) bool { return d == b }
	var got []*device
	for range 6 {
		d, err := q.acquire(t.Context(), &claim{refuses: anyone, prefers: holds})
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, d)
	}
	if got[0] != b || got[3] != b {
		t.Error("the device that has the key is not preferred among equals")
	}
	for _, d := range q.devices {
		if d.free != 0 {
			t.Errorf("%d lanes are free", d.free)
		}
	}
}

// Who refuses the only free device does not keep others from it.
func TestQueuePassesOverWhoCannotBeServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := &device{free: 1}, &device{free: 0}
		q := &queue{devices: []*device{a, b}}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := q.acquire(ctx, &claim{priority: 9, refuses: func(d *device) bool { return d == a }, prefers: anyone})
			done <- err
		}()
		synctest.Wait()
		if d, err := q.acquire(t.Context(), &claim{refuses: anyone, prefers: anyone}); d != a || err != nil {
			t.Errorf("got %v, %v", d, err)
		}
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}

func TestQueueTellsWhenNothingIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &device{free: 0}
		q := &queue{devices: []*device{d}}
		done := make(chan error, 1)
		go func() {
			_, err := q.acquire(t.Context(), &claim{refuses: anyone, prefers: anyone})
			done <- err
		}()
		synctest.Wait()
		q.withdraw(d, errors.New("broken"))
		if err := <-done; !errors.Is(err, errNowhere) {
			t.Errorf("got %v", err)
		}
		q.release(d)
		if _, err := q.acquire(t.Context(), &claim{refuses: anyone, prefers: anyone}); !errors.Is(err, errNowhere) {
			t.Errorf("a withdrawn device was given out: %v", err)
		}
	})
}
