// Command perf measures `cuzk prove` on the CPU against snarkjs and against gnark's own prover, on one machine and on the
// same circuits: whole processes, one of each in turn, so that what else the machine does falls on all alike. `make
// bench` runs it.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

type options struct {
	root   string // of the repository
	cache  string // what is made once
	cuzk   string
	runs   int
	only   string
	out    string
	target bool
}

func main() {
	var o options
	flag.StringVar(&o.root, "root", ".", "root of the repository")
	flag.StringVar(&o.cache, "cache", defaultCache(), "folder for circuits and keys, made once")
	flag.StringVar(&o.cuzk, "cuzk", "bin/cuzk", "the cuzk binary to measure")
	flag.IntVar(&o.runs, "runs", 5, "measured runs of each program; one more of each goes before and does not count")
	flag.StringVar(&o.only, "only", "", "measure only comparisons whose name contains this")
	flag.StringVar(&o.out, "out", "bin/bench.json", "file for the figures")
	flag.BoolVar(&o.target, "check", false, "fail if a target is missed")
	flag.Parse()
	if err := run(o); err != nil {
		slog.Error("Failed", "error", err)
		os.Exit(1)
	}
}

func defaultCache() string {
	if d := os.Getenv("CUZK_CACHE"); d != "" {
		return filepath.Join(d, "bench")
	}
	d, err := os.UserCacheDir()
	if err != nil {
		d = os.TempDir()
	}
	return filepath.Join(d, "cuzk", "bench")
}

// report is the JSON of a benchmark.
type report struct {
	Date        string       `json:"date"`
	Command     string       `json:"command"`
	Machine     machine      `json:"machine"`
	Comparisons []comparison `json:"comparisons"`
}

// machine is where it was measured.
type machine struct {
	CPU         string `json:"cpu"`
	Cores       int    `json:"cores"`
	MemoryBytes int64  `json:"memoryBytes"`
	Kernel      string `json:"kernel"`
	Go          string `json:"go"`
	Node        string `json:"node,omitempty"`
	LoadAverage string `json:"loadAverage"`
}

func run(o options) error {
	if _, err := os.Stat(o.cuzk); err != nil {
		return fmt.Errorf("%s is missing: run make build first", o.cuzk)
	}
	o.cuzk, _ = filepath.Abs(o.cuzk)
	lab, err := prepare(o)
	if err != nil {
		return err
	}
	r := report{
		Date: time.Now().UTC().Format("2006-01-02"), Machine: thisMachine(),
		Command: fmt.Sprintf("make bench BENCH_RUNS=%d", o.runs),
	}
	missed := 0
	for _, c := range lab.comparisons() {
		if o.only != "" && !strings.Contains(c.name, o.only) {
			continue
		}
		slog.Info("Measuring", "comparison", c.name, "runs", o.runs)
		done, err := c.measure(o.runs)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		for _, t := range done.Targets {
			if !t.Met {
				missed++
			}
		}
		r.Comparisons = append(r.Comparisons, done)
	}
	if len(r.Comparisons) == 0 {
		return errors.New("no comparison is called so")
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(o.out), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(o.out, append(data, '\n'), 0o644); err != nil {
		return err
	}
	fmt.Print(r.table())
	if missed > 0 && o.target {
		return fmt.Errorf("%d targets are missed", missed)
	}
	return nil
}

func thisMachine() machine {
	m := machine{Cores: runtime.NumCPU(), Go: runtime.Version(), CPU: field("/proc/cpuinfo", "model name")}
	var kb int64
	if _, err := fmt.Sscan(field("/proc/meminfo", "MemTotal"), &kb); err == nil {
		m.MemoryBytes = kb << 10
	}
	m.Kernel = strings.TrimSpace(readFile("/proc/sys/kernel/osrelease"))
	if f := strings.Fields(readFile("/proc/loadavg")); len(f) > 2 {
		m.LoadAverage = strings.Join(f[:3], " ")
	}
	if v, err := output("node", "--version"); err == nil {
		m.Node = v
	}
	return m
}

func readFile(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(data)
}

// field is the value of "name : value" in a file of /proc.
func field(path, name string) string {
	for line := range strings.Lines(readFile(path)) {
		if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == name {
			return strings.TrimSpace(v)
		}
	}
	return ""
}
