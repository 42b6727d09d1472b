package gnark

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
)

// shared is memory that a child can map by its descriptor. It has no name that another process could open, its size
// cannot change, and the kernel zeroes its pages before and after.
type shared struct {
	fd   int
	data []byte
}

func newShared(name string, size int64) (*shared, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, failure.New(failure.Memory, "make memory to share with the solver: %w", err)
	}
	s := &shared{fd: fd}
	if err = unix.Ftruncate(fd, size); err == nil {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL)
	}
	if err == nil {
		s.data, err = unix.Mmap(fd, 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	}
	if err != nil {
		_ = unix.Close(fd)
		return nil, failure.New(failure.Memory, "make %d bytes of memory to share with the solver: %w", size, err)
	}
	return s, nil
}

// scalars looks at n scalars from byte offset on.
func (s *shared) scalars(offset, n int) []curve.Scalar {
	return unsafe.Slice((*curve.Scalar)(unsafe.Pointer(unsafe.SliceData(s.data[offset:offset+n*curve.ScalarBytes]))), n)
}

// closeDescriptor keeps the memory, for this process alone.
func (s *shared) closeDescriptor() error {
	if s.fd < 0 {
		return nil
	}
	err := unix.Close(s.fd)
	s.fd = -1
	return err
}

func (s *shared) close() error {
	if s == nil || s.data == nil {
		return nil
	}
	err := unix.Munmap(s.data)
	s.data = nil
	if e := s.closeDescriptor(); err == nil {
		err = e
	}
	return err
}

// descriptor is the constraint system's file, or, where the file is no regular one and had to be read, a copy of it.
func (s *System) descriptor() (*os.File, error) {
	if s.memory.Mapped() {
		fd, err := unix.FcntlInt(s.file.Fd(), unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			return nil, failure.New(failure.Internal, "hand the file to the solver: %w", err).In(s.name)
		}
		return os.NewFile(uintptr(fd), s.name), nil
	}
	m, err := newShared("cuzk-constraint-system", s.Size())
	if err != nil {
		return nil, err
	}
	copy(m.data, s.memory.Bytes())
	fd := m.fd
	m.fd = -1
	return os.NewFile(uintptr(fd), s.name), m.close()
}
