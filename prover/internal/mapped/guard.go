package mapped

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/cuzk-dev/cuzk/prover/failure"
)

// Guard calls fn and turns a fault on mapped memory into an error of class IO. It covers the calling goroutine only.
func Guard(fn func() error) (err error) {
	previous := debug.SetPanicOnFault(true)
	defer debug.SetPanicOnFault(previous)
	defer func() {
		switch r := recover().(type) {
		case nil:
		case interface {
			runtime.Error
			Addr() uintptr
		}:
			// A nil dereference in our own code has an address too, but a small one: that is a defect, not the
			// file's.
			if r.Addr() < 1<<16 {
				panic(r)
			}
			err = failure.New(failure.IO, "the file changed, or its storage failed, while it was being read (%w)",
				fmt.Errorf("memory fault at %#x", r.Addr())).
				WithFix("keep the file unchanged while it is in use, and try again")
		default:
			panic(r)
		}
	}()
	return fn()
}
