package controllers

import (
	"fmt"
	"net/http"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
)

// CachesFull is a readiness check: a manager can lead, or take over at once, when it has read all that it watches. One that
// may not read something, or to which a CRD is missing, never is ready.
func CachesFull(informers cache.Informers) healthz.Checker {
	return func(r *http.Request) error {
		for _, kind := range []client.Object{&api.ProofJob{}, &api.ProvingKey{}, &batchv1.Job{}, &corev1.Pod{}, &corev1.Node{}} {
			informer, err := informers.GetInformer(r.Context(), kind, cache.BlockUntilSynced(false))
			if err != nil {
				return fmt.Errorf("cache of %T: %w", kind, err)
			}
			if !informer.HasSynced() {
				return fmt.Errorf("the cache of %T is not full yet", kind)
			}
		}
		return nil
	}
}
