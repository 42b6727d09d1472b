package worker

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/prover/worker/order"
)

// The proofs of all ten partitions of a large proof of replication fit into the last word, with times of minutes.
func TestLastWordHoldsTenProofsOfFilecoin(t *testing.T) {
	w := &Worker{
		Order:       &order.Order{Partitions: 10, PartitionsPerPod: 10, Circuit: order.Circuit{Type: string(v1alpha1.CircuitFilecoinPoRep)}},
		Termination: filepath.Join(t.TempDir(), "termination-log"),
	}
	ms := ptr.To[int64](1_234_567)
	outcomes := map[int]*outcome{}
	for i := range 10 {
		outcomes[i] = &outcome{report: &v1alpha1.PartitionReport{
			InputDigest: "sha256:" + strings.Repeat("a", 64), Backend: v1alpha1.BackendCUDA,
			Proof: base64.StdEncoding.EncodeToString(append(make([]byte, 191), byte(i))),
			Timings: &v1alpha1.Timings{
				QueueMilliseconds: ms, SRSMilliseconds: ms, SynthMilliseconds: ms, GPUMilliseconds: ms, VerifyMilliseconds: ms, TotalMilliseconds: ms,
			},
		}}
	}
	complete, err := w.lastWord(outcomes, nil)
	if err != nil || !complete {
		t.Fatalf("complete: %t, %v", complete, err)
	}
	data, err := os.ReadFile(w.Termination)
	if err != nil {
		t.Fatal(err)
	}
	last, err := order.ParseTermination(data)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range last.Partitions {
		if p.Proof != outcomes[i].report.Proof {
			t.Errorf("the proof of partition %d is %q", i, p.Proof)
		}
	}
	if len(last.Partitions) != 10 || last.Partitions[0].InputDigest == "" || len(data) > order.TerminationMaxBytes {
		t.Errorf("%d bytes: %s", len(data), data)
	}
}
