package perf

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// events are what is counted, in the order of Counts.
var events = [...]uint64{
	unix.PERF_COUNT_HW_INSTRUCTIONS, unix.PERF_COUNT_HW_CPU_CYCLES, unix.PERF_COUNT_HW_CACHE_MISSES, unix.PERF_COUNT_HW_CACHE_REFERENCES,
}

// Counters count from Open on.
type Counters struct {
	files [len(events)][]int
}

// Open starts counting in all threads that there are and in those that they start. Machines without such counters, and
// containers that may not read them, are an error.
func Open() (*Counters, error) {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return nil, err
	}
	c := &Counters{}
	for _, t := range threads {
		id, err := strconv.Atoi(t.Name())
		if err != nil {
			continue
		}
		if err := c.open(id); err != nil && !errors.Is(err, unix.ESRCH) { // a thread that has ended
			c.Close()
			return nil, err
		}
	}
	return c, nil
}

func (c *Counters) open(thread int) error {
	for i, event := range events {
		attr := unix.PerfEventAttr{
			Type: unix.PERF_TYPE_HARDWARE, Config: event, Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{})),
			Read_format: unix.PERF_FORMAT_TOTAL_TIME_ENABLED | unix.PERF_FORMAT_TOTAL_TIME_RUNNING,
			Bits:        unix.PerfBitInherit | unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv,
		}
		fd, err := unix.PerfEventOpen(&attr, thread, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
		if err != nil {
			return fmt.Errorf("the processor's counters cannot be read: %w", err)
		}
		c.files[i] = append(c.files[i], fd)
	}
	return nil
}

// Read is what has been counted since Open.
func (c *Counters) Read() (Counts, error) {
	var out Counts
	for i, to := range []*uint64{&out.Instructions, &out.Cycles, &out.CacheMisses, &out.CacheLookups} {
		for _, fd := range c.files[i] {
			n, err := read(fd)
			if err != nil {
				return Counts{}, err
			}
			*to += n
		}
	}
	return out, nil
}

// read is one count, extrapolated to the time in which others were counted.
func read(fd int) (uint64, error) {
	var raw [24]byte
	n, err := unix.Read(fd, raw[:])
	if err != nil || n != len(raw) {
		return 0, fmt.Errorf("read a counter: %d bytes, %w", n, err)
	}
	value, enabled, running := binary.NativeEndian.Uint64(raw[:]), binary.NativeEndian.Uint64(raw[8:]), binary.NativeEndian.Uint64(raw[16:])
	if running == 0 || running == enabled {
		return value, nil
	}
	return uint64(float64(value) * float64(enabled) / float64(running)), nil
}

// Since is what a piece of work has counted.
func (c *Counters) Since(start Counts) (Counts, error) {
	now, err := c.Read()
	if err != nil {
		return Counts{}, err
	}
	return now.less(start), nil
}

// Close stops counting.
func (c *Counters) Close() {
	for i := range c.files {
		for _, fd := range c.files[i] {
			_ = unix.Close(fd)
		}
		c.files[i] = nil
	}
}
