package buffer

import "golang.org/x/sys/unix"

// advise keeps the memory out of core dumps and asks for huge pages, which transforms with their long strides like. Both
// are wishes: a kernel without them is no error.
func advise(mapped []byte) {
	_ = unix.Madvise(mapped, unix.MADV_DONTDUMP)
	_ = unix.Madvise(mapped, unix.MADV_HUGEPAGE)
}
