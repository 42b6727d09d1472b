package parallel

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
)

func TestRangesCoversEachElementOnce(t *testing.T) {
	for _, n := range []int{0, 1, 7, 8, 9, 1000} {
		seen := make([]int, n)
		var mu sync.Mutex
		err := Ranges(t.Context(), n, 8, func(start, end int) error {
			mu.Lock()
			defer mu.Unlock()
			for i := start; i < end; i++ {
				seen[i]++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range seen {
			if s != 1 {
				t.Errorf("n=%d: element %d was visited %d times", n, i, s)
			}
		}
	}
}

func TestRangesReturnsTheLowestError(t *testing.T) {
	for range 50 {
		err := Ranges(t.Context(), 100, 1, func(start, _ int) error {
			if start >= 17 {
				return fmt.Errorf("at %d", start)
			}
			return nil
		})
		if err == nil || err.Error() != "at 17" {
			t.Fatalf("got %v, want the error at 17", err)
		}
	}
}

func TestRangesEndsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := Ranges(ctx, 10, 1, func(int, int) error { t.Error("ran after it was cancelled"); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}
