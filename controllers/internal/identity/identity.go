// Package identity makes the ServiceAccounts, Roles and RoleBindings under which the operator's pods run, in the
// namespaces where they run. What is there and right costs no write.
package identity

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	rbacv1ac "k8s.io/client-go/applyconfigurations/rbac/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
)

// FieldOwner is the operator's field manager.
const FieldOwner client.FieldOwner = "cuzk-manager"

// trust is how long a namespace's identity is not looked at again.
const trust = time.Minute

const managedBy = "app.kubernetes.io/managed-by"

var labels = map[string]string{"app.kubernetes.io/name": "cuzk", managedBy: "cuzk-manager"}

// ForeignError says that an object has the name of one of the operator's, other content, and no label that says that it is
// the operator's. It is not overwritten: who names a ProvingKey may have no rights on Roles.
type ForeignError struct{ Kind, Name string }

func (e *ForeignError) Error() string {
	return fmt.Sprintf("there is a %s %s that is not the operator's: delete it, or have it overwritten by giving it the label %s=%s", e.Kind, e.Name, managedBy, labels[managedBy])
}

func foreign(o client.Object) bool { return o.GetLabels()[managedBy] != labels[managedBy] }

// ProverRules is all that a prover pod may do. The admission policy cuzk-prover-status narrows the second rule to the
// reports of the pod's own partitions.
var ProverRules = []rbacv1.PolicyRule{
	{APIGroups: []string{api.GroupName}, Resources: []string{"proofjobs"}, Verbs: []string{"get"}},
	{APIGroups: []string{api.GroupName}, Resources: []string{"proofjobs/status"}, Verbs: []string{"patch"}},
}

// Maker makes identities. Client must not read from a cache: nothing of this is watched.
type Maker struct {
	Client client.Client
	Clock  clock.PassiveClock

	mu   sync.Mutex
	seen map[string]time.Time
}

// Prover makes the identity cuzk-prover in a namespace, and binds account to its Role if that is another one.
func (m *Maker) Prover(ctx context.Context, namespace, account string) error {
	key := namespace + "/" + account
	if m.trusted(key) {
		return nil
	}
	name := api.ProverIdentity
	if err := m.account(ctx, namespace, name); err != nil {
		return err
	}
	if err := m.role(ctx, namespace, name, ProverRules, nil); err != nil {
		return err
	}
	if err := m.binding(ctx, namespace, name, name, name, nil); err != nil {
		return err
	}
	if account != name {
		if err := m.binding(ctx, namespace, name+"-"+account, name, account, nil); err != nil {
			return err
		}
	}
	m.trust(key)
	return nil
}

// Inspector makes the ServiceAccount cuzk-inspector in a namespace, and for one inspection a Role and RoleBinding name
// that let it patch the ConfigMaps named, and that go with owner.
func (m *Maker) Inspector(ctx context.Context, namespace, name string, configMaps []string, owner *metav1ac.OwnerReferenceApplyConfiguration) error {
	if err := m.account(ctx, namespace, InspectorIdentity); err != nil {
		return err
	}
	rules := []rbacv1.PolicyRule{{
		APIGroups: []string{""}, Resources: []string{"configmaps"}, ResourceNames: configMaps, Verbs: []string{"get", "patch"},
	}}
	if err := m.role(ctx, namespace, name, rules, owner); err != nil {
		return err
	}
	return m.binding(ctx, namespace, name, name, InspectorIdentity, owner)
}

// InspectorIdentity is the ServiceAccount of pods that inspect keys.
const InspectorIdentity = "cuzk-inspector"

func (m *Maker) trusted(key string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	at, ok := m.seen[key]
	return ok && m.Clock.Since(at) < trust
}

func (m *Maker) trust(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.Clock.Now()
	if m.seen == nil {
		m.seen = map[string]time.Time{}
	}
	for k, at := range m.seen {
		if now.Sub(at) >= trust {
			delete(m.seen, k)
		}
	}
	m.seen[key] = now
}

func (m *Maker) account(ctx context.Context, namespace, name string) error {
	var have corev1.ServiceAccount
	switch err := m.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &have); {
	case err == nil:
		return nil
	case !apierrors.IsNotFound(err):
		return fmt.Errorf("get ServiceAccount %s: %w", name, err)
	}
	want := corev1ac.ServiceAccount(name, namespace).WithLabels(labels).WithAutomountServiceAccountToken(false)
	if err := m.Client.Apply(ctx, want, FieldOwner, client.ForceOwnership); err != nil {
		return fmt.Errorf("apply ServiceAccount %s: %w", name, err)
	}
	return nil
}

func (m *Maker) role(ctx context.Context, namespace, name string, rules []rbacv1.PolicyRule, owner *metav1ac.OwnerReferenceApplyConfiguration) error {
	var have rbacv1.Role
	switch err := m.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &have); {
	case err == nil && equality.Semantic.DeepEqual(have.Rules, rules):
		return nil
	case err == nil && foreign(&have):
		return &ForeignError{Kind: "Role", Name: name}
	case err != nil && !apierrors.IsNotFound(err):
		return fmt.Errorf("get Role %s: %w", name, err)
	}
	want := rbacv1ac.Role(name, namespace).WithLabels(labels)
	for _, r := range rules {
		want.WithRules(rbacv1ac.PolicyRule().WithAPIGroups(r.APIGroups...).WithResources(r.Resources...).
			WithResourceNames(r.ResourceNames...).WithVerbs(r.Verbs...))
	}
	if owner != nil {
		want.WithOwnerReferences(owner)
	}
	if err := m.Client.Apply(ctx, want, FieldOwner, client.ForceOwnership); err != nil {
		return fmt.Errorf("apply Role %s: %w", name, err)
	}
	return nil
}

func (m *Maker) binding(ctx context.Context, namespace, name, role, account string, owner *metav1ac.OwnerReferenceApplyConfiguration) error {
	var have rbacv1.RoleBinding
	switch err := m.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &have); {
	case err == nil && have.RoleRef.Kind == "Role" && have.RoleRef.Name == role && binds(have.Subjects, namespace, account):
		return nil
	case err == nil && foreign(&have):
		return &ForeignError{Kind: "RoleBinding", Name: name}
	case err != nil && !apierrors.IsNotFound(err):
		return fmt.Errorf("get RoleBinding %s: %w", name, err)
	}
	want := rbacv1ac.RoleBinding(name, namespace).WithLabels(labels).
		WithRoleRef(rbacv1ac.RoleRef().WithAPIGroup(rbacv1.GroupName).WithKind("Role").WithName(role)).
		WithSubjects(rbacv1ac.Subject().WithKind(rbacv1.ServiceAccountKind).WithNamespace(namespace).WithName(account))
	if owner != nil {
		want.WithOwnerReferences(owner)
	}
	if err := m.Client.Apply(ctx, want, FieldOwner, client.ForceOwnership); err != nil {
		return fmt.Errorf("apply RoleBinding %s: %w", name, err)
	}
	return nil
}

func binds(subjects []rbacv1.Subject, namespace, account string) bool {
	for _, s := range subjects {
		if s.Kind == rbacv1.ServiceAccountKind && s.Name == account && s.Namespace == namespace {
			return true
		}
	}
	return false
}
