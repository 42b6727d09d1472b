package provingkey

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// However often a key could not be reconciled, the next try is at most a minute away.
func TestFailuresAreTriedAgainWithinAMinute(t *testing.T) {
	limiter, key := rateLimiter(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "proofs", Name: "key"}}
	var wait time.Duration
	for range 40 {
		wait = limiter.When(key)
	}
	if wait != time.Minute {
		t.Errorf("the 40th try is %s away, want a minute", wait)
	}
}
