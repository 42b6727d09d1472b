package main

import (
	"fmt"
	"strings"
)

// table is the report in Markdown, as docs/performance.md shows it.
func (r report) table() string {
	var b strings.Builder
	m := r.Machine
	fmt.Fprintf(&b, "%s, `%s`, on %d cores of %s with %.0f GiB, Linux %s, %s", r.Date, r.Command, m.Cores, m.CPU, float64(m.MemoryBytes)/(1<<30), m.Kernel, m.Go)
	if m.Node != "" {
		fmt.Fprintf(&b, ", Node.js %s", m.Node)
	}
	fmt.Fprintf(&b, "; load average at the start %s.\n", m.LoadAverage)
	for _, c := range r.Comparisons {
		fmt.Fprintf(&b, "\n### %s\n\n%s. Median (least–most) of %d runs of each program in turn.\n\n", c.Name, c.Circuit, len(c.Sides[0].Samples))
		b.WriteString("| program | CPU time (s) | wall time (s) | peak memory (MiB) |\n|---|---|---|---|\n")
		for _, s := range c.Sides {
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", s.Name, s.CPU.text(1, 2), s.Wall.text(1, 2), s.Peak.text(1<<20, 0))
		}
		b.WriteString("\n")
		for _, t := range c.Targets {
			verdict := "met"
			if !t.Met {
				verdict = "**missed**"
			}
			fmt.Fprintf(&b, "* %s: %.2f, %s\n", t.Text, t.Value, verdict)
		}
	}
	return b.String()
}

func (s spread) text(unit float64, digits int) string {
	return fmt.Sprintf("%.*f (%.*f–%.*f)", digits, s.Median/unit, digits, s.Min/unit, digits, s.Max/unit)
}
