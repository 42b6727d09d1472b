package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cuzk-dev/cuzk/api/v1alpha1"
)

const (
	// The authorizer learns of a new RoleBinding with a delay; for so long a refusal may pass.
	forbiddenGrace = 30 * time.Second
	// How long a report that decides something is tried before the termination message has to do.
	applyPatience = 2 * time.Minute
	applyBackoff  = 250 * time.Millisecond
	applyMaxWait  = 10 * time.Second
)

// firstFields are the report's fields in its first release. A report that an older CustomResourceDefinition refuses is
// sent again with these alone: a proof must not be lost to a chart that was not upgraded.
var firstFields = []string{
	"podName", "podUID", "node", "stage", "inputDigest", "proof", "publicInputs", "publicInputsDigest", "error",
}

// applier applies reports to the job's status: one call, one partition, one field manager.
type applier struct {
	client    client.Client
	clock     clock.WithTicker
	log       logr.Logger
	namespace string
	job       string
	// started is when the pod began; refusals are forgiven until forbiddenGrace after it.
	started time.Time
}

// apply sends a report once. Metadata of a status apply is ignored by the API server, so the job's UID cannot be a
// precondition here; the controller counts only reports whose podUID is that of a pod of its own Job.
func (a *applier) apply(ctx context.Context, index int, r *v1alpha1.PartitionReport) error {
	fields, err := toMap(r)
	if err != nil {
		return err
	}
	err = a.send(ctx, index, fields)
	if err != nil && strings.Contains(err.Error(), "field not declared in schema") {
		a.log.Info("The cluster's ProofJob definition is older than this prover; reported without the newer fields",
			"partition", index, "fix", "upgrade the chart's CustomResourceDefinitions")
		first := map[string]any{}
		for _, name := range firstFields {
			if v, ok := fields[name]; ok {
				first[name] = v
			}
		}
		err = a.send(ctx, index, first)
	}
	return err
}

func (a *applier) send(ctx context.Context, index int, report map[string]any) error {
	u := &unstructured.Unstructured{Object: map[string]any{
		"status": map[string]any{
			"partitions": []any{map[string]any{"index": int64(index), "report": report}},
		},
	}}
	u.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("ProofJob"))
	u.SetNamespace(a.namespace)
	u.SetName(a.job)
	return a.client.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(u),
		client.FieldOwner(v1alpha1.PartitionFieldManager(int32(index))), client.ForceOwnership)
}

// insist applies a report until it is accepted, until it is refused for good, or until patience ends.
func (a *applier) insist(ctx context.Context, index int, r *v1alpha1.PartitionReport) error {
	return a.retry(ctx, fmt.Sprintf("report of partition %d", index), func() error { return a.apply(ctx, index, r) })
}

// retry calls the API server until it accepts, refuses for good, or patience ends.
func (a *applier) retry(ctx context.Context, what string, call func() error) error {
	deadline := a.clock.Now().Add(applyPatience)
	for wait := applyBackoff; ; wait = min(2*wait, applyMaxWait) {
		err := call()
		if err == nil || !a.mayPass(err) {
			return err
		}
		if a.clock.Now().Add(wait).After(deadline) {
			return fmt.Errorf("%s was not accepted within %s: %w", what, applyPatience, err)
		}
		a.log.V(1).Info("API server did not accept, trying again", "what", what, "error", err.Error())
		if err := a.sleep(ctx, jitter(wait)); err != nil {
			return err
		}
	}
}

// mayPass tells whether the same apply may be accepted later.
func (a *applier) mayPass(err error) bool {
	switch {
	case apierrors.IsForbidden(err):
		return a.clock.Since(a.started) < forbiddenGrace
	case apierrors.IsNotFound(err), apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsMethodNotSupported(err):
		return false
	case errors.Is(err, context.Canceled):
		return false
	}
	return true
}

func (a *applier) sleep(ctx context.Context, d time.Duration) error {
	t := a.clock.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C():
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// readJob gets the job, forgiving what may pass for a while.
func (a *applier) readJob(ctx context.Context) (*v1alpha1.ProofJob, error) {
	job := &v1alpha1.ProofJob{}
	err := a.retry(ctx, "reading the job", func() error {
		return a.client.Get(ctx, client.ObjectKey{Namespace: a.namespace, Name: a.job}, job)
	})
	return job, err
}

// jitter spreads the pods of a job over time: between 0.75 and 1.25 of d.
func jitter(d time.Duration) time.Duration {
	return d*3/4 + rand.N(d/2+1)
}

func toMap(r *v1alpha1.PartitionReport) (map[string]any, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	// Numbers as int64, which is what the apply codec knows.
	var u unstructured.Unstructured
	wrapped := append(append([]byte(`{"apiVersion":"v1","kind":"Report","report":`), data...), '}')
	if err := u.UnmarshalJSON(wrapped); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	m, _, err := unstructured.NestedMap(u.Object, "report")
	return m, err
}
