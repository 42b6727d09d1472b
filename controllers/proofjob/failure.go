package proofjob

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/controllers/internal/text"
	classes "github.com/cuzk-dev/cuzk/prover/failure"
)

// failedPartitions finds the partitions that the Job has given up, and whether the Job as a whole has failed.
func (p *planner) failedPartitions() {
	given, per := p.failedIndexes(), p.circuit.partitionsPerPod
	for i := range p.partitions {
		x := &p.partitions[i]
		if x.final() || p.hasProof(x) {
			continue
		}
		why := x.lastError()
		switch {
		case given[x.index/per] && why == nil:
			// Its pod failed for another of its partitions.
			x.fail(api.ReasonNotProved, "The pod of this partition failed before it had a proof.")
		case given[x.index/per]:
			x.fail(cmp.Or(reasonOf(why.class), api.ReasonBackoffLimitExceeded), text.Sentence(why.message))
		case why != nil:
			x.is.Reason, x.is.Message = api.ReasonRetrying, text.Sentence(why.message)
		case x.previous != nil && x.previous.message != "":
			x.is.Reason, x.is.Message = api.ReasonRetrying, text.Sentence(x.previous.message)
		}
	}
	p.childFailed()
}

// hasProof says that a partition has a proof whose check is not done.
func (p *planner) hasProof(x *partition) bool {
	return x.report != nil && x.report.Stage == api.StageDone && x.report.Proof != ""
}

// childFailed takes over the failure of the Job as a whole.
func (p *planner) childFailed() {
	c := p.childCondition(batchv1.JobFailed)
	if c == nil {
		c = p.childCondition(batchv1.JobFailureTarget)
	}
	if c == nil {
		return
	}
	switch c.Reason {
	case batchv1.JobReasonPodFailurePolicy:
		for i := range p.partitions {
			if why := p.partitions[i].lastError(); why != nil {
				switch reasonOf(why.class) {
				case api.ReasonInvalidKey, api.ReasonInvalidConfiguration:
					p.fail(reasonOf(why.class), text.Sentence(why.message))
					return
				}
			}
		}
		p.fail(api.ReasonJobFailed, text.Sentence(c.Message))
	case batchv1.JobReasonMaxFailedIndexesExceeded:
		if !p.circuit.whole() { // of a whole proof, the partitions say what failed
			p.fail(api.ReasonMaxFailedPartitionsExceeded, fmt.Sprintf("More than %d partitions failed, which spec.maxFailedPartitions does not allow.", ptr.Deref(p.circuit.maxFailed, 0)))
		}
	case batchv1.JobReasonDeadlineExceeded:
		p.fail(api.ReasonDeadlineExceeded, text.Sentence(c.Message))
	case batchv1.JobReasonFailedIndexes, batchv1.JobReasonBackoffLimitExceeded:
		// The partitions say it, once all proofs that did arrive are checked.
		if p.childCondition(batchv1.JobFailed) != nil && !p.awaitsVerdicts() {
			p.fail(api.ReasonPartitionsFailed, p.failedList())
		}
	default:
		p.fail(api.ReasonJobFailed, text.Sentence(cmp.Or(c.Message, c.Reason)))
	}
}

// awaitsVerdicts says that a proof is there that may count: it is being checked, or will be once the key can be used.
func (p *planner) awaitsVerdicts() bool {
	return len(p.plan.Checks) > 0 || slices.ContainsFunc(p.partitions, func(x partition) bool {
		return !x.final() && p.hasProof(&x)
	})
}

// maxFailedPartitions ends the job early once too many partitions failed, those with refused proofs included.
func (p *planner) maxFailedPartitions() {
	failed := 0
	for i := range p.partitions {
		if p.partitions[i].is.State == api.PartitionFailed {
			failed++
		}
	}
	limit := p.circuit.maxFailed
	switch {
	case limit == nil || failed <= int(*limit):
	case p.circuit.whole():
		p.fail(api.ReasonPartitionsFailed, p.failedList())
	default:
		p.fail(api.ReasonMaxFailedPartitionsExceeded, fmt.Sprintf("%s spec.maxFailedPartitions allows %d.", p.failedList(), *limit))
	}
}

// complete looks whether every partition has come to its end.
func (p *planner) complete() {
	if !p.allFinal() {
		return
	}
	if failed := p.failedList(); failed != "" {
		p.fail(api.ReasonPartitionsFailed, failed)
		return
	}
	if p.failure != nil || p.was(api.ConditionFailureTarget).Status == metav1.ConditionTrue {
		return
	}
	if len(p.plan.Checks) > 0 {
		return // after a restart proofs that count already are checked once more before the end is declared
	}
	if !p.result() {
		return
	}
	p.ended = true
	p.condition(api.ConditionComplete, metav1.ConditionTrue, api.ReasonAllProved, fmt.Sprintf("All %d partitions have a proof that counts.", len(p.partitions)))
}

// end carries a failure through: first FailureTarget while pods still end, then Failed.
func (p *planner) end() {
	if p.ended {
		p.finish()
		return
	}
	if c := p.was(api.ConditionFailureTarget); c.Status == metav1.ConditionTrue {
		p.failure = &jobFailure{c.Reason, c.Message} // what came first stays the reason
	}
	if p.failure == nil {
		return
	}
	reason, message := p.failure.reason, p.failure.message
	// Pods whose partitions are all at their end have nothing left to do, and end by themselves.
	working := !p.allFinal()
	if c := p.o.Child; working && c != nil && c.DeletionTimestamp == nil && !p.childFinished() && p.childCondition(batchv1.JobFailureTarget) == nil {
		p.act(DeleteChild{UID: c.UID, Propagation: metav1.DeletePropagationBackground})
	}
	checking := len(p.plan.Checks) > 0 && !p.keyUnavailable
	ending := p.livePods() > 0 || (p.o.Child != nil && p.childCondition(batchv1.JobFailureTarget) != nil && !p.childFinished())
	if checking || (working && ending) {
		p.condition(api.ConditionFailureTarget, metav1.ConditionTrue, reason, message)
		return
	}
	p.ended = true
	p.condition(api.ConditionFailureTarget, metav1.ConditionTrue, reason, message)
	p.condition(api.ConditionFailed, metav1.ConditionTrue, reason, message)
	for i := range p.partitions {
		if x := &p.partitions[i]; !x.final() {
			x.fail(api.ReasonNotProved, cmp.Or(x.is.Message, "The job ended before this partition had a proof."))
		}
	}
	p.finish()
}

// finish sets what is true of every finished job.
func (p *planner) finish() {
	p.status.CompletionTime = ptr.To(metav1.NewTime(p.now).Rfc3339Copy())
	p.condition(api.ConditionRunning, metav1.ConditionFalse, api.ReasonFinished, "The job has ended.")
	p.condition(api.ConditionSuspended, metav1.ConditionFalse, api.ReasonNotSuspended, "The job has ended.")
	if ttl := p.o.Job.Spec.TTLSecondsAfterFinished; ttl != nil && *ttl > 0 {
		p.lookAgain(secondsOf(int64(*ttl)))
	}
}

// failing says that the job is on its way to Failed.
func (p *planner) failing() bool { return p.failure != nil }

// lastError is why the newest attempt at a partition gave no proof, nil if it has not failed.
func (x *partition) lastError() *lastWord {
	if x.word != nil && x.word.message != "" && (x.word.entry == nil || x.word.entry.Proof == "" && x.word.entry.ProofDigest == "") {
		return x.word
	}
	if x.report != nil && x.report.Error != nil && x.report.Proof == "" {
		return &lastWord{class: string(x.report.Error.Class), message: x.report.Error.Message}
	}
	return nil
}

// reasonOf translates the class of an error, as the prover or a report names it; "" for one that may pass.
func reasonOf(class string) string {
	switch class {
	case string(classes.Input):
		return api.ReasonInvalidInput
	case string(classes.Key):
		return api.ReasonInvalidKey
	case string(classes.Usage):
		return api.ReasonInvalidConfiguration
	}
	return ""
}

// failedList names the failed partitions in a sentence, and why the first one failed; "" if there are none.
func (p *planner) failedList() string {
	var names []string
	failed, why := 0, ""
	for i := range p.partitions {
		x := &p.partitions[i]
		if x.is.State != api.PartitionFailed {
			continue
		}
		if failed++; failed <= 5 {
			names = append(names, fmt.Sprintf("%d (%s)", x.index, cmp.Or(x.is.Reason, x.input.Name)))
		}
		if failed == 1 && x.is.Message != "" {
			why = fmt.Sprintf(" Partition %d: %s", x.index, x.is.Message)
		}
	}
	if failed == 0 {
		return ""
	}
	list := strings.Join(names, ", ")
	if failed > len(names) {
		list += fmt.Sprintf(" and %d more", failed-len(names))
	}
	return fmt.Sprintf("%d of %d partitions failed: %s.%s", failed, len(p.partitions), list, why)
}
