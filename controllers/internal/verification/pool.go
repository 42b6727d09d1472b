// Package verification checks proofs beside the reconcilers: a bounded pool works through them, verdicts are remembered
// by what they are about, and parsed verifying keys are kept in a cache that is bounded in bytes. Nothing of it is
// persistent: a restarted operator checks anew what no status records yet.
package verification

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
)

// ID names one check: a proof and what it must be about (Digest covers both) for a partition of a job.
type ID struct {
	UID    types.UID
	Index  int32
	Digest string
}

// Task is one proof to check.
type Task struct {
	ID  ID
	Job types.NamespacedName
	Key KeyRef
	Claim
}

// KeyRetry is how long a verifying key that could not be had is left alone.
const KeyRetry = 10 * time.Second

// Verdict is what became of a check.
type Verdict struct {
	// Valid says that the proof verifies.
	Valid bool
	// Message tells why it does not, or why it could not be checked.
	Message string
	// KeyUnavailable says that there is no verdict on the proof, since the verifying key could not be had. Submitting
	// the task again tries again, but not within KeyRetry.
	KeyUnavailable bool

	at time.Time
}

// Pool checks proofs with a fixed number of workers. It is a manager.Runnable that runs on the leader only.
type Pool struct {
	workers int
	keys    *Keys
	clock   clock.PassiveClock
	notify  func(context.Context, types.NamespacedName)

	queue workqueue.TypedInterface[ID]

	mu       sync.Mutex
	tasks    map[ID]Task
	verdicts map[types.UID]map[ID]Verdict
}

// NewPool returns a pool that tells notify which job has a new verdict.
func NewPool(workers int, keys *Keys, clock clock.PassiveClock, notify func(context.Context, types.NamespacedName)) *Pool {
	return &Pool{
		workers:  max(workers, 1),
		keys:     keys,
		clock:    clock,
		notify:   notify,
		queue:    workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[ID]{Name: "verification"}),
		tasks:    map[ID]Task{},
		verdicts: map[types.UID]map[ID]Verdict{},
	}
}

// NeedLeaderElection keeps replicas that wait from checking proofs.
func (p *Pool) NeedLeaderElection() bool { return true }

// Start works until ctx ends.
func (p *Pool) Start(ctx context.Context) error {
	var wg sync.WaitGroup
	for range p.workers {
		wg.Go(func() {
			for {
				id, shutdown := p.queue.Get()
				if shutdown {
					return
				}
				p.work(ctx, id)
				p.queue.Done(id)
			}
		})
	}
	<-ctx.Done()
	p.queue.ShutDown()
	wg.Wait()
	return nil
}

// Submit asks for a check, unless there is a verdict on it or it is already asked for.
func (p *Pool) Submit(t Task) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, pending := p.tasks[t.ID]; pending {
		return
	}
	if v, done := p.verdicts[t.ID.UID][t.ID]; done && (!v.KeyUnavailable || p.clock.Since(v.at) < KeyRetry) {
		return
	}
	p.tasks[t.ID] = t
	pending.Inc()
	p.queue.Add(t.ID)
}

// Verdict returns what is known of a check.
func (p *Pool) Verdict(id ID) (Verdict, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	v, ok := p.verdicts[id.UID][id]
	return v, ok
}

// Forget drops all that is remembered of a job.
func (p *Pool) Forget(uid types.UID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.verdicts, uid)
	for id := range p.tasks {
		if id.UID == uid {
			delete(p.tasks, id) // a worker that comes upon its ID finds no task
			pending.Dec()
		}
	}
}

func (p *Pool) work(ctx context.Context, id ID) {
	p.mu.Lock()
	t, ok := p.tasks[id]
	p.mu.Unlock()
	if !ok || ctx.Err() != nil {
		return
	}
	start := p.clock.Now()
	v := p.check(ctx, t)
	v.at = p.clock.Now()
	seconds.Observe(v.at.Sub(start).Seconds())
	verdicts.WithLabelValues(v.label()).Inc()

	p.mu.Lock()
	if _, wanted := p.tasks[id]; !wanted { // forgotten meanwhile
		p.mu.Unlock()
		return
	}
	delete(p.tasks, id)
	pending.Dec()
	if p.verdicts[id.UID] == nil {
		p.verdicts[id.UID] = map[ID]Verdict{}
	}
	p.verdicts[id.UID][id] = v
	p.mu.Unlock()
	p.notify(ctx, t.Job)
}

// check never panics: the bytes come from outside.
func (p *Pool) check(ctx context.Context, t Task) (v Verdict) {
	defer func() {
		if r := recover(); r != nil {
			logf.FromContext(ctx).Error(fmt.Errorf("panic: %v", r), "Verification panicked", "job", t.Job, "partition", t.ID.Index, "stack", string(debug.Stack()))
			v = Verdict{Message: "the proof could not be checked: internal error of the verifier"}
		}
	}()
	key, err := p.keys.Get(ctx, t.Key)
	if err != nil {
		return Verdict{Message: err.Error(), KeyUnavailable: true}
	}
	if err := key.Verify(t.Claim); err != nil {
		return Verdict{Message: err.Error()}
	}
	return Verdict{Valid: true}
}

func (v Verdict) label() string {
	switch {
	case v.KeyUnavailable:
		return "key_unavailable"
	case v.Valid:
		return "valid"
	default:
		return "invalid"
	}
}
