package libcuzk

import "fmt"

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
)

// Error is a call that failed.
type Error struct {
	Code    Code
	Message string
	// Asked and Free are bytes, for OutOfMemory.
	Asked, Free int64
}

func (e *Error) Error() string { return e.Message }

// UnusableError says that a library was not found, or is none that this program can use.
type UnusableError struct {
	Reason string
	// Absent says that there is none, where others could not be used.
	Absent bool
}

func (e *UnusableError) Error() string { return e.Reason }

func unusable(format string, args ...any) error {
	return &UnusableError{Reason: fmt.Sprintf(format, args...)}
}
