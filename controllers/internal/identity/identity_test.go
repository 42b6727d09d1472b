package identity

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// Whoever may name a ProvingKey must not have a Role or RoleBinding of that name overwritten.
func TestForeignObjectsAreLeftAlone(t *testing.T) {
	at := metav1.ObjectMeta{Namespace: "proofs", Name: "key-inspect"}
	deploys := []rbacv1.PolicyRule{{APIGroups: []string{"apps"}, Resources: []string{"deployments"}, Verbs: []string{"get"}}}
	inspects := []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, ResourceNames: []string{"vk"}, Verbs: []string{"get", "patch"}}}
	role := &rbacv1.Role{ObjectMeta: at, Rules: deploys}
	own := role.DeepCopy()
	own.Labels = labels
	equal := &rbacv1.Role{ObjectMeta: at, Rules: inspects}
	binding := &rbacv1.RoleBinding{ObjectMeta: at, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "other"}}
	for _, c := range []struct {
		name    string
		have    []client.Object
		foreign string
		rules   []rbacv1.PolicyRule
	}{
		{"nothing", nil, "", inspects},
		{"foreign Role", []client.Object{role}, "Role", deploys},
		{"foreign RoleBinding", []client.Object{binding}, "RoleBinding", inspects},
		{"foreign Role that is right", []client.Object{equal}, "", inspects},
		{"the operator's Role of before", []client.Object{own}, "", inspects},
	} {
		t.Run(c.name, func(t *testing.T) {
			cluster := fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithObjects(c.have...).Build()
			m := &Maker{Client: cluster, Clock: clocktesting.NewFakePassiveClock(time.Unix(1_800_000_000, 0))}
			err := m.Inspector(t.Context(), "proofs", "key-inspect", []string{"vk"}, nil)
			is, foreign := errors.AsType[*ForeignError](err)
			if foreign != (c.foreign != "") || foreign && *is != (ForeignError{c.foreign, "key-inspect"}) || !foreign && err != nil {
				t.Errorf("error %v, want a foreign %q", err, c.foreign)
			}
			var now rbacv1.Role
			if err := cluster.Get(t.Context(), client.ObjectKey{Namespace: "proofs", Name: "key-inspect"}, &now); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.rules, now.Rules); diff != "" {
				t.Errorf("rules of the Role (-want +got):\n%s", diff)
			}
		})
	}
}
