//go:build apiserver

package apiserver

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/cuzk-dev/cuzk/api/v1alpha1"
)

const chartFolder = "../../charts/cuzk"

// helmProgram finds Helm by the environment variable HELM, in bin/ or in the path.
func helmProgram(t *testing.T) string {
	t.Helper()
	for _, path := range []string{os.Getenv("HELM"), "../../bin/helm"} {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			absolute, err := filepath.Abs(path)
			if err != nil {
				t.Fatal(err)
			}
			return absolute
		}
	}
	path, err := exec.LookPath("helm")
	if err != nil {
		t.Skip("no helm: set HELM, or run make test-chart, which builds bin/helm")
	}
	return path
}

// olderChart is a copy of the chart whose CRD does not know a field yet.
func olderChart(t *testing.T, field string) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "cuzk")
	if err := os.CopyFS(folder, os.DirFS(chartFolder)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "templates", "crds", "proving.cuzk.dev_proofjobs.yaml")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	older := strings.Replace(string(raw), "              "+field+":\n", "              formerly"+field+":\n", 1)
	if older == string(raw) {
		t.Fatalf("%s has no field %s", path, field)
	}
	if err := os.WriteFile(path, []byte(older), 0o644); err != nil {
		t.Fatal(err)
	}
	return folder
}

// The chart from the first installation to the last, on an API server of its own: an upgrade upgrades the CRDs, an
// uninstallation leaves them and the jobs, and a later installation takes them over.
func TestChartLifecycle(t *testing.T) {
	program := helmProgram(t)
	own := &envtest.Environment{Scheme: scheme, ControlPlaneStartTimeout: 3 * time.Minute}
	cfg, err := own.Start()
	if err != nil {
		t.Fatalf("start the API server: %v", err)
	}
	t.Cleanup(func() {
		if err := own.Stop(); err != nil {
			t.Error(err)
		}
	})
	c, err := client.New(cfg, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	kubeconfig := filepath.Join(home, "kubeconfig")
	if err := os.WriteFile(kubeconfig, own.KubeConfig, 0o600); err != nil {
		t.Fatal(err)
	}
	helm := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), program, append(args, "--namespace", "cuzk-system")...)
		cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig, "HELM_CONFIG_HOME="+home, "HELM_CACHE_HOME="+home, "HELM_DATA_HOME="+home)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("helm %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	at := func(namespace, name string) client.ObjectKey {
		return client.ObjectKey{Namespace: namespace, Name: name}
	}

	// An older release, in which a field is not known: it is dropped from what users send.
	helm("install", "cuzk", olderChart(t, "schedulingDeadlineSeconds"), "--create-namespace")
	create := func(name string) *v1alpha1.ProofJob {
		t.Helper()
		job := newProofJob("default", name, 1)
		job.Spec.SchedulingDeadlineSeconds = ptr.To(int64(60))
		// A new CRD is served a moment after it is made.
		eventually(t, "create "+name, func(ctx context.Context) error {
			err := c.Create(ctx, job.DeepCopy())
			if apierrors.IsAlreadyExists(err) {
				return nil
			}
			return err
		})
		got := &v1alpha1.ProofJob{}
		if err := c.Get(t.Context(), at("default", name), got); err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := create("before"); got.Spec.SchedulingDeadlineSeconds != nil {
		t.Fatal("the older CRD knows the field; this test shows nothing")
	}

	// The upgrade brings the field, and changes what the values change.
	helm("upgrade", "cuzk", chartFolder, "--set", "replicas=1")
	eventually(t, "the new field is kept", func(ctx context.Context) error {
		job := newProofJob("default", "probe", 1)
		job.Spec.SchedulingDeadlineSeconds = ptr.To(int64(60))
		if err := c.Create(ctx, job, client.DryRunAll); err != nil {
			return err
		}
		if job.Spec.SchedulingDeadlineSeconds == nil {
			return errors.New("dropped")
		}
		return nil
	})
	if got := create("after"); ptr.Deref(got.Spec.SchedulingDeadlineSeconds, 0) != 60 {
		t.Errorf("schedulingDeadlineSeconds is %v after the upgrade, want 60", got.Spec.SchedulingDeadlineSeconds)
	}
	deployment := &appsv1.Deployment{}
	if err := c.Get(t.Context(), at("cuzk-system", "cuzk-manager"), deployment); err != nil {
		t.Fatal(err)
	}
	if *deployment.Spec.Replicas != 1 {
		t.Errorf("%d replicas after the upgrade, want 1", *deployment.Spec.Replicas)
	}

	// What is left behind is the API and the jobs, and nothing else.
	helm("uninstall", "cuzk")
	for _, name := range []string{"before", "after"} {
		if err := c.Get(t.Context(), at("default", name), &v1alpha1.ProofJob{}); err != nil {
			t.Errorf("job %s after helm uninstall: %v", name, err)
		}
	}
	if err := c.Get(t.Context(), at("cuzk-system", "cuzk-manager"), deployment); !apierrors.IsNotFound(err) {
		t.Errorf("the Deployment after helm uninstall: %v, want it gone", err)
	}
	policy := &admissionv1.ValidatingAdmissionPolicy{}
	if err := c.Get(t.Context(), at("", "cuzk-prover-status"), policy); !apierrors.IsNotFound(err) {
		t.Errorf("the admission policy after helm uninstall: %v, want it gone", err)
	}
	// Without the operator jobs can be deleted: nothing holds on to them.
	job := &v1alpha1.ProofJob{}
	job.Namespace, job.Name = "default", "before"
	if err := c.Delete(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	if err := c.Get(t.Context(), at("default", "before"), job); !apierrors.IsNotFound(err) {
		t.Errorf("the job after its deletion: %v, want it gone", err)
	}

	// The same release takes over what stayed.
	helm("install", "cuzk", chartFolder)
	if err := c.Get(t.Context(), at("cuzk-system", "cuzk-manager"), deployment); err != nil {
		t.Errorf("the Deployment after the second installation: %v", err)
	}
	if err := c.Get(t.Context(), at("default", "after"), &v1alpha1.ProofJob{}); err != nil {
		t.Errorf("the job after the second installation: %v", err)
	}
}

// Helm keeps a release in a Secret of at most 1 MiB.
func TestChartFitsHelmsSecret(t *testing.T) {
	var size int64
	err := filepath.WalkDir(chartFolder, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		size += info.Size()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if size > 400_000 {
		t.Errorf("the chart has %d bytes, want at most 400,000", size)
	}
}
