//go:build e2e

// Package e2e tests cuzk as users run it: on a real cluster, installed by its chart, with prover pods in containers. The
// target test-e2e starts the cluster and installs; these tests talk to it by the KUBECONFIG of the environment.
package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cuzk-dev/cuzk/api/v1alpha1"
)

const (
	root = "../.."
	// The namespace and name of the installation.
	systemNamespace, release = "cuzk-system", "cuzk"
)

// Long enough for a loaded machine with two cores; no test waits for it in vain unless it fails.
var patience = 4 * time.Minute

var (
	scheme = runtime.NewScheme()
	config *rest.Config
	admin  client.Client
)

func TestMain(m *testing.M) {
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			panic(err)
		}
	}
	var err error
	if config, err = ctrl.GetConfig(); err != nil {
		fmt.Fprintln(os.Stderr, "no cluster:", err, "- run make test-e2e")
		os.Exit(1)
	}
	config.QPS, config.UserAgent = -1, "cuzk-e2e"
	if admin, err = client.New(config, client.Options{Scheme: scheme}); err != nil {
		fmt.Fprintln(os.Stderr, "connect:", err)
		os.Exit(1)
	}
	code := m.Run()
	dropParameters()
	os.Exit(code)
}

// namespace makes a namespace with the sample's files in ConfigMaps and its key ready to use.
func namespace(t *testing.T) string {
	t.Helper()
	ns := emptyNamespace(t)
	configMap(t, ns, "key", map[string]string{"merkle3.zkey": circuit("merkle3.zkey")})
	configMap(t, ns, "circuit", map[string]string{"vk.json": circuit("vk.json"), "merkle3.r1cs": circuit("merkle3.r1cs")})
	configMap(t, ns, "witnesses", map[string]string{
		"alice": circuit("witness.wtns"), "bob": circuit("witness-bob.wtns"), "carol": circuit("witness-carol.wtns"),
	})
	create(t, merkleKey(ns, "merkle"))
	return ns
}

// emptyNamespace makes a namespace under the strictest pod security standard. It is deleted with the test, unless that has
// failed.
func emptyNamespace(t *testing.T) string {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "e2e-", Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}
	create(t, ns)
	t.Cleanup(func() {
		if t.Failed() {
			dump(t, ns.Name)
			return
		}
		if err := admin.Delete(context.Background(), ns); err != nil {
			t.Error(err)
		}
	})
	return ns.Name
}

// circuit is a file of the sample circuit.
func circuit(name string) string {
	return filepath.Join(root, "test", "circuits", "bls12381", "merkle3", name)
}

func configMap(t *testing.T, ns, name string, files map[string]string) {
	t.Helper()
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}, BinaryData: map[string][]byte{}}
	for key, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		cm.BinaryData[key] = data
	}
	create(t, cm)
}

func create(t *testing.T, o client.Object) {
	t.Helper()
	if err := admin.Create(t.Context(), o); err != nil {
		t.Fatalf("create %T %s: %v", o, o.GetName(), err)
	}
}

func get[O client.Object](t *testing.T, ns, name string, o O) O {
	t.Helper()
	if err := admin.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: name}, o); err != nil {
		t.Fatalf("get %T %s: %v", o, name, err)
	}
	return o
}

// eventually looks again until check is content.
func eventually(t *testing.T, what string, check func(ctx context.Context) (done bool, seen string)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	var seen string
	for {
		var done bool
		if done, seen = check(ctx); done {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("waited %s for %s; last seen: %s", patience, what, seen)
		case <-tick.C:
		}
	}
}

// until waits until a job's status is as wanted, and returns it.
func until(t *testing.T, ns, name, what string, want func(*v1alpha1.ProofJob) bool) *v1alpha1.ProofJob {
	t.Helper()
	var job *v1alpha1.ProofJob
	eventually(t, "job "+name+": "+what, func(ctx context.Context) (bool, string) {
		job = &v1alpha1.ProofJob{}
		if err := admin.Get(ctx, client.ObjectKey{Namespace: ns, Name: name}, job); err != nil {
			return false, err.Error()
		}
		return want(job), sketch(job)
	})
	return job
}

func finished(job *v1alpha1.ProofJob) bool {
	return job.Status.State == v1alpha1.ProofJobSucceeded || job.Status.State == v1alpha1.ProofJobFailed
}

// sketch is a job's status in a few words.
func sketch(job *v1alpha1.ProofJob) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", job.Status.State, job.Status.Progress)
	for _, c := range job.Status.Conditions {
		fmt.Fprintf(&b, "; %s=%s %s %q", c.Type, c.Status, c.Reason, c.Message)
	}
	for _, p := range job.Status.Partitions {
		fmt.Fprintf(&b, "; %d %s attempts %d %s %q", p.Index, p.State, p.Attempts, p.Reason, p.Message)
		if p.Report != nil {
			fmt.Fprintf(&b, " (%s on %s)", p.Report.Stage, p.Report.PodName)
		}
	}
	return b.String()
}

func condition(job *v1alpha1.ProofJob, name string) metav1.Condition {
	for _, c := range job.Status.Conditions {
		if c.Type == name {
			return c
		}
	}
	return metav1.Condition{}
}

// podsOf are the pods of a job, by its child Job's label.
func podsOf(t *testing.T, ns, job string) []corev1.Pod {
	t.Helper()
	var pods corev1.PodList
	if err := admin.List(t.Context(), &pods, client.InNamespace(ns), client.MatchingLabels{batchv1.JobNameLabel: job}); err != nil {
		t.Fatal(err)
	}
	return pods.Items
}

// proving waits until a pod of the job is at its computation, and returns it.
func proving(t *testing.T, ns, job string) *corev1.Pod {
	t.Helper()
	got := until(t, ns, job, "a pod computes", func(j *v1alpha1.ProofJob) bool {
		for _, p := range j.Status.Partitions {
			if p.Report != nil && p.Report.Stage == v1alpha1.StageGPU {
				return true
			}
		}
		return finished(j)
	})
	for _, p := range got.Status.Partitions {
		if p.Report != nil && p.Report.Stage == v1alpha1.StageGPU {
			return get(t, ns, p.Report.PodName, &corev1.Pod{})
		}
	}
	t.Fatalf("the job ended before a pod was seen computing: %s", sketch(got))
	return nil
}

func gone(t *testing.T, ns, name string, o client.Object) {
	t.Helper()
	eventually(t, fmt.Sprintf("%T %s is gone", o, name), func(ctx context.Context) (bool, string) {
		err := admin.Get(ctx, client.ObjectKey{Namespace: ns, Name: name}, o)
		return apierrors.IsNotFound(err), fmt.Sprint(err)
	})
}

// dump tells what there was, for a test that failed.
func dump(t *testing.T, ns string) {
	for _, args := range [][]string{
		{"get", "all,pj,pk", "-o", "wide"}, {"describe", "pj"}, {"get", "events", "--sort-by=.lastTimestamp"},
		{"logs", "-n", systemNamespace, "-l", "app.kubernetes.io/name=cuzk", "--tail=60"},
	} {
		out, _ := exec.Command("kubectl", append([]string{"-n", ns}, args...)...).CombinedOutput()
		t.Logf("kubectl %s\n%s", strings.Join(args, " "), out)
	}
}
