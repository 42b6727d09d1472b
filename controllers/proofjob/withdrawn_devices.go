package proofjob

import (
	"fmt"
	"maps"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/controllers/internal/text"
)

// Withdrawals are the devices that a partition's report says are withdrawn, to be told of.
type Withdrawals struct {
	Partition int32
	// PodUID is the UID of the pod whose report it is.
	PodUID string
	// Notes is one for each device.
	Notes []string
}

// withdrawnDevices finds the reports whose devices were not told of. A report counts here whether or not its pod has been
// replaced since: it is about hardware, which the next pod may get.
func (p *planner) withdrawnDevices() {
	for i := range p.partitions {
		x := &p.partitions[i]
		r := x.was.Report
		if r == nil || len(r.WithdrawnDevices) == 0 || p.o.WithdrawalsTold[x.index] == r.PodUID {
			continue
		}
		w := Withdrawals{Partition: x.index, PodUID: r.PodUID}
		for _, d := range r.WithdrawnDevices {
			w.Notes = append(w.Notes, withdrawalNote(x.index, r, d))
		}
		p.plan.Withdrawals = append(p.plan.Withdrawals, w)
	}
}

// withdrawalNote says which device it is, where it is, and what was wrong with it.
func withdrawalNote(partition int32, r *api.PartitionReport, d api.WithdrawnDevice) string {
	var note strings.Builder
	fmt.Fprintf(&note, "Pod %s", r.PodName)
	if r.Node != "" {
		fmt.Fprintf(&note, " on node %s", r.Node)
	}
	fmt.Fprintf(&note, " gives GPU %s", d.UUID)
	if d.Name != "" {
		fmt.Fprintf(&note, " (%s)", d.Name)
	}
	fmt.Fprintf(&note, " no more work, after partition %d", partition)
	if d.Reason != "" {
		fmt.Fprintf(&note, ": %s", d.Reason)
	}
	return text.Sentence(note.String())
}

// tellWithdrawals makes an event of each device, and counts it. The status holds them already: the pod wrote them.
func (r *Reconciler) tellWithdrawals(job *api.ProofJob, all []Withdrawals) {
	for _, w := range all {
		r.withdrawals.tell(job.UID, w.Partition, w.PodUID)
		for _, note := range w.Notes {
			withdrawnDevices.Inc()
			r.Recorder.Eventf(job, nil, corev1.EventTypeWarning, api.ReasonDeviceWithdrawn, "WithdrawDevice", "%s", note)
		}
	}
}

// toldWithdrawals remembers of which reports' devices was told. No status does: it would take a write of its own.
type toldWithdrawals struct {
	mu sync.Mutex
	// pods are the UIDs of the pods that reported, by job and partition.
	pods map[types.UID]map[int32]string
}

// of returns what was told of a job. One that is seen for the first time while partitions are at their end has been seen
// before a restart: their reports were told of then.
func (t *toldWithdrawals) of(job *api.ProofJob) map[int32]string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if told, known := t.pods[job.UID]; known {
		return maps.Clone(told)
	}
	told := map[int32]string{}
	for i := range job.Status.Partitions {
		if e := &job.Status.Partitions[i]; settled(e) && e.Report != nil {
			told[e.Index] = e.Report.PodUID
		}
	}
	if t.pods == nil {
		t.pods = map[types.UID]map[int32]string{}
	}
	t.pods[job.UID] = told
	return maps.Clone(told)
}

// tell notes that the devices in a report were told of.
func (t *toldWithdrawals) tell(job types.UID, partition int32, pod string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.pods[job] != nil {
		t.pods[job][partition] = pod
	}
}

func (t *toldWithdrawals) forget(job types.UID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.pods, job)
}
