// Package provingkey finds the verifying keys of ProvingKeys, checks and pins them. What the operator may not read itself,
// volumes and URIs, a pod of its own reads once.
package provingkey

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
	apiac "github.com/cuzk-dev/cuzk/api/v1alpha1/applyconfiguration/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/controllers/internal/identity"
	"github.com/cuzk-dev/cuzk/controllers/internal/proverpod"
	"github.com/cuzk-dev/cuzk/controllers/internal/text"
)

// +kubebuilder:rbac:groups=proving.cuzk.dev,resources=provingkeys,verbs=get;list;watch;manage-status
// +kubebuilder:rbac:groups=proving.cuzk.dev,resources=provingkeys/status,verbs=patch
// +kubebuilder:rbac:groups=proving.cuzk.dev,resources=provingkeys/finalizers,verbs=update
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get;create;patch
// +kubebuilder:rbac:groups="",resources=persistentvolumeclaims,verbs=get

// errForeign says that the Job of the inspection's name belongs to someone else.
var errForeign = errors.New("a Job of that name belongs to someone else")

// Reconciler makes ProvingKeys ready.
type Reconciler struct {
	// Client reads from the cache, Direct from the API server; ConfigMaps are read and written by Direct only.
	Client client.Client
	Direct client.Client

	Clock    clock.PassiveClock
	Recorder events.EventRecorder
	Identity *identity.Maker
	// Image is that of the pods that inspect keys.
	Image string
}

// Reconcile observes, plans and acts for one key.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var key api.ProvingKey
	if err := r.Client.Get(ctx, req.NamespacedName, &key); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	o, err := r.observe(ctx, &key)
	if err != nil {
		return ctrl.Result{}, err
	}
	plan := MakePlan(o, r.Clock.Now())
	failed := r.act(ctx, &key, o, &plan)
	if plan.WriteStatus {
		switch err := r.applyStatus(ctx, &key, &plan.Status); {
		case apierrors.IsConflict(err): // what was read is not what is there
			return ctrl.Result{RequeueAfter: time.Second}, nil
		case err != nil:
			return ctrl.Result{}, client.IgnoreNotFound(err)
		}
		r.told(ctx, &key, &plan)
	}
	if failed != nil {
		return ctrl.Result{}, failed
	}
	return ctrl.Result{RequeueAfter: plan.RequeueAfter}, nil
}

// act makes or ends the inspection.
func (r *Reconciler) act(ctx context.Context, key *api.ProvingKey, o *Observation, plan *Plan) error {
	if plan.Inspect {
		return r.inspect(ctx, key, o, plan)
	}
	for _, name := range plan.Seal {
		cm := corev1ac.ConfigMap(name, key.Namespace).WithImmutable(true).WithOwnerReferences(owner(key)).WithLabels(configMapLabels(key))
		if err := r.Direct.Apply(ctx, cm, identity.FieldOwner, client.ForceOwnership); err != nil {
			return fmt.Errorf("seal ConfigMap %s: %w", name, err)
		}
	}
	if plan.EndInspection {
		job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: o.Inspection.Name}}
		uid := o.Inspection.UID
		err := r.Client.Delete(ctx, job, client.Preconditions{UID: &uid}, client.PropagationPolicy(metav1.DeletePropagationBackground))
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return fmt.Errorf("delete inspection Job: %w", err)
		}
	}
	return nil
}

// inspect starts the inspection. What keeps it from being started is shown in the status.
func (r *Reconciler) inspect(ctx context.Context, key *api.ProvingKey, o *Observation, plan *Plan) error {
	err := r.startInspection(ctx, key)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errForeign):
		o.Foreign = true
		*plan = MakePlan(o, r.Clock.Now())
		return nil
	}
	p := &planner{o: o, now: r.Clock.Now(), status: &plan.Status}
	p.notReady(api.ReasonInspectionFailed, "The inspection of the key's files cannot be started: "+text.Sentence(err.Error()), false)
	was := meta.FindStatusCondition(key.Status.Conditions, api.ConditionReady)
	said := was != nil && was.Reason == api.ReasonInspectionFailed && key.Status.ObservedGeneration == key.Generation
	plan.WriteStatus = !said
	_, foreign := errors.AsType[*identity.ForeignError](err)
	if foreign || apierrors.IsForbidden(err) || apierrors.IsInvalid(err) {
		plan.RequeueAfter = retry
		return nil
	}
	return err
}

func (r *Reconciler) startInspection(ctx context.Context, key *api.ProvingKey) error {
	logf.FromContext(ctx).V(1).Info("Starting inspection", "job", InspectionName(key))
	names := outputs(key)
	if err := r.Identity.Inspector(ctx, key.Namespace, InspectionName(key), names, owner(key)); err != nil {
		return err
	}
	for _, name := range names {
		cm := corev1ac.ConfigMap(name, key.Namespace).WithOwnerReferences(owner(key)).WithLabels(configMapLabels(key))
		if err := r.Direct.Apply(ctx, cm, identity.FieldOwner, client.ForceOwnership); err != nil {
			return fmt.Errorf("apply ConfigMap %s: %w", name, err)
		}
	}
	job, err := newInspection(key, r.Image)
	if err != nil {
		return err
	}
	if err := r.Client.Create(ctx, job, identity.FieldOwner); !apierrors.IsAlreadyExists(err) {
		return err
	}
	// The cache is late, or it does not hold the Job, since it is not one that the operator made.
	var have batchv1.Job
	if err := r.Direct.Get(ctx, client.ObjectKeyFromObject(job), &have); err != nil {
		return err
	}
	if !metav1.IsControlledBy(&have, key) {
		return errForeign
	}
	return nil
}

func owner(key *api.ProvingKey) *metav1ac.OwnerReferenceApplyConfiguration {
	return metav1ac.OwnerReference().WithAPIVersion(api.GroupVersion.String()).WithKind("ProvingKey").
		WithName(key.Name).WithUID(key.UID).WithController(true).WithBlockOwnerDeletion(true)
}

func configMapLabels(key *api.ProvingKey) map[string]string {
	return map[string]string{"app.kubernetes.io/name": "cuzk", proverpod.ProvingKeyLabel: key.Name}
}

// applyStatus writes the status of the key as it was read. Of metadata, the API server compares nothing but the resource
// version when it writes a status: without it, the status would land on a key that was made anew under the same name.
func (r *Reconciler) applyStatus(ctx context.Context, key *api.ProvingKey, status *api.ProvingKeyStatus) error {
	data, err := json.Marshal(status)
	if err != nil {
		return err
	}
	want := apiac.ProvingKeyStatus()
	if err := json.Unmarshal(data, want); err != nil {
		return err
	}
	apply := apiac.ProvingKey(key.Name, key.Namespace).WithResourceVersion(key.ResourceVersion).WithStatus(want)
	if err := r.Client.Status().Apply(ctx, apply, identity.FieldOwner, client.ForceOwnership); err != nil {
		return fmt.Errorf("write status: %w", err)
	}
	return nil
}

// told makes an event when Ready turns.
func (r *Reconciler) told(ctx context.Context, key *api.ProvingKey, plan *Plan) {
	is := meta.FindStatusCondition(plan.Status.Conditions, api.ConditionReady)
	was := meta.FindStatusCondition(key.Status.Conditions, api.ConditionReady)
	if is == nil || (was != nil && was.Status == is.Status && was.Reason == is.Reason) {
		return
	}
	logf.FromContext(ctx).Info("Changed readiness", "ready", is.Status, "reason", is.Reason)
	kind := corev1.EventTypeWarning
	if is.Status == metav1.ConditionTrue || is.Reason == api.ReasonInspecting {
		kind = corev1.EventTypeNormal
	}
	r.Recorder.Eventf(key, nil, kind, is.Reason, "ResolveVerifyingKey", "%s", is.Message)
}

// SetupWithManager registers the reconciler and what it watches.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager, workers int) error {
	cache := mgr.GetCache()
	return ctrl.NewControllerManagedBy(mgr).
		Named("provingkey").
		For(&api.ProvingKey{}).
		WatchesRawSource(source.Kind(cache, &batchv1.Job{}, handler.TypedEnqueueRequestForOwner[*batchv1.Job](mgr.GetScheme(), mgr.GetRESTMapper(), &api.ProvingKey{}, handler.OnlyControllerOwner()))).
		WatchesRawSource(source.Kind(cache, &corev1.Pod{}, handler.TypedEnqueueRequestsFromMapFunc(keyOfPod))).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers, ReconciliationTimeout: 2 * time.Minute, RateLimiter: rateLimiter()}).
		Complete(r)
}

// rateLimiter has what fails for the moment tried again within a minute.
func rateLimiter() workqueue.TypedRateLimiter[reconcile.Request] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](50*time.Millisecond, time.Minute)
}

func keyOfPod(_ context.Context, pod *corev1.Pod) []reconcile.Request {
	name := pod.Labels[proverpod.ProvingKeyLabel]
	if name == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: pod.Namespace, Name: name}}}
}
