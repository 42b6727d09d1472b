package proofjob

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/controllers/internal/proverpod"
	"github.com/cuzk-dev/cuzk/controllers/internal/verification"
)

// observe gathers what a plan for the job depends on, from the cache.
func (r *Reconciler) observe(ctx context.Context, job *api.ProofJob) (*Observation, error) {
	return r.gather(ctx, job, r.Client, false)
}

// observeFresh gathers it from the API server itself, the job too.
func (r *Reconciler) observeFresh(ctx context.Context, job *api.ProofJob) (*Observation, error) {
	var fresh api.ProofJob
	if err := r.Reader.Get(ctx, client.ObjectKeyFromObject(job), &fresh); err != nil {
		return nil, fmt.Errorf("read the job anew: %w", err)
	}
	if fresh.UID != job.UID {
		return nil, apierrors.NewNotFound(api.Resource("proofjobs"), job.Name)
	}
	return r.gather(ctx, &fresh, r.Reader, true)
}

func (r *Reconciler) gather(ctx context.Context, job *api.ProofJob, from client.Reader, fresh bool) (*Observation, error) {
	o := &Observation{Job: job, Fresh: fresh, Nodes: map[string]*corev1.Node{}, Verdicts: map[string]verification.Verdict{}}
	if managedElsewhere(job) || job.DeletionTimestamp != nil || finished(job) {
		return o, nil // plans for these look at nothing else
	}

	var key api.ProvingKey
	switch err := r.Client.Get(ctx, client.ObjectKey{Namespace: job.Namespace, Name: job.Spec.ProvingKeyRef.Name}, &key); {
	case err == nil:
		o.Key = &key
	case !apierrors.IsNotFound(err):
		return nil, fmt.Errorf("get ProvingKey: %w", err)
	}

	var child batchv1.Job
	switch err := from.Get(ctx, client.ObjectKeyFromObject(job), &child); {
	case err == nil && metav1.IsControlledBy(&child, job):
		o.Child = &child
	case err == nil && stale(&child, job):
		o.Stale = true
	case err == nil:
		o.Foreign = true
	case !apierrors.IsNotFound(err):
		return nil, fmt.Errorf("get Job: %w", err)
	}

	if err := r.gatherPods(ctx, o, from); err != nil {
		return nil, err
	}
	r.gatherVerdicts(o)
	o.InputDigests = r.digests.note(job)
	o.WithdrawalsTold = r.withdrawals.of(job)
	return o, nil
}

// stale says that a Job belongs to a ProofJob of the same name that is gone; the garbage collector removes it.
func stale(child *batchv1.Job, job *api.ProofJob) bool {
	owner := metav1.GetControllerOf(child)
	return owner != nil && owner.Kind == "ProofJob" && owner.Name == job.Name && owner.UID != job.UID
}

func (r *Reconciler) gatherPods(ctx context.Context, o *Observation, from client.Reader) error {
	var pods corev1.PodList
	opts := []client.ListOption{client.InNamespace(o.Job.Namespace)}
	if o.Fresh {
		opts = append(opts, client.MatchingLabels{proverpod.OwnerUIDLabel: string(o.Job.UID)})
	} else {
		opts = append(opts, client.MatchingFields{proverpod.OwnerIndex: string(o.Job.UID)}, client.UnsafeDisableDeepCopy)
	}
	if err := from.List(ctx, &pods, opts...); err != nil {
		return fmt.Errorf("list pods: %w", err)
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		if !madeFor(pod, o.Job) {
			continue
		}
		o.Pods = append(o.Pods, pod)
		name := pod.Spec.NodeName
		if _, seen := o.Nodes[name]; seen || name == "" {
			continue
		}
		var node corev1.Node
		switch err := r.Client.Get(ctx, client.ObjectKey{Name: name}, &node); {
		case err == nil:
			o.Nodes[name] = &node
		case !apierrors.IsNotFound(err):
			return fmt.Errorf("get node: %w", err)
		}
	}
	return nil
}

// madeFor says that a pod is of a Job of the ProofJob, the child or one before it. Anyone can make a pod with its labels.
func madeFor(pod *corev1.Pod, job *api.ProofJob) bool {
	owner := metav1.GetControllerOf(pod)
	return owner != nil && owner.APIVersion == batchv1.SchemeGroupVersion.String() && owner.Kind == "Job" && owner.Name == job.Name
}

// gatherVerdicts looks up what the pool knows of the proofs that are reported.
func (r *Reconciler) gatherVerdicts(o *Observation) {
	c, err := circuitOf(o.Job)
	if err != nil {
		return // the plan says it
	}
	verdict := func(index int32, proof string, about claim) {
		check := checkDigest(pinnedVerifyingKey(o.Job, o.Key), proof, about)
		if v, ok := r.Pool.Verdict(verification.ID{UID: o.Job.UID, Index: index, Digest: check}); ok {
			o.Verdicts[check] = v
		}
	}
	for i := range o.Job.Status.Partitions {
		e := &o.Job.Status.Partitions[i]
		if e.Report != nil && e.Report.Proof != "" && e.Index < c.partitions {
			verdict(e.Index, e.Report.Proof, c.claim(&o.Job.Spec, e.Index, e.Report))
		}
	}
	if whole, ok := c.wholeProof(o.Job.Status.Partitions); ok {
		verdict(wholeProof, whole, c.wholeClaim())
	}
}

// creationFailure reads why the Job controller could not create pods; only its events say it.
func (r *Reconciler) creationFailure(ctx context.Context, child *batchv1.Job) (string, error) {
	var events corev1.EventList
	selector := fields.AndSelectors(
		fields.OneTermEqualSelector("involvedObject.uid", string(child.UID)),
		fields.OneTermEqualSelector("reason", "FailedCreate"),
	)
	if err := r.Reader.List(ctx, &events, client.InNamespace(child.Namespace), client.MatchingFieldsSelector{Selector: selector}, client.Limit(20)); err != nil {
		return "", fmt.Errorf("list events of the Job: %w", err)
	}
	var last *corev1.Event
	for i := range events.Items {
		if e := &events.Items[i]; last == nil || last.LastTimestamp.Before(&e.LastTimestamp) {
			last = e
		}
	}
	if last == nil {
		return "", nil
	}
	return last.Message, nil
}
