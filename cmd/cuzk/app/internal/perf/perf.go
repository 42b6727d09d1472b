// Package perf counts what the processor does: instructions, cycles and cache misses, of all threads of the process.
package perf

// Counts are what happened between a start and a stop. Where the processor cannot count all at once, the kernel takes turns
// and the counts are estimates.
type Counts struct {
	Instructions uint64 `json:"instructions"`
	Cycles       uint64 `json:"cycles"`
	CacheMisses  uint64 `json:"cacheMisses"`
	CacheLookups uint64 `json:"cacheLookups"`
}

// PerCycle is the number of instructions a cycle.
func (c Counts) PerCycle() float64 {
	if c.Cycles == 0 {
		return 0
	}
	return float64(c.Instructions) / float64(c.Cycles)
}

// less is what has been counted since.
func (c Counts) less(since Counts) Counts {
	return Counts{
		c.Instructions - since.Instructions, c.Cycles - since.Cycles, c.CacheMisses - since.CacheMisses, c.CacheLookups - since.CacheLookups,
	}
}
