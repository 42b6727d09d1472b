package libcuzk

import (
	"fmt"
	"regexp"
)

// Code is what a call of the library ended with.
type Code int32

const (
	OK Code = iota
	NoDevice
	DriverTooOld
	ArchNotBuilt
	OutOfMemory
	Invalid
	Cancelled
	SelfTestFailed
	DeviceLost
	Internal
	Busy
	ReadFailed
	OutOfHostMemory
	Unsupported
)

// Error is a call that failed.
type Error struct {
	Code    Code
	Message string
	// Asked and Free are bytes, for OutOfMemory and, but for Free, OutOfHostMemory; zero where they are not known.
	Asked, Free int64
}

func (e *Error) Error() string { return e.Message }

// UnusableError says that a library was not found, or is none that this program can use.
type UnusableError struct {
	Reason string
	// Absent says that there is none, where others could not be used.
	Absent bool
	// Glibc is the version of the C library that it needs, where this system's is older.
	Glibc string
}

func (e *UnusableError) Error() string { return e.Reason }

func unusable(format string, args ...any) *UnusableError {
	return &UnusableError{Reason: fmt.Sprintf(format, args...)}
}

// olderGlibc is how the loader says that this system's C library is older than a library needs.
var olderGlibc = regexp.MustCompile("version `GLIBC_([0-9.]+)' not found")

// cannotBeUsed says why the loader did not take a library.
func cannotBeUsed(path string, err error) error {
	e := unusable("%s cannot be used: %v", path, err)
	if found := olderGlibc.FindStringSubmatch(err.Error()); found != nil {
		e.Glibc = found[1]
	}
	return e
}
