//go:build apiserver

// Package integration tests the operator against a real API server and the real Job controller. What is played is what
// lies below: a kubelet that binds pods and runs them, and provers that report what a test wants. The operator has its
// own ServiceAccount with the role that is installed, and provers have tokens bound to their pods, so that neither can
// do here what it could not do in a cluster.
//
// KUBEBUILDER_ASSETS names a folder with etcd, kube-apiserver and kube-controller-manager.
package integration

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
)

const root = "../.."

var (
	scheme = runtime.NewScheme()
	// config and admin may do all; tests look and play users with them.
	config *rest.Config
	admin  client.Client
	// managerConfig has the manager's ServiceAccount.
	managerConfig *rest.Config
	auditLog      string
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	log := logr.Discard()
	if os.Getenv("OPERATOR_TEST_LOGS") != "" {
		log = zap.New(zap.UseDevMode(true), zap.WriteTo(os.Stderr))
	}
	logf.SetLogger(log)
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, api.AddToScheme} {
		utilruntime.Must(add(scheme))
	}
	dir, err := os.MkdirTemp("", "cuzk-operator-test")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)

	environment, err := startAPIServer(dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, "start the API server:", err)
		return 1
	}
	defer environment.Stop()
	stop, err := startControllers(dir, environment)
	if err != nil {
		fmt.Fprintln(os.Stderr, "start the Job controller:", err)
		return 1
	}
	defer stop()

	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if err := install(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "install:", err)
		return 1
	}
	if err := startKubelet(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "start the kubelet:", err)
		return 1
	}
	return m.Run()
}

// auditPolicy notes each write, but for leases.
const auditPolicy = `{
  "apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived", "ResponseStarted"],
  "rules": [
    {"level": "None", "verbs": ["get", "list", "watch"]},
    {"level": "None", "resources": [{"group": "coordination.k8s.io"}]},
    {"level": "Metadata"}
  ]
}`

// startAPIServer starts etcd and an API server that logs who writes what.
func startAPIServer(dir string) (*envtest.Environment, error) {
	auditLog = filepath.Join(dir, "audit.log")
	policy := filepath.Join(dir, "audit.yaml")
	if err := os.WriteFile(policy, []byte(auditPolicy), 0o600); err != nil {
		return nil, err
	}
	e := &envtest.Environment{
		Scheme:                   scheme,
		CRDDirectoryPaths:        []string{filepath.Join(root, "config", "crd", "bases")},
		ErrorIfCRDPathMissing:    true,
		ControlPlaneStartTimeout: 3 * time.Minute,
	}
	args := e.ControlPlane.GetAPIServer().Configure()
	args.Set("audit-policy-file", policy)
	args.Set("audit-log-path", auditLog)
	args.Set("audit-log-mode", "blocking")
	var err error
	if config, err = e.Start(); err != nil {
		return nil, err
	}
	config.QPS = -1
	admin, err = client.New(config, client.Options{Scheme: scheme})
	return e, err
}

// startControllers starts those of Kubernetes' own controllers that the operator builds on.
func startControllers(dir string, e *envtest.Environment) (func(), error) {
	user, err := e.AddUser(envtest.User{Name: "kube-controller-manager", Groups: []string{"system:masters"}}, nil)
	if err != nil {
		return nil, err
	}
	kubeconfig, err := user.KubeConfig()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "controllers.kubeconfig")
	if err := os.WriteFile(path, kubeconfig, 0o600); err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(dir, "controllers.log"))
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), "kube-controller-manager"),
		"--kubeconfig="+path, "--authentication-kubeconfig="+path, "--authorization-kubeconfig="+path,
		"--controllers=job-controller,garbage-collector-controller", "--leader-elect=false", "--secure-port=0",
		"--kube-api-qps=300", "--kube-api-burst=500")
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = log.Close()
	}, nil
}

// install applies the manager's role, as it is installed, and the admission policies, and logs in as the manager.
func install(ctx context.Context) error {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "cuzk-system", Name: "cuzk-manager"}}
	if err := admin.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: account.Namespace}}); err != nil {
		return err
	}
	if err := admin.Create(ctx, account); err != nil {
		return err
	}
	for _, file := range []string{"rbac/role.yaml", "rbac/role_binding.yaml", "policies/prover_status.yaml", "policies/proving_key_status.yaml"} {
		if err := applyFile(ctx, filepath.Join(root, "config", file)); err != nil {
			return err
		}
	}
	// The manager's leader election and events are in its own namespace; here only the events are needed.
	token := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: ptr.To[int64](24 * 3600)}}
	if err := admin.SubResource("token").Create(ctx, account, token); err != nil {
		return err
	}
	managerConfig = withToken(token.Status.Token)
	return nil
}

// withToken is the cluster as someone with a token sees it.
func withToken(token string) *rest.Config {
	c := rest.AnonymousClientConfig(config)
	c.BearerToken = token
	c.QPS = -1
	return c
}

func applyFile(ctx context.Context, path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096)
	for {
		var u unstructured.Unstructured
		if err := decoder.Decode(&u.Object); err != nil {
			if err.Error() == "EOF" {
				return nil
			}
			return fmt.Errorf("%s: %w", path, err)
		}
		if u.Object == nil {
			continue
		}
		if err := admin.Create(ctx, &u); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
}
