//go:build unix

package buffer

import (
	"golang.org/x/sys/unix"

	"github.com/cuzk-dev/cuzk/prover/failure"
)

func allocate(n int) ([]byte, error) {
	mapped, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, failure.New(failure.Memory, "allocate %d bytes: %w", n, err).WithFix("raise the memory limit")
	}
	advise(mapped)
	return mapped, nil
}

func free(mapped []byte) {
	// It fails only for an address that is not mapped.
	_ = unix.Munmap(mapped)
}
