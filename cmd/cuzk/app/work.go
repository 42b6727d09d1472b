package app

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/groth16/backend/cpu"
	"github.com/cuzk-dev/cuzk/prover/memory"
	"github.com/cuzk-dev/cuzk/prover/worker"
	"github.com/cuzk-dev/cuzk/prover/worker/order"
)

func init() {
	extraCommands = append(extraCommands, func(a *app) *cobra.Command { return a.workCommand() })
}

// workFlags are for trying a pod's command outside of a pod; the operator uses the defaults.
type workFlags struct {
	inspectKey  bool
	order       string
	scratch     string
	termination string
}

func (a *app) workCommand() *cobra.Command {
	f := &workFlags{}
	c := &cobra.Command{
		Use:   "work",
		Short: "Prove the partitions of a ProofJob's pod and report into its status",
		Long: `cuzk work is what the operator's pods run. It takes its order from a file that the operator mounts, proves the
partitions of its completion index, and reports stage, progress, timings and proof into the ProofJob's status. What could
not be reported is in the termination message. It ends with 0 only when every proof is on its way; see cuzk --help for the
other codes.

It needs the environment that the operator sets: ` + strings.Join([]string{order.EnvPodName, order.EnvPodUID, order.EnvPodNamespace, order.EnvNodeName, order.EnvIndex}, ", ") + `.`,
		Example: `  cuzk work
  cuzk work --inspect-key`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.work(cmd.Context(), f) },
	}
	fs := c.Flags()
	fs.BoolVar(&f.inspectKey, "inspect-key", false, "look at a proving key for the operator instead of proving")
	fs.StringVar(&f.order, "order", order.Path, "the order's file")
	fs.StringVar(&f.scratch, "scratch", order.ScratchDir, "writable folder for downloads and compiled programs")
	fs.StringVar(&f.termination, "termination-message", order.TerminationPath, "file for the termination message")
	return c
}

func (a *app) work(ctx context.Context, f *workFlags) error {
	a.inPod = true
	data, err := os.ReadFile(f.order)
	if err != nil {
		return failure.New(failure.Usage, "%w", err).WithFix("cuzk work runs in the pods that the operator makes")
	}
	run, err := a.prepare(data, f)
	if err != nil {
		return f.lastWord(err)
	}
	return run(ctx)
}

// prepare makes all that an order needs before it can be carried out.
func (a *app) prepare(data []byte, f *workFlags) (func(context.Context) error, error) {
	if f.inspectKey {
		return a.prepareInspection(data, f)
	}
	o, err := order.Parse(data)
	if err != nil {
		return nil, failure.New(failure.Usage, "%w", err).In(f.order)
	}
	pod, err := worker.PodFromEnvironment(os.Getenv)
	if err != nil {
		return nil, err
	}
	c, err := clusterClient()
	if err != nil {
		return nil, err
	}
	backend, err := a.podBackend(o, f.scratch)
	if err != nil {
		return nil, err
	}
	w := &worker.Worker{
		Pod: pod, Order: o, Client: c, Log: a.clusterLog(), Clock: clock.RealClock{}, Scratch: f.scratch, Termination: f.termination,
		Engine:   &worker.Pipeline{Backend: backend, CacheFolder: filepath.Join(f.scratch, "programs"), Log: a.log},
		Filecoin: &worker.Filecoin{Backend: backend, CacheFolder: filepath.Join(f.scratch, constraintsFolder), Log: a.log},
	}
	return func(ctx context.Context) error {
		defer backend.Close()
		return w.Run(ctx)
	}, nil
}

func (a *app) prepareInspection(data []byte, f *workFlags) (func(context.Context) error, error) {
	o, err := order.ParseInspectionOrder(data)
	if err != nil {
		return nil, failure.New(failure.Usage, "%w", err).In(f.order)
	}
	c, err := clusterClient()
	if err != nil {
		return nil, err
	}
	w := &worker.Inspection{
		Order: o, Client: c, Inspector: worker.KeyReaders{}, Log: a.clusterLog(), Clock: clock.RealClock{},
		Scratch: f.scratch, Termination: f.termination,
	}
	return w.Run, nil
}

// clusterLog is the log in the form that Kubernetes' libraries have for one.
func (a *app) clusterLog() logr.Logger { return logr.FromSlogHandler(a.log.Handler()) }

// podBackend makes the backend that the order names, within the pod's memory.
func (a *app) podBackend(o *order.Order, scratch string) (groth16.Backend, error) {
	budget := int64(a.flags.memoryLimit)
	if budget == 0 {
		// The rest is for the circuit, the witness generator and Go itself.
		budget = memory.Limit() * 9 / 10
	}
	if a.flags.threads == 0 && o.Backend.GPUThreads > 0 {
		a.flags.threads = min(o.Backend.GPUThreads, runtime.GOMAXPROCS(0))
	}
	wish := backendWish{
		name: backendAuto, memory: budget, proofs: o.Backend.PartitionWorkers, proofsPerGPU: o.Backend.GPUWorkersPerDevice,
		copyThreads: o.Backend.GPUThreads, kernelCache: filepath.Join(scratch, "kernels"),
	}
	switch o.Backend.Type {
	case string(v1alpha1.BackendCUDA):
		wish.name = backendCUDA
	case string(v1alpha1.BackendCPU):
		wish.name = backendCPU
	}
	backend, err := a.openBackend(wish)
	if _, processor := backend.(*cpu.Backend); processor && a.flags.threads > 0 {
		// The backend's number of threads is of each of its tasks, several of which run side by side.
		runtime.GOMAXPROCS(a.flags.threads)
	}
	return backend, err
}

// lastWord leaves an error that comes before any work where the operator finds it, and returns it.
func (f *workFlags) lastWord(err error) error {
	class, message := string(failure.ClassOf(err)), v1alpha1.ReportMessage(err.Error(), v1alpha1.MaxMessageLength)
	word := order.Termination{Class: class, Message: message}.Marshal(func(string) string { return "" })
	if f.inspectKey {
		word = order.InspectionResult{Class: class, Message: message}.Marshal()
	}
	// The exit code says the same if the message cannot be written.
	_ = os.WriteFile(f.termination, word, 0o600)
	return err
}

// clusterClient talks to the API server without a cache: a pod reads one object, once.
func clusterClient() (client.Client, error) {
	config, err := ctrl.GetConfig()
	if err != nil {
		return nil, failure.New(failure.Usage, "find the API server: %w", err).WithFix("run inside a pod with a mounted token, or set KUBECONFIG")
	}
	config.UserAgent = "cuzk-prover"
	scheme := kruntime.NewScheme()
	for _, add := range []func(*kruntime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, failure.New(failure.IO, "connect to the API server: %w", err)
	}
	return c, nil
}
