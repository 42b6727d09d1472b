package main

import (
	"context"
	"crypto/tls"
	"fmt"

	"go.uber.org/zap/zapcore"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/controllers"
)

// leaseName is the lease of the active manager.
const leaseName = "manager.cuzk.dev"

// run serves until ctx ends.
func run(ctx context.Context, o *options) error {
	if o.log.StacktraceLevel == nil && !o.log.Development {
		o.log.StacktraceLevel = zapcore.DPanicLevel // errors say what to do; traces are for what should not happen
	}
	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&o.log)))
	ctrl.Log.WithName("setup").Info("Starting manager", "version", version, "commit", commit)

	cfg, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("find the cluster: %w", err)
	}
	cfg = rest.AddUserAgent(cfg, "cuzk-manager/"+version)
	cfg.QPS, cfg.Burst = float32(o.apiQPS), o.apiBurst

	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(api.AddToScheme(scheme))

	mgr, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme:                        scheme,
		Cache:                         controllers.Cache(o.namespaceList()...),
		Client:                        controllers.Client(o.readYourWrites && len(o.namespaceList()) < 2),
		Metrics:                       o.metrics(),
		HealthProbeBindAddress:        o.probeAddress,
		PprofBindAddress:              "0",
		LeaderElection:                o.leaderElect,
		LeaderElectionID:              leaseName,
		LeaderElectionNamespace:       o.leaderNamespace,
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 &o.leaseDuration,
		RenewDeadline:                 &o.renewDeadline,
		RetryPeriod:                   &o.retryTime,
		GracefulShutdownTimeout:       &o.shutdownTimeout,
		// Caches are full before the lease is gained, so that taking over takes no time.
		Controller: config.Controller{EnableWarmup: ptr.To(true)},
	})
	if err != nil {
		return fmt.Errorf("set up the manager: %w", err)
	}
	if err := controllers.Setup(ctx, mgr, o.controllers()); err != nil {
		return fmt.Errorf("set up the controllers: %w", err)
	}
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return err
	}
	if err := mgr.AddReadyzCheck("caches", controllers.CachesFull(mgr.GetCache())); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

func (o *options) controllers() controllers.Options {
	return controllers.Options{
		ProverImage:          o.proverImage,
		ProverCUDAImage:      o.proverCUDAImage,
		NodeDeadAfter:        o.nodeDeadAfter,
		ProofJobWorkers:      o.jobWorkers,
		ProvingKeyWorkers:    o.keyWorkers,
		VerificationWorkers:  o.verifiers,
		VerifyingKeyCacheCap: o.keyCacheBytes,
	}
}

func (o *options) metrics() metricsserver.Options {
	m := metricsserver.Options{BindAddress: o.metricsAddress}
	if o.metricsInsecure {
		return m
	}
	m.SecureServing = true
	m.FilterProvider = filters.WithAuthenticationAndAuthorization
	m.CertDir = o.metricsCertDir
	m.TLSOpts = []func(*tls.Config){func(c *tls.Config) { c.NextProtos = []string{"http/1.1"} }}
	return m
}
