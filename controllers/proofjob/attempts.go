package proofjob

import (
	"encoding/json"
	"fmt"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/controllers/internal/proverpod"
	"github.com/cuzk-dev/cuzk/controllers/internal/text"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/worker/order"
)

// attempts finds for each partition the pod that works on it, and whether its report counts. The fence is the UID of the
// newest pod of the partition's index: a pod that was given up cannot speak for the partition any more.
func (p *planner) attempts() {
	newest, before := map[int32]*corev1.Pod{}, map[int32]*corev1.Pod{}
	count := map[int32]int32{}
	digests := map[int32]map[string]bool{}
	per := p.circuit.partitionsPerPod
	for _, pod := range p.o.Pods {
		index, ok := completionIndex(pod)
		if !ok {
			continue
		}
		for _, entry := range parseLastWord(pod).Partitions {
			note(digests, int32(entry.Index), entry.InputDigest)
		}
		if p.o.Child == nil || !metav1.IsControlledBy(pod, p.o.Child) {
			continue // of a Job that is gone
		}
		count[index]++
		if podEnded(pod) && (before[index] == nil || newer(pod, before[index])) {
			before[index] = pod
		}
		if newest[index] == nil || newer(pod, newest[index]) {
			newest[index] = pod
		}
	}
	done := p.completedIndexes()
	for i := range p.partitions {
		x := &p.partitions[i]
		index := x.index / per
		x.pod = newest[index]
		if x.pod != nil {
			x.is.Attempts = min(max(x.is.Attempts, count[index], attemptNumber(x.pod)), maxAttempts)
			if !podEnded(x.pod) && x.pod.Status.Phase == corev1.PodRunning && x.is.State == api.PartitionPending {
				x.is.State = api.PartitionRunning
			}
		}
		x.report = p.counts(x, done[index])
		x.word = wordOf(x.pod, x.index)
		if x.word == nil {
			x.previous = wordOf(before[index], x.index)
		}
		p.storeLastWord(x)

		note(digests, x.index, p.o.InputDigests[x.index])
		if x.report != nil {
			note(digests, x.index, x.report.InputDigest)
		}
		if len(digests[x.index]) > 1 {
			p.fail(api.ReasonInputChanged, fmt.Sprintf("input %s was not the same for two attempts of partition %d: keep inputs unchanged while a job runs, or pin them with digest", x.input.Name, x.index))
		}
	}
}

// counts returns the partition's report if it is from the pod that may speak for the partition.
func (p *planner) counts(x *partition, completed bool) *api.PartitionReport {
	r := x.was.Report
	switch {
	case r == nil:
		return nil
	case x.pod != nil && r.PodUID == string(x.pod.UID):
		return r
	case x.pod == nil && completed:
		// Someone removed the pod after it had ended well. Who wrote the report was checked at admission.
		return r
	case x.was.State == api.PartitionSucceeded:
		return r
	}
	// A proof that was found valid while its pod was the newest stays valid.
	if v, ok := p.o.Verdicts[checkDigest(p.verifyingKeyDigest(), r.Proof, p.claim(x, r))]; ok && v.Valid {
		return r
	}
	return nil
}

// storeLastWord makes a report of a termination message, for a pod whose own report did not arrive.
func (p *planner) storeLastWord(x *partition) {
	if x.word == nil || x.word.entry == nil || x.word.entry.Proof == "" || x.settled() {
		return
	}
	if x.report != nil && x.report.Stage == api.StageDone {
		return
	}
	if !p.o.Fresh {
		// A pod ends after its report was accepted, as a rule: the cache is late, not the report.
		p.plan.ReadFresh = true
		return
	}
	if why, refused := p.o.RefusedReports[x.index]; refused {
		p.refuse(x, api.ReasonProofInvalid, text.Sentence("the proof cannot be stored: "+why))
		return
	}
	e := x.word.entry
	r := api.PartitionReport{
		PodName: x.pod.Name, PodUID: string(x.pod.UID), Node: first(x.pod.Spec.NodeName, 63),
		Stage:        api.StageDone,
		Backend:      api.BackendType(e.Backend),
		InputDigest:  e.InputDigest,
		Proof:        e.Proof,
		PublicInputs: e.PublicInputs,
		Timings:      timingsOf(e.Milliseconds),
	}
	if r.Backend != api.BackendCUDA && r.Backend != api.BackendCPU {
		r.Backend = ""
	}
	if n := len(p.partitions); !api.PublicInputsFit(r.PublicInputs, r.Proof, n) {
		r.PublicInputs, r.PublicInputsDigest = nil, api.PublicInputsDigest(r.PublicInputs)
	}
	p.act(StoreReport{Index: x.index, Report: r})
}

// first is the beginning of s, n bytes at most; names are ASCII.
func first(s string, n int) string { return s[:min(len(s), n)] }

// timingsOf reads the stage times of a termination message: queue, srs, synth, gpu, verify, total.
func timingsOf(ms []int64) *api.Timings {
	if len(ms) != 6 {
		return nil
	}
	return &api.Timings{
		QueueMilliseconds: &ms[0], SRSMilliseconds: &ms[1], SynthMilliseconds: &ms[2],
		GPUMilliseconds: &ms[3], VerifyMilliseconds: &ms[4], TotalMilliseconds: &ms[5],
	}
}

// maxAttempts is where counting ends.
const maxAttempts = 999

func note(digests map[int32]map[string]bool, index int32, digest string) {
	if digest == "" {
		return
	}
	if digests[index] == nil {
		digests[index] = map[string]bool{}
	}
	digests[index][digest] = true
}

func completionIndex(pod *corev1.Pod) (int32, bool) {
	n, err := strconv.ParseInt(pod.Annotations[batchv1.JobCompletionIndexAnnotation], 10, 32)
	return int32(n), err == nil && n >= 0
}

// newer says that a replaces b: a pod that has not ended does, and else the one made later.
func newer(a, b *corev1.Pod) bool {
	if podEnded(a) != podEnded(b) {
		return !podEnded(a)
	}
	if !a.CreationTimestamp.Equal(&b.CreationTimestamp) {
		return b.CreationTimestamp.Before(&a.CreationTimestamp)
	}
	return attemptNumber(a) > attemptNumber(b)
}

// attemptNumber counts from 1; the Job controller notes on a pod how many of its index failed before.
func attemptNumber(pod *corev1.Pod) int32 {
	n := int32(1)
	for _, key := range []string{batchv1.JobIndexFailureCountAnnotation, batchv1.JobIndexIgnoredFailureCountAnnotation} {
		if v, err := strconv.ParseInt(pod.Annotations[key], 10, 16); err == nil && v > 0 {
			n += int32(v)
		}
	}
	return n
}

// terminated returns how the prover container ended, nil if it has not.
func terminated(pod *corev1.Pod) *corev1.ContainerStateTerminated {
	if pod == nil {
		return nil
	}
	for i := range pod.Status.ContainerStatuses {
		if c := &pod.Status.ContainerStatuses[i]; c.Name == proverpod.ContainerName {
			return c.State.Terminated
		}
	}
	return nil
}

// parseLastWord reads a pod's termination message; it is empty if the pod has not ended or said something else. Of one in
// another version only the error counts, which may be about the version.
func parseLastWord(pod *corev1.Pod) order.Termination {
	var t order.Termination
	end := terminated(pod)
	if end == nil || len(end.Message) == 0 || len(end.Message) > 4096 {
		return t
	}
	if err := json.Unmarshal([]byte(end.Message), &t); err != nil {
		return order.Termination{}
	}
	if t.Version != order.Version {
		return order.Termination{Class: t.Class, Message: t.Message}
	}
	return t
}

// wordOf is what a pod that has ended says about a partition. Where it could say nothing, the container's or the pod's
// end speaks for it.
func wordOf(pod *corev1.Pod, index int32) *lastWord {
	if pod == nil || !podEnded(pod) {
		return nil
	}
	t := parseLastWord(pod)
	w := &lastWord{class: t.Class, message: t.Message}
	for i := range t.Partitions {
		if e := &t.Partitions[i]; int32(e.Index) == index {
			w.entry = e
			if e.Class != "" {
				w.class, w.message = e.Class, e.Message
			}
		}
	}
	if w.class != "" || pod.Status.Phase == corev1.PodSucceeded {
		return w
	}
	end := terminated(pod)
	switch {
	case end != nil && end.Reason == "OOMKilled":
		w.class = string(failure.Memory)
		w.message = "the prover was killed because it used more memory than its limit: raise execution.dedicated.resources.limits.memory"
	case pod.Status.Message != "":
		w.message = fmt.Sprintf("pod %s failed: %s: %s", pod.Name, pod.Status.Reason, pod.Status.Message)
	case end != nil:
		w.class, w.message = classOfExit(end.ExitCode), fmt.Sprintf("the prover of pod %s ended with exit code %d: see its log", pod.Name, end.ExitCode)
	default:
		w.message = fmt.Sprintf("pod %s failed: %s", pod.Name, pod.Status.Reason)
	}
	return w
}

// classOfExit is the class that an exit code stands for, "" for one that tells nothing: a crash ends with 2, like a wrong
// command line.
func classOfExit(code int32) string {
	for _, c := range []failure.Class{failure.Input, failure.Key, failure.Verification, failure.Backend, failure.IO, failure.Memory} {
		if int32(c.ExitCode()) == code {
			return string(c)
		}
	}
	return ""
}
