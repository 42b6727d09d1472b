// Copyright The cuzk Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build apiserver

package apiserver

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cuzk-dev/cuzk/api/v1alpha1"
	applyv1alpha1 "github.com/cuzk-dev/cuzk/api/v1alpha1/applyconfiguration/api/v1alpha1"
)

const (
	longest63 = "n123456789-123456789-123456789-123456789-123456789-123456789-12"
	maxTime   = 999_999_999
	// etcd refuses a request above 1.5 MiB.
	etcdBytes = 3 << 19
)

// largestJob returns a job of n inputs with everything that has a bound at its bound.
func largestJob(namespace string, n int) *v1alpha1.ProofJob {
	job := newProofJob(namespace, strings.Repeat("j", 52), n)
	job.Spec.Circuit.Circom = &v1alpha1.CircomCircuit{WitnessTimeoutSeconds: ptr.To[int32](86400)}
	job.Spec.ProvingKeyRef.Name = strings.Repeat("k", 253)
	total := min(50, 512/n)
	job.Spec.Runs, job.Spec.WarmupRuns = ptr.To(int32(total)), ptr.To[int32](0)
	job.Spec.ManagedBy = ptr.To("a/" + strings.Repeat("b", 61))
	d := &job.Spec.Execution.Dedicated
	d.Image = strings.Repeat("i", 512)
	d.Env = []corev1.EnvVar{{Name: "A", Value: strings.Repeat("b", 32767)}}
	d.PodAnnotations = map[string]string{"a": strings.Repeat("b", 32767)}
	digits, inlined := 131072/n, false
	for i := range job.Spec.Inputs {
		in := &job.Spec.Inputs[i]
		in.Name = longInputName(i)
		if !inlined && n > 1 {
			in.InputSource = v1alpha1.InputSource{Inline: &v1alpha1.InlineInput{Witness: make([]byte, 65536)}}
			inlined = true
		} else {
			const scheme = "https://"
			in.InputSource = v1alpha1.InputSource{URI: &v1alpha1.URISource{
				URL:       scheme + strings.Repeat("u", min(1024, 131072/n)-len(scheme)),
				SecretRef: &v1alpha1.SecretReference{Name: strings.Repeat("s", 253)},
			}}
		}
		in.Digest = v1alpha1.Digest("blake2b-512:" + strings.Repeat("0a", 64))
		for left := min(digits, 256*77); left > 0; left -= 77 {
			in.PublicInputs = append(in.PublicInputs, strings.Repeat("1", min(77, left)))
		}
	}
	return job
}

// longInputName is the i-th name of 63 characters.
func longInputName(i int) string { return fmt.Sprintf("%03d-%s", i, longest63[:59]) }

func allTimes() v1alpha1.Timings {
	all := ptr.To[int64](maxTime)
	return v1alpha1.Timings{
		QueueMilliseconds: all, SRSMilliseconds: all, SynthMilliseconds: all, GPUMilliseconds: all, VerifyMilliseconds: all, TotalMilliseconds: all,
		PrepMSMMilliseconds: all, NTTMSMHMilliseconds: all, BatchAddMilliseconds: all, BG2MSMMilliseconds: all, TailMSMMilliseconds: all, GPUTotalMilliseconds: all,
	}
}

// snarkjsProof is a proof.json as snarkjs writes it for BLS12-381, each coordinate at its greatest length.
func snarkjsProof() string {
	c := strings.Repeat("9", 115)
	return fmt.Sprintf(`{"pi_a":["%[1]s","%[1]s","1"],"pi_b":[["%[1]s","%[1]s"],["%[1]s","%[1]s"],["1","0"]],"pi_c":["%[1]s","%[1]s","1"],"protocol":"groth16","curve":"bls12381"}`, c)
}

// largestFailure returns the largest report of a failed attempt.
func largestFailure(n int) *v1alpha1.PartitionReport {
	r := largestReport(n)
	r.Proof, r.PublicInputs, r.PublicInputsDigest = "", nil, ""
	left := v1alpha1.ReportPayloadBudget(n)
	r.Error = &v1alpha1.ReportError{Class: v1alpha1.ErrorClassVerification, Message: strings.Repeat("e", min(v1alpha1.MaxMessageLength, left))}
	if left -= len(r.Error.Message); left >= len("sha256:")+64 {
		r.PublicInputsDigest = "sha256:" + strings.Repeat("0a", 32)
	}
	return r
}

// largestWithdrawal returns the largest report of a partition of n whose proof was computed again.
func largestWithdrawal(n int) *v1alpha1.PartitionReport {
	r := largestReport(n)
	if !v1alpha1.DetailedTimings(n) {
		r.Runs = nil
	}
	r.Refusals = v1alpha1.MaxRefusals
	var all []v1alpha1.WithdrawnDevice
	for i := range v1alpha1.MaxWithdrawnDevices {
		all = append(all, v1alpha1.WithdrawnDevice{
			UUID: fmt.Sprintf("GPU-%036d", i), Name: strings.Repeat("n", 64), Reason: strings.Repeat("r", 256),
		})
	}
	r.WithdrawnDevices = v1alpha1.BoundWithdrawnDevices(all, n)
	return r
}

// largestReport returns the largest report that a partition of n may have.
func largestReport(n int) *v1alpha1.PartitionReport {
	r := &v1alpha1.PartitionReport{
		PodName: longest63[:62], PodUID: strings.Repeat("0", 36), Node: longest63, Stage: v1alpha1.StageVerify, Backend: v1alpha1.BackendCUDA,
		InputDigest: "sha256:" + strings.Repeat("0a", 32),
		Proof:       snarkjsProof(),
		Timings:     ptr.To(allTimes().Bounded(n)),
	}
	for range v1alpha1.MaxRuns(n) {
		r.Runs = append(r.Runs, v1alpha1.RunTimings{Type: v1alpha1.RunWarmup, Timings: allTimes()}.Bounded(n))
	}
	for room := min(v1alpha1.ReportPayloadBudget(n)-len(r.Proof), v1alpha1.MaxReportedPublicInputBytes); room > 3; {
		value := strings.Repeat("1", min(77, room-3))
		r.PublicInputs = append(r.PublicInputs, value)
		room -= len(value) + 3
	}
	// In the largest jobs the digest is more than the one value that there is room for.
	if v1alpha1.PublicInputBytes(r.PublicInputs) < 80 {
		r.PublicInputs = nil
		r.PublicInputsDigest = "sha256:" + strings.Repeat("0a", 32)
	}
	return r
}

// largestStatus returns the largest status that a job of n partitions may have.
func largestStatus(n int) v1alpha1.ProofJobStatus {
	text := func(n int) string { return strings.Repeat("x", n) }
	status := v1alpha1.ProofJobStatus{
		ObservedGeneration: 1 << 40, State: v1alpha1.ProofJobSuspended, PartitionCount: ptr.To(int32(n)),
		Progress:  text(16),
		Summary:   &v1alpha1.ProofJobSummary{Synth: text(32), GPU: text(32), Total: text(32), Cold: text(32), Warm: text(32), Node: longest63, Reason: text(64)},
		StartTime: ptr.To(metav1.Now()), CompletionTime: ptr.To(metav1.Now()),
		ProvingKey: &v1alpha1.ResolvedProvingKey{UID: text(64), VerifyingKeyDigest: v1alpha1.Digest("blake2b-512:" + strings.Repeat("0a", 64))},
		Timings:    ptr.To(allTimes()),
	}
	for i := range 7 {
		status.Conditions = append(status.Conditions, metav1.Condition{
			Type: fmt.Sprintf("Condition%d", i), Status: metav1.ConditionUnknown, Reason: text(64), Message: text(1024),
			ObservedGeneration: 1 << 40, LastTransitionTime: metav1.Now(),
		})
	}
	for range min(50, 512/n) {
		status.Runs = append(status.Runs, v1alpha1.RunTimings{Type: v1alpha1.RunWarmup, Timings: allTimes()})
	}
	for i := range n {
		status.Partitions = append(status.Partitions, v1alpha1.PartitionStatus{
			Index: int32(i), Input: longInputName(i), State: v1alpha1.PartitionSucceeded, Verified: ptr.To(false),
			Reason: text(32), Message: text(min(v1alpha1.MaxMessageLength, v1alpha1.MaxPartitionMessageBytes/n)), Attempts: 999,
			Report: largestReport(n),
		})
	}
	return status
}

// TestWorstCaseSize computes the largest status of each possible number of partitions.
func TestWorstCaseSize(t *testing.T) {
	size := func(status v1alpha1.ProofJobStatus) int {
		text, err := json.Marshal(status)
		if err != nil {
			t.Fatal(err)
		}
		return len(text)
	}
	largest := 0
	for n := 1; n <= v1alpha1.MaxPartitions; n++ {
		status := largestStatus(n)
		for what, report := range map[string]func(int) *v1alpha1.PartitionReport{
			"proved": largestReport, "failed": largestFailure, "computed again": largestWithdrawal,
		} {
			for i := range status.Partitions {
				status.Partitions[i].Report = report(n)
			}
			got := size(status)
			if got > v1alpha1.MaxStatusBytes {
				t.Errorf("status of %d partitions, %s, takes %d bytes, more than %d", n, what, got, v1alpha1.MaxStatusBytes)
			}
			largest = max(largest, got)
		}
	}
	t.Logf("the largest status takes %d of %d bytes", largest, v1alpha1.MaxStatusBytes)
}

// TestWorstCase stores the largest job of several sizes and shows that it is the largest: a little more is refused.
func TestWorstCase(t *testing.T) {
	namespace := newNamespace(t)
	for _, n := range []int{1, 32, 33, 81, 256} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			job := largestJob(namespace, n)
			if err := admin.Create(t.Context(), job); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := admin.Delete(context.WithoutCancel(t.Context()), job); err != nil {
					t.Log(err)
				}
			})
			job.Status = largestStatus(n)
			for i := range job.Status.Partitions {
				job.Status.Partitions[i].Report = largestWithdrawal(n)
			}
			if err := admin.Status().Update(t.Context(), job); err != nil {
				t.Fatalf("the largest status of %d partitions whose proofs were computed again: %v", n, err)
			}
			job.Status = largestStatus(n)
			if err := admin.Status().Update(t.Context(), job); err != nil {
				t.Fatalf("the largest status of %d partitions: %v", n, err)
			}
			refuseMore(t, job)
		})
	}
}

// refuseMore makes sure that the job's status is at its bounds.
func refuseMore(t *testing.T, job *v1alpha1.ProofJob) {
	t.Helper()
	n := len(job.Status.Partitions)
	for what, grow := range map[string]func(*v1alpha1.ProofJobStatus){
		"payload": func(s *v1alpha1.ProofJobStatus) {
			r := s.Partitions[n-1].Report
			r.PublicInputsDigest = ""
			r.PublicInputs = append(r.PublicInputs, strings.Repeat("1", 77), strings.Repeat("1", 77))
		},
		"public inputs": func(s *v1alpha1.ProofJobStatus) {
			r := s.Partitions[n-1].Report
			r.PublicInputs, r.PublicInputsDigest = []string{"1"}, "sha256:"+strings.Repeat("0a", 32)
		},
		"progress": func(s *v1alpha1.ProofJobStatus) {
			s.Partitions[n-1].Report.ProgressPercent = ptr.To[int32](100)
		},
		"quotes": func(s *v1alpha1.ProofJobStatus) {
			r := s.Partitions[n-1].Report
			r.Proof = strings.Replace(r.Proof, "9", `"`, 1)
		},
		"beside a proof": func(s *v1alpha1.ProofJobStatus) {
			s.Partitions[n-1].Report.Error = &v1alpha1.ReportError{Class: v1alpha1.ErrorClassInput, Message: "x"}
		},
		"runs": func(s *v1alpha1.ProofJobStatus) {
			r := s.Partitions[n-1].Report
			r.Runs = append(r.Runs, r.Runs[0])
		},
		"messages": func(s *v1alpha1.ProofJobStatus) {
			s.Partitions[0].Message += strings.Repeat("x", 1+v1alpha1.MaxPartitionMessageBytes%n)
		},
		"kernels": func(s *v1alpha1.ProofJobStatus) {
			if v1alpha1.DetailedTimings(n) {
				s.Partitions[0].Message += strings.Repeat("x", 1025) // nothing to refuse here: see that something is
			}
			s.Partitions[n-1].Report.Timings.PrepMSMMilliseconds = ptr.To[int64](1)
		},
		"a run's stages": func(s *v1alpha1.ProofJobStatus) {
			if v1alpha1.DetailedTimings(n) {
				s.Partitions[0].Message += strings.Repeat("x", 1025)
			}
			s.Partitions[n-1].Report.Runs[0].SynthMilliseconds = ptr.To[int64](1)
		},
		"withdrawn devices": func(s *v1alpha1.ProofJobStatus) {
			r := largestWithdrawal(n)
			r.WithdrawnDevices[0].UUID += strings.Repeat("u", 10)
			s.Partitions[n-1].Report = r
		},
		"of a withdrawn device's reason": func(s *v1alpha1.ProofJobStatus) {
			r := largestWithdrawal(n)
			r.WithdrawnDevices = []v1alpha1.WithdrawnDevice{{UUID: "GPU-0", Reason: strings.Repeat("r", min(257, v1alpha1.WithdrawnDevicesBudget(n)))}}
			s.Partitions[n-1].Report = r
		},
		"withdrawn devices beside runs": func(s *v1alpha1.ProofJobStatus) {
			r := s.Partitions[n-1].Report
			if v1alpha1.DetailedTimings(n) {
				s.Partitions[0].Message += strings.Repeat("x", 1025)
			}
			r.WithdrawnDevices = []v1alpha1.WithdrawnDevice{{UUID: "GPU-0"}}
		},
		"refusals beside runs": func(s *v1alpha1.ProofJobStatus) {
			r := s.Partitions[n-1].Report
			if v1alpha1.DetailedTimings(n) {
				s.Partitions[0].Message += strings.Repeat("x", 1025)
			}
			r.Refusals = 1
		},
		"refusals": func(s *v1alpha1.ProofJobStatus) {
			r := largestWithdrawal(n)
			r.Refusals = v1alpha1.MaxRefusals + 1
			s.Partitions[n-1].Report = r
		},
		"a condition": func(s *v1alpha1.ProofJobStatus) { s.Conditions[0].Message += "x" },
	} {
		more := job.DeepCopy()
		grow(&more.Status)
		if err := admin.Status().Update(t.Context(), more, &client.SubResourceUpdateOptions{UpdateOptions: client.UpdateOptions{DryRun: []string{metav1.DryRunAll}}}); err == nil {
			t.Errorf("%d partitions: more %s than the bound was accepted", n, what)
		}
	}
}

// TestWorstCaseManagers looks at the whole largest object with the field manager of each of 256 pods. The managers of all
// but a few are written as the first pod's was, since to apply reports into an object of this size takes long.
func TestWorstCaseManagers(t *testing.T) {
	const n = v1alpha1.MaxPartitions
	job := largestJob(newNamespace(t), n)
	job.Annotations = map[string]string{"example.com/note": strings.Repeat("a", 200_000)}
	if err := admin.Create(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	job.Status = largestStatus(n)
	last := job.Status.Partitions[n-1].Report
	job.Status.Partitions[n-1].Report = nil
	if err := admin.Status().Update(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	if err := applyReport(t, admin, job, 0, job.Status.Partitions[0].Report); err != nil {
		t.Fatal(err)
	}
	if err := admin.Get(t.Context(), client.ObjectKeyFromObject(job), job); err != nil {
		t.Fatal(err)
	}
	entry := slices.IndexFunc(job.ManagedFields, func(m metav1.ManagedFieldsEntry) bool { return m.Manager == v1alpha1.PartitionFieldManager(0) })
	if entry < 0 {
		t.Fatal("the pod that applied a report is no field manager")
	}
	for i := int32(1); i < n-1; i++ {
		more := *job.ManagedFields[entry].DeepCopy()
		more.Manager = v1alpha1.PartitionFieldManager(i)
		fields := string(more.FieldsV1.GetRawBytes())
		if !strings.Contains(fields, `{\"index\":0}`) {
			t.Fatalf("unexpected fields %s", fields)
		}
		more.FieldsV1.SetRawString(strings.Replace(fields, `{\"index\":0}`, fmt.Sprintf(`{\"index\":%d}`, i), 1))
		job.ManagedFields = append(job.ManagedFields, more)
	}
	if err := admin.Update(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	if err := applyReport(t, admin, job, n-1, last); err != nil {
		t.Fatalf("the last report: %v", err)
	}
	raw, err := clientset(t).CoreV1().RESTClient().Get().AbsPath("/apis", v1alpha1.GroupName, v1alpha1.GroupVersion.Version,
		"namespaces", job.Namespace, "proofjobs", job.Name).DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	stored := &v1alpha1.ProofJob{}
	if err := json.Unmarshal(raw, stored); err != nil {
		t.Fatal(err)
	}
	managers, err := json.Marshal(stored.ManagedFields)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("whole object %d bytes, of these managed fields of %d managers %d bytes", len(raw), len(stored.ManagedFields), len(managers))
	if len(stored.ManagedFields) < n {
		t.Errorf("%d field managers, want one a partition: %d", len(stored.ManagedFields), n)
	}
	if len(raw) > etcdBytes*95/100 {
		t.Errorf("the whole object takes %d bytes, within 5 %% of the %d that etcd takes", len(raw), etcdBytes)
	}
}

// applyReport applies a report as a prover pod does.
func applyReport(t *testing.T, c client.Client, job *v1alpha1.ProofJob, index int32, report *v1alpha1.PartitionReport) error {
	t.Helper()
	text, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	wanted := &applyv1alpha1.PartitionReportApplyConfiguration{}
	if err := json.Unmarshal(text, wanted); err != nil {
		t.Fatal(err)
	}
	apply := applyv1alpha1.ProofJob(job.Name, job.Namespace).WithStatus(applyv1alpha1.ProofJobStatus().
		WithPartitions(applyv1alpha1.PartitionStatus().WithIndex(index).WithReport(wanted)))
	return c.Status().Apply(t.Context(), apply, client.ForceOwnership, client.FieldOwner(v1alpha1.PartitionFieldManager(index)))
}

// TestClientSideApply makes sure that each CRD, and a large job, can carry kubectl's last-applied annotation.
func TestClientSideApply(t *testing.T) {
	for _, name := range []string{"proofjobs", "provingkeys"} {
		raw := readCRD(t, name)
		if len(raw) >= 100_000 {
			t.Errorf("CRD %s takes %d bytes as JSON, want less than 100,000", name, len(raw))
		}
		t.Logf("CRD %s: %d bytes", name, len(raw))
	}
	namespace := newNamespace(t)
	out := kubectl(t, "apply", "-f", crdFolder)
	for _, name := range []string{"proofjobs", "provingkeys"} {
		if !strings.Contains(out, "customresourcedefinition.apiextensions.k8s.io/"+name+".proving.cuzk.dev configured") {
			t.Errorf("kubectl apply said %q", out)
		}
		var annotation string
		crd := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"}}
		if err := admin.Get(t.Context(), types.NamespacedName{Name: name + ".proving.cuzk.dev"}, crd); err != nil {
			t.Fatal(err)
		}
		annotation = crd.Annotations[corev1.LastAppliedConfigAnnotation]
		if annotation == "" || len(annotation) > 100_000 {
			t.Errorf("annotation of CRD %s has %d bytes", name, len(annotation))
		}
	}
	job := newProofJob(namespace, "batch", 256)
	for i := range job.Spec.Inputs {
		job.Spec.Inputs[i].InputSource = v1alpha1.InputSource{Secret: &v1alpha1.SecretKey{Name: "witnesses", Key: fmt.Sprintf("%d.wtns", i)}}
		job.Spec.Inputs[i].PublicInputs = []string{strings.Repeat("1", 77), strings.Repeat("2", 77)}
	}
	kubectlApply(t, job)
}
