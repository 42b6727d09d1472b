package progress

import (
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

type told struct{ Done, Total int64 }

// record is a Func and what it was told.
func record() (Func, *[]told) {
	all := &[]told{}
	return func(done, total int64) { *all = append(*all, told{done, total}) }, all
}

func TestCounterAddsUpWhatGoroutinesDo(t *testing.T) {
	tell, all := record()
	c := Count(800, tell)
	var done sync.WaitGroup
	for range 8 {
		done.Go(func() {
			for range 100 {
				c.Add(1)
			}
		})
	}
	done.Wait()
	for i, x := range *all {
		if x != (told{int64(i + 1), 800}) {
			t.Fatalf("call %d: %v", i, x)
		}
	}
	if len(*all) != 800 {
		t.Errorf("%d calls", len(*all))
	}
}

func TestNobodyToTell(t *testing.T) {
	c := Count(3, nil)
	c.Add(1)
	if c != nil || Rising(nil) != nil {
		t.Error("something counts for nobody")
	}
}

func TestRisingKeepsBackWhatWasTold(t *testing.T) {
	tell, all := record()
	rising := Rising(tell)
	for _, done := range []int64{1, 5, 1, 4, 5, 6} {
		rising(done, 6)
	}
	if diff := cmp.Diff([]told{{1, 6}, {5, 6}, {6, 6}}, *all); diff != "" {
		t.Error(diff)
	}
}

func TestEveryPassesOnOneInAnInterval(t *testing.T) {
	tell, all := record()
	now := time.Unix(1_000_000, 0)
	every := Every(10*time.Second, func() time.Time { return now }, tell)
	for second := range int64(31) {
		every(second, 40)
		now = now.Add(time.Second)
	}
	if diff := cmp.Diff([]told{{10, 40}, {20, 40}, {30, 40}}, *all); diff != "" {
		t.Error(diff)
	}
}
