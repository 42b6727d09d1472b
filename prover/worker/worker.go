// Package worker is the pod's side of a ProofJob: it reads the order that the operator left in the pod, proves the
// partitions of its completion index, and reports into the job's status what it does and finds.
//
// Two ways lead back. Reports are applied to the status, confined by an admission policy to the pod's own partitions.
// What could not be applied is in the termination message. The process ends with 0 only if one of them carried every
// proof: whether a proof counts is for the controller to find out.
package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/worker/order"
)

// The time that is left for a last word once the pod has been told to stop.
const lastWordTime = 10 * time.Second

// Pod is what the downward API tells.
type Pod struct {
	Name, Namespace, Node string
	UID                   string
	// Index is the completion index.
	Index int
}

// PodFromEnvironment reads what the operator and the Job controller put into the environment.
func PodFromEnvironment(getenv func(string) string) (Pod, error) {
	p := Pod{
		Name: getenv(order.EnvPodName), Namespace: getenv(order.EnvPodNamespace), Node: getenv(order.EnvNodeName),
		UID: getenv(order.EnvPodUID),
	}
	for name, value := range map[string]string{order.EnvPodName: p.Name, order.EnvPodNamespace: p.Namespace, order.EnvPodUID: p.UID} {
		if value == "" {
			return p, failure.New(failure.Usage, "%s is not set: `cuzk work` runs in the pods that the operator makes", name)
		}
	}
	index := getenv(order.EnvIndex)
	var err error
	if p.Index, err = strconv.Atoi(index); err != nil || p.Index < 0 {
		return p, failure.New(failure.Usage, "%s is %q, not a completion index", order.EnvIndex, index)
	}
	return p, nil
}

// Worker proves the partitions of one pod.
type Worker struct {
	Pod    Pod
	Order  *order.Order
	Client client.Client
	// Engine proves inputs of circom and gnark, Filecoin those of Filecoin's circuits.
	Engine   Engine
	Filecoin *Filecoin
	Log      logr.Logger
	Clock    clock.WithTicker
	// Scratch is the writable directory; Termination is where the last word goes.
	Scratch     string
	Termination string
}

// attempt is what came of proving a partition.
type attempt struct {
	proved      *Proved
	inputDigest string
	// withdrawn are the devices to tell of.
	withdrawn []v1alpha1.WithdrawnDevice
	err       error
}

// outcome is what became of a partition.
type outcome struct {
	report *v1alpha1.PartitionReport
	err    error
	// applied says that the status holds the report.
	applied bool
}

// Run proves what the pod owns. A nil error means that every proof is on its way to the controller.
func (w *Worker) Run(ctx context.Context) error {
	applier := &applier{
		client: w.Client, clock: w.Clock, log: w.Log, namespace: w.Order.Namespace, job: w.Order.Job, started: w.Clock.Now(),
	}
	outcomes := map[int]*outcome{}
	err := w.run(ctx, applier, outcomes)
	if ctx.Err() != nil && err != nil && failure.ClassOf(err) != failure.Interrupted {
		err = failure.New(failure.Interrupted, "stopped before there was a proof: %w", err)
	}
	complete, werr := w.lastWord(outcomes, err)
	if werr != nil {
		w.Log.Error(werr, "Could not write the termination message")
	}
	if err != nil {
		return err
	}
	for index, o := range outcomes {
		if o.err == nil && !o.applied && (!complete || werr != nil) {
			return failure.New(failure.IO, "the proof of partition %d could not be reported, nor fit into the termination message", index)
		}
	}
	return firstError(outcomes)
}

// firstError decides the exit code when partitions failed alone.
func firstError(outcomes map[int]*outcome) error {
	first := -1
	for index, o := range outcomes {
		if o.err != nil && (first < 0 || index < first) {
			first = index
		}
	}
	if first < 0 {
		return nil
	}
	return fmt.Errorf("partition %d: %w", first, outcomes[first].err)
}

func (w *Worker) run(ctx context.Context, a *applier, outcomes map[int]*outcome) error {
	job, err := a.readJob(ctx)
	if err != nil {
		return failure.New(failure.IO, "job %s/%s: %w", w.Order.Namespace, w.Order.Job, err)
	}
	if string(job.UID) != w.Order.JobUID {
		return failure.New(failure.IO, "job %s/%s is not the one this pod was made for (UID %s, not %s)", w.Order.Namespace, w.Order.Job, job.UID, w.Order.JobUID)
	}
	todo := w.todo(job)
	if len(todo) == 0 {
		w.Log.Info("All partitions of the pod are verified already", "index", w.Pod.Index)
		return nil
	}

	rep := newReporter(a, time.Duration(max(1, w.Order.ProgressSeconds))*time.Second)
	loopCtx, stop := context.WithCancel(ctx)
	loopDone := make(chan struct{})
	go func() { defer close(loopDone); rep.loop(loopCtx) }()
	defer func() { stop(); <-loopDone }()

	scratch, err := scratchDir(w.Scratch)
	if err != nil {
		return err
	}
	fs := &files{scratch: scratch, progress: logReading(w.Log, w.Clock)}
	defer fs.release(0, 0)

	parts := w.partitions(fs, &job.Spec, todo)
	var devices withdrawnDevices
	for _, index := range todo {
		rep.begin(index, w.Order.Runs+w.Order.WarmupRuns, v1alpha1.PartitionReport{
			PodName: w.Pod.Name, PodUID: w.Pod.UID, Node: cut(w.Pod.Node, 63), Stage: v1alpha1.StageQueue,
		})
		proved, digest, err := parts.prove(ctx, rep, index)
		o := w.report(ctx, rep, index, attempt{
			proved: proved, inputDigest: digest, withdrawn: devices.untold(parts.withdrawn()), err: err,
		})
		outcomes[index] = o
		if o.applied {
			devices.tell(o.report.WithdrawnDevices)
		}
		if err != nil && parts.ends(err) {
			return errors.Join(err, parts.Close())
		}
	}
	return parts.Close()
}

// report applies a partition's last report. A stop from outside must not keep it from being sent.
func (w *Worker) report(ctx context.Context, rep *reporter, index int, a attempt) *outcome {
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), lastWordTime)
		defer cancel()
	}
	report, applyErr := rep.finish(ctx, func(r *v1alpha1.PartitionReport) { w.fill(r, a) })
	if applyErr != nil {
		w.Log.Error(applyErr, "Report was not accepted; the termination message has to carry it", "partition", index)
	}
	if a.err != nil {
		w.Log.Error(nil, "Partition was not proved", "partition", index, "class", string(failure.ClassOf(a.err)), "reason", a.err.Error())
	} else {
		w.Log.Info("Proved partition", "partition", index)
	}
	return &outcome{report: report, err: a.err, applied: applyErr == nil}
}

// todo lists the pod's partitions that have no verified proof.
func (w *Worker) todo(job *v1alpha1.ProofJob) []int {
	verified := map[int]bool{}
	for i := range job.Status.Partitions {
		p := &job.Status.Partitions[i]
		if p.Verified != nil && *p.Verified || p.State == v1alpha1.PartitionSucceeded {
			verified[int(p.Index)] = true
		}
	}
	var todo []int
	for i, hi := w.Order.Owned(w.Pod.Index); i < hi; i++ {
		if !verified[i] {
			todo = append(todo, i)
		}
	}
	return todo
}

// fill makes the final report, within what a job of that many partitions may hold.
func (w *Worker) fill(r *v1alpha1.PartitionReport, a attempt) {
	n := w.Order.Partitions
	r.Stage, r.InputDigest, r.ProgressPercent = v1alpha1.StageDone, a.inputDigest, nil
	r.WithdrawnDevices = v1alpha1.BoundWithdrawnDevices(a.withdrawn, n)
	if a.err != nil {
		r.Error = &v1alpha1.ReportError{
			Class:   v1alpha1.ErrorClass(failure.ClassOf(a.err)),
			Message: v1alpha1.ReportMessage(a.err.Error(), v1alpha1.ReportPayloadBudget(n)),
		}
		return
	}
	p := a.proved
	r.Refusals = int32(min(p.Refusals, v1alpha1.MaxRefusals))
	r.Backend, r.Proof = p.Backend, p.Proof
	if v1alpha1.PublicInputsFit(p.PublicInputs, p.Proof, n) {
		r.PublicInputs = p.PublicInputs
	} else {
		r.PublicInputsDigest = v1alpha1.PublicInputsDigest(p.PublicInputs)
	}
	if len(p.Runs) == 0 {
		return
	}
	t := p.Runs[len(p.Runs)-1].Timings.Bounded(n)
	r.Timings = &t
	if len(p.Runs) > 1 && (v1alpha1.DetailedTimings(n) || r.Refusals == 0 && len(r.WithdrawnDevices) == 0) {
		for _, run := range p.Runs[:min(len(p.Runs), v1alpha1.MaxRuns(n))] {
			r.Runs = append(r.Runs, run.Bounded(n))
		}
	}
}

func cut(s string, n int) string { return s[:min(len(s), n)] }

// copyFrom reads a file from its start without moving its offset, until ctx ends.
func copyFrom(ctx context.Context, dst io.Writer, f *os.File) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return io.Copy(dst, &contextReader{ctx, io.NewSectionReader(f, 0, info.Size())})
}

type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c *contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
