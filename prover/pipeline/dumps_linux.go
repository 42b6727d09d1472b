package pipeline

import (
	"runtime/debug"
	"sync"

	"golang.org/x/sys/unix"
)

// dumpsOff keeps witnesses out of core dumps, for the rest of the process's life: what was once in memory may be read
// from it long after.
//
// It also makes a crash of the process end in SIGABRT. Go's own way out of one is exit code 2, which stands for a command
// line that no retry can mend.
var dumpsOff = sync.OnceFunc(func() {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_CORE, &limit) != nil {
		return
	}
	limit.Cur = 0
	// Lowering one's own soft limit is always allowed.
	if unix.Setrlimit(unix.RLIMIT_CORE, &limit) == nil {
		debug.SetTraceback("crash")
	}
})
