package main

import (
	"errors"
	"flag"
	"fmt"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client/config"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
)

// options are the manager's flags.
type options struct {
	proverImage, proverCUDAImage string

	namespaces      string
	nodeDeadAfter   time.Duration
	jobWorkers      int
	keyWorkers      int
	verifiers       int
	keyCacheBytes   int64
	readYourWrites  bool
	apiQPS          float64
	apiBurst        int
	shutdownTimeout time.Duration

	leaderElect                             bool
	leaderNamespace                         string
	leaseDuration, renewDeadline, retryTime time.Duration

	probeAddress, metricsAddress string
	metricsInsecure              bool
	metricsCertDir               string

	log     zap.Options
	version bool
}

func (o *options) bind(f *flag.FlagSet) {
	f.StringVar(&o.proverImage, "prover-image", "", "image of prover pods for jobs that name none and ask for no GPU (required)")
	f.StringVar(&o.proverCUDAImage, "prover-cuda-image", "", "image of prover pods for jobs that name none and ask for a GPU (default: the value of --prover-image)")

	f.StringVar(&o.namespaces, "namespaces", "", "namespaces to serve, comma-separated; empty serves all")
	f.DurationVar(&o.nodeDeadAfter, "node-dead-after", 2*time.Minute, "how long a node must have been not Ready until its prover pods are given up and their partitions tried again; this comes on top of the time after which the cluster calls a silent node not Ready (50 s by default)")
	f.IntVar(&o.jobWorkers, "proofjob-workers", 8, "ProofJobs reconciled at once")
	f.IntVar(&o.keyWorkers, "provingkey-workers", 2, "ProvingKeys reconciled at once")
	f.IntVar(&o.verifiers, "verification-workers", 2, "proofs verified at once")
	f.Int64Var(&o.keyCacheBytes, "verifying-key-cache-bytes", 64<<20, "memory for parsed verifying keys")
	f.BoolVar(&o.readYourWrites, "read-your-writes", true, "let reads from the cache wait for the manager's own writes; it saves repeated work, and nothing depends on it (leave it off with more than one namespace in --namespaces)")
	f.Float64Var(&o.apiQPS, "kube-api-qps", 100, "requests a second to the API server, on average")
	f.IntVar(&o.apiBurst, "kube-api-burst", 200, "requests to the API server in a burst")
	f.DurationVar(&o.shutdownTimeout, "graceful-shutdown-timeout", 20*time.Second, "how long work in hand may take after a signal to stop")

	f.BoolVar(&o.leaderElect, "leader-elect", false, "let one of several managers be active")
	f.StringVar(&o.leaderNamespace, "leader-election-namespace", "", "namespace of the lease (default: the manager's own)")
	f.DurationVar(&o.leaseDuration, "leader-election-lease-duration", 60*time.Second, "how long another manager waits before it takes over from one that is silent")
	f.DurationVar(&o.renewDeadline, "leader-election-renew-deadline", 40*time.Second, "how long the active manager tries to renew its lease before it stops")
	f.DurationVar(&o.retryTime, "leader-election-retry-period", 5*time.Second, "time between two tries to get or renew the lease")

	f.StringVar(&o.probeAddress, "health-probe-bind-address", ":8081", "address of /healthz and /readyz; 0 turns them off")
	f.StringVar(&o.metricsAddress, "metrics-bind-address", "0", "address of /metrics, such as :8443; 0 turns it off")
	f.BoolVar(&o.metricsInsecure, "metrics-insecure", false, "serve /metrics over HTTP to everyone, instead of over HTTPS to those who may get it")
	f.StringVar(&o.metricsCertDir, "metrics-cert-dir", "", "folder with tls.crt and tls.key for /metrics (default: a self-signed certificate)")

	f.BoolVar(&o.version, "version", false, "print the version and exit")
	o.log.BindFlags(f)
	config.RegisterFlags(f)

	f.Usage = func() {
		fmt.Fprint(f.Output(), `The manager of cuzk runs ProofJobs and makes ProvingKeys ready.

Usage:
  manager --prover-image=IMAGE [flags]

Examples:
  # In a cluster, two replicas, one of them active:
  manager --leader-elect --prover-image=ghcr.io/cuzk-dev/cuzk-prover:v0.1.0 \
    --prover-cuda-image=ghcr.io/cuzk-dev/cuzk-prover-cuda:v0.1.0 --metrics-bind-address=:8443

  # From a workstation, against the cluster of the current kubeconfig context, with readable logs:
  manager --kubeconfig=$HOME/.kube/config --prover-image=registry.example.com/cuzk-prover:test --zap-devel

  # Give nodes five minutes before their pods count as lost:
  manager --prover-image=ghcr.io/cuzk-dev/cuzk-prover:v0.1.0 --node-dead-after=5m

Flags:
`)
		f.PrintDefaults()
	}
}

// validate names each flag that cannot be.
func (o *options) validate() error {
	var errs []error
	refuse := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if o.proverImage == "" {
		refuse("--prover-image is required: name the image with which prover pods are made")
	}
	if o.proverCUDAImage == "" {
		o.proverCUDAImage = o.proverImage
	}
	for _, n := range []struct {
		flag  string
		value int
	}{{"proofjob-workers", o.jobWorkers}, {"provingkey-workers", o.keyWorkers}, {"verification-workers", o.verifiers}, {"kube-api-burst", o.apiBurst}} {
		if n.value < 1 {
			refuse("--%s must be at least 1, got %d", n.flag, n.value)
		}
	}
	if o.apiQPS <= 0 {
		refuse("--kube-api-qps must be more than 0, got %g", o.apiQPS)
	}
	if o.keyCacheBytes < 0 {
		refuse("--verifying-key-cache-bytes must not be negative, got %d", o.keyCacheBytes)
	}
	if o.nodeDeadAfter <= 0 {
		refuse("--node-dead-after must be more than 0, got %s", o.nodeDeadAfter)
	}
	if o.leaseDuration <= o.renewDeadline {
		refuse("--leader-election-lease-duration (%s) must be longer than --leader-election-renew-deadline (%s)", o.leaseDuration, o.renewDeadline)
	}
	if o.renewDeadline <= o.retryTime*12/10 {
		refuse("--leader-election-renew-deadline (%s) must be longer than 1.2 times --leader-election-retry-period (%s)", o.renewDeadline, o.retryTime)
	}
	return errors.Join(errs...)
}

// namespaceList is what --namespaces names.
func (o *options) namespaceList() []string {
	var list []string
	for n := range strings.SplitSeq(o.namespaces, ",") {
		if n = strings.TrimSpace(n); n != "" {
			list = append(list, n)
		}
	}
	return list
}
