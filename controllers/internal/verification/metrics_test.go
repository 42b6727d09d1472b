package verification

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
)

// The alert on refused proofs asks for an increase, which the first one is only if it was 0 before.
func TestResultsAreCountedFromZero(t *testing.T) {
	want := `
# HELP cuzk_proof_verifications_total Proofs checked by the operator, by result: valid, invalid or key_unavailable.
# TYPE cuzk_proof_verifications_total counter
cuzk_proof_verifications_total{result="invalid"} 0
cuzk_proof_verifications_total{result="key_unavailable"} 0
cuzk_proof_verifications_total{result="valid"} 0
`
	if err := testutil.CollectAndCompare(newVerdictCounter(), strings.NewReader(want)); err != nil {
		t.Error(err)
	}
}
