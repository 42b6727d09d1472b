package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// program is one side of a comparison.
type program struct {
	name string
	args []string
	dir  string
	// after looks at the output of a run and may refuse it: a figure of a wrong proof is none.
	after func(stdout []byte) error
}

// sample is what one run took.
type sample struct {
	WallSeconds float64 `json:"wallSeconds"`
	CPUSeconds  float64 `json:"cpuSeconds"`
	PeakBytes   int64   `json:"peakBytes"`
}

// once runs the program and measures the process with what it started: user and system time, and the largest resident
// set of any of them.
func (p program) once() (sample, error) {
	cmd := exec.Command(p.args[0], p.args[1:]...)
	cmd.Dir = p.dir
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	start := time.Now()
	err := cmd.Run()
	wall := time.Since(start)
	if err != nil {
		return sample{}, fmt.Errorf("%s: %w: %s", strings.Join(p.args, " "), err, tail(stderr.String()+stdout.String()))
	}
	if p.after != nil {
		if err := p.after(stdout.Bytes()); err != nil {
			return sample{}, fmt.Errorf("%s: %w", p.name, err)
		}
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return sample{}, fmt.Errorf("this system does not tell what a process used")
	}
	return sample{
		WallSeconds: wall.Seconds(),
		CPUSeconds:  float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9,
		PeakBytes:   usage.Maxrss << 10,
	}, nil
}

func tail(s string) string {
	if len(s) > 2000 {
		return "…" + s[len(s)-2000:]
	}
	return s
}

func output(name string, args ...string) (string, error) {
	out, err := exec.Command(name, args...).Output()
	return strings.TrimSpace(string(out)), err
}

// must runs a command of the preparation, its output on our standard error.
func command(dir, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return nil
}

// spread is a median with its range.
type spread struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

func spreadOf(samples []sample, of func(sample) float64) spread {
	v := make([]float64, len(samples))
	for i, s := range samples {
		v[i] = of(s)
	}
	slices.Sort(v)
	m := v[len(v)/2]
	if len(v)%2 == 0 {
		m = (m + v[len(v)/2-1]) / 2
	}
	return spread{Median: m, Min: v[0], Max: v[len(v)-1]}
}

// side is one program's figures.
type side struct {
	Name    string   `json:"name"`
	Command string   `json:"command"`
	Wall    spread   `json:"wallSeconds"`
	CPU     spread   `json:"cpuSeconds"`
	Peak    spread   `json:"peakBytes"`
	Samples []sample `json:"samples"`
}

// target is what was to be reached.
type target struct {
	Text  string  `json:"text"`
	Value float64 `json:"value"`
	Met   bool    `json:"met"`
}

// comparison is a measured one.
type comparison struct {
	Name    string   `json:"name"`
	Circuit string   `json:"circuit"`
	Sides   []side   `json:"sides"`
	Targets []target `json:"targets"`
}

// plan is a comparison to be measured: ours first.
type plan struct {
	name     string
	circuit  string
	programs []program
	targets  func(ours, theirs side) []target
}

func (p plan) measure(runs int) (comparison, error) {
	c := comparison{Name: p.name, Circuit: p.circuit}
	samples := make([][]sample, len(p.programs))
	for round := range runs + 1 {
		for i := range p.programs {
			// Who goes first changes with each round.
			j := (i + round) % len(p.programs)
			s, err := p.programs[j].once()
			if err != nil {
				return c, err
			}
			if round > 0 { // the first round warms the file cache
				samples[j] = append(samples[j], s)
			}
		}
	}
	for i, prog := range p.programs {
		c.Sides = append(c.Sides, side{
			Name: prog.name, Command: display(prog.args), Samples: samples[i],
			Wall: spreadOf(samples[i], func(s sample) float64 { return s.WallSeconds }),
			CPU:  spreadOf(samples[i], func(s sample) float64 { return s.CPUSeconds }),
			Peak: spreadOf(samples[i], func(s sample) float64 { return float64(s.PeakBytes) }),
		})
	}
	for _, theirs := range c.Sides[1:] {
		c.Targets = append(c.Targets, p.targets(c.Sides[0], theirs)...)
	}
	return c, nil
}

// display shows a command without the folders of this machine.
func display(args []string) string {
	short := make([]string, len(args))
	for i, a := range args {
		short[i] = a[strings.LastIndex(a, "/")+1:]
	}
	return strings.Join(short, " ")
}

// pairedRatio is the median over the rounds of theirs by ours: both of a round ran next to each other.
func pairedRatio(ours, theirs side, of func(sample) float64) float64 {
	r := make([]sample, len(ours.Samples))
	for i := range r {
		r[i].CPUSeconds = of(theirs.Samples[i]) / of(ours.Samples[i])
	}
	return spreadOf(r, func(s sample) float64 { return s.CPUSeconds }).Median
}
