// Copyright The cuzk Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build apiserver

package apiserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cuzk-dev/cuzk/api/v1alpha1"
)

// installPolicies applies the policies of config/policies and waits until the API server enforces them.
var installPolicies = sync.OnceValue(func() error {
	for _, name := range []string{"prover_status.yaml", "proving_key_status.yaml"} {
		raw, err := os.ReadFile(filepath.Join(filepath.FromSlash(policyFolder), name))
		if err != nil {
			return err
		}
		for text := range strings.SplitSeq(string(raw), "\n---\n") {
			object, err := parseYAML(text)
			if err != nil {
				return err
			}
			if err := admin.Create(context.Background(), object); err != nil {
				return err
			}
		}
	}
	return nil
})

// prover is what a pod has: its name and UID, and a client with a token bound to it.
type prover struct {
	client.Client
	pod, uid string
}

// rules of the Role that the operator gives to prover pods.
var proverRules = []rbacv1.PolicyRule{
	{APIGroups: []string{v1alpha1.GroupName}, Resources: []string{"proofjobs"}, Verbs: []string{"get"}},
	{APIGroups: []string{v1alpha1.GroupName}, Resources: []string{"proofjobs/status"}, Verbs: []string{"patch"}},
}

// allowProvers makes the ServiceAccount, Role and RoleBinding of prover pods.
func allowProvers(t *testing.T, namespace string, rules []rbacv1.PolicyRule) {
	t.Helper()
	meta := metav1.ObjectMeta{Namespace: namespace, Name: v1alpha1.ProverIdentity}
	for _, object := range []client.Object{
		&corev1.ServiceAccount{ObjectMeta: meta},
		&rbacv1.Role{ObjectMeta: meta, Rules: rules},
		&rbacv1.RoleBinding{ObjectMeta: meta,
			RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name},
			Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: meta.Name}}},
	} {
		if err := admin.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
}

// newProver makes a pod and gets a token bound to it, as the kubelet does.
func newProver(t *testing.T, namespace, name string) prover {
	t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: corev1.PodSpec{
			ServiceAccountName: v1alpha1.ProverIdentity,
			Containers:         []corev1.Container{{Name: "prover", Image: "example.com/prover"}},
		},
	}
	if err := admin.Create(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	return withToken(t, namespace, pod)
}

// withToken gets a token of the provers' ServiceAccount, bound to the pod if there is one.
func withToken(t *testing.T, namespace string, pod *corev1.Pod) prover {
	t.Helper()
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: ptr.To[int64](3600)}}
	var p prover
	if pod != nil {
		p.pod, p.uid = pod.Name, string(pod.UID)
		request.Spec.BoundObjectRef = &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID}
	}
	got, err := clientset(t).CoreV1().ServiceAccounts(namespace).CreateToken(t.Context(), v1alpha1.ProverIdentity, request, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	anonymous := rest.AnonymousClientConfig(config)
	anonymous.BearerToken = got.Status.Token
	if p.Client, err = client.New(anonymous, client.Options{Scheme: scheme}); err != nil {
		t.Fatal(err)
	}
	return p
}

// report is a report as this pod may write it.
func (p prover) report(stage v1alpha1.Stage) *v1alpha1.PartitionReport {
	return &v1alpha1.PartitionReport{PodName: p.pod, PodUID: p.uid, Stage: stage}
}

// policyEnforced waits until the policies are enforced and the Role is known to the authorizer.
func policyEnforced(t *testing.T, namespace string) {
	t.Helper()
	if err := installPolicies(); err != nil {
		t.Fatal(err)
	}
	job := reportingJob(t, newProofJob(namespace, "probe", 1))
	good, bad := newProver(t, namespace, "probe-0-aaaaa"), newProver(t, namespace, "other-0-aaaaa")
	eventually(t, "a pod's own report is accepted and another one refused", func(context.Context) error {
		if err := applyReport(t, good, job, 0, good.report(v1alpha1.StageQueue)); err != nil {
			return err
		}
		if err := applyReport(t, bad, job, 0, bad.report(v1alpha1.StageQueue)); err == nil || !strings.Contains(err.Error(), "cuzk-prover-status") {
			return fmt.Errorf("a foreign report: %w", err)
		}
		return nil
	})
}

const (
	notOfThisJob  = "may be written only by a pod of this job with a token bound to it"
	noEntries     = "may not add, remove or reorder entries"
	otherEntry    = "may write only the partitions of its own pod"
	reportOnly    = "may write only the member report"
	noRemoval     = "may not remove a report"
	otherIdentity = "podName and podUID must be those of the pod"
	alreadyProved = "already has a proof that counts"
	nothingElse   = "may write nothing but the reports"
)

// refused makes sure that the policy, and nothing else, refused a request, and with which messages.
func refused(t *testing.T, what string, err error, messages ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: accepted", what)
		return
	}
	if !strings.Contains(err.Error(), "cuzk-prover-status") {
		t.Errorf("%s: refused, but not by the policy: %v", what, err)
	}
	var status *apierrors.StatusError
	if !errors.As(err, &status) || status.ErrStatus.Reason != metav1.StatusReasonForbidden {
		t.Errorf("%s: refused with another reason than Forbidden: %v", what, err)
	}
	for _, message := range messages {
		if !strings.Contains(err.Error(), message) {
			t.Errorf("%s: refused without %q: %v", what, message, err)
		}
	}
}

func (p prover) merge(t *testing.T, job *v1alpha1.ProofJob, status any) error {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"status": status})
	if err != nil {
		t.Fatal(err)
	}
	return p.Status().Patch(t.Context(), &v1alpha1.ProofJob{ObjectMeta: metav1.ObjectMeta{Namespace: job.Namespace, Name: job.Name}}, client.RawPatch(types.MergePatchType, raw))
}

func (p prover) json(t *testing.T, job *v1alpha1.ProofJob, operations string) error {
	t.Helper()
	return p.Status().Patch(t.Context(), &v1alpha1.ProofJob{ObjectMeta: metav1.ObjectMeta{Namespace: job.Namespace, Name: job.Name}}, client.RawPatch(types.JSONPatchType, []byte(operations)))
}

func (p prover) apply(t *testing.T, job *v1alpha1.ProofJob, status string) error {
	t.Helper()
	object := parse(t, fmt.Sprintf("apiVersion: proving.cuzk.dev/v1alpha1\nkind: ProofJob\nmetadata: {name: %s, namespace: %s}\nstatus: %s\n", job.Name, job.Namespace, status))
	return p.Status().Apply(t.Context(), client.ApplyConfigurationFromUnstructured(object), client.ForceOwnership, client.FieldOwner("cuzk-partition-0"))
}

func TestProverWritesItsOwnReports(t *testing.T) {
	namespace := newNamespace(t)
	allowProvers(t, namespace, proverRules)
	policyEnforced(t, namespace)

	single := reportingJob(t, newProofJob(namespace, "single", 3))
	pod := newProver(t, namespace, "single-2-x7k2p")
	for _, stage := range []v1alpha1.Stage{v1alpha1.StageQueue, v1alpha1.StageSynth, v1alpha1.StageDone} {
		if err := applyReport(t, pod, single, 2, pod.report(stage)); err != nil {
			t.Errorf("own report, stage %s: %v", stage, err)
		}
	}
	withdrawal := pod.report(v1alpha1.StageDone)
	withdrawal.Refusals = 1
	withdrawal.WithdrawnDevices = []v1alpha1.WithdrawnDevice{{UUID: "GPU-0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0", Name: "NVIDIA H200", Reason: "it computed a wrong proof"}}
	if err := applyReport(t, pod, single, 2, withdrawal); err != nil {
		t.Errorf("own report of a withdrawn device: %v", err)
	}
	refused(t, "a withdrawn device on another partition", applyReport(t, pod, single, 1, withdrawal), otherEntry)
	// A later attempt of the same index takes over; a report on one's own entry by the other kinds of patch is as good.
	second := newProver(t, namespace, "single-2-aaaaa")
	if err := applyReport(t, second, single, 2, second.report(v1alpha1.StageSynth)); err != nil {
		t.Errorf("report of a second attempt: %v", err)
	}
	own := fmt.Sprintf(`{"podName": %q, "podUID": %q, "stage": "GPU"}`, second.pod, second.uid)
	if err := second.json(t, single, `[{"op": "replace", "path": "/status/partitions/2/report", "value": `+own+`}]`); err != nil {
		t.Errorf("own report by JSON patch: %v", err)
	}

	several := newProofJob(namespace, "several", 10)
	several.Spec.Execution.Dedicated.PartitionsPerPod = ptr.To[int32](4)
	reportingJob(t, several)
	for index, owned := range map[int][]int32{0: {0, 1, 2, 3}, 2: {8, 9}} {
		pod := newProver(t, namespace, fmt.Sprintf("several-%d-abcde", index))
		for _, partition := range owned {
			if err := applyReport(t, pod, several, partition, pod.report(v1alpha1.StageDone)); err != nil {
				t.Errorf("pod %s on its partition %d: %v", pod.pod, partition, err)
			}
		}
		for _, partition := range []int32{4, 7} {
			refused(t, fmt.Sprintf("pod %s on partition %d", pod.pod, partition), applyReport(t, pod, several, partition, pod.report(v1alpha1.StageDone)), otherEntry)
		}
	}

	// One pod owns all partitions of a Filecoin proof, unless the job says otherwise.
	whole := reportingPartitions(t, newFilecoinJob(namespace, "whole"), slices.Repeat([]string{"input-0"}, 10)...)
	pod = newProver(t, namespace, "whole-0-abcde")
	for _, partition := range []int32{0, 9} {
		if err := applyReport(t, pod, whole, partition, pod.report(v1alpha1.StageSynth)); err != nil {
			t.Errorf("pod %s on its partition %d: %v", pod.pod, partition, err)
		}
	}
	other := newProver(t, namespace, "whole-1-abcde")
	refused(t, "a pod that owns no partition", applyReport(t, other, whole, 1, other.report(v1alpha1.StageSynth)), otherEntry)

	parts := newFilecoinJob(namespace, "parts")
	parts.Spec.Execution.Dedicated.PartitionsPerPod = ptr.To[int32](1)
	reportingPartitions(t, parts, "input-0", "input-0")
	pod = newProver(t, namespace, "parts-1-abcde")
	if err := applyReport(t, pod, parts, 1, pod.report(v1alpha1.StageSynth)); err != nil {
		t.Errorf("pod %s on its partition: %v", pod.pod, err)
	}
	refused(t, "pod of partition 1 on partition 0", applyReport(t, pod, parts, 0, pod.report(v1alpha1.StageSynth)), otherEntry)

	got := &v1alpha1.ProofJob{}
	if err := admin.Get(t.Context(), client.ObjectKeyFromObject(single), got); err != nil {
		t.Fatal(err)
	}
	if r := got.Status.Partitions[2].Report; r == nil || r.PodUID != second.uid || r.Stage != v1alpha1.StageGPU {
		t.Errorf("stored report: %+v", r)
	}
	if got.Status.State != v1alpha1.ProofJobRunning || got.Status.Partitions[2].Input != "input-2" {
		t.Errorf("the controller's fields have changed: %+v", got.Status)
	}
}

func TestProverWritesNothingElse(t *testing.T) {
	namespace := newNamespace(t)
	allowProvers(t, namespace, proverRules)
	policyEnforced(t, namespace)
	job := newProofJob(namespace, "job", 3)
	job.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionRunning, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonPodsRunning, LastTransitionTime: metav1.Now()}}
	conditions := job.Status.Conditions
	reportingJob(t, job)
	job.Status.Conditions = conditions
	if err := admin.Status().Update(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	pod := newProver(t, namespace, "job-0-abcde")
	own := fmt.Sprintf(`{podName: %s, podUID: %s, stage: Done}`, pod.pod, pod.uid)
	ownJSON := fmt.Sprintf(`{"podName": %q, "podUID": %q}`, pod.pod, pod.uid)
	entries := func(first, second, third map[string]any) []any {
		for i, e := range []map[string]any{first, second, third} {
			e["index"], e["input"] = i, fmt.Sprintf("input-%d", i)
			if e["state"] == nil {
				e["state"] = "Pending"
			}
		}
		return []any{first, second, third}
	}
	report := map[string]any{"podName": pod.pod, "podUID": pod.uid}
	none := func() map[string]any { return map[string]any{} }

	refused(t, "another entry by apply", applyReport(t, pod, job, 1, pod.report(v1alpha1.StageDone)), otherEntry)
	refused(t, "another entry by merge patch", pod.merge(t, job, map[string]any{"partitions": entries(none(), map[string]any{"report": report}, none())}), otherEntry)
	refused(t, "another entry by JSON patch", pod.json(t, job, `[{"op": "add", "path": "/status/partitions/1/report", "value": `+ownJSON+`}]`), otherEntry)

	refused(t, "a new entry by apply", applyReport(t, pod, job, 3, pod.report(v1alpha1.StageDone)), noEntries)
	refused(t, "a new entry by JSON patch", pod.json(t, job, `[{"op": "add", "path": "/status/partitions/-", "value": {"index": 7}}]`), noEntries)
	refused(t, "removal of another entry by JSON patch", pod.json(t, job, `[{"op": "remove", "path": "/status/partitions/1"}]`), noEntries)
	refused(t, "removal of its own entry by JSON patch", pod.json(t, job, `[{"op": "remove", "path": "/status/partitions/0"}]`), noEntries)
	refused(t, "removal of all entries by merge patch", pod.merge(t, job, map[string]any{"partitions": nil}), noEntries)
	refused(t, "another order by JSON patch", pod.json(t, job, `[{"op": "move", "from": "/status/partitions/2", "path": "/status/partitions/0"}]`), noEntries)
	refused(t, "removal of the status by merge patch", pod.merge(t, job, nil), noEntries)
	refused(t, "removal of the status by JSON patch", pod.json(t, job, `[{"op": "remove", "path": "/status"}]`), noEntries)

	for field, value := range map[string]string{"state": `"Succeeded"`, "verified": "true", "reason": `"AgainstDeclaredInputs"`, "message": `"x"`, "attempts": "1", "input": `"input-9"`} {
		refused(t, field+" of its own entry by apply", pod.apply(t, job, fmt.Sprintf(`{partitions: [{index: 0, %s: %s, report: %s}]}`, field, value, own)), reportOnly)
		refused(t, field+" of its own entry by JSON patch", pod.json(t, job, fmt.Sprintf(`[{"op": "add", "path": "/status/partitions/0/%s", "value": %s}]`, field, value)), reportOnly)
	}
	refused(t, "state of its own entry by merge patch", pod.merge(t, job, map[string]any{"partitions": entries(map[string]any{"state": "Succeeded", "report": report}, none(), none())}), reportOnly)
	refused(t, "removal of a field of its own entry", pod.json(t, job, `[{"op": "remove", "path": "/status/partitions/0/input"}]`), reportOnly)

	for field, value := range map[string]string{
		"state": `"Succeeded"`, "progress": `"3/3"`, "partitionCount": "1", "observedGeneration": "9", "completionTime": `"2026-11-30T00:00:00Z"`,
		"summary": `{"total": "1s"}`, "timings": `{"gpuMilliseconds": 1}`, "runs": `[{"type": "Warm"}]`, "provingKey": `{"uid": "x"}`,
		"conditions": `[{"type": "Complete", "status": "True", "reason": "AllProved", "message": "", "lastTransitionTime": "2026-11-30T00:00:00Z"}]`,
	} {
		refused(t, "status."+field+" by apply", pod.apply(t, job, fmt.Sprintf(`{%s: %s}`, field, value)), nothingElse)
		refused(t, "status."+field+" by merge patch", pod.merge(t, job, map[string]any{field: json.RawMessage(value)}), nothingElse)
		refused(t, "status."+field+" by JSON patch", pod.json(t, job, fmt.Sprintf(`[{"op": "add", "path": "/status/%s", "value": %s}]`, field, value)), nothingElse)
	}
	refused(t, "removal of status.state", pod.json(t, job, `[{"op": "remove", "path": "/status/state"}]`), nothingElse)

	for what, r := range map[string]*v1alpha1.PartitionReport{
		"another pod's name": {PodName: "job-0-other", PodUID: pod.uid},
		"another pod's UID":  {PodName: pod.pod, PodUID: "00000000-0000-0000-0000-000000000000"},
	} {
		refused(t, "a report with "+what, applyReport(t, pod, job, 0, r), otherIdentity)
	}

	// Its own report it may replace, but not take away.
	if err := applyReport(t, pod, job, 0, pod.report(v1alpha1.StageSynth)); err != nil {
		t.Fatal(err)
	}
	refused(t, "removal of its report by JSON patch", pod.json(t, job, `[{"op": "remove", "path": "/status/partitions/0/report"}]`), noRemoval)
	refused(t, "removal of its report by apply", pod.apply(t, job, `{partitions: [{index: 0}]}`), noRemoval)

	err := pod.json(t, job, `[{"op": "replace", "path": "/status/state", "value": "Succeeded"}, {"op": "add", "path": "/status/partitions/1/verified", "value": true}]`)
	refused(t, "state and another entry at once", err, otherEntry)

	// What RBAC and the API server themselves refuse or ignore.
	if err := pod.Update(t.Context(), job.DeepCopy()); !apierrors.IsForbidden(err) {
		t.Errorf("update of the job: %v", err)
	}
	if err := pod.Delete(t.Context(), job.DeepCopy()); !apierrors.IsForbidden(err) {
		t.Errorf("deletion of the job: %v", err)
	}
	if err := pod.Status().Update(t.Context(), job.DeepCopy()); !apierrors.IsForbidden(err) {
		t.Errorf("update of the status: %v", err)
	}
	if err := pod.json(t, job, `[{"op": "add", "path": "/metadata/labels", "value": {"a": "b"}}, {"op": "replace", "path": "/spec/suspend", "value": true}]`); err == nil {
		got := &v1alpha1.ProofJob{}
		if err := admin.Get(t.Context(), client.ObjectKeyFromObject(job), got); err != nil {
			t.Fatal(err)
		}
		if len(got.Labels) != 0 || got.Spec.Suspend != nil {
			t.Errorf("labels or spec changed through the status: %v, %v", got.Labels, got.Spec.Suspend)
		}
	}
}

// TestProverOfAnotherJob has names of jobs that begin with each other's, and of pods that look like a job's.
func TestProverOfAnotherJob(t *testing.T) {
	namespace := newNamespace(t)
	allowProvers(t, namespace, proverRules)
	policyEnforced(t, namespace)
	jobs := map[string]*v1alpha1.ProofJob{}
	for _, name := range []string{"a", "a-1", "a-1-0", "b"} {
		jobs[name] = reportingJob(t, newProofJob(namespace, name, 2))
	}
	for _, c := range []struct{ pod, job string }{
		{"a-0-abcde", "a"}, {"a-1-abcde", "a"}, {"a-1-0-abcde", "a-1"}, {"a-1-1-abcde", "a-1"}, {"a-1-0-0-abcde", "a-1-0"}, {"b-0-abcde", "b"},
		{"a-0-abcdef", ""}, {"a-0-abcd", ""}, {"a-00-abcde", ""}, {"a-0", ""}, {"a", ""}, {"a-x-abcde", ""}, {"a-0-abc.e", ""}, {"a-0-ab-de", ""}, {"c-0-abcde", ""},
	} {
		pod := newProver(t, namespace, c.pod)
		for name, job := range jobs {
			for index := range int32(2) {
				err := applyReport(t, pod, job, index, pod.report(v1alpha1.StageDone))
				what := fmt.Sprintf("pod %s on partition %d of job %s", c.pod, index, name)
				switch {
				case name == c.job && strings.HasPrefix(c.pod, fmt.Sprintf("%s-%d-", name, index)):
					if err != nil {
						t.Errorf("%s: %v", what, err)
					}
				case name == c.job:
					refused(t, what, err, otherEntry)
				default:
					refused(t, what, err, notOfThisJob)
				}
			}
		}
	}
}

func TestProverIdentity(t *testing.T) {
	namespace, elsewhere := newNamespace(t), newNamespace(t)
	allowProvers(t, namespace, proverRules)
	allowProvers(t, elsewhere, nil)
	policyEnforced(t, namespace)
	job := reportingJob(t, newProofJob(namespace, "job", 1))

	// The same ServiceAccount, with a token that is bound to no pod.
	unbound := withToken(t, namespace, nil)
	refused(t, "a token bound to no pod", applyReport(t, unbound, job, 0, &v1alpha1.PartitionReport{PodName: "job-0-abcde", PodUID: "1"}), notOfThisJob)

	// A pod of the right name in another namespace, whose ServiceAccount was given rights here.
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "elsewhere"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: v1alpha1.ProverIdentity},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: elsewhere, Name: v1alpha1.ProverIdentity}},
	}
	if err := admin.Create(t.Context(), binding); err != nil {
		t.Fatal(err)
	}
	foreign := newProver(t, elsewhere, "job-0-abcde")
	eventually(t, "the policy refuses a pod of another namespace", func(context.Context) error {
		err := applyReport(t, foreign, job, 0, foreign.report(v1alpha1.StageDone))
		if err == nil || !strings.Contains(err.Error(), notOfThisJob) {
			return fmt.Errorf("got %w", err)
		}
		return nil
	})

	// Whoever impersonates is who they impersonate, not a pod.
	user := rest.CopyConfig(config)
	user.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:" + namespace + ":" + v1alpha1.ProverIdentity}
	impersonator, err := client.New(user, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	refused(t, "an impersonated ServiceAccount", applyReport(t, impersonator, job, 0, &v1alpha1.PartitionReport{PodName: "job-0-abcde", PodUID: "1"}), notOfThisJob)

	// With the verb manage-status the controller's part can be written, as the manager does.
	manager := &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "manager"},
		Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{v1alpha1.GroupName}, Resources: []string{"proofjobs/status"}, Verbs: []string{"patch"}},
			{APIGroups: []string{v1alpha1.GroupName}, Resources: []string{"proofjobs"}, Verbs: []string{v1alpha1.VerbManageStatus}},
		},
	}
	if err := admin.Create(t.Context(), manager); err != nil {
		t.Fatal(err)
	}
	if err := admin.Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "manager"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "manager"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: "manager"}},
	}); err != nil {
		t.Fatal(err)
	}
	user.Impersonate = rest.ImpersonationConfig{UserName: "manager"}
	as, err := client.New(user, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "whoever has manage-status writes the controller's part", func(context.Context) error {
		return prover{Client: as}.merge(t, job, map[string]any{"state": "Failed"})
	})
}

func TestProverKeepsWhatCounts(t *testing.T) {
	namespace := newNamespace(t)
	allowProvers(t, namespace, proverRules)
	policyEnforced(t, namespace)
	job := reportingJob(t, newProofJob(namespace, "job", 2))
	var pods []prover
	for i := range int32(2) {
		pod := newProver(t, namespace, fmt.Sprintf("job-%d-abcde", i))
		if err := applyReport(t, pod, job, i, pod.report(v1alpha1.StageDone)); err != nil {
			t.Fatal(err)
		}
		pods = append(pods, pod)
	}
	if err := admin.Get(t.Context(), client.ObjectKeyFromObject(job), job); err != nil {
		t.Fatal(err)
	}
	job.Status.Partitions[0].Verified = ptr.To(true)
	job.Status.Partitions[1].State = v1alpha1.PartitionSucceeded // as with verification Skip
	if err := admin.Status().Update(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	for i, pod := range pods {
		if err := applyReport(t, pod, job, int32(i), pod.report(v1alpha1.StageDone)); err != nil {
			t.Errorf("partition %d: the same report again: %v", i, err)
		}
		refused(t, fmt.Sprintf("partition %d: another report", i), applyReport(t, pod, job, int32(i), pod.report(v1alpha1.StageGPU)), alreadyProved)
		later := newProver(t, namespace, fmt.Sprintf("job-%d-zzzzz", i))
		refused(t, fmt.Sprintf("partition %d: a later attempt", i), applyReport(t, later, job, int32(i), later.report(v1alpha1.StageDone)), alreadyProved)
	}
}

// TestProverPolicyCost makes sure that the policy stays within the API server's budget in the largest job, with all
// partitions in one pod.
func TestProverPolicyCost(t *testing.T) {
	namespace := newNamespace(t)
	allowProvers(t, namespace, proverRules)
	policyEnforced(t, namespace)
	const n = v1alpha1.MaxPartitions
	for name, perPod := range map[string]int32{"one": 1, "all": n} {
		job := newProofJob(namespace, name, n)
		job.Spec.Execution.Dedicated.PartitionsPerPod = ptr.To(perPod)
		if err := admin.Create(t.Context(), job); err != nil {
			t.Fatal(err)
		}
		job.Status = largestStatus(n)
		for i := range job.Status.Partitions {
			job.Status.Partitions[i].State, job.Status.Partitions[i].Verified = v1alpha1.PartitionRunning, nil
		}
		if err := admin.Status().Update(t.Context(), job); err != nil {
			t.Fatal(err)
		}
		pod := newProver(t, namespace, name+"-0-abcde")
		if err := applyReport(t, pod, job, 0, pod.report(v1alpha1.StageDone)); err != nil {
			t.Errorf("%d partitions in one pod: %v", perPod, err)
		}
		forged := job.DeepCopy().Status.Partitions[n-1].Report
		forged.PodUID = "1"
		message := otherEntry
		if perPod == n {
			message = otherIdentity
		}
		refused(t, fmt.Sprintf("a forged report with %d partitions in one pod", perPod), applyReport(t, pod, job, n-1, forged), message)
	}
}

func TestProvingKeyStatusPolicy(t *testing.T) {
	namespace := newNamespace(t)
	rules := []rbacv1.PolicyRule{{APIGroups: []string{v1alpha1.GroupName}, Resources: []string{"provingkeys/status"}, Verbs: []string{"patch"}}}
	allowProvers(t, namespace, rules)
	if err := installPolicies(); err != nil {
		t.Fatal(err)
	}
	key := newProvingKey(namespace, "key")
	if err := admin.Create(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	pod := newProver(t, namespace, "cuzk-inspect-key-abcde")
	patch := client.RawPatch(types.MergePatchType, []byte(`{"status": {"verifyingKey": {"digest": "sha256:`+strings.Repeat("0a", 32)+`"}}}`))
	eventually(t, "the policy refuses a pod", func(context.Context) error {
		err := pod.Status().Patch(t.Context(), key.DeepCopy(), patch)
		if err == nil || !strings.Contains(err.Error(), "may be written only with the verb manage-status on provingkeys") {
			return fmt.Errorf("got %w", err)
		}
		return nil
	})
	if err := admin.Status().Patch(t.Context(), key.DeepCopy(), patch); err != nil {
		t.Errorf("with manage-status: %v", err)
	}
}
