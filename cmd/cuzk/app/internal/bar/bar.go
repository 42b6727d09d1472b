// Package bar draws one line of progress on a terminal.
package bar

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
)

const (
	// redraw is the least time between two drawings, so that a slow terminal does not slow the work.
	redraw = 80 * time.Millisecond
	// clock is how often the time is drawn anew, of work that tells nothing.
	clock = time.Second
)

// Bar is a line of progress. A nil *Bar draws nothing. It is safe for concurrent use.
type Bar struct {
	w     io.Writer
	width func() int
	now   func() time.Time
	// ticks is a ticker's channel and its end.
	ticks func() (<-chan time.Time, func())

	mu       sync.Mutex
	label    string
	fraction float64
	begun    time.Time
	last     time.Time
	stop     chan struct{} // ends the clock; nil while nothing is shown
}

// New is a bar on f, or nil where f is no terminal.
func New(f *os.File) *Bar {
	if !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" {
		return nil
	}
	width := func() int {
		w, _, err := term.GetSize(int(f.Fd()))
		if err != nil {
			return 80
		}
		return w
	}
	ticks := func() (<-chan time.Time, func()) {
		t := time.NewTicker(clock)
		return t.C, t.Stop
	}
	return &Bar{w: f, now: time.Now, width: width, ticks: ticks}
}

// Begin starts a piece of work of which no fraction is known yet.
func (b *Bar) Begin(label string) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.label, b.fraction, b.begun = label, -1, b.now()
	b.draw()
	if b.stop == nil {
		b.stop = make(chan struct{})
		go b.tick(b.stop)
	}
}

// tick draws the time that has passed until it is stopped.
func (b *Bar) tick(stop chan struct{}) {
	ticks, end := b.ticks()
	defer end()
	for {
		select {
		case <-stop:
			return
		case <-ticks:
			b.mu.Lock()
			if b.stop == stop {
				b.draw()
			}
			b.mu.Unlock()
		}
	}
}

// Set shows how much of the work is done, from 0 to 1.
func (b *Bar) Set(fraction float64) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fraction = fraction
	if b.stop != nil && b.now().Sub(b.last) >= redraw {
		b.draw()
	}
}

// Clear takes the line away, so that something else can be printed.
func (b *Bar) Clear() {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.stop != nil {
		fmt.Fprint(b.w, "\r\x1b[K")
		close(b.stop)
		b.stop = nil
	}
}

func (b *Bar) draw() {
	b.last = b.now()
	fmt.Fprintf(b.w, "\r%s\x1b[K", Line(b.label, b.fraction, b.last.Sub(b.begun), b.width()))
}

// Line is one drawing: label, bar, percentage and time, within width columns. A negative fraction draws no bar.
func Line(label string, fraction float64, elapsed time.Duration, width int) string {
	seconds := int(elapsed.Seconds())
	right := fmt.Sprintf("%d:%02d", seconds/60, seconds%60)
	if fraction < 0 {
		return clip(fmt.Sprintf("%-8s %s", label, right), width)
	}
	fraction = min(fraction, 1)
	right = fmt.Sprintf("%3d%%  %s", int(fraction*100), right)
	cells := min(width-max(len(label), 8)-len(right)-4, 40)
	if cells < 4 {
		return clip(fmt.Sprintf("%-8s %s", label, right), width)
	}
	full := int(fraction * float64(cells))
	return fmt.Sprintf("%-8s [%s%s] %s", label, strings.Repeat("#", full), strings.Repeat(".", cells-full), right)
}

func clip(s string, width int) string {
	if len(s) > width {
		return s[:max(width, 0)]
	}
	return s
}
