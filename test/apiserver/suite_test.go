// Copyright The cuzk Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build apiserver

// Package apiserver tests the CustomResourceDefinitions and admission policies against a real API server, which the
// environment variable KUBEBUILDER_ASSETS locates.
package apiserver

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/cuzk-dev/cuzk/api/v1alpha1"
)

const (
	crdFolder    = "../../config/crd/bases"
	policyFolder = "../../config/policies"
)

var (
	environment *envtest.Environment
	config      *rest.Config
	// admin may do all, manage-status included.
	admin  client.Client
	scheme = runtime.NewScheme()
)

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	log.SetLogger(logr.FromSlogHandler(slog.NewTextHandler(os.Stderr, nil)))
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(apiextensionsv1.AddToScheme(scheme))
	utilruntime.Must(v1alpha1.AddToScheme(scheme))

	environment = &envtest.Environment{
		Scheme:                   scheme,
		CRDDirectoryPaths:        []string{filepath.FromSlash(crdFolder)},
		ErrorIfCRDPathMissing:    true,
		ControlPlaneStartTimeout: 3 * time.Minute,
	}
	var err error
	if config, err = environment.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "start the API server:", err)
		return 1
	}
	defer func() {
		if err := environment.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stop the API server:", err)
		}
	}()
	// The tests make many requests; a limit on the client's side would only slow them down.
	config.QPS = -1
	if admin, err = client.New(config, client.Options{Scheme: scheme}); err != nil {
		fmt.Fprintln(os.Stderr, "connect:", err)
		return 1
	}
	return m.Run()
}

var namespaces atomic.Int64

// newNamespace makes a namespace for one test.
func newNamespace(t *testing.T) string {
	t.Helper()
	name := fmt.Sprintf("test-%d", namespaces.Add(1))
	if err := admin.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
		t.Fatal(err)
	}
	return name
}

// eventually tries again until what is awaited is there, or a generous deadline passes.
func eventually(t *testing.T, what string, try func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := try(ctx)
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s: %v", what, err)
		case <-ticker.C:
		}
	}
}
