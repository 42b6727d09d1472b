package proofjob

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/controllers/internal/verification"
)

// Config holds the settings that plans depend on.
type Config struct {
	// ProverImage and ProverCUDAImage are used by jobs that name no image.
	ProverImage     string
	ProverCUDAImage string
	// NodeDeadAfter is how long a node must have been not Ready until its pods are given up.
	NodeDeadAfter time.Duration
	// PendingGrace is how long pods may be pending until the status says why.
	PendingGrace time.Duration
}

// Plan is what is to be done for a job.
type Plan struct {
	// Status is the wanted status: the controller's part, without the pods' reports, but for those that lose their proofs
	// to the result of a Filecoin proof.
	Status api.ProofJobStatus
	// WriteStatus says that it is due; a status that differs may have to wait for the next write that is.
	WriteStatus bool
	// AsRead says that the status may only be written to the job as it was read, not to one made anew under its name.
	AsRead bool
	// Actions are carried out in order, before the status is written, and only if they succeed is it written.
	Actions []Action
	// Checks are proofs to be verified.
	Checks []Check
	// Events are told after the status was written.
	Events []Event
	// Withdrawals are told of in any case.
	Withdrawals []Withdrawals
	// RequeueAfter, if not 0, is when time alone may change the plan.
	RequeueAfter time.Duration
	// Forget drops what is kept in memory for the job. An end has to be read before, or a plan on what the cache held until
	// then would find nothing remembered.
	Forget bool

	// ReadFresh asks for a plan on what the API server holds instead of the cache, before anything is done.
	ReadFresh bool
	// ReadCreationFailure asks for Observation.CreationFailure, before anything is done.
	ReadCreationFailure bool
}

// Check is a proof of a partition to be verified.
type Check struct {
	// Partition is its number, or wholeProof.
	Partition int32
	Digest    string
	verification.Claim
}

// MakePlan decides what to do. It is pure: equal arguments give equal plans.
func MakePlan(o *Observation, cfg Config, now time.Time) Plan {
	p := &planner{o: o, cfg: cfg, now: now}
	p.plan.Status = withoutReports(o.Job.Status)
	p.status = &p.plan.Status

	switch {
	case managedElsewhere(o.Job):
		return Plan{Forget: true}
	case o.Job.DeletionTimestamp != nil:
		return Plan{Forget: true}
	case finished(o.Job):
		p.ttlAfterFinished()
		return p.plan
	}

	p.entries()
	p.keyReady()
	p.startTime()
	p.attempts()
	p.withdrawnDevices()
	if len(p.plan.Actions) > 0 {
		return p.plan // reports are stored: that wakes the job, and they are looked at like any other
	}
	p.verification()
	p.deadNodes()
	p.failedPartitions()
	p.maxFailedPartitions()
	p.activeDeadline()
	p.schedulingDeadline()
	p.proofMissing()
	if p.plan.ReadFresh || p.plan.ReadCreationFailure {
		return p.plan
	}
	p.complete()
	p.end()
	p.suspend()
	p.child()
	p.running()
	if p.plan.ReadCreationFailure {
		return p.plan
	}
	p.writeStatus()
	return p.plan
}

type planner struct {
	o    *Observation
	cfg  Config
	now  time.Time
	plan Plan

	status     *api.ProofJobStatus
	circuit    *circuit
	partitions []partition
	// key says that the proving key can be used.
	key bool
	// failure is why the job fails, nil while it does not.
	failure *jobFailure
	// ended says that this plan ends the job, Complete or Failed.
	ended bool
	// keyUnavailable says that the verifying key could not be read lately.
	keyUnavailable bool
	// held says that the job is kept from running, by its user or a queue.
	held bool
}

// jobFailure is why a job fails.
type jobFailure struct{ reason, message string }

// fail makes the job fail, unless something did before.
func (p *planner) fail(reason, message string) {
	if p.failure == nil {
		p.failure = &jobFailure{reason, message}
	}
}

func (p *planner) act(a Action) { p.plan.Actions = append(p.plan.Actions, a) }

// lookAgain asks for a plan after d, or earlier.
func (p *planner) lookAgain(d time.Duration) {
	d = max(d, time.Second)
	if p.plan.RequeueAfter == 0 || d < p.plan.RequeueAfter {
		p.plan.RequeueAfter = d
	}
}

// lookAgainAt asks for a plan at t, or earlier.
func (p *planner) lookAgainAt(t time.Time) { p.lookAgain(t.Sub(p.now)) }

// condition sets a condition of the wanted status.
func (p *planner) condition(kind string, status metav1.ConditionStatus, reason, message string) {
	setCondition(&p.status.Conditions, metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: message,
		ObservedGeneration: p.o.Job.Generation,
	}, p.now)
}

// was is a condition as it stands in the status that was read, the zero value if it does not.
func (p *planner) was(kind string) metav1.Condition {
	if c := meta.FindStatusCondition(p.o.Job.Status.Conditions, kind); c != nil {
		return *c
	}
	return metav1.Condition{}
}

// livePods counts the pods that have not ended.
func (p *planner) livePods() int {
	n := 0
	for _, pod := range p.o.Pods {
		if !podEnded(pod) {
			n++
		}
	}
	return n
}

func podEnded(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

func finished(job *api.ProofJob) bool {
	return meta.IsStatusConditionTrue(job.Status.Conditions, api.ConditionComplete) ||
		meta.IsStatusConditionTrue(job.Status.Conditions, api.ConditionFailed)
}
