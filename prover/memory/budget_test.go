package memory

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/cuzk-dev/cuzk/prover/failure"
)

func TestReserveWaitsInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(100)
		first, err := b.Reserve(t.Context(), 60, "first")
		if err != nil {
			t.Fatal(err)
		}
		served := make(chan string, 2)
		reserve := func(name string, n int64) {
			r, err := b.Reserve(t.Context(), n, name)
			if err != nil {
				t.Error(err)
			}
			served <- name
			r.Release()
		}
		go reserve("large", 90)
		synctest.Wait()
		// It would fit, but the large one asked before.
		go reserve("small", 10)
		synctest.Wait()
		if len(served) != 0 {
			t.Fatalf("%s was served while 60 of 100 bytes were taken", <-served)
		}
		first.Shrink(10)
		synctest.Wait()
		if got := <-served; got != "large" {
			t.Errorf("%s was served first", got)
		}
		if got := <-served; got != "small" {
			t.Errorf("%s was served second", got)
		}
		synctest.Wait()
		if now, peak := b.Used(); now != 10 || peak != 100 {
			t.Errorf("used %d, peak %d, want 10 and 100", now, peak)
		}
		first.Release()
		first.Release()
		if now, _ := b.Used(); now != 0 {
			t.Errorf("%d bytes are still taken", now)
		}
	})
}

func TestReserveRefusesMoreThanAll(t *testing.T) {
	_, err := NewBudget(1<<30).Reserve(t.Context(), 3<<29, "the proof")
	if failure.ClassOf(err) != failure.Memory {
		t.Fatalf("got %v", err)
	}
	if want := "the proof needs 1.5 GiB of memory, the budget is 1.0 GiB"; !strings.Contains(err.Error(), want) {
		t.Errorf("%q lacks %q", err, want)
	}
}

// What is held is for good: who wants more than the rest hears it at once instead of waiting.
func TestHoldLeavesTheRest(t *testing.T) {
	b := NewBudget(10 << 20)
	key, err := b.Hold(6<<20, "the key")
	if err != nil {
		t.Fatal(err)
	}
	if b.Room() != 4<<20 {
		t.Errorf("%d bytes of room beside 6 of 10 MiB", b.Room())
	}
	proof, err := b.Reserve(t.Context(), 4<<20, "a proof")
	if err != nil {
		t.Fatal(err)
	}
	for want, refused := range map[string]func() (*Reservation, error){
		"a larger proof needs 5.0 MiB of memory, the budget is 10.0 MiB, of which keys hold 6.0 MiB": func() (*Reservation, error) {
			return b.Reserve(t.Context(), 5<<20, "a larger proof")
		},
		"another key needs 1.0 MiB of memory, the budget is 10.0 MiB, of which 10.0 MiB are in use": func() (*Reservation, error) {
			return b.Hold(1<<20, "another key")
		},
		"a huge key needs 11.0 MiB of memory, the budget is 10.0 MiB": func() (*Reservation, error) { return b.Hold(11<<20, "a huge key") },
	} {
		if _, err := refused(); failure.ClassOf(err) != failure.Memory || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	proof.Release()
	key.Release()
	if now, _ := b.Used(); now != 0 || b.Room() != 10<<20 {
		t.Errorf("%d bytes are taken in the end, %d of room", now, b.Room())
	}
}

// A reservation that waits for what is free once others are done is not made to wait for ever.
func TestHoldTakesNothingFromThoseWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(10)
		first, err := b.Reserve(t.Context(), 5, "first")
		if err != nil {
			t.Fatal(err)
		}
		served := make(chan error)
		go func() {
			r, err := b.Reserve(t.Context(), 8, "second")
			r.Release()
			served <- err
		}()
		synctest.Wait()
		if _, err := b.Hold(4, "a key"); failure.ClassOf(err) != failure.Memory {
			t.Errorf("held beside one that waits for 8 of 10: %v", err)
		}
		first.Release()
		if err := <-served; err != nil {
			t.Error(err)
		}
		if _, err := b.Hold(4, "a key"); err != nil {
			t.Error(err)
		}
	})
}

func TestReserveEndsWithItsContext(t *testing.T) {
	b := NewBudget(10)
	r, err := b.Reserve(t.Context(), 10, "all")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Reserve(ctx, 1, "one more"); err == nil {
		t.Error("reserved more than there is")
	}
	r.Release()
	if now, _ := b.Used(); now != 0 {
		t.Errorf("%d bytes are still taken", now)
	}
}

func TestLimit(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	meminfo := write("meminfo", "MemTotal:       16 kB\nMemFree: 1 kB\n")
	self := write("self", "0::/pods/a\n")
	if got := limitFrom(filepath.Join(dir, "none"), self, meminfo); got != 16<<10 {
		t.Errorf("without groups: %d", got)
	}
	write("v2/memory.max", "max\n")
	write("v2/pods/memory.max", "8192\n")
	write("v2/pods/a/memory.max", "max\n")
	if got := limitFrom(filepath.Join(dir, "v2"), self, meminfo); got != 8192 {
		t.Errorf("version 2: %d", got)
	}
	write("v1/memory/docker/x/memory.limit_in_bytes", "4096\n")
	if got := limitFrom(filepath.Join(dir, "v1"), write("self1", "5:memory:/docker/x\n4:cpu:/\n"), meminfo); got != 4096 {
		t.Errorf("version 1: %d", got)
	}
}
