//go:build apiserver

package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
	apiac "github.com/cuzk-dev/cuzk/api/v1alpha1/applyconfiguration/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/controllers/internal/proverpod"
	"github.com/cuzk-dev/cuzk/prover/worker/order"
)

// prover plays `cuzk work` in a pod: it returns the exit code and the termination message.
type prover func(ctx context.Context, p *proverPod) (int32, string)

// provers are played for the pods of ProofJobs and ProvingKeys, by namespace/name; pods of others run for ever.
var provers sync.Map

// held names namespaces whose pods are not scheduled, and nodes whose kubelet is dead.
var held, dead sync.Map

// startKubelet binds every pod to node-a or the node its nodeSelector names, runs it, and ends it when it is deleted.
func startKubelet(ctx context.Context) error {
	c, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	if err != nil {
		return err
	}
	w, err := c.Watch(ctx, &corev1.PodList{})
	if err != nil {
		return err
	}
	k := &kubelet{client: c, running: map[types.UID]context.CancelFunc{}}
	go func() {
		for {
			for e := range w.ResultChan() {
				if pod, ok := e.Object.(*corev1.Pod); ok && e.Type != watch.Deleted {
					k.look(ctx, pod)
				}
			}
			if ctx.Err() != nil {
				return
			}
			if w, err = c.Watch(ctx, &corev1.PodList{}); err != nil {
				return
			}
		}
	}()
	return nil
}

type kubelet struct {
	client  client.Client
	running map[types.UID]context.CancelFunc
}

func (k *kubelet) look(ctx context.Context, pod *corev1.Pod) {
	ended := pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
	if _, gone := dead.Load(pod.Spec.NodeName); gone && pod.Spec.NodeName != "" {
		return
	}
	switch {
	case pod.DeletionTimestamp != nil:
		if cancel := k.running[pod.UID]; cancel != nil {
			cancel()
		}
		if !ended {
			k.end(ctx, pod, 143, "")
		}
		_ = k.client.Delete(ctx, pod, client.GracePeriodSeconds(0), client.Preconditions{UID: &pod.UID})
	case ended:
	case pod.Spec.NodeName == "":
		if _, hold := held.Load(pod.Namespace); hold {
			k.unschedulable(ctx, pod)
			return
		}
		node := "node-a"
		if n := pod.Spec.NodeSelector["kubernetes.io/hostname"]; n != "" {
			if _, gone := dead.Load(n); !gone { // a scheduler puts nothing on a node that is not ready
				node = n
			}
		}
		binding := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name}, Target: corev1.ObjectReference{Kind: "Node", Name: node}}
		_ = k.client.SubResource("binding").Create(ctx, pod.DeepCopy(), binding)
	case k.running[pod.UID] == nil:
		ctx, cancel := context.WithCancel(ctx)
		k.running[pod.UID] = cancel
		go k.run(ctx, pod.DeepCopy())
	}
}

func (k *kubelet) unschedulable(ctx context.Context, pod *corev1.Pod) {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled {
			return
		}
	}
	k.status(ctx, pod, func(s *corev1.PodStatus) {
		s.Conditions = append(s.Conditions, corev1.PodCondition{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
			Message: "0/3 nodes are available: 3 Insufficient nvidia.com/gpu.", LastTransitionTime: metav1.Now(),
		})
	})
}

// run plays the pod's container.
func (k *kubelet) run(ctx context.Context, pod *corev1.Pod) {
	k.status(ctx, pod, func(s *corev1.PodStatus) {
		s.Phase = corev1.PodRunning
		s.ContainerStatuses = []corev1.ContainerStatus{{Name: proverpod.ContainerName, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}}}}
	})
	name := pod.Labels[proverpod.ProofJobLabel]
	if name == "" {
		name = "key/" + pod.Labels[proverpod.ProvingKeyLabel]
	}
	play, ok := provers.Load(pod.Namespace + "/" + name)
	if !ok {
		return
	}
	p := &proverPod{Pod: pod}
	if err := p.login(ctx); err != nil {
		fmt.Println("kubelet: token of", pod.Name, ":", err)
		return
	}
	code, word := play.(prover)(ctx, p)
	if ctx.Err() == nil {
		k.end(ctx, pod, code, word)
	}
}

func (k *kubelet) end(ctx context.Context, pod *corev1.Pod, code int32, word string) {
	k.status(context.WithoutCancel(ctx), pod, func(s *corev1.PodStatus) {
		s.Phase = corev1.PodSucceeded
		if code != 0 {
			s.Phase = corev1.PodFailed
		}
		s.ContainerStatuses = []corev1.ContainerStatus{{Name: proverpod.ContainerName, State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Message: word, FinishedAt: metav1.Now()},
		}}}
	})
}

// status changes a pod's status as it stands now.
func (k *kubelet) status(ctx context.Context, pod *corev1.Pod, change func(*corev1.PodStatus)) {
	for range 20 {
		var now corev1.Pod
		if err := k.client.Get(ctx, client.ObjectKeyFromObject(pod), &now); err != nil || now.UID != pod.UID {
			return
		}
		change(&now.Status)
		if err := k.client.Status().Update(ctx, &now); !apierrors.IsConflict(err) {
			return
		}
	}
}

// proverPod is what a prover knows and may do in its pod.
type proverPod struct {
	*corev1.Pod
	client client.Client
}

// login gets a token that is bound to the pod, as the kubelet mounts it.
func (p *proverPod) login(ctx context.Context) error {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Spec.ServiceAccountName}}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		ExpirationSeconds: ptr.To[int64](3600),
		BoundObjectRef:    &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: p.Name, UID: p.UID},
	}}
	if err := admin.SubResource("token").Create(ctx, account, request); err != nil {
		return err
	}
	var err error
	p.client, err = client.New(withToken(request.Status.Token), client.Options{Scheme: scheme})
	return err
}

// index is the pod's completion index.
func (p *proverPod) index() int {
	n, _ := strconv.Atoi(p.Annotations[batchv1.JobCompletionIndexAnnotation])
	return n
}

// attempt counts the pods of the index, from 1.
func (p *proverPod) attempt() int {
	n, _ := strconv.Atoi(p.Annotations[batchv1.JobIndexFailureCountAnnotation])
	return n + 1
}

// order is what the operator told the pod.
func (p *proverPod) order() (*order.Order, error) {
	return order.Parse([]byte(p.Annotations[order.Annotation]))
}

// done is a complete report.
func (p *proverPod) done(proof string, public ...string) api.PartitionReport {
	return api.PartitionReport{
		Node: p.Spec.NodeName, Stage: api.StageDone, Backend: api.BackendCPU,
		InputDigest: "sha256:" + fmt.Sprintf("%064d", p.index()), Proof: proof, PublicInputs: public,
		Timings: &api.Timings{QueueMilliseconds: ptr.To[int64](1), SRSMilliseconds: ptr.To[int64](20), SynthMilliseconds: ptr.To[int64](300),
			GPUMilliseconds: ptr.To[int64](4000), VerifyMilliseconds: ptr.To[int64](5), TotalMilliseconds: ptr.To[int64](4326)},
	}
}

// report applies a report with the pod's own token, trying again while the authorizer does not know the role yet or the
// API server is too busy, as a prover does.
func (p *proverPod) report(ctx context.Context, partition int, r api.PartitionReport) error {
	r.PodName, r.PodUID = p.Name, string(p.UID)
	want := apiac.PartitionReport()
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, want); err != nil {
		return err
	}
	o, err := p.order()
	if err != nil {
		return err
	}
	ac := apiac.ProofJob(o.Job, p.Namespace).WithStatus(apiac.ProofJobStatus().
		WithPartitions(apiac.PartitionStatus().WithIndex(int32(partition)).WithReport(want)))
	deadline := time.Now().Add(4 * time.Minute)
	passes := func(err error) bool {
		return apierrors.IsForbidden(err) || apierrors.IsTimeout(err) || apierrors.IsServerTimeout(err) || apierrors.IsTooManyRequests(err)
	}
	for {
		err := p.client.Status().Apply(ctx, ac, client.FieldOwner(api.PartitionFieldManager(int32(partition))), client.ForceOwnership)
		if err == nil || !passes(err) || time.Now().After(deadline) || ctx.Err() != nil {
			return err
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}
