package proofjob

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	batchv1ac "k8s.io/client-go/applyconfigurations/batch/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
	apiac "github.com/cuzk-dev/cuzk/api/v1alpha1/applyconfiguration/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/controllers/internal/identity"
	"github.com/cuzk-dev/cuzk/controllers/internal/text"
)

// errForeign says that an object of the child's name belongs to someone else.
var errForeign = errors.New("a Job of that name belongs to someone else")

// errStale says that the Job of an earlier ProofJob of the same name is still there.
var errStale = errors.New("the Job of an earlier ProofJob of this name is still being removed")

// act carries out an action. What is already done is no error.
func (r *Reconciler) act(ctx context.Context, job *api.ProofJob, action Action) error {
	log := logf.FromContext(ctx)
	switch a := action.(type) {
	case CreateChild:
		log.V(1).Info("Creating Job", "pods", *a.Job.Spec.Completions, "parallelism", *a.Job.Spec.Parallelism)
		return r.createChild(ctx, job, a.Job)
	case DeleteChild:
		log.V(1).Info("Deleting Job", "propagation", a.Propagation)
		child := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: job.Namespace, Name: job.Name}}
		return gone(r.Client.Delete(ctx, child, client.Preconditions{UID: &a.UID}, client.PropagationPolicy(a.Propagation)))
	case SetSuspend:
		log.V(1).Info("Patching Job", "suspend", a.Suspend)
		child := batchv1ac.Job(job.Name, job.Namespace).WithUID(a.UID).WithSpec(batchv1ac.JobSpec().WithSuspend(a.Suspend))
		return r.Client.Apply(ctx, child, identity.FieldOwner, client.ForceOwnership)
	case StoreReport:
		log.V(1).Info("Storing report of a termination message", "partition", a.Index, "pod", a.Report.PodName)
		return r.storeReport(ctx, job, a)
	case FailPod:
		log.Info("Gave up pod of a dead node", "pod", a.Name, "node", a.Node)
		return r.failPod(ctx, job.Namespace, a)
	case DeletePod:
		return r.deletePod(ctx, job.Namespace, a)
	case DeleteProofJob:
		log.V(1).Info("Deleting expired ProofJob")
		// A conflict is returned: what changed the job since may be nothing that wakes it.
		return client.IgnoreNotFound(r.Client.Delete(ctx, job.DeepCopy(), client.Preconditions{UID: &a.UID, ResourceVersion: &a.ResourceVersion}, client.PropagationPolicy(metav1.DeletePropagationBackground)))
	}
	return fmt.Errorf("unknown action %T", action)
}

// createChild creates the Job. One that exists is looked at on the API server: if it is ours, the cache is late.
func (r *Reconciler) createChild(ctx context.Context, job *api.ProofJob, child *batchv1.Job) error {
	if err := r.Identity.Prover(ctx, job.Namespace, child.Spec.Template.Spec.ServiceAccountName); err != nil {
		return err
	}
	err := r.Client.Create(ctx, child.DeepCopy(), identity.FieldOwner)
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	var have batchv1.Job
	if err := r.Reader.Get(ctx, client.ObjectKeyFromObject(child), &have); err != nil {
		return err
	}
	if stale(&have, job) {
		return errStale
	}
	if !metav1.IsControlledBy(&have, job) {
		return errForeign
	}
	return nil
}

// storeReport applies a report as its pod would have. On a job made anew under the name it counts for nothing: its pod is
// none of that job's.
func (r *Reconciler) storeReport(ctx context.Context, job *api.ProofJob, a StoreReport) error {
	report := apiac.PartitionReport()
	if err := convert(a.Report, report); err != nil {
		return err
	}
	want := apiac.ProofJob(job.Name, job.Namespace).WithStatus(apiac.ProofJobStatus().
		WithPartitions(apiac.PartitionStatus().WithIndex(a.Index).WithReport(report)))
	return r.Client.Status().Apply(ctx, want, client.FieldOwner(api.PartitionFieldManager(a.Index)), client.ForceOwnership)
}

func (r *Reconciler) failPod(ctx context.Context, namespace string, a FailPod) error {
	pod := corev1ac.Pod(a.Name, namespace).WithUID(a.UID).WithStatus(corev1ac.PodStatus().
		WithPhase(corev1.PodFailed).
		WithReason(lostReason).
		WithMessage(a.Message).
		WithConditions(corev1ac.PodCondition().
			WithType(corev1.DisruptionTarget).
			WithStatus(corev1.ConditionTrue).
			WithReason(lostReason).
			WithMessage(a.Message).
			WithLastTransitionTime(metav1.NewTime(r.Clock.Now()))))
	if err := gone(r.Client.Status().Apply(ctx, pod, identity.FieldOwner, client.ForceOwnership)); err != nil {
		return err
	}
	lostPods.Inc()
	return r.deletePod(ctx, namespace, DeletePod{Name: a.Name, UID: a.UID, Force: true})
}

func (r *Reconciler) deletePod(ctx context.Context, namespace string, a DeletePod) error {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: a.Name}}
	opts := []client.DeleteOption{client.Preconditions{UID: &a.UID}}
	if a.Force {
		opts = append(opts, client.GracePeriodSeconds(0))
	}
	return gone(r.Client.Delete(ctx, pod, opts...))
}

// gone forgives that the object is not there, or another one of its name is.
func gone(err error) error {
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// convert copies between a type and its apply configuration, which have the same JSON.
func convert(from, to any) error {
	data, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, to)
}

// applyStatus writes the controller's part of the status. Of the metadata in a status apply the API server heeds the
// resourceVersion alone.
func (r *Reconciler) applyStatus(ctx context.Context, job *api.ProofJob, plan *Plan) error {
	status := apiac.ProofJobStatus()
	if err := convert(plan.Status, status); err != nil {
		return err
	}
	want := apiac.ProofJob(job.Name, job.Namespace).WithStatus(status)
	if plan.AsRead {
		want.WithResourceVersion(job.ResourceVersion)
	}
	statusWrites.Inc()
	return r.Client.Status().Apply(ctx, want, identity.FieldOwner, client.ForceOwnership)
}

// refused notes what the API server will not take, for a plan that says so in the status; it is false for a fault of the
// moment.
func (o *Observation) refused(action Action, err error) bool {
	switch a := action.(type) {
	case CreateChild:
		if why := refusalOf(err); why != nil {
			o.Refused = why
			return true
		}
	case StoreReport:
		if apierrors.IsInvalid(err) {
			if o.RefusedReports == nil {
				o.RefusedReports = map[int32]string{}
			}
			o.RefusedReports[a.Index] = err.Error()
			return true
		}
	}
	return false
}

// refusalOf tells how a refused creation of the child shows in the status, nil if it was not refused.
func refusalOf(err error) *Refusal {
	_, foreign := errors.AsType[*identity.ForeignError](err)
	switch {
	case errors.Is(err, errForeign):
		return &Refusal{Reason: api.ReasonNameConflict, Message: "There is a Job of this name that does not belong to the ProofJob: delete it, or create the ProofJob under another name."}
	case apierrors.IsInvalid(err) && namesField(err):
		return &Refusal{Reason: api.ReasonInvalidJob, Message: "The API server refuses the Job: " + text.Sentence(err.Error()), ForGood: true}
	case foreign, apierrors.IsForbidden(err), apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsRequestEntityTooLargeError(err), apierrors.IsNotFound(err):
		return &Refusal{Reason: api.ReasonJobCreationFailed, Message: "The Job cannot be created: " + text.Sentence(err.Error())}
	}
	return nil
}

// namesField tells validation, which always refuses the same again, from an admission policy, which may change.
func namesField(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	for _, cause := range status.Status().Details.Causes {
		if cause.Field != "" {
			return true
		}
	}
	return false
}
