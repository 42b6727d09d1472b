// Package installcheck tells whether an installation serves the API and keeps its rules, seen by somebody who may create
// proof jobs in one namespace and nothing else. It writes nothing: its creations are dry runs. `helm test` runs it.
package installcheck

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cuzk-dev/cuzk/api/v1alpha1"
)

// interval is how long to wait after a failure that may pass.
const interval = 2 * time.Second

// Run looks until everything is as it should be or ctx ends. What cannot become better by waiting ends it at once.
func Run(ctx context.Context, config *rest.Config, namespace string) error {
	disco, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return err
	}
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return err
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return err
	}
	var last error
	err = wait.PollUntilContextCancel(ctx, interval, true, func(ctx context.Context) (bool, error) {
		last = once(ctx, disco, client.NewDryRunClient(c), namespace)
		if _, broken := errors.AsType[*brokenError](last); broken {
			return false, last
		}
		return last == nil, nil
	})
	if last != nil {
		return last
	}
	return err
}

// brokenError is a finding that no waiting mends.
type brokenError struct{ error }

func (e *brokenError) Unwrap() error { return e.error }

func once(ctx context.Context, disco discovery.DiscoveryInterface, c client.Client, namespace string) error {
	if err := served(disco); err != nil {
		return err
	}
	if err := c.Create(ctx, job(namespace, "install-check")); err != nil {
		err = fmt.Errorf("a valid proofjob was refused in namespace %s: %w", namespace, err)
		// Forbidden may pass: the authorizer learns of a new role a moment after it is made.
		if apierrors.IsInvalid(err) {
			return &brokenError{err}
		}
		return err
	}
	return refuses(ctx, c, namespace)
}

// served looks for the resources that the manager and its users need.
func served(disco discovery.DiscoveryInterface) error {
	list, err := disco.ServerResourcesForGroupVersion(v1alpha1.GroupVersion.String())
	if err != nil {
		return fmt.Errorf("the API server does not serve %s: %w; are the CRDs installed (crds.enabled)?", v1alpha1.GroupVersion, err)
	}
	for _, name := range []string{"proofjobs", "proofjobs/status", "provingkeys", "provingkeys/status"} {
		if !slices.ContainsFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Name == name }) {
			return fmt.Errorf("the API server serves no %s in %s: the CRDs are of another release; upgrade them", name, v1alpha1.GroupVersion)
		}
	}
	return nil
}

// refuses sees whether the schema's rules are in force: an API server that drops them, or CRDs installed without them,
// would take a job whose pods could never be made.
func refuses(ctx context.Context, c client.Client, namespace string) error {
	name := strings.Repeat("n", 53)
	err := c.Create(ctx, job(namespace, name))
	switch {
	case err == nil:
		return &brokenError{fmt.Errorf("a proofjob with a name of %d characters was admitted, though 52 is the limit: the CRDs' rules are not in force", len(name))}
	case !apierrors.IsInvalid(err):
		return fmt.Errorf("creating a proofjob whose name is too long: want it refused as invalid, got: %w", err)
	case !strings.Contains(err.Error(), "metadata.name"):
		return &brokenError{fmt.Errorf("a proofjob whose name is too long was refused without naming metadata.name: %w", err)}
	}
	return nil
}

// job is the smallest valid one. Its key need not exist: a job may be made before its key.
func job(namespace, name string) *v1alpha1.ProofJob {
	input := "{}"
	return &v1alpha1.ProofJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: v1alpha1.ProofJobSpec{
			Circuit:       v1alpha1.Circuit{Type: v1alpha1.CircuitCircom},
			ProvingKeyRef: v1alpha1.ProvingKeyReference{Name: "install-check"},
			Inputs: []v1alpha1.ProofInput{{
				Name:        "empty",
				InputSource: v1alpha1.InputSource{Inline: &v1alpha1.InlineInput{Input: &input}},
			}},
		},
	}
}
