package proofjob

import (
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/controllers/internal/text"
	"github.com/cuzk-dev/cuzk/prover/worker/order"
)

// partition is what a plan knows of one partition.
type partition struct {
	index int32
	input *api.ProofInput
	// was is the entry in the status that was read, with the pod's report.
	was api.PartitionStatus
	// is is the wanted entry, without the report.
	is api.PartitionStatus

	// pod is the newest pod of the partition's completion index, nil if none is known.
	pod *corev1.Pod
	// word is what that pod said last, nil if it has not ended or said nothing.
	word *lastWord
	// previous is the last word of an earlier pod, if the newest has not ended.
	previous *lastWord
	// report is the report that counts, nil if none does.
	report *api.PartitionReport
}

// lastWord is a pod's termination message, as far as it concerns a partition.
type lastWord struct {
	entry   *order.TerminationPartition
	class   string
	message string
}

// settled says that the status tells of the partition's end, which nothing that happens to its pod changes any more.
func (x *partition) settled() bool { return settled(&x.was) }

func settled(e *api.PartitionStatus) bool {
	return e.State == api.PartitionSucceeded || e.State == api.PartitionFailed
}

func (x *partition) final() bool {
	return x.is.State == api.PartitionSucceeded || x.is.State == api.PartitionFailed
}

// allFinal says that every partition has come to its end.
func (p *planner) allFinal() bool {
	for i := range p.partitions {
		if !p.partitions[i].final() {
			return false
		}
	}
	return true
}

func (x *partition) succeed(reason string) {
	x.is.State, x.is.Reason, x.is.Message = api.PartitionSucceeded, reason, ""
}

func (x *partition) fail(reason, message string) {
	x.is.State, x.is.Reason, x.is.Message = api.PartitionFailed, reason, message
}

// entries makes the partitions' entries. Pods only fill in entries that are there, so they are written before the Job is
// created.
func (p *planner) entries() {
	var err error
	if p.circuit, err = circuitOf(p.o.Job); err != nil {
		p.fail(api.ReasonInvalidConfiguration, text.Sentence("nothing can be proved of what the spec states: "+err.Error()))
	}
	known := make(map[int32]*api.PartitionStatus, p.circuit.partitions)
	for i := range p.o.Job.Status.Partitions {
		known[p.o.Job.Status.Partitions[i].Index] = &p.o.Job.Status.Partitions[i]
	}
	p.partitions = make([]partition, p.circuit.partitions)
	for i := range p.partitions {
		x := &p.partitions[i]
		x.index, x.input = int32(i), p.circuit.input(&p.o.Job.Spec, int32(i))
		x.is = api.PartitionStatus{Index: x.index, Input: x.input.Name, State: api.PartitionPending}
		if e, ok := known[x.index]; ok {
			x.was = *e
			if e.State == api.PartitionSucceeded && (e.Report == nil || e.Report.Proof == "") {
				x.was.State = api.PartitionPending // it tells of an earlier job of this name
			}
			x.is.Attempts, x.is.Verified = e.Attempts, e.Verified
			if x.settled() {
				x.is.State, x.is.Reason, x.is.Message = e.State, e.Reason, e.Message
			}
		}
	}
	p.status.PartitionCount = ptr.To(p.circuit.partitions)
}

// entriesWritten says that the status has an entry for each partition.
func (p *planner) entriesWritten() bool {
	for i := range p.partitions {
		if p.partitions[i].was.Input == "" {
			return false
		}
	}
	return true
}

// indexes is a set of completion indexes.
type indexes map[int32]bool

// parseIndexes reads the form in which a Job's status lists indexes: "1,3-5,7".
func parseIndexes(list string) indexes {
	set := indexes{}
	for part := range strings.SplitSeq(list, ",") {
		from, to, isRange := strings.Cut(part, "-")
		lo, err := strconv.ParseInt(from, 10, 32)
		if err != nil {
			continue
		}
		hi := lo
		if isRange {
			if hi, err = strconv.ParseInt(to, 10, 32); err != nil {
				continue
			}
		}
		for i := lo; i <= hi && i < api.MaxPartitions; i++ {
			set[int32(i)] = true
		}
	}
	return set
}

func (p *planner) completedIndexes() indexes {
	if p.o.Child == nil {
		return nil
	}
	return parseIndexes(p.o.Child.Status.CompletedIndexes)
}

func (p *planner) failedIndexes() indexes {
	if p.o.Child == nil {
		return nil
	}
	return parseIndexes(ptr.Deref(p.o.Child.Status.FailedIndexes, ""))
}

// childCondition returns a condition of the child that is True, nil if there is none.
func (p *planner) childCondition(kind batchv1.JobConditionType) *batchv1.JobCondition {
	if p.o.Child == nil {
		return nil
	}
	for i := range p.o.Child.Status.Conditions {
		c := &p.o.Child.Status.Conditions[i]
		if c.Type == kind && c.Status == corev1.ConditionTrue {
			return c
		}
	}
	return nil
}

func (p *planner) childFinished() bool {
	return p.childCondition(batchv1.JobComplete) != nil || p.childCondition(batchv1.JobFailed) != nil
}
