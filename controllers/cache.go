package controllers

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cuzk-dev/cuzk/controllers/internal/proverpod"
)

// Cache is what the manager keeps of the cluster: the operator's own kinds, and of Jobs and pods those that the operator
// made, stripped of what is not read. No namespaces means all.
func Cache(namespaces ...string) cache.Options {
	own := func(transform func(any) (any, error)) cache.ByObject {
		return cache.ByObject{Label: proverpod.Selector(), Transform: transform}
	}
	c := cache.Options{
		DefaultTransform: cache.TransformStripManagedFields(),
		ByObject: map[client.Object]cache.ByObject{
			&batchv1.Job{}: own(proverpod.StripJob),
			&corev1.Pod{}:  own(proverpod.StripPod),
			&corev1.Node{}: {Transform: proverpod.StripNode},
		},
	}
	for _, n := range namespaces {
		if c.DefaultNamespaces == nil {
			c.DefaultNamespaces = map[string]cache.Config{}
		}
		c.DefaultNamespaces[n] = cache.Config{}
	}
	return c
}

// Client is how the manager's client reads from the cache. Secrets and ConfigMaps are never cached: a cluster has many
// and large ones that are none of the operator's business. readYourWrites lets reads wait for the manager's own writes.
func Client(readYourWrites bool) client.Options {
	return client.Options{Cache: &client.CacheOptions{
		DisableFor:                      []client.Object{&corev1.Secret{}, &corev1.ConfigMap{}},
		EnableReadYourWritesConsistency: ptr.To(readYourWrites),
	}}
}
