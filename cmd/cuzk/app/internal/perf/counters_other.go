//go:build !linux

package perf

import "errors"

// Counters are there on Linux alone.
type Counters struct{}

// Open fails.
func Open() (*Counters, error) { return nil, errors.ErrUnsupported }

// Read fails.
func (*Counters) Read() (Counts, error) { return Counts{}, errors.ErrUnsupported }

// Since fails.
func (*Counters) Since(Counts) (Counts, error) { return Counts{}, errors.ErrUnsupported }

// Close does nothing.
func (*Counters) Close() {}
