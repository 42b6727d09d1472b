package proofjob

import (
	"context"
	goruntime "runtime"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
)

// A manager counts the jobs while it leads, and at no other time.
func TestJobsAreCountedByTheLeader(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := api.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	cluster := fake.NewClientBuilder().WithScheme(scheme)
	for name, state := range map[string]api.ProofJobState{"a": "", "b": api.ProofJobPending, "c": api.ProofJobFailed} {
		cluster.WithObjects(&api.ProofJob{ObjectMeta: metav1.ObjectMeta{Namespace: "proofs", Name: name}, Status: api.ProofJobStatus{State: state}})
	}
	counter := &jobCounter{desc: jobsByState.desc}
	registry := prometheus.NewRegistry()
	registry.MustRegister(counter)
	count := func() map[string]float64 {
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]float64{}
		for _, f := range families {
			for _, m := range f.Metric {
				got[m.Label[0].GetValue()] = m.Gauge.GetValue()
			}
		}
		return got
	}
	if got := count(); len(got) > 0 {
		t.Errorf("a manager that stands by counts %v", got)
	}
	ctx, lose := context.WithCancel(t.Context())
	var leading sync.WaitGroup
	leading.Go(func() {
		if err := counter.of(cluster.Build())(ctx); err != nil {
			t.Error(err)
		}
	})
	for counter.reader.Load() == nil {
		goruntime.Gosched()
	}
	if diff := cmp.Diff(map[string]float64{"Pending": 2, "Suspended": 0, "Running": 0, "Succeeded": 0, "Failed": 1}, count()); diff != "" {
		t.Errorf("the leader counts (-want +got):\n%s", diff)
	}
	lose()
	leading.Wait()
	if got := count(); len(got) > 0 {
		t.Errorf("a manager that led counts %v", got)
	}
}
