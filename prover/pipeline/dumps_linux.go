package pipeline

import (
	"sync"

	"golang.org/x/sys/unix"
)

// dumpsOff keeps witnesses out of core dumps, for the rest of the process's life: what was once in memory may be read
// from it long after.
var dumpsOff = sync.OnceFunc(func() {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_CORE, &limit) == nil {
		limit.Cur = 0
		// Lowering one's own soft limit is always allowed.
		_ = unix.Setrlimit(unix.RLIMIT_CORE, &limit)
	}
})
