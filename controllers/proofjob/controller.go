// Package proofjob runs ProofJobs: it makes one Job for each, verifies the proofs that the Job's pods report, and sums
// up in the status.
//
// A reconciliation observes, plans and acts, and writes the status at most once. The plan is a pure function whose
// policies are in the files named after the API fields they serve.
package proofjob

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/controllers/internal/identity"
	"github.com/cuzk-dev/cuzk/controllers/internal/verification"
	"github.com/cuzk-dev/cuzk/controllers/internal/verifyingkey"
)

// +kubebuilder:rbac:groups=proving.cuzk.dev,resources=proofjobs,verbs=get;list;watch;delete;manage-status
// +kubebuilder:rbac:groups=proving.cuzk.dev,resources=proofjobs/status,verbs=patch
// +kubebuilder:rbac:groups=proving.cuzk.dev,resources=proofjobs/finalizers,verbs=update
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch;delete
// +kubebuilder:rbac:groups="",resources=pods/status,verbs=patch
// +kubebuilder:rbac:groups="",resources=nodes,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=serviceaccounts,verbs=get;create;patch
// +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=roles;rolebindings,verbs=get;create;patch
// +kubebuilder:rbac:groups="",resources=events,verbs=list
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Reconciler brings ProofJobs to their end.
type Reconciler struct {
	// Client reads from the cache, Reader from the API server.
	Client client.Client
	Reader client.Reader

	Clock    clock.PassiveClock
	Recorder events.EventRecorder
	Pool     *verification.Pool
	Identity *identity.Maker
	Config   Config

	digests     inputDigests
	withdrawals toldWithdrawals
}

// Reconcile observes, plans and acts for one job.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var job api.ProofJob
	if err := r.Client.Get(ctx, req.NamespacedName, &job); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	o, plan, err := r.plan(ctx, &job)
	if err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	return r.carryOut(ctx, o, plan)
}

// plan observes and plans, and observes more where the plan asks for it.
func (r *Reconciler) plan(ctx context.Context, job *api.ProofJob) (*Observation, Plan, error) {
	o, err := r.observe(ctx, job)
	if err != nil {
		return nil, Plan{}, err
	}
	plan := MakePlan(o, r.Config, r.Clock.Now())
	if plan.ReadFresh {
		if o, err = r.observeFresh(ctx, job); err != nil {
			return nil, Plan{}, err
		}
		plan = MakePlan(o, r.Config, r.Clock.Now())
	}
	if plan.ReadCreationFailure {
		message, err := r.creationFailure(ctx, o.Child)
		if err != nil {
			return nil, Plan{}, err
		}
		o.CreationFailure = &message
		plan = MakePlan(o, r.Config, r.Clock.Now())
	}
	return o, plan, nil
}

// carryOut acts, writes the status if it is due, and only then tells of it.
func (r *Reconciler) carryOut(ctx context.Context, o *Observation, plan Plan) (ctrl.Result, error) {
	var failed error
	refused := false
	for _, action := range plan.Actions {
		switch err := r.act(ctx, o.Job, action); {
		case err == nil:
		case o.refused(action, err):
			// Said in the status; whoever can do something about it is not who reads the log.
			logf.FromContext(ctx).Info("The API server refused", "action", fmt.Sprintf("%T", action), "error", err.Error())
			refused = true
		default:
			failed = errors.Join(failed, fmt.Errorf("%T: %w", action, err))
		}
	}
	if refused {
		return r.carryOut(ctx, o, MakePlan(o, r.Config, r.Clock.Now()))
	}
	for _, check := range plan.Checks {
		r.submit(o, check)
	}
	r.tellWithdrawals(o.Job, plan.Withdrawals)
	if failed != nil {
		return tryAgain(failed) // the status would tell of what was not done
	}
	if plan.WriteStatus {
		if err := r.applyStatus(ctx, o.Job, &plan); err != nil {
			return tryAgain(wrap("write status", client.IgnoreNotFound(err)))
		}
		r.told(ctx, o.Job, &plan)
	}
	if plan.Forget {
		r.forget(o.Job)
	}
	return ctrl.Result{RequeueAfter: plan.RequeueAfter}, nil
}

// tryAgain tells a fault from a write that only came too late: that is soon planned anew.
func tryAgain(err error) (ctrl.Result, error) {
	if apierrors.IsConflict(err) {
		return ctrl.Result{RequeueAfter: time.Second}, nil
	}
	return ctrl.Result{}, err
}

// told tells of what the status now says.
func (r *Reconciler) told(ctx context.Context, job *api.ProofJob, plan *Plan) {
	if job.Status.State != plan.Status.State {
		logf.FromContext(ctx).Info("Changed state", "from", job.Status.State, "to", plan.Status.State, "reason", plan.Status.Summary.Reason, "progress", plan.Status.Progress)
	}
	for _, e := range plan.Events {
		r.Recorder.Eventf(job, nil, e.Type, e.Reason, e.Action, "%s", e.Note)
	}
	if state := plan.Status.State; state == api.ProofJobSucceeded || state == api.ProofJobFailed {
		measure(job, &plan.Status)
	}
}

func (r *Reconciler) submit(o *Observation, check Check) {
	key, job := o.Key, o.Job
	if key == nil {
		return
	}
	r.Pool.Submit(verification.Task{
		ID:  verification.ID{UID: job.UID, Index: check.Partition, Digest: check.Digest},
		Job: client.ObjectKeyFromObject(job),
		Key: verification.KeyRef{
			Format: string(key.Spec.Format), Curve: string(key.Spec.Curve), CommitmentHash: commitmentHash(&job.Spec),
			Digest: string(pinnedVerifyingKey(job, key)),
			Load: func(ctx context.Context) ([]byte, error) {
				return verifyingkey.Load(ctx, r.Reader, key)
			},
		},
		Claim: check.Claim,
	})
}

func (r *Reconciler) forget(job *api.ProofJob) {
	r.Pool.Forget(job.UID)
	r.digests.forget(job.UID)
	r.withdrawals.forget(job.UID)
}

func wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

// reconciliationTimeout ends a reconciliation that hangs; the job is tried again.
const reconciliationTimeout = 2 * time.Minute
