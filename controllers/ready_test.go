package controllers

import (
	"net/http/httptest"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllertest"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
)

// A manager is ready once every cache is full, and says which one is not.
func TestReadyOnceAllCachesAreFull(t *testing.T) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, api.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	kinds := []schema.GroupVersionKind{
		api.GroupVersion.WithKind("ProofJob"), api.GroupVersion.WithKind("ProvingKey"),
		batchv1.SchemeGroupVersion.WithKind("Job"), corev1.SchemeGroupVersion.WithKind("Pod"), corev1.SchemeGroupVersion.WithKind("Node"),
	}
	informers := &informertest.FakeInformers{Scheme: scheme, InformersByGVK: map[schema.GroupVersionKind]toolscache.SharedIndexInformer{}}
	for _, kind := range kinds {
		informers.InformersByGVK[kind] = controllertest.NewFakeInformer()
	}
	request := httptest.NewRequest("GET", "/readyz", nil)
	for _, kind := range kinds {
		if err := CachesFull(informers)(request); err == nil || !strings.Contains(err.Error(), "."+kind.Kind+" ") {
			t.Errorf("without the cache of %s: %v", kind.Kind, err)
		}
		informers.InformersByGVK[kind] = controllertest.NewFakeInformer(controllertest.Synced)
	}
	if err := CachesFull(informers)(request); err != nil {
		t.Errorf("with all caches full: %v", err)
	}
}
