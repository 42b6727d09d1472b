package proofjob

import (
	"fmt"
	"maps"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/controllers/internal/proverpod"
	"github.com/cuzk-dev/cuzk/controllers/internal/text"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/worker/order"
)

// child makes the Job of a job that may run and has none. What exists is never compared with what would be made.
func (p *planner) child() {
	if p.ended || p.failing() || p.held || p.o.Child != nil || p.o.Foreign || p.o.Stale || !p.key || !p.entriesWritten() {
		return
	}
	for i := range p.partitions {
		if x := &p.partitions[i]; !x.final() && !p.hasProof(x) {
			job, err := newChild(p.o.Job, p.circuit, p.o.Key, p.cfg)
			if err != nil {
				p.fail(api.ReasonInvalidConfiguration, text.Sentence(err.Error()))
				p.end()
				return
			}
			switch refused := p.o.Refused; {
			case refused == nil:
				p.act(CreateChild{Job: job})
			case refused.ForGood:
				p.fail(refused.Reason, refused.Message)
				p.end()
			}
			return
		}
	}
}

const (
	kueuePrefix     = "kueue.x-k8s.io/"
	kueueQueueLabel = kueuePrefix + "queue-name"
)

// queueOf is the Kueue queue that labels name, "" if there is none.
func queueOf(labels map[string]string) string { return labels[kueueQueueLabel] }

// newChild is the Job of a ProofJob.
func newChild(job *api.ProofJob, c *circuit, key *api.ProvingKey, cfg Config) (*batchv1.Job, error) {
	template, err := podTemplate(job, c, key, cfg)
	if err != nil {
		return nil, err
	}
	labels := childLabels(job)
	child := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: job.Namespace, Name: job.Name,
			Labels:      labels,
			Annotations: kueueOnly(job.Annotations),
			OwnerReferences: []metav1.OwnerReference{
				*metav1.NewControllerRef(job, api.GroupVersion.WithKind("ProofJob")),
			},
		},
		Spec: batchv1.JobSpec{
			CompletionMode:       ptr.To(batchv1.IndexedCompletion),
			Completions:          ptr.To(c.completions()),
			Parallelism:          ptr.To(c.parallelism),
			BackoffLimitPerIndex: ptr.To(ptr.Deref(job.Spec.BackoffLimitPerPartition, 3)),
			PodReplacementPolicy: ptr.To(batchv1.Failed),
			PodFailurePolicy:     podFailurePolicy(),
			// A queue lets it go; without one it runs at once.
			Suspend:  ptr.To(queueOf(job.Labels) != ""),
			Template: template,
		},
	}
	if c.maxFailed != nil {
		child.Spec.MaxFailedIndexes = ptr.To(min(*c.maxFailed, c.completions()))
	}
	return child, nil
}

// podFailurePolicy reads the prover's exit codes. The first rule that fits counts.
func podFailurePolicy() *batchv1.PodFailurePolicy {
	exit := func(action batchv1.PodFailurePolicyAction, classes ...failure.Class) batchv1.PodFailurePolicyRule {
		codes := make([]int32, len(classes))
		for i, c := range classes {
			codes[i] = int32(c.ExitCode())
		}
		return batchv1.PodFailurePolicyRule{Action: action, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
			ContainerName: ptr.To(proverpod.ContainerName), Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: codes,
		}}
	}
	return &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{
		{Action: batchv1.PodFailurePolicyActionIgnore, OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{
			{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue},
		}},
		exit(batchv1.PodFailurePolicyActionFailIndex, failure.Input),
		// `cuzk work` ends with the code of Key for an order it cannot carry out, too: 2 is also how Go ends a crash.
		exit(batchv1.PodFailurePolicyActionFailJob, failure.Key),
	}}
}

func childLabels(job *api.ProofJob) map[string]string {
	labels := kueueOnly(job.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels["app.kubernetes.io/name"] = "cuzk"
	labels["app.kubernetes.io/component"] = proverpod.ComponentProver
	labels[proverpod.ComponentLabel] = proverpod.ComponentProver
	labels[proverpod.ProofJobLabel] = job.Name
	labels[proverpod.OwnerUIDLabel] = string(job.UID)
	return labels
}

// kueueOnly are those labels or annotations that are meant for Kueue, nil if there are none.
func kueueOnly(all map[string]string) map[string]string {
	var some map[string]string
	for k, v := range all {
		if strings.HasPrefix(k, kueuePrefix) {
			if some == nil {
				some = map[string]string{}
			}
			some[k] = v
		}
	}
	return some
}

// podTemplate is the template of a job's pods.
func podTemplate(job *api.ProofJob, c *circuit, key *api.ProvingKey, cfg Config) (corev1.PodTemplateSpec, error) {
	d := &job.Spec.Execution.Dedicated
	volumes := proverpod.NewVolumes(proverpod.Scratch(d.ScratchSize))
	data, err := newOrder(job, c, volumes.Key(key), volumes.Inputs(job.Spec.Inputs)).Marshal()
	if err != nil {
		return corev1.PodTemplateSpec{}, fmt.Errorf("the job cannot be handed to a pod: %w", err)
	}

	labels := childLabels(job)
	maps.Copy(labels, d.PodLabels)
	annotations := kueueOnly(job.Annotations)
	if annotations == nil {
		annotations = map[string]string{}
	}
	maps.Copy(annotations, d.PodAnnotations)

	template := proverpod.Template(proverpod.Container{
		Image:     image(d, job.Spec.Backend.Type, cfg),
		Args:      []string{"work"},
		Env:       d.Env,
		Resources: withGPU(d, job.Spec.Backend.Type),
	}, volumes, data, labels, annotations)

	spec := &template.Spec
	spec.ServiceAccountName = serviceAccount(job)
	spec.ImagePullSecrets = d.ImagePullSecrets
	spec.ResourceClaims = d.ResourceClaims
	spec.NodeSelector = d.NodeSelector
	spec.Tolerations = d.Tolerations
	spec.Affinity = d.Affinity
	spec.TopologySpreadConstraints = d.TopologySpreadConstraints
	spec.PriorityClassName = d.PriorityClassName
	spec.SchedulerName = d.SchedulerName
	spec.TerminationGracePeriodSeconds = d.TerminationGracePeriodSeconds
	if d.RuntimeClassName != "" {
		spec.RuntimeClassName = ptr.To(d.RuntimeClassName)
	}
	if u := d.SecurityContext; u != nil {
		sc := spec.SecurityContext
		sc.FSGroup, sc.FSGroupChangePolicy = u.FSGroup, u.FSGroupChangePolicy
		sc.RunAsUser, sc.RunAsGroup, sc.SupplementalGroups = u.RunAsUser, u.RunAsGroup, u.SupplementalGroups
	}
	return template, nil
}

func serviceAccount(job *api.ProofJob) string {
	if name := job.Spec.Execution.Dedicated.ServiceAccountName; name != "" {
		return name
	}
	return api.ProverIdentity
}

func newOrder(job *api.ProofJob, c *circuit, key order.Key, inputs []order.Input) order.Order {
	return order.Order{
		Version:          order.Version,
		Namespace:        job.Namespace,
		Job:              job.Name,
		JobUID:           string(job.UID),
		Circuit:          c.order(&job.Spec, key.Curve),
		Key:              key,
		Partitions:       int(c.partitions),
		PartitionsPerPod: int(c.partitionsPerPod),
		Inputs:           inputs,
		Backend: order.Backend{
			Type:                string(job.Spec.Backend.Type),
			PartitionWorkers:    int(ptr.Deref(job.Spec.Backend.PartitionWorkers, 0)),
			GPUWorkersPerDevice: int(ptr.Deref(job.Spec.Backend.GPUWorkersPerDevice, 0)),
			GPUThreads:          int(ptr.Deref(job.Spec.Backend.GPUThreads, 0)),
		},
		Runs:            int(ptr.Deref(job.Spec.Runs, 1)),
		WarmupRuns:      int(ptr.Deref(job.Spec.WarmupRuns, 0)),
		ProgressSeconds: progressSeconds(int(c.partitions)),
	}
}

// progressSeconds spaces the progress reports of a job's pods, so that a large batch does not write more often than a
// small one by its size.
func progressSeconds(partitions int) int { return max(10, partitions/4) }
