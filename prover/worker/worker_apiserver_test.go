//go:build apiserver

package worker

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/testr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/stage"
	"github.com/cuzk-dev/cuzk/prover/worker/order"
)

var (
	testScheme = runtime.NewScheme()
	testConfig *rest.Config
	admin      client.Client
)

func TestMain(m *testing.M) {
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(testScheme); err != nil {
			panic(err)
		}
	}
	env := &envtest.Environment{
		Scheme: testScheme, CRDDirectoryPaths: []string{"../../config/crd/bases"}, ErrorIfCRDPathMissing: true,
		ControlPlaneStartTimeout: 3 * time.Minute,
	}
	var err error
	if testConfig, err = env.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "start the API server:", err)
		os.Exit(1)
	}
	testConfig.QPS = -1
	if admin, err = client.New(testConfig, client.Options{Scheme: testScheme}); err != nil {
		panic(err)
	}
	code := m.Run()
	if err := env.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, "stop the API server:", err)
	}
	os.Exit(code)
}

// script is an engine that does as it is told; what proving really does is for other tests.
type script struct {
	loads   int
	proves  []string
	loadErr error
	// prove answers for an input by name.
	prove func(ctx context.Context, name string, obs stage.Observer) (*Proved, error)
	// withdrawn are the devices withdrawn by now.
	withdrawn []groth16.Withdrawal
}

func (s *script) Load(_ context.Context, key KeyFiles, _ *order.Order, obs stage.Observer) (Session, error) {
	s.loads++
	obs.Begin(stage.SRS)
	return s, s.loadErr
}
func (s *script) Close() error                    { return nil }
func (s *script) Withdrawn() []groth16.Withdrawal { return s.withdrawn }
func (s *script) Prove(ctx context.Context, in InputFile, obs stage.Observer, onRun func(int)) (*Proved, error) {
	s.proves = append(s.proves, in.Name)
	onRun(0)
	obs.Begin(stage.GPU)
	return s.prove(ctx, in.Name, obs)
}

func proofOf(name string) *Proved {
	return &Proved{
		Proof: `{"pi_a":["` + strings.Repeat("1", len(name)) + `"]}`, PublicInputs: []string{"7", "11"}, Backend: v1alpha1.BackendCPU,
		Runs: []v1alpha1.RunTimings{{Type: v1alpha1.RunCold, Timings: v1alpha1.Timings{
			SynthMilliseconds: ptr.To[int64](12), GPUMilliseconds: ptr.To[int64](345), TotalMilliseconds: ptr.To[int64](400),
		}}},
	}
}

// setup makes a job of three inline inputs, whose entries are in the status, and the worker of its only pod.
func setup(t *testing.T, engine Engine) (*Worker, *v1alpha1.ProofJob) {
	t.Helper()
	ctx := t.Context()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "worker-"}}
	if err := admin.Create(ctx, ns); err != nil {
		t.Fatal(err)
	}
	job := &v1alpha1.ProofJob{ObjectMeta: metav1.ObjectMeta{Namespace: ns.Name, Name: "job"}}
	job.Spec.Circuit.Type = v1alpha1.CircuitCircom
	job.Spec.ProvingKeyRef.Name = "key"
	job.Spec.Execution.Dedicated.PartitionsPerPod = ptr.To[int32](3)
	names := []string{"a", "bb", "ccc"}
	for _, n := range names {
		job.Spec.Inputs = append(job.Spec.Inputs, v1alpha1.ProofInput{Name: n, InputSource: v1alpha1.InputSource{
			Inline: &v1alpha1.InlineInput{Witness: []byte("witness of " + n)},
		}})
	}
	if err := admin.Create(ctx, job); err != nil {
		t.Fatal(err)
	}
	for i, n := range names {
		job.Status.Partitions = append(job.Status.Partitions, v1alpha1.PartitionStatus{Index: int32(i), Input: n, State: v1alpha1.PartitionPending})
	}
	if err := admin.Status().Update(ctx, job); err != nil {
		t.Fatal(err)
	}
	keys := t.TempDir()
	if err := os.WriteFile(filepath.Join(keys, "provingKey"), []byte("a key"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := &order.Order{
		Version: order.Version, Namespace: ns.Name, Job: "job", JobUID: string(job.UID),
		Key:        order.Key{Name: "key", Format: "Snarkjs", Curve: "BN254", ProvingKey: order.File{Root: keys, Path: "provingKey"}},
		Partitions: 3, PartitionsPerPod: 3, Runs: 1, ProgressSeconds: 1,
		Inputs: []order.Input{{Name: "a", Inline: true}, {Name: "bb", Inline: true}, {Name: "ccc", Inline: true}},
	}
	return &Worker{
		Pod:   Pod{Name: "job-0-abcde", Namespace: ns.Name, Node: "node-1", UID: "5f2b1c9e-0000-4000-8000-000000000001"},
		Order: o, Client: admin, Engine: engine, Log: testr.New(t), Clock: clock.RealClock{},
		Scratch: t.TempDir(), Termination: filepath.Join(t.TempDir(), "termination-log"),
	}, job
}

func reports(t *testing.T, job *v1alpha1.ProofJob) []*v1alpha1.PartitionReport {
	t.Helper()
	got := &v1alpha1.ProofJob{}
	if err := admin.Get(t.Context(), client.ObjectKeyFromObject(job), got); err != nil {
		t.Fatal(err)
	}
	var rs []*v1alpha1.PartitionReport
	for i := range got.Status.Partitions {
		rs = append(rs, got.Status.Partitions[i].Report)
	}
	return rs
}

func lastWord(t *testing.T, w *Worker) *order.Termination {
	t.Helper()
	data, err := os.ReadFile(w.Termination)
	if err != nil {
		t.Fatal(err)
	}
	last, err := order.ParseTermination(data)
	if err != nil {
		t.Fatal(err)
	}
	return last
}

func TestEveryPartitionIsReported(t *testing.T) {
	engine := &script{prove: func(_ context.Context, name string, _ stage.Observer) (*Proved, error) { return proofOf(name), nil }}
	w, job := setup(t, engine)
	if err := w.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if engine.loads != 1 {
		t.Errorf("the key was loaded %d times, want once", engine.loads)
	}
	got := reports(t, job)
	want := &v1alpha1.PartitionReport{
		PodName: "job-0-abcde", PodUID: "5f2b1c9e-0000-4000-8000-000000000001", Node: "node-1", Stage: v1alpha1.StageDone,
		Backend: v1alpha1.BackendCPU,
		// printf 'witness of bb' | sha256sum
		InputDigest: "sha256:07b815f6dcc88474931769abb0a2a411c2820e9b62741cbb43273e3be1ef531b",
		Proof:       proofOf("input bb").Proof, PublicInputs: []string{"7", "11"},
		Timings: &proofOf("").Runs[0].Timings,
	}
	if diff := cmp.Diff(want, got[1]); diff != "" {
		t.Error(diff)
	}
	last := lastWord(t, w)
	if len(last.Partitions) != 3 || last.Partitions[2].Proof != got[2].Proof || last.Truncated {
		t.Errorf("termination message: %+v", last)
	}
}

func TestBadInputFailsAlone(t *testing.T) {
	engine := &script{prove: func(_ context.Context, name string, _ stage.Observer) (*Proved, error) {
		if name == "input bb" {
			return nil, failure.New(failure.Input, "not satisfied").In(name).OnConstraint(42)
		}
		return proofOf(name), nil
	}}
	w, job := setup(t, engine)
	err := w.Run(t.Context())
	if failure.ClassOf(err) != failure.Input {
		t.Errorf("got %v, want an error of class Input", err)
	}
	got := reports(t, job)
	wantErr := &v1alpha1.ReportError{Class: v1alpha1.ErrorClassInput, Message: "input bb: constraint 42: not satisfied"}
	if diff := cmp.Diff(wantErr, got[1].Error); diff != "" {
		t.Error(diff)
	}
	if got[0].Proof == "" || got[2].Proof == "" {
		t.Error("the other inputs' proofs are missing")
	}
}

// The second input's proof is computed again elsewhere; the third finds no device any more.
func TestWithdrawnDevicesAreReported(t *testing.T) {
	engine := &script{}
	engine.prove = func(_ context.Context, name string, _ stage.Observer) (*Proved, error) {
		p := proofOf(name)
		switch name {
		case "input bb":
			engine.withdrawn = []groth16.Withdrawal{wrongGPU}
			p.Refusals = 1
		case "input ccc":
			engine.withdrawn = []groth16.Withdrawal{lostGPU, wrongGPU}
			return nil, failure.New(failure.Backend, "no GPU is left")
		}
		return p, nil
	}
	w, job := setup(t, engine)
	if err := w.Run(t.Context()); failure.ClassOf(err) != failure.Backend {
		t.Errorf("got %v, want class Backend", err)
	}
	type told struct {
		Refusals int32
		Devices  []v1alpha1.WithdrawnDevice
	}
	want := []told{{}, {1, []v1alpha1.WithdrawnDevice{{
		UUID: "GPU-0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0", Name: "NVIDIA H200",
		Reason: "it computed a wrong proof: another computation of the same proof verifies",
	}}}, {0, []v1alpha1.WithdrawnDevice{{
		UUID: "GPU-00112233-4455-6677-8899-aabbccddeeff", Name: "NVIDIA H200", Reason: "the GPU failed",
	}}}}
	var got []told
	for _, r := range reports(t, job) {
		got = append(got, told{r.Refusals, r.WithdrawnDevices})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestKeyErrorEndsThePod(t *testing.T) {
	engine := &script{loadErr: failure.New(failure.Key, "section 5 is cut")}
	w, job := setup(t, engine)
	if err := w.Run(t.Context()); failure.ClassOf(err) != failure.Key {
		t.Errorf("got %v, want an error of class Key", err)
	}
	got := reports(t, job)
	if got[0].Error == nil || got[0].Error.Class != v1alpha1.ErrorClassKey || got[1] != nil {
		t.Errorf("want the first partition's report alone, with the error; got %+v and %+v", got[0], got[1])
	}
	if last := lastWord(t, w); last.Class != "Key" || !strings.Contains(last.Message, "section 5 is cut") {
		t.Errorf("termination message: %+v", last)
	}
}

func TestVerifiedPartitionsAreNotProvedAgain(t *testing.T) {
	engine := &script{prove: func(_ context.Context, name string, _ stage.Observer) (*Proved, error) { return proofOf(name), nil }}
	w, job := setup(t, engine)
	for i := range job.Status.Partitions {
		job.Status.Partitions[i].Verified = ptr.To(i != 1)
	}
	if err := admin.Status().Update(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	if err := w.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"input bb"}, engine.proves); diff != "" {
		t.Error(diff)
	}
	if err := admin.Get(t.Context(), client.ObjectKeyFromObject(job), job); err != nil {
		t.Fatal(err)
	}
	job.Status.Partitions[1].Verified = ptr.To(true)
	if err := admin.Status().Update(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	engine.loads = 0
	if err := w.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if engine.loads != 0 {
		t.Error("the key was loaded though all partitions are verified")
	}
}

func TestAnotherJobOfTheSameNameIsLeftAlone(t *testing.T) {
	engine := &script{}
	w, _ := setup(t, engine)
	w.Order.JobUID = "somebody-else"
	if err := w.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "not the one this pod was made for") {
		t.Errorf("got %v", err)
	}
	if engine.loads != 0 {
		t.Error("the key was loaded for another job")
	}
}

// A refusal of reports leaves the termination message to carry the proofs; the pod then still succeeds.
func TestTerminationMessageIsTheFallback(t *testing.T) {
	engine := &script{prove: func(_ context.Context, name string, _ stage.Observer) (*Proved, error) { return proofOf(name), nil }}
	w, job := setup(t, engine)
	// A user who may read the job and not write its status, with the grace for late authorizers over.
	restricted := rest.CopyConfig(testConfig)
	restricted.Impersonate = rest.ImpersonationConfig{UserName: "reader"}
	readOnly(t, job.Namespace, "reader")
	c, err := client.New(restricted, client.Options{Scheme: testScheme})
	if err != nil {
		t.Fatal(err)
	}
	w.Client, w.Clock = c, pastGrace{}
	if err := w.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := reports(t, job); got[0] != nil {
		t.Errorf("the report was accepted: %+v", got[0])
	}
	if last := lastWord(t, w); len(last.Partitions) != 3 || last.Partitions[0].Proof == "" {
		t.Errorf("termination message: %+v", last)
	}
}

func TestStopBeforeTheProofIsNotSuccess(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	engine := &script{prove: func(ctx context.Context, _ string, _ stage.Observer) (*Proved, error) {
		stop()
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	w, job := setup(t, engine)
	err := w.Run(ctx)
	if failure.ClassOf(err) != failure.Interrupted {
		t.Errorf("got %v, want class Interrupted", err)
	}
	if got := reports(t, job); got[0] == nil || got[0].Error == nil {
		t.Errorf("want the last report to tell the end, got %+v", got[0])
	}
}

// A prover newer than the cluster's definition must not lose its proof.
func TestOlderDefinitionTakesTheFirstFields(t *testing.T) {
	w, job := setup(t, &script{prove: func(_ context.Context, name string, _ stage.Observer) (*Proved, error) { return proofOf(name), nil }})
	a := &applier{client: &newField{admin}, clock: w.Clock, log: w.Log, namespace: job.Namespace, job: job.Name, started: time.Now()}
	r := &v1alpha1.PartitionReport{PodName: w.Pod.Name, PodUID: w.Pod.UID, Proof: proofOf("x").Proof, Backend: v1alpha1.BackendCPU}
	if err := a.apply(t.Context(), 0, r); err != nil {
		t.Fatal(err)
	}
	if got := reports(t, job)[0]; got == nil || got.Proof != r.Proof || got.Backend != "" {
		t.Errorf("want the proof without the newer fields, got %+v", got)
	}
}

// newField is a client of a later release, which knows a field of the report that the API server does not.
type newField struct{ client.Client }

func (c *newField) Status() client.SubResourceWriter { return &newFieldWriter{c.Client.Status()} }

type newFieldWriter struct{ client.SubResourceWriter }

func (w *newFieldWriter) Apply(ctx context.Context, obj runtime.ApplyConfiguration, opts ...client.SubResourceApplyOption) error {
	data, err := json.Marshal(obj)
	if err != nil {
		return err
	}
	if strings.Contains(string(data), `"backend"`) {
		data = []byte(strings.Replace(string(data), `"backend"`, `"fieldOfALaterRelease"`, 1))
	}
	u, err := fromJSON(data)
	if err != nil {
		return err
	}
	return w.SubResourceWriter.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), opts...)
}

// pastGrace is the real clock for one who began long ago.
type pastGrace struct{ clock.RealClock }

func (pastGrace) Since(time.Time) time.Duration { return time.Hour }

func fromJSON(data []byte) (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{}
	return u, u.UnmarshalJSON(data)
}

// readOnly lets a user read proof jobs of a namespace, and no more.
func readOnly(t *testing.T, namespace, user string) {
	t.Helper()
	role := &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: user},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{v1alpha1.GroupName}, Resources: []string{"proofjobs"}, Verbs: []string{"get"}}},
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: user},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: user},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: user}},
	}
	for _, o := range []client.Object{role, binding} {
		if err := admin.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
}
