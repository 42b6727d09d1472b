package proofjob

import (
	"fmt"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/google/go-cmp/cmp"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/controllers/internal/proverpod"
	"github.com/cuzk-dev/cuzk/prover/worker/order"
)

func makeChild(t *testing.T, s *scene) *batchv1.Job {
	t.Helper()
	child, err := newChild(s.Job, s.circuit(), s.Key, s.cfg)
	if err != nil {
		t.Fatal(err)
	}
	return child
}

func TestChild(t *testing.T) {
	s := newScene(t, 5, func(j *api.ProofJob) {
		j.Labels = map[string]string{kueueQueueLabel: "gpus", "team": "a"}
		j.Annotations = map[string]string{"kueue.x-k8s.io/podset-required-topology": "rack", "note": "b"}
		j.Spec.Execution.Dedicated.PartitionsPerPod = ptr.To[int32](2)
		j.Spec.Execution.Dedicated.Parallelism = ptr.To[int32](9)
		j.Spec.Execution.Dedicated.PodLabels = map[string]string{"app": "x"}
		j.Spec.MaxFailedPartitions = ptr.To[int32](4)
	})
	child := makeChild(t, s)
	want := batchv1.JobSpec{
		CompletionMode: ptr.To(batchv1.IndexedCompletion), Completions: ptr.To[int32](3), Parallelism: ptr.To[int32](3),
		BackoffLimitPerIndex: ptr.To[int32](3), MaxFailedIndexes: ptr.To[int32](3), PodReplacementPolicy: ptr.To(batchv1.Failed), Suspend: ptr.To(true),
	}
	got := child.Spec
	policy := got.PodFailurePolicy
	got.PodFailurePolicy, got.Template = nil, corev1.PodTemplateSpec{}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}
	var rules []string
	for _, r := range policy.Rules {
		if r.OnExitCodes != nil {
			rules = append(rules, fmt.Sprintf("%s %v", r.Action, r.OnExitCodes.Values))
		} else {
			rules = append(rules, fmt.Sprintf("%s %s", r.Action, r.OnPodConditions[0].Type))
		}
	}
	if diff := cmp.Diff([]string{"Ignore DisruptionTarget", "FailIndex [3]", "FailJob [4]"}, rules); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
	if !metav1.IsControlledBy(child, s.Job) {
		t.Error("the job does not own its child")
	}
	wantLabels := map[string]string{
		"app.kubernetes.io/name": "cuzk", "app.kubernetes.io/component": "prover", kueueQueueLabel: "gpus",
		proverpod.ComponentLabel: "prover", proverpod.ProofJobLabel: "batch", proverpod.OwnerUIDLabel: "job-uid",
	}
	if diff := cmp.Diff(wantLabels, child.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	wantLabels["app"] = "x"
	if diff := cmp.Diff(wantLabels, child.Spec.Template.Labels); diff != "" {
		t.Errorf("pod labels (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"kueue.x-k8s.io/podset-required-topology": "rack"}, child.Annotations); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
}

// Each kind of input is where the order says it is.
func TestInputsOfPods(t *testing.T) {
	s := newScene(t, 7, func(j *api.ProofJob) {
		in := j.Spec.Inputs
		in[1].InputSource = api.InputSource{Secret: &api.SecretKey{Name: "witnesses", Key: "b.wtns"}}
		in[2].InputSource = api.InputSource{PersistentVolumeClaim: &api.ClaimPath{ClaimName: "data", Path: "c/c.wtns"}}
		in[3].InputSource = api.InputSource{PersistentVolumeClaim: &api.ClaimPath{ClaimName: "data", Path: "d.wtns"}}
		in[4].InputSource = api.InputSource{URI: &api.URISource{URL: "s3://bucket/e.wtns", SecretRef: &api.SecretReference{Name: "login"}}}
		in[4].Digest = "sha256:e"
		in[5].InputSource = api.InputSource{Inline: &api.InlineInput{Witness: []byte("secret bytes")}}
		in[6].InputSource = api.InputSource{PersistentVolumeClaim: &api.ClaimPath{ClaimName: "more", Path: "g.wtns"}}
	})
	template := makeChild(t, s).Spec.Template
	data := template.Annotations[order.Annotation]
	o, err := order.Parse([]byte(data))
	if err != nil {
		t.Fatal(err)
	}
	want := []order.Input{
		{Name: "input-0", File: order.File{Root: "/var/run/cuzk/inputs", Path: "0"}},
		{Name: "input-1", File: order.File{Root: "/var/run/cuzk/inputs", Path: "1"}},
		{Name: "input-2", File: order.File{Root: "/var/run/cuzk/input-claims/0", Path: "c/c.wtns"}},
		{Name: "input-3", File: order.File{Root: "/var/run/cuzk/input-claims/0", Path: "d.wtns"}},
		{Name: "input-4", File: order.File{URI: "s3://bucket/e.wtns", Credentials: "/var/run/cuzk/credentials/0", Digest: "sha256:e"}},
		{Name: "input-5", Inline: true},
		{Name: "input-6", File: order.File{Root: "/var/run/cuzk/input-claims/1", Path: "g.wtns"}},
	}
	if diff := cmp.Diff(want, o.Inputs); diff != "" {
		t.Errorf("inputs (-want +got):\n%s", diff)
	}
	if strings.Contains(data, "secret") || strings.Contains(fmt.Sprint(template), "secret bytes") {
		t.Error("an inline witness is in the pod template")
	}
	mounted := map[string]string{}
	for _, m := range template.Spec.Containers[0].VolumeMounts {
		mounted[m.Name] = m.MountPath
		if m.Name != "scratch" && !m.ReadOnly {
			t.Errorf("%s is writable", m.Name)
		}
	}
	wantMounts := map[string]string{
		"order": "/etc/cuzk/order", "scratch": "/var/cache/cuzk", "token": "/var/run/secrets/kubernetes.io/serviceaccount",
		"inputs": "/var/run/cuzk/inputs", "input-claim-0": "/var/run/cuzk/input-claims/0", "input-claim-1": "/var/run/cuzk/input-claims/1",
		"credentials-0": "/var/run/cuzk/credentials/0", "key-claim-0": "/var/run/cuzk/key-claims/0",
	}
	if diff := cmp.Diff(wantMounts, mounted); diff != "" {
		t.Errorf("mounts (-want +got):\n%s", diff)
	}
	for _, v := range template.Spec.Volumes {
		switch v.Name {
		case "inputs":
			for _, src := range v.Projected.Sources {
				optional := src.ConfigMap != nil && ptr.Deref(src.ConfigMap.Optional, false) || src.Secret != nil && ptr.Deref(src.Secret.Optional, false)
				if !optional {
					t.Error("an input that is missing would keep the pods of all others from starting")
				}
			}
		case "token":
			if n := len(v.Projected.Sources); n != 3 {
				t.Errorf("%d sources of the token", n)
			}
		}
	}
	if ptr.Deref(template.Spec.AutomountServiceAccountToken, true) {
		t.Error("a token is mounted automatically")
	}
}

// What a job may say about its pods arrives there.
func TestPodSettings(t *testing.T) {
	s := newScene(t, 1, func(j *api.ProofJob) {
		j.Spec.Circuit.Circom = &api.CircomCircuit{WitnessTimeoutSeconds: ptr.To[int32](77)}
		j.Spec.Backend = api.Backend{Type: api.BackendCPU, PartitionWorkers: ptr.To[int32](2), GPUThreads: ptr.To[int32](8)}
		j.Spec.Runs, j.Spec.WarmupRuns = ptr.To[int32](4), ptr.To[int32](1)
		j.Spec.Execution.Dedicated = api.DedicatedExecution{
			ImagePullSecrets: []corev1.LocalObjectReference{{Name: "pull"}}, ServiceAccountName: "reader",
			NodeSelector: map[string]string{"a": "b"}, Tolerations: []corev1.Toleration{{Key: "gpu"}},
			PriorityClassName: "high", RuntimeClassName: "nvidia", SchedulerName: "other", TerminationGracePeriodSeconds: ptr.To[int64](5),
			Env:             []corev1.EnvVar{{Name: "GOGC", Value: "50"}},
			SecurityContext: &api.PodUsers{FSGroup: ptr.To[int64](7), RunAsUser: ptr.To[int64](8), RunAsGroup: ptr.To[int64](9), SupplementalGroups: []int64{10}},
			ScratchSize:     ptr.To(resource.MustParse("70Gi")),
		}
	})
	template := makeChild(t, s).Spec.Template
	spec := template.Spec
	want := corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever, ImagePullSecrets: []corev1.LocalObjectReference{{Name: "pull"}}, ServiceAccountName: "reader",
		NodeSelector: map[string]string{"a": "b"}, Tolerations: []corev1.Toleration{{Key: "gpu"}},
		PriorityClassName: "high", RuntimeClassName: ptr.To("nvidia"), SchedulerName: "other", TerminationGracePeriodSeconds: ptr.To[int64](5),
		AutomountServiceAccountToken: ptr.To(false), EnableServiceLinks: ptr.To(false),
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot: ptr.To(true), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			FSGroup: ptr.To[int64](7), RunAsUser: ptr.To[int64](8), RunAsGroup: ptr.To[int64](9), SupplementalGroups: []int64{10},
		},
	}
	container := spec.Containers[0]
	for _, v := range spec.Volumes {
		if v.Name == "scratch" && v.EmptyDir.SizeLimit.String() != "70Gi" {
			t.Errorf("scratch of %s", v.EmptyDir.SizeLimit)
		}
	}
	spec.Volumes, spec.Containers = nil, nil
	if diff := cmp.Diff(want, spec); diff != "" {
		t.Errorf("pod (-want +got):\n%s", diff)
	}
	if got := container.Env[len(container.Env)-1]; got.Name != "GOGC" {
		t.Errorf("last variable %v", got)
	}
	o, err := order.Parse([]byte(template.Annotations[order.Annotation]))
	if err != nil {
		t.Fatal(err)
	}
	if o.Circuit.WitnessTimeoutSeconds != 77 || o.Runs != 4 || o.WarmupRuns != 1 || o.Backend != (order.Backend{Type: "CPU", PartitionWorkers: 2, GPUThreads: 8}) || o.JobUID != "job-uid" {
		t.Errorf("order %+v", o)
	}
}

// Backend CUDA means a GPU; Auto takes what the job asks for.
func TestGPUAndImage(t *testing.T) {
	gpus := func(name string) corev1.ResourceRequirements {
		return corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceName(name): resource.MustParse("2")}}
	}
	for _, c := range []struct {
		name    string
		backend api.BackendType
		d       api.DedicatedExecution
		image   string
		gpus    string
	}{
		{"auto", api.BackendAuto, api.DedicatedExecution{}, "prover:1", "0"},
		{"auto with memory", api.BackendAuto, api.DedicatedExecution{Resources: gpus("memory")}, "prover:1", "0"},
		{"auto with huge pages", api.BackendAuto, api.DedicatedExecution{Resources: gpus("hugepages-2Mi")}, "prover:1", "0"},
		{"auto with GPUs", api.BackendAuto, api.DedicatedExecution{Resources: gpus("nvidia.com/gpu")}, "prover-cuda:1", "2"},
		{"auto with a slice", api.BackendAuto, api.DedicatedExecution{Resources: gpus("nvidia.com/mig-1g.18gb")}, "prover-cuda:1", "0"},
		{"CUDA", api.BackendCUDA, api.DedicatedExecution{}, "prover-cuda:1", "1"},
		{"CUDA with memory", api.BackendCUDA, api.DedicatedExecution{Resources: gpus("memory")}, "prover-cuda:1", "1"},
		{"CUDA with GPUs", api.BackendCUDA, api.DedicatedExecution{Resources: gpus("nvidia.com/gpu")}, "prover-cuda:1", "2"},
		{"CUDA with a claim", api.BackendCUDA, api.DedicatedExecution{ResourceClaims: []corev1.PodResourceClaim{{Name: "gpu"}}}, "prover-cuda:1", "0"},
		{"CPU on a GPU node", api.BackendCPU, api.DedicatedExecution{Resources: gpus("nvidia.com/gpu")}, "prover:1", "2"},
		{"own image", api.BackendCUDA, api.DedicatedExecution{Image: "mine:2"}, "mine:2", "1"},
	} {
		s := newScene(t, 1, func(j *api.ProofJob) { j.Spec.Backend.Type, j.Spec.Execution.Dedicated = c.backend, c.d })
		container := makeChild(t, s).Spec.Template.Spec.Containers[0]
		got := container.Resources.Limits[gpuResource]
		if container.Image != c.image || got.String() != c.gpus {
			t.Errorf("%s: image %s, %s GPUs; want %s, %s", c.name, container.Image, got.String(), c.image, c.gpus)
		}
	}
}

// However large a job is, what stands in its pod template fits into annotations.
func TestLargeOrders(t *testing.T) {
	s := newScene(t, 256, func(j *api.ProofJob) {
		for i := range j.Spec.Inputs {
			j.Spec.Inputs[i].InputSource = api.InputSource{URI: &api.URISource{URL: "https://example.com/" + strings.Repeat("x", 480)}}
			j.Spec.Inputs[i].Digest = api.Digest("blake2b-512:" + strings.Repeat("a", 128))
		}
	})
	data := makeChild(t, s).Spec.Template.Annotations[order.Annotation]
	if len(data) > order.MaxBytes {
		t.Errorf("%d bytes", len(data))
	}
	if _, err := order.Parse([]byte(data)); err != nil {
		t.Error(err)
	}
}
