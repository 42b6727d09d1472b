package worker

import (
	"context"
	"sync"
	"time"

	"github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/prover/progress"
	"github.com/cuzk-dev/cuzk/prover/stage"
)

// reporter keeps the latest report of the partition under work and brings it to the status: a change of stage at once,
// mere progress at most every interval. It never holds up the proof; a report that cannot be delivered in time is
// overtaken by the next. What decides something (a proof, an error) goes through finish, which waits.
type reporter struct {
	applier  *applier
	interval time.Duration
	measure  func() time.Time

	mu      sync.Mutex
	current *v1alpha1.PartitionReport
	index   int
	urgent  bool
	// runs and run place the progress of one run within all of them.
	runs, run int

	wake chan struct{}
	// logged is told of the stage under way; the calls of stage.Observer come one at a time.
	logged progress.Func
	// sending is held while a report is on its way, so that finish is never overtaken by an older one.
	sending sync.Mutex
}

func newReporter(a *applier, interval time.Duration) *reporter {
	return &reporter{applier: a, interval: interval, measure: a.clock.Now, wake: make(chan struct{}, 1)}
}

// begin makes r the report of the partition under work.
func (p *reporter) begin(index, runs int, r v1alpha1.PartitionReport) {
	p.mu.Lock()
	p.index, p.current, p.runs, p.run, p.urgent = index, &r, runs, 0, true
	p.mu.Unlock()
	p.poke()
}

// update changes the report under work; urgent ones are sent at once.
func (p *reporter) update(urgent bool, change func(*v1alpha1.PartitionReport)) {
	p.mu.Lock()
	if p.current != nil {
		change(p.current)
		p.urgent = p.urgent || urgent
	}
	p.mu.Unlock()
	p.poke()
}

func (p *reporter) poke() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// loop delivers reports until ctx ends.
func (p *reporter) loop(ctx context.Context) {
	var last time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.wake:
		}
		if wait := p.interval - p.measure().Sub(last); !last.IsZero() && wait > 0 && !p.isUrgent() {
			if !p.waitUrgent(ctx, jitter(wait)) {
				return
			}
		}
		p.sending.Lock()
		index, r := p.take()
		if r != nil {
			if err := p.applier.apply(ctx, index, r); err != nil {
				// The next change or the final report will say it; in the meantime the log does.
				p.applier.log.V(1).Info("Progress was not reported", "partition", index, "error", err.Error())
			}
			last = p.measure()
		}
		p.sending.Unlock()
	}
}

// waitUrgent waits for d or until something urgent is there; false when ctx ended.
func (p *reporter) waitUrgent(ctx context.Context, d time.Duration) bool {
	t := p.applier.clock.NewTimer(d)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-t.C():
			return true
		case <-p.wake:
			if p.isUrgent() {
				return true
			}
		}
	}
}

func (p *reporter) isUrgent() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.urgent
}

// take copies the report to send; nil when there is none.
func (p *reporter) take() (int, *v1alpha1.PartitionReport) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.urgent = false
	if p.current == nil {
		return 0, nil
	}
	return p.index, p.current.DeepCopy()
}

// finish ends the partition under work with its last report and waits until it is accepted.
func (p *reporter) finish(ctx context.Context, change func(*v1alpha1.PartitionReport)) (*v1alpha1.PartitionReport, error) {
	p.mu.Lock()
	index, r := p.index, p.current
	p.current = nil
	p.mu.Unlock()
	change(r)
	p.sending.Lock()
	defer p.sending.Unlock()
	return r, p.applier.insist(ctx, index, r)
}

// nextRun says that the run with this number, from 0, begins.
func (p *reporter) nextRun(run int) {
	p.mu.Lock()
	p.run = run
	p.mu.Unlock()
}

var stages = map[stage.Name]v1alpha1.Stage{
	stage.Queue:  v1alpha1.StageQueue,
	stage.SRS:    v1alpha1.StageSRS,
	stage.Synth:  v1alpha1.StageSynth,
	stage.GPU:    v1alpha1.StageGPU,
	stage.Verify: v1alpha1.StageVerify,
}

// Where a stage stands within one run, in percent: what a person watching sees move, not a promise.
var stageBegins = map[stage.Name]float64{stage.Queue: 0, stage.SRS: 2, stage.Synth: 15, stage.GPU: 40, stage.Verify: 97}
var stageEnds = map[stage.Name]float64{stage.Queue: 2, stage.SRS: 15, stage.Synth: 40, stage.GPU: 97, stage.Verify: 100}

// Begin implements stage.Observer.
func (p *reporter) Begin(s stage.Name) {
	p.logged = logStage(p.applier.log, p.applier.clock, p.index, s)
	p.progress(s, 0, true)
}

// Progress implements stage.Observer.
func (p *reporter) Progress(s stage.Name, done, total int64) {
	if p.logged != nil {
		p.logged(done, total)
	}
	p.progress(s, float64(done)/float64(total), false)
}

// Done implements stage.Observer; times reach the report with the result.
func (p *reporter) Done(stage.Span) {}

func (p *reporter) progress(s stage.Name, done float64, begins bool) {
	name, ok := stages[s]
	if !ok {
		return
	}
	p.mu.Lock()
	if p.current == nil {
		p.mu.Unlock()
		return
	}
	within := stageBegins[s] + (stageEnds[s]-stageBegins[s])*min(max(done, 0), 1)
	percent := int32((float64(p.run)*100 + within) / float64(max(1, p.runs)))
	// Runs after the first pass through the stages faster than anyone could read: only the first run's are urgent.
	urgent := begins && p.run == 0 && p.current.Stage != name
	p.current.Stage = name
	if p.current.ProgressPercent == nil || percent > *p.current.ProgressPercent {
		p.current.ProgressPercent = &percent
	}
	p.urgent = p.urgent || urgent
	p.mu.Unlock()
	p.poke()
}
