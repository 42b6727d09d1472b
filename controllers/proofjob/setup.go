package proofjob

import (
	"context"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/controllers/internal/proverpod"
)

// Fields by which the cache is indexed.
const (
	podNodeIndex = "cuzk.node"
	keyNameIndex = "cuzk.proving-key"
)

// Wake collects jobs that have to be looked at for another reason than a change of an object.
type Wake struct {
	events chan event.TypedGenericEvent[*api.ProofJob]
}

// NewWake returns a Wake with room for a burst of verdicts.
func NewWake() *Wake {
	return &Wake{events: make(chan event.TypedGenericEvent[*api.ProofJob], 1024)}
}

// Job wakes a job. It waits while too many are to be woken, until ctx ends.
func (w *Wake) Job(ctx context.Context, name types.NamespacedName) {
	job := &api.ProofJob{}
	job.Namespace, job.Name = name.Namespace, name.Name
	select {
	case w.events <- event.TypedGenericEvent[*api.ProofJob]{Object: job}:
	case <-ctx.Done():
	}
}

// SetupWithManager registers the reconciler, what it watches and the indexes it reads by.
func (r *Reconciler) SetupWithManager(ctx context.Context, mgr ctrl.Manager, wake *Wake, workers int) error {
	if err := index(ctx, mgr.GetFieldIndexer()); err != nil {
		return err
	}
	if err := mgr.Add(jobsByState.of(r.Client)); err != nil {
		return err
	}
	cache := mgr.GetCache()
	return ctrl.NewControllerManagedBy(mgr).
		Named("proofjob").
		For(&api.ProofJob{}, builder.WithPredicates(untyped(jobChanged()), r.forgetDeleted())).
		WatchesRawSource(source.Kind(cache, &batchv1.Job{}, handler.TypedEnqueueRequestForOwner[*batchv1.Job](mgr.GetScheme(), mgr.GetRESTMapper(), &api.ProofJob{}, handler.OnlyControllerOwner()), childChanged())).
		WatchesRawSource(source.Kind(cache, &corev1.Pod{}, handler.TypedEnqueueRequestsFromMapFunc(jobOfPod), podChanged())).
		WatchesRawSource(source.Kind(cache, &api.ProvingKey{}, handler.TypedEnqueueRequestsFromMapFunc(r.jobsOfKey), keyChanged())).
		WatchesRawSource(source.Kind(cache, &corev1.Node{}, handler.TypedEnqueueRequestsFromMapFunc(r.jobsOfNode), nodeTurned())).
		WatchesRawSource(source.Channel(wake.events, &handler.TypedEnqueueRequestForObject[*api.ProofJob]{})).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: workers,
			ReconciliationTimeout:   reconciliationTimeout,
			// What fails for the moment is tried again within a minute.
			RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](50*time.Millisecond, time.Minute),
		}).
		Complete(r)
}

// forgetDeleted drops what is kept in memory for a job as soon as it is gone; after that nobody knows its UID any more.
func (r *Reconciler) forgetDeleted() predicate.Predicate {
	return predicate.Funcs{DeleteFunc: func(e event.DeleteEvent) bool {
		if job, ok := e.Object.(*api.ProofJob); ok {
			r.forget(job)
		}
		return false
	}}
}

// untyped makes a predicate of the form that For wants.
func untyped[T client.Object](p predicate.TypedPredicate[T]) predicate.Predicate {
	return predicate.Funcs{
		UpdateFunc: func(e event.UpdateEvent) bool {
			a, okA := e.ObjectOld.(T)
			b, okB := e.ObjectNew.(T)
			return !okA || !okB || p.Update(event.TypedUpdateEvent[T]{ObjectOld: a, ObjectNew: b})
		},
	}
}

func index(ctx context.Context, indexer client.FieldIndexer) error {
	if err := indexer.IndexField(ctx, &corev1.Pod{}, podNodeIndex, func(o client.Object) []string {
		return some(o.(*corev1.Pod).Spec.NodeName)
	}); err != nil {
		return err
	}
	return indexer.IndexField(ctx, &api.ProofJob{}, keyNameIndex, func(o client.Object) []string {
		job := o.(*api.ProofJob)
		if finished(job) {
			return nil // no key matters to it any more
		}
		return some(job.Spec.ProvingKeyRef.Name)
	})
}

func some(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

func jobOfPod(_ context.Context, pod *corev1.Pod) []reconcile.Request {
	name := pod.Labels[proverpod.ProofJobLabel]
	if name == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: pod.Namespace, Name: name}}}
}

func (r *Reconciler) jobsOfKey(ctx context.Context, key *api.ProvingKey) []reconcile.Request {
	var jobs api.ProofJobList
	if err := r.Client.List(ctx, &jobs, client.InNamespace(key.Namespace), client.MatchingFields{keyNameIndex: key.Name}, client.UnsafeDisableDeepCopy); err != nil {
		return nil
	}
	requests := make([]reconcile.Request, len(jobs.Items))
	for i := range jobs.Items {
		requests[i].NamespacedName = client.ObjectKeyFromObject(&jobs.Items[i])
	}
	return requests
}

func (r *Reconciler) jobsOfNode(ctx context.Context, node *corev1.Node) []reconcile.Request {
	var pods corev1.PodList
	if err := r.Client.List(ctx, &pods, client.MatchingFields{podNodeIndex: node.Name}, client.UnsafeDisableDeepCopy); err != nil {
		return nil
	}
	var requests []reconcile.Request
	seen := map[types.NamespacedName]bool{}
	for i := range pods.Items {
		for _, req := range jobOfPod(ctx, &pods.Items[i]) {
			if !seen[req.NamespacedName] {
				seen[req.NamespacedName] = true
				requests = append(requests, req)
			}
		}
	}
	return requests
}
