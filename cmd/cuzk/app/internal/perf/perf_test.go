package perf

import "testing"

func TestCountersCount(t *testing.T) {
	c, err := Open()
	if err != nil {
		t.Skip(err)
	}
	defer c.Close()
	start, err := c.Read()
	if err != nil {
		t.Fatal(err)
	}
	sum := uint64(1)
	for i := range uint64(10_000_000) {
		sum = sum*6364136223846793005 + i
	}
	done := make(chan uint64)
	go func() { done <- sum }()
	<-done
	got, err := c.Since(start)
	if err != nil {
		t.Fatal(err)
	}
	if got.Instructions < 10_000_000 || got.Cycles == 0 || got.PerCycle() <= 0 {
		t.Errorf("%+v for more than ten million instructions", got)
	}
}

func TestPerCycle(t *testing.T) {
	if got := (Counts{Instructions: 6, Cycles: 3}).PerCycle(); got != 2 {
		t.Errorf("%v instructions a cycle", got)
	}
	if got := (Counts{}).PerCycle(); got != 0 {
		t.Errorf("%v instructions a cycle of none", got)
	}
}
