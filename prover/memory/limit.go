package memory

import (
	"bufio"
	"bytes"
	"os"
	"strconv"
	"strings"
)

// Limit is the memory that this process may use, in bytes: the limit of its control group or, where there is none, the
// memory of the machine. Zero means that it is not known.
func Limit() int64 { return limitFrom("/sys/fs/cgroup", "/proc/self/cgroup", "/proc/meminfo") }

func limitFrom(root, self, meminfo string) int64 {
	limit := machine(meminfo)
	for _, path := range groupFiles(root, self) {
		data, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		// "max" in version 2 and a huge number in version 1 mean that there is no limit.
		n, err := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64)
		if err == nil && n > 0 && (limit == 0 || n < limit) {
			limit = n
		}
	}
	return limit
}

// groupFiles are the files that may hold a limit: the process's group and those above it.
func groupFiles(root, self string) []string {
	files := []string{root + "/memory.max", root + "/memory/memory.limit_in_bytes"}
	data, err := os.ReadFile(self)
	if err != nil {
		return files
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		fields := strings.SplitN(lines.Text(), ":", 3)
		if len(fields) != 3 {
			continue
		}
		var prefix, name string
		switch {
		case fields[0] == "0" && fields[1] == "":
			prefix, name = root, "memory.max"
		case strings.Contains(","+fields[1]+",", ",memory,"):
			prefix, name = root+"/memory", "memory.limit_in_bytes"
		default:
			continue
		}
		for group := strings.TrimSuffix(fields[2], "/"); group != ""; {
			files = append(files, prefix+group+"/"+name)
			group = group[:strings.LastIndexByte(group, '/')]
		}
	}
	return files
}

func machine(meminfo string) int64 {
	data, err := os.ReadFile(meminfo)
	if err != nil {
		return 0
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		if rest, ok := strings.CutPrefix(lines.Text(), "MemTotal:"); ok {
			kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			if err != nil {
				return 0
			}
			return kib << 10
		}
	}
	return 0
}
