//go:build chart

package chart

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// typed turns an object into its type and fails on fields that the type does not have.
func typed[T any](t *testing.T, found map[string]*unstructured.Unstructured, key string) *T {
	t.Helper()
	u := found[key]
	if u == nil {
		t.Fatalf("no %s among %v", key, slices.Sorted(maps.Keys(found)))
	}
	object := new(T)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(u.Object, object, true); err != nil {
		t.Fatalf("%s: %v", key, err)
	}
	return object
}

func manager(t *testing.T, d *appsv1.Deployment) corev1.Container {
	t.Helper()
	if n := len(d.Spec.Template.Spec.Containers); n != 1 {
		t.Fatalf("%d containers, want 1", n)
	}
	return d.Spec.Template.Spec.Containers[0]
}

func TestDefaultObjects(t *testing.T) {
	want := []string{
		"ClusterRole/cuzk-editor",
		"ClusterRole/cuzk-manager",
		"ClusterRole/cuzk-metrics-auth",
		"ClusterRole/cuzk-metrics-reader",
		"ClusterRole/cuzk-viewer",
		"ClusterRoleBinding/cuzk-manager",
		"ClusterRoleBinding/cuzk-metrics-auth",
		"CustomResourceDefinition/proofjobs.proving.cuzk.dev",
		"CustomResourceDefinition/provingkeys.proving.cuzk.dev",
		"Deployment/cuzk-manager",
		"Pod/cuzk-install-check",
		"PodDisruptionBudget/cuzk-manager",
		"Role/cuzk-install-check",
		"Role/cuzk-leader-election",
		"RoleBinding/cuzk-install-check",
		"RoleBinding/cuzk-leader-election",
		"Service/cuzk-manager-metrics",
		"ServiceAccount/cuzk-install-check",
		"ServiceAccount/cuzk-manager",
		"ValidatingAdmissionPolicy/cuzk-prover-status",
		"ValidatingAdmissionPolicy/cuzk-proving-key-status",
		"ValidatingAdmissionPolicyBinding/cuzk-prover-status",
		"ValidatingAdmissionPolicyBinding/cuzk-proving-key-status",
	}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(objects(t)))); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
}

// Bug 38 of operators: roles that grant more than anybody noticed.
func TestRolesAreNarrow(t *testing.T) {
	for key, u := range objects(t) {
		if u.GetKind() != "ClusterRole" && u.GetKind() != "Role" {
			continue
		}
		rules, _, err := unstructured.NestedSlice(u.Object, "rules")
		if err != nil || len(rules) == 0 {
			t.Fatalf("%s: rules: %v", key, err)
		}
		for _, r := range rules {
			rule := r.(map[string]any)
			for field, values := range rule {
				for _, v := range values.([]any) {
					if v == "*" {
						t.Errorf("%s: a wildcard in %s", key, field)
					}
				}
			}
			resources, _, _ := unstructured.NestedStringSlice(rule, "resources")
			verbs, _, _ := unstructured.NestedStringSlice(rule, "verbs")
			for _, resource := range resources {
				switch resource {
				case "secrets", "pods/exec", "pods/attach", "pods/portforward", "nodes/proxy", "serviceaccounts/token":
					t.Errorf("%s: grants %s", key, resource)
				case "configmaps":
					if slices.Contains(verbs, "list") || slices.Contains(verbs, "watch") {
						t.Errorf("%s: lists configmaps; they are read by name", key)
					}
				}
			}
			for _, verb := range []string{"escalate", "bind", "impersonate"} {
				if slices.Contains(verbs, verb) {
					t.Errorf("%s: may %s", key, verb)
				}
			}
			if key != "ClusterRole/cuzk-manager" && slices.Contains(verbs, "manage-status") {
				t.Errorf("%s: may manage statuses, which is the manager's alone", key)
			}
		}
	}
}

// Users get the resources through the cluster's own roles, and no way to write a result.
func TestUserRoles(t *testing.T) {
	found := objects(t)
	for key, want := range map[string][]string{
		"ClusterRole/cuzk-editor": {"admin", "edit"},
		"ClusterRole/cuzk-viewer": {"admin", "edit", "view"},
	} {
		u := found[key]
		var got []string
		for label, value := range u.GetLabels() {
			if role, ok := strings.CutPrefix(label, "rbac.authorization.k8s.io/aggregate-to-"); ok && value == "true" {
				got = append(got, role)
			}
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s aggregates to (-want +got):\n%s", key, diff)
		}
		rules, _, _ := unstructured.NestedSlice(u.Object, "rules")
		for _, r := range rules {
			resources, _, _ := unstructured.NestedStringSlice(r.(map[string]any), "resources")
			verbs, _, _ := unstructured.NestedStringSlice(r.(map[string]any), "verbs")
			for _, resource := range resources {
				if strings.HasSuffix(resource, "/status") && (slices.Contains(verbs, "update") || slices.Contains(verbs, "patch")) {
					t.Errorf("%s writes %s", key, resource)
				}
			}
		}
	}
	for label := range objects(t, "--set", "rbac.aggregate=false")["ClusterRole/cuzk-editor"].GetLabels() {
		if strings.HasPrefix(label, "rbac.") {
			t.Errorf("rbac.aggregate=false leaves label %s", label)
		}
	}
}

func TestDeploymentIsRestricted(t *testing.T) {
	for _, args := range [][]string{nil, {"--values", filepath.Join("testdata", "everything.yaml")}} {
		found := objects(t, args...)
		prefix := "cuzk"
		if args != nil {
			prefix = "proving"
		}
		deployment := typed[appsv1.Deployment](t, found, "Deployment/"+prefix+"-manager")
		check := typed[corev1.Pod](t, found, "Pod/"+prefix+"-install-check")
		for name, pod := range map[string]corev1.PodSpec{"manager": deployment.Spec.Template.Spec, "install check": check.Spec} {
			if s := pod.SecurityContext; s == nil || s.RunAsNonRoot == nil || !*s.RunAsNonRoot ||
				s.SeccompProfile == nil || s.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
				t.Errorf("%s: pod security context %+v does not meet the restricted profile", name, s)
			}
			for _, c := range pod.Containers {
				s := c.SecurityContext
				if s == nil || s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation ||
					s.ReadOnlyRootFilesystem == nil || !*s.ReadOnlyRootFilesystem ||
					s.Capabilities == nil || !slices.Equal(s.Capabilities.Drop, []corev1.Capability{"ALL"}) {
					t.Errorf("%s: container security context %+v does not meet the restricted profile", name, s)
				}
				if c.Resources.Limits.Memory().IsZero() || c.Resources.Requests.Cpu().IsZero() {
					t.Errorf("%s: no memory limit or no CPU request", name)
				}
			}
		}
		c := manager(t, deployment)
		if c.LivenessProbe == nil || c.LivenessProbe.HTTPGet.Path != "/healthz" || c.ReadinessProbe == nil || c.ReadinessProbe.HTTPGet.Path != "/readyz" {
			t.Errorf("probes: %+v, %+v", c.LivenessProbe, c.ReadinessProbe)
		}
		if deployment.Spec.Template.Spec.ServiceAccountName == "" {
			t.Error("no service account")
		}
	}
}

func TestArguments(t *testing.T) {
	digest := "sha256:" + strings.Repeat("0f", 32)
	for name, tc := range map[string]struct {
		set  []string
		want []string
	}{
		"defaults": {
			want: []string{
				"--leader-elect", "--leader-election-lease-duration=60s", "--leader-election-renew-deadline=40s",
				"--leader-election-retry-period=5s", "--health-probe-bind-address=:8081", "--metrics-bind-address=:8443",
				"--prover-image=ghcr.io/cuzk-dev/cuzk-prover:v0.1.0", "--prover-cuda-image=ghcr.io/cuzk-dev/cuzk-prover-cuda:v0.1.0",
			},
		},
		"one manager, no metrics, images by digest": {
			set: []string{
				"replicas=1", "leaderElection.enabled=false", "metrics.enabled=false", "extraArgs={--v=2}",
				"prover.image.repository=registry.example/p", "prover.image.digest=" + digest, "prover.cudaImage.tag=x",
			},
			want: []string{
				"--health-probe-bind-address=:8081", "--metrics-bind-address=0",
				"--prover-image=registry.example/p:v0.1.0@" + digest, "--prover-cuda-image=ghcr.io/cuzk-dev/cuzk-prover-cuda:x",
				"--v=2",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var args []string
			for _, s := range tc.set {
				args = append(args, "--set", s)
			}
			found := objects(t, args...)
			if diff := cmp.Diff(tc.want, manager(t, typed[appsv1.Deployment](t, found, "Deployment/cuzk-manager")).Args); diff != "" {
				t.Errorf("arguments (-want +got):\n%s", diff)
			}
			if _, served := found["Service/cuzk-manager-metrics"]; served != (name == "defaults") {
				t.Errorf("metrics service rendered: %v", served)
			}
		})
	}
}

// CRDs are templates, so that an upgrade upgrades them, and stay on uninstall, so that no proof job goes with the chart.
func TestCRDs(t *testing.T) {
	count := func(found map[string]*unstructured.Unstructured, kept string) (n int) {
		for _, u := range found {
			if u.GetKind() != "CustomResourceDefinition" {
				continue
			}
			n++
			if got := u.GetAnnotations()["helm.sh/resource-policy"]; got != kept {
				t.Errorf("%s: resource policy %q, want %q", u.GetName(), got, kept)
			}
		}
		return n
	}
	if n := count(objects(t), "keep"); n != 2 {
		t.Errorf("%d CRDs, want 2", n)
	}
	if n := count(objects(t, "--set", "crds.keep=false"), ""); n != 2 {
		t.Errorf("%d CRDs, want 2", n)
	}
	if n := count(objects(t, "--set", "crds.enabled=false"), ""); n != 0 {
		t.Errorf("%d CRDs, want none", n)
	}
}

// Everything that a value can change is set in one file, and has to arrive.
func TestEverything(t *testing.T) {
	found := objects(t, "--values", filepath.Join("testdata", "everything.yaml"))
	deployment := typed[appsv1.Deployment](t, found, "Deployment/proving-manager")
	pod := deployment.Spec.Template.Spec
	c := manager(t, deployment)

	got := map[string]any{
		"replicas":      *deployment.Spec.Replicas,
		"image":         c.Image,
		"pullPolicy":    string(c.ImagePullPolicy),
		"pullSecrets":   pod.ImagePullSecrets[0].Name,
		"nodeSelector":  pod.NodeSelector["role"],
		"toleration":    pod.Tolerations[0].Key,
		"affinity":      pod.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchExpressions[0].Key,
		"spread":        pod.TopologySpreadConstraints[0].TopologyKey,
		"spreads":       len(pod.TopologySpreadConstraints),
		"priority":      pod.PriorityClassName,
		"grace":         *pod.TerminationGracePeriodSeconds,
		"account":       pod.ServiceAccountName,
		"podAnnotation": deployment.Spec.Template.Annotations["example.com/a"],
		"podLabel":      deployment.Spec.Template.Labels["example.com/l"],
		"commonLabel":   deployment.Labels["team"],
		"cpuLimit":      c.Resources.Limits.Cpu().String(),
		"lastArg":       c.Args[len(c.Args)-1],
		"env":           c.Env[len(c.Env)-1].Name,
		"metricsPort":   c.Ports[1].ContainerPort,
		"accountNote":   found["ServiceAccount/prover-boss"].GetAnnotations()["example.com/role"],
		"bound":         found["ClusterRoleBinding/proving-manager"].Object["subjects"].([]any)[0].(map[string]any)["name"],
	}
	want := map[string]any{
		"replicas":      int32(3),
		"image":         "registry.example/cuzk/manager:v9@sha256:" + strings.Repeat("ab", 32),
		"pullPolicy":    "Always",
		"pullSecrets":   "registry",
		"nodeSelector":  "control",
		"toleration":    "dedicated",
		"affinity":      "kubernetes.io/arch",
		"spread":        "topology.kubernetes.io/zone",
		"spreads":       1,
		"priority":      "high",
		"grace":         int64(45),
		"account":       "prover-boss",
		"podAnnotation": "1",
		"podLabel":      "2",
		"commonLabel":   "proofs",
		"cpuLimit":      "2",
		"lastArg":       "--v=1",
		"env":           "HTTPS_PROXY",
		"metricsPort":   int32(9443),
		"accountNote":   "x",
		"bound":         "prover-boss",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}

	budget := typed[policyv1.PodDisruptionBudget](t, found, "PodDisruptionBudget/proving-manager")
	if diff := cmp.Diff(intstr.FromString("34%"), *budget.Spec.MaxUnavailable); diff != "" {
		t.Errorf("maxUnavailable (-want +got):\n%s", diff)
	}
	policy := typed[networkingv1.NetworkPolicy](t, found, "NetworkPolicy/proving-manager")
	if policy.Spec.Ingress[1].Ports[0].Port.IntValue() != 9443 || len(policy.Spec.Ingress[1].From) != 1 {
		t.Errorf("ingress %+v", policy.Spec.Ingress)
	}
	if n := len(policy.Spec.Egress); n != 3 || len(policy.Spec.Egress[1].To) != 1 || len(policy.Spec.Egress[1].Ports) != 1 {
		t.Errorf("egress %+v", policy.Spec.Egress)
	}
	// What a policy, a budget and a service select are the manager's pods, and not the pod of helm test.
	labels := deployment.Spec.Template.Labels
	check := typed[corev1.Pod](t, found, "Pod/proving-install-check").Labels
	for name, selector := range map[string]map[string]string{
		"deployment": deployment.Spec.Selector.MatchLabels,
		"budget":     budget.Spec.Selector.MatchLabels,
		"policy":     policy.Spec.PodSelector.MatchLabels,
		"service":    typed[corev1.Service](t, found, "Service/proving-manager-metrics").Spec.Selector,
	} {
		if !covers(selector, labels) {
			t.Errorf("%s selects %v, which the pods' labels %v are not", name, selector, labels)
		}
		if covers(selector, check) {
			t.Errorf("%s selects the pod of helm test", name)
		}
	}
	for _, kind := range []string{"ServiceMonitor/proving-manager", "PodMonitor/proving-manager", "PrometheusRule/proving"} {
		if found[kind] == nil {
			t.Errorf("no %s", kind)
		} else if found[kind].GetLabels()["release"] != "prometheus" {
			t.Errorf("%s: labels %v", kind, found[kind].GetLabels())
		}
	}
}

// A PodMonitor has no field for the file of Prometheus's own token; the API server would drop it, and scrapes be refused.
func TestPodMonitorTakesItsTokenFromASecret(t *testing.T) {
	monitor := objects(t, "--values", filepath.Join("testdata", "everything.yaml"))["PodMonitor/proving-manager"]
	endpoints, _, err := unstructured.NestedSlice(monitor.Object, "spec", "podMetricsEndpoints")
	if err != nil || len(endpoints) != 1 {
		t.Fatalf("endpoints %v (%v)", endpoints, err)
	}
	want := map[string]any{
		"port": "metrics", "scheme": "https", "path": "/metrics", "interval": "15s",
		"authorization": map[string]any{"credentials": map[string]any{"name": "scraper", "key": "bearer"}},
		"tlsConfig":     map[string]any{"insecureSkipVerify": true},
	}
	if diff := cmp.Diff(any(want), endpoints[0]); diff != "" {
		t.Errorf("endpoint (-want +got):\n%s", diff)
	}
}

func covers(selector, labels map[string]string) bool {
	for key, value := range selector {
		if labels[key] != value {
			return false
		}
	}
	return len(selector) > 0
}

// Prometheus reads its templates where Helm has its own braces: they must come out as they went in.
func TestAlertsKeepTheirTemplates(t *testing.T) {
	text, err := helm(t, "--set", "metrics.alerts.enabled=true", "--show-only", "templates/monitoring/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text, `{{ "`) {
		t.Error("escaped braces are left in the alerts")
	}
	for _, alert := range alerts(t) {
		if !strings.Contains(text, "alert: "+alert) {
			t.Errorf("alert %s of config/prometheus is not in the chart", alert)
		}
	}
}

func TestRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want string // in the message
	}{
		"a key that does not exist":        {[]string{"--set", "replica=3"}, "replica"},
		"a nested key that does not exist": {[]string{"--set", "image.repo=x"}, "repo"},
		"a wrong type":                     {[]string{"--set-string", "replicas=3"}, "replicas"},
		"a wrong pull policy":              {[]string{"--set", "image.pullPolicy=Sometimes"}, "pullPolicy"},
		"a digest without its algorithm":   {[]string{"--set", "image.digest=abc"}, "digest"},
		"a duration without a unit":        {[]string{"--set-string", "leaderElection.leaseDuration=60"}, "leaseDuration"},
		"two managers without a leader":    {[]string{"--set", "leaderElection.enabled=false"}, "leaderElection.enabled"},
		"a monitor without metrics":        {[]string{"--set", "metrics.enabled=false,metrics.serviceMonitor.enabled=true"}, "metrics.enabled"},
		"a PodMonitor without a token":     {[]string{"--set", "metrics.podMonitor.enabled=true"}, "metrics.podMonitor.tokenSecret.name"},
		"no account and none named":        {[]string{"--set", "serviceAccount.create=false"}, "serviceAccount.name"},
		"an old cluster":                   {[]string{"--kube-version", "1.34.0"}, "1.35"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := helm(t, tc.args...)
			if err == nil {
				t.Fatal("rendered")
			}
			if !strings.Contains(err.Error(), tc.want) {
				t.Errorf("message %q does not name %s", err, tc.want)
			}
		})
	}
}

// Names stay valid with the longest release name that Helm allows.
func TestLongReleaseName(t *testing.T) {
	for key, u := range objects(t, "--set", "fullnameOverride="+strings.Repeat("n", 53)) {
		if len(u.GetName()) > 63 && u.GetKind() != "CustomResourceDefinition" {
			t.Errorf("%s: a name of %d characters", key, len(u.GetName()))
		}
	}
}
