package proofjob

import (
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/controllers/internal/proverpod"
	"github.com/cuzk-dev/cuzk/controllers/internal/verification"
	"github.com/cuzk-dev/cuzk/prover/worker/order"
)

// valid is the verdict on a good proof.
var valid = verification.Verdict{Valid: true}

// refusedVerdict is the verdict on a bad one.
var refusedVerdict = verification.Verdict{Message: "the proof does not verify"}

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// scene is a job and its surroundings at a moment, for plans to be made of.
type scene struct {
	*Observation
	t   *testing.T
	now time.Time
	cfg Config
}

// newScene is a job of n inputs, made at noon, and its key, which is ready.
func newScene(t *testing.T, n int, change ...func(*api.ProofJob)) *scene {
	t.Helper()
	job := &api.ProofJob{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "proofs", Name: "batch", UID: "job-uid", Generation: 1, ResourceVersion: "7",
			CreationTimestamp: metav1.NewTime(noon),
		},
		Spec: api.ProofJobSpec{
			Circuit:                  api.Circuit{Type: api.CircuitCircom},
			ProvingKeyRef:            api.ProvingKeyReference{Kind: api.ProvingKeyKindNamespaced, Name: "key"},
			Execution:                api.Execution{Type: api.ExecutionDedicated, Dedicated: api.DedicatedExecution{Parallelism: ptr.To[int32](2)}},
			Backend:                  api.Backend{Type: api.BackendAuto},
			Runs:                     ptr.To[int32](1),
			WarmupRuns:               ptr.To[int32](0),
			Verification:             api.VerificationRequired,
			BackoffLimitPerPartition: ptr.To[int32](3),
		},
	}
	for i := range n {
		job.Spec.Inputs = append(job.Spec.Inputs, api.ProofInput{
			Name:        fmt.Sprintf("input-%d", i),
			InputSource: api.InputSource{ConfigMap: &api.ConfigMapKey{Name: "inputs", Key: fmt.Sprintf("%d.wtns", i)}},
		})
	}
	for _, f := range change {
		f(job)
	}
	return &scene{
		t: t, now: noon,
		cfg: Config{ProverImage: "prover:1", ProverCUDAImage: "prover-cuda:1", NodeDeadAfter: 2 * time.Minute, PendingGrace: time.Minute},
		Observation: &Observation{
			Job: job, Key: readyKey(), Nodes: map[string]*corev1.Node{},
			Verdicts: map[string]verification.Verdict{}, InputDigests: map[int32]string{},
		},
	}
}

func readyKey() *api.ProvingKey {
	return &api.ProvingKey{
		ObjectMeta: metav1.ObjectMeta{Namespace: "proofs", Name: "key", UID: "key-uid"},
		Spec: api.ProvingKeySpec{
			Format: api.KeyFormatSnarkjs, Curve: api.CurveBN254,
			Files: api.KeyFiles{ProvingKey: api.KeyFile{PersistentVolumeClaim: &api.ClaimPath{ClaimName: "keys", Path: "circuit.zkey"}}},
		},
		Status: api.ProvingKeyStatus{
			Conditions:   []metav1.Condition{{Type: api.ConditionReady, Status: metav1.ConditionTrue, Reason: api.ReasonVerifyingKeyLoaded}},
			Facts:        &api.CircuitFacts{PublicInputs: ptr.To[int64](1)},
			VerifyingKey: &api.VerifyingKeyLocation{Digest: "sha256:vk"},
		},
	}
}

// plan is the plan of this moment.
func (s *scene) plan() Plan {
	s.t.Helper()
	return MakePlan(s.Observation, s.cfg, s.now)
}

// write stores a plan's status as the API server would, if it is due.
func (s *scene) write(p Plan) {
	if !p.WriteStatus {
		return
	}
	reports := map[int32]*api.PartitionReport{}
	for _, e := range s.Job.Status.Partitions {
		reports[e.Index] = e.Report
	}
	s.Job = s.Job.DeepCopy()
	s.Job.Status = *p.Status.DeepCopy()
	for i := range s.Job.Status.Partitions {
		if e := &s.Job.Status.Partitions[i]; e.Report == nil {
			e.Report = reports[e.Index]
		}
	}
}

// begin writes the first status and makes the child that the next plan wants.
func (s *scene) begin() *scene {
	s.t.Helper()
	s.write(s.plan())
	for _, a := range s.plan().Actions {
		if c, ok := a.(CreateChild); ok {
			s.Child = c.Job.DeepCopy()
			s.Child.UID = "child-uid"
			if !childSuspended(s.Child) {
				s.Child.Status.StartTime = ptr.To(metav1.NewTime(s.now))
			}
			return s
		}
	}
	s.t.Fatalf("no Job was planned: %+v", s.plan())
	return nil
}

// later moves the clock.
func (s *scene) later(d time.Duration) *scene { s.now = s.now.Add(d); return s }

// pod adds a pod of a completion index, made now.
func (s *scene) pod(index int, phase corev1.PodPhase, change ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "proofs", Name: fmt.Sprintf("batch-%d-%05d", index, len(s.Pods)), UID: types.UID(fmt.Sprintf("pod-%d-%d", index, len(s.Pods))),
			CreationTimestamp: metav1.NewTime(s.now),
			Labels:            childLabels(s.Job),
			Annotations:       map[string]string{batchv1.JobCompletionIndexAnnotation: fmt.Sprint(index)},
			OwnerReferences:   []metav1.OwnerReference{*metav1.NewControllerRef(s.Child, batchv1.SchemeGroupVersion.WithKind("Job"))},
		},
		Status: corev1.PodStatus{Phase: phase},
	}
	if phase != corev1.PodPending {
		pod.Spec.NodeName = "node-a"
	}
	for _, f := range change {
		f(pod)
	}
	s.Pods = append(s.Pods, pod)
	return pod
}

// ended ends a pod's container.
func ended(code int32, word *order.Termination) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		end := &corev1.ContainerStateTerminated{ExitCode: code, FinishedAt: pod.CreationTimestamp}
		if word != nil {
			end.Message = string(word.Marshal(func(p string) string { return "sha256:" + p }))
		}
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: proverpod.ContainerName, State: corev1.ContainerState{Terminated: end}}}
	}
}

// report is what a pod says about a partition that it has proved.
func (s *scene) report(partition int, pod *corev1.Pod, proof string, public ...string) *api.PartitionReport {
	r := &api.PartitionReport{
		PodName: pod.Name, PodUID: string(pod.UID), Node: pod.Spec.NodeName,
		Stage: api.StageDone, Backend: api.BackendCPU, Proof: proof, PublicInputs: public,
		Timings: &api.Timings{SynthMilliseconds: ptr.To(int64(100 * (partition + 1))), GPUMilliseconds: ptr.To[int64](2000), TotalMilliseconds: ptr.To[int64](2500)},
	}
	s.Job = s.Job.DeepCopy()
	s.Job.Status.Partitions[partition].Report = r
	return r
}

// judge tells what the pool found about a partition's proof.
func (s *scene) judge(partition int, v verification.Verdict) {
	r := s.Job.Status.Partitions[partition].Report
	s.Verdicts[checkDigest("sha256:vk", r.Proof, s.circuit().claim(&s.Job.Spec, int32(partition), r))] = v
}

// circuit of the job.
func (s *scene) circuit() *circuit {
	s.t.Helper()
	c, err := circuitOf(s.Job)
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

// prove has the partitions proved by one running pod each, with proofs that verify.
func (s *scene) prove(partitions ...int) {
	for _, i := range partitions {
		s.report(i, s.pod(i, corev1.PodRunning), fmt.Sprintf("proof-%d", i), fmt.Sprint(i+10))
		s.judge(i, verification.Verdict{Valid: true})
	}
}

func condition(p Plan, kind string) metav1.Condition {
	if c := meta.FindStatusCondition(p.Status.Conditions, kind); c != nil {
		return *c
	}
	return metav1.Condition{}
}

// want checks a condition's status and reason.
func want(t *testing.T, p Plan, kind string, status metav1.ConditionStatus, reason string) {
	t.Helper()
	if c := condition(p, kind); c.Status != status || c.Reason != reason {
		t.Errorf("%s is %q, reason %q (%s); want %q, %q", kind, c.Status, c.Reason, c.Message, status, reason)
	}
}

// wantPartition checks a partition's state and reason.
func wantPartition(t *testing.T, p Plan, index int, state api.PartitionState, reason string) {
	t.Helper()
	if e := p.Status.Partitions[index]; e.State != state || e.Reason != reason {
		t.Errorf("partition %d is %s, reason %q (%s); want %s, %q", index, e.State, e.Reason, e.Message, state, reason)
	}
}

// actions of a kind.
func actions[T Action](p Plan) []T {
	var out []T
	for _, a := range p.Actions {
		if x, ok := a.(T); ok {
			out = append(out, x)
		}
	}
	return out
}
