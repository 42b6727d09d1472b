//go:build apiserver

package integration

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/controllers"
	"github.com/cuzk-dev/cuzk/controllers/internal/simulated"
)

// operator starts the operator, as the manager's ServiceAccount, for one namespace, and returns a function that stops it.
func operator(t *testing.T, namespace string, change ...func(*controllers.Options)) (stop func()) {
	t.Helper()
	o := controllers.Options{
		ProverImage: "prover:test", ProverCUDAImage: "prover-cuda:test", NodeDeadAfter: time.Second,
		ProofJobWorkers: 4, ProvingKeyWorkers: 2, VerificationWorkers: 2, VerifyingKeyCacheCap: 1 << 20,
		Clock: clock.RealClock{},
	}
	for _, f := range change {
		f(&o)
	}
	mgr, err := ctrl.NewManager(managerConfig, ctrl.Options{
		Scheme: scheme, Cache: controllers.Cache(namespace), Client: controllers.Client(true),
		Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
		// Each test has a manager of its own in this process.
		Controller: ctrlconfig.Controller{SkipNameValidation: ptr.To(true)},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	if err := controllers.Setup(ctx, mgr, o); err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() {
		if err := mgr.Start(ctx); err != nil {
			t.Error("operator:", err)
		}
	})
	stop = sync.OnceFunc(func() { cancel(); running.Wait() })
	t.Cleanup(stop)
	eventually(t, &api.ProvingKey{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "key"}}, "a key that is ready", func(k *api.ProvingKey) bool {
		return meta.IsStatusConditionTrue(k.Status.Conditions, api.ConditionReady)
	})
	return stop
}

var namespaces atomic.Int64

// newNamespace makes a namespace for one test, with a key of one public input in it that the operator makes ready.
func newNamespace(t *testing.T) (string, *simulated.Key) {
	t.Helper()
	name := fmt.Sprintf("test-%d", namespaces.Add(1))
	// Pods that the strictest profile refuses would not be created.
	create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"}}})
	key := simulated.NewKey(1)
	create(t, &api.ProvingKey{
		ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "key"},
		Spec: api.ProvingKeySpec{
			Format: api.KeyFormatSnarkjs, Curve: api.CurveBN254,
			Files: api.KeyFiles{
				ProvingKey:   api.KeyFile{Image: &api.ImageFile{Reference: "keys:1", Path: "circuit.zkey"}},
				VerifyingKey: &api.KeyFile{Inline: &api.InlineFile{Text: ptr.To(string(key.VerifyingKey()))}},
			},
		},
	})
	return name, key
}

func create(t *testing.T, object client.Object) {
	t.Helper()
	if err := admin.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
}

// newJob is a ProofJob of n inputs that declare their numbers, from 0, as public inputs.
func newJob(namespace, name string, n int, change ...func(*api.ProofJob)) *api.ProofJob {
	job := &api.ProofJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: api.ProofJobSpec{
			Circuit:       api.Circuit{Type: api.CircuitCircom},
			ProvingKeyRef: api.ProvingKeyReference{Name: "key"},
			Execution:     api.Execution{Dedicated: api.DedicatedExecution{Parallelism: ptr.To(int32(n))}},
		},
	}
	for i := range n {
		job.Spec.Inputs = append(job.Spec.Inputs, api.ProofInput{
			Name:         fmt.Sprintf("input-%d", i),
			InputSource:  api.InputSource{ConfigMap: &api.ConfigMapKey{Name: "inputs", Key: fmt.Sprintf("%d.wtns", i)}},
			PublicInputs: []string{fmt.Sprint(i)},
		})
	}
	for _, f := range change {
		f(job)
	}
	return job
}

// start creates a job whose pods are played by p.
func start(t *testing.T, job *api.ProofJob, p prover) {
	t.Helper()
	if p != nil {
		provers.Store(job.Namespace+"/"+job.Name, p)
	}
	create(t, job)
}

// honest proves each partition of its pod with the public input that it declares.
func honest(key *simulated.Key) prover {
	return func(ctx context.Context, p *proverPod) (int32, string) {
		o, err := p.order()
		if err != nil {
			return 2, err.Error()
		}
		lo, hi := o.Owned(p.index())
		for i := lo; i < hi; i++ {
			if err := p.report(ctx, i, p.done(key.Proof(int64(i)), fmt.Sprint(i))); err != nil {
				return 7, err.Error()
			}
		}
		return 0, ""
	}
}

// eventually looks at an object until it is as a test wants it, and shows it if it never is.
func eventually[T client.Object](t *testing.T, object T, what string, ok func(T) bool) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := admin.Get(ctx, client.ObjectKeyFromObject(object), object)
		if err == nil && ok(object) {
			return object
		}
		select {
		case <-ctx.Done():
			object.SetManagedFields(nil)
			shown, _ := json.MarshalIndent(object, "", " ")
			t.Fatalf("never came: %s (%v)\n%s\n%s", what, err, shown, pods(object.GetNamespace()))
		case <-ticker.C:
		}
	}
}

// pods shows what became of a namespace's pods.
func pods(namespace string) string {
	var list corev1.PodList
	if err := admin.List(context.Background(), &list, client.InNamespace(namespace)); err != nil {
		return err.Error()
	}
	var out strings.Builder
	for i := range list.Items {
		pod := &list.Items[i]
		fmt.Fprintf(&out, "%s on %q: %s %s", pod.Name, pod.Spec.NodeName, pod.Status.Phase, pod.Status.Message)
		for _, c := range pod.Status.ContainerStatuses {
			if end := c.State.Terminated; end != nil {
				fmt.Fprintf(&out, " exit %d: %s", end.ExitCode, end.Message)
			}
		}
		out.WriteByte('\n')
	}
	return out.String()
}

// becomes waits for a condition.
func becomes(t *testing.T, job *api.ProofJob, kind string, status metav1.ConditionStatus, reason string) *api.ProofJob {
	t.Helper()
	return eventually(t, job, fmt.Sprintf("%s %s %s", kind, status, reason), func(j *api.ProofJob) bool {
		c := meta.FindStatusCondition(j.Status.Conditions, kind)
		return c != nil && c.Status == status && (reason == "" || c.Reason == reason)
	})
}

// writes lists what the operator has written about objects whose name has a prefix, from the API server's audit log.
func writes(t *testing.T, namespace, prefix string) []string {
	t.Helper()
	f, err := os.Open(auditLog)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []string
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e struct {
			Verb           string
			User           struct{ Username string }
			ObjectRef      struct{ Resource, Subresource, Namespace, Name, APIGroup string }
			ResponseStatus struct{ Code int }
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			continue // the line being written
		}
		if e.User.Username != "system:serviceaccount:cuzk-system:cuzk-manager" || e.ObjectRef.Namespace != namespace ||
			e.ObjectRef.Resource == "events" || !strings.HasPrefix(e.ObjectRef.Name, prefix) {
			continue
		}
		out = append(out, fmt.Sprintf("%s %s/%s %s %d", e.Verb, e.ObjectRef.Resource, e.ObjectRef.Subresource, e.ObjectRef.Name, e.ResponseStatus.Code))
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// budget checks that a job of n partitions cost the operator no more writes than are allowed.
func budget(t *testing.T, namespace, name string, n int) {
	t.Helper()
	if w := writes(t, namespace, name); len(w) > 6+n/32 {
		t.Errorf("%d writes for a job of %d partitions:\n%s", len(w), n, strings.Join(w, "\n"))
	}
}

// newChildOfSomeone is a Job that no ProofJob owns.
func newChildOfSomeone(namespace, name string) *batchv1.Job {
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: batchv1.JobSpec{
			Suspend: ptr.To(true),
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "c"}},
			}},
		},
	}
}

// proverThat does something before it plays another prover.
func proverThat(first func(*proverPod) error, then prover) prover {
	return func(ctx context.Context, p *proverPod) (int32, string) {
		if err := first(p); err != nil {
			return 1, err.Error()
		}
		return then(ctx, p)
	}
}

// reconciliations counts how often this process has looked at a ProofJob.
func reconciliations(t *testing.T) float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, f := range families {
		if f.GetName() != "controller_runtime_reconcile_total" {
			continue
		}
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if l.GetName() == "controller" && l.GetValue() == "proofjob" {
					sum += m.GetCounter().GetValue()
				}
			}
		}
	}
	return sum
}

// reconciled waits until it has done so a number of times.
func reconciled(t *testing.T, times float64) {
	t.Helper()
	deadline := time.After(2 * time.Minute)
	for reconciliations(t) < times {
		select {
		case <-deadline:
			t.Fatalf("%g of %g reconciliations", reconciliations(t), times)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
