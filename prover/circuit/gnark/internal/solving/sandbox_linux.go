package solving

import (
	"bufio"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// confine takes from the process what it does not need. It must run before anything from outside is read.
func confine() error {
	if err := closeInherited(); err != nil {
		return err
	}
	// The machine's memory is short for the prover's sake, not the solver's: if the kernel must choose, it is this one.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0) // Not there in every container.
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return fmt.Errorf("forbid core dumps: %w", err)
	}
	// The memory holds the witness: no other process of this user may look into it.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("forbid tracing: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("forbid new privileges: %w", err)
	}
	// Descriptors: three standard ones, the socket, and those that come with a message, with room for the runtime's.
	const descriptors = 64
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: descriptors, Max: descriptors}); err != nil {
		return fmt.Errorf("limit the descriptors: %w", err)
	}
	return nil
}

// closeInherited closes what a library of the parent's left open without close-on-exec, as drivers do with their devices.
// What this process opened itself has that flag; what it was given with purpose lies below.
func closeInherited() error {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return fmt.Errorf("list the descriptors: %w", err)
	}
	for _, e := range entries {
		fd, err := strconv.Atoi(e.Name())
		if err != nil || fd <= SocketFD {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			_ = unix.Close(fd)
		}
	}
	return nil
}

// limitMemory bounds what the process may allocate from now on. RLIMIT_DATA counts private writable memory, so neither
// the address space that Go's runtime reserves without using it nor the memory shared with the parent matters to it;
// RLIMIT_AS would count both.
func limitMemory(bytes int64) error {
	used, err := privateBytes()
	if err != nil {
		return err
	}
	limit := uint64(used + bytes)
	if err := unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: limit, Max: limit}); err != nil {
		return fmt.Errorf("limit the memory: %w", err)
	}
	// Collect garbage harder before the limit is reached; a sixteenth is for what the collector does not count.
	debug.SetMemoryLimit(bytes - bytes/16)
	return nil
}

// privateBytes is what RLIMIT_DATA counts now.
func privateBytes() (int64, error) {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return 0, fmt.Errorf("read the memory in use: %w", err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if value, ok := strings.CutPrefix(lines.Text(), "VmData:"); ok {
			kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			if err != nil {
				return 0, fmt.Errorf("read the memory in use: %w", err)
			}
			return kib << 10, nil
		}
	}
	return 0, fmt.Errorf("read the memory in use: /proc/self/status has no VmData")
}
