// Package controllers puts the operator's controllers together.
package controllers

import (
	"context"
	"time"

	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cuzk-dev/cuzk/controllers/internal/identity"
	"github.com/cuzk-dev/cuzk/controllers/internal/proverpod"
	"github.com/cuzk-dev/cuzk/controllers/internal/verification"
	"github.com/cuzk-dev/cuzk/controllers/proofjob"
	"github.com/cuzk-dev/cuzk/controllers/provingkey"
)

// Options are the settings of the controllers.
type Options struct {
	ProverImage, ProverCUDAImage string
	NodeDeadAfter                time.Duration

	ProofJobWorkers, ProvingKeyWorkers, VerificationWorkers int
	VerifyingKeyCacheCap                                    int64

	// Clock is the real one if nil.
	Clock clock.PassiveClock
}

// Setup registers the controllers and the verification pool with a manager.
func Setup(ctx context.Context, mgr ctrl.Manager, o Options) error {
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if err := proverpod.IndexPods(ctx, mgr.GetFieldIndexer()); err != nil {
		return err
	}
	// For kinds that are not cached. The manager's own client would start an informer for each kind it writes, in order
	// to let later reads wait for the write.
	direct, err := client.New(mgr.GetConfig(), client.Options{HTTPClient: mgr.GetHTTPClient(), Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper()})
	if err != nil {
		return err
	}
	makes := &identity.Maker{Client: direct, Clock: o.Clock}
	wake := proofjob.NewWake()
	pool := verification.NewPool(o.VerificationWorkers, verification.NewKeys(o.VerifyingKeyCacheCap, verification.ParseGroth16), o.Clock, wake.Job)
	if err := mgr.Add(pool); err != nil {
		return err
	}
	keys := &provingkey.Reconciler{
		Client: mgr.GetClient(), Direct: direct, Clock: o.Clock,
		Recorder: mgr.GetEventRecorder("cuzk-manager"), Identity: makes, Image: o.ProverImage,
	}
	if err := keys.SetupWithManager(mgr, o.ProvingKeyWorkers); err != nil {
		return err
	}
	jobs := &proofjob.Reconciler{
		Client: mgr.GetClient(), Reader: direct, Clock: o.Clock,
		Recorder: mgr.GetEventRecorder("cuzk-manager"), Pool: pool, Identity: makes,
		Config: proofjob.Config{
			ProverImage: o.ProverImage, ProverCUDAImage: o.ProverCUDAImage,
			NodeDeadAfter: o.NodeDeadAfter, PendingGrace: time.Minute,
		},
	}
	return jobs.SetupWithManager(ctx, mgr, wake, o.ProofJobWorkers)
}
