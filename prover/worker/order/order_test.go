package order

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/cuzk-dev/cuzk/api/v1alpha1"
)

func sample(inputs int, path string) Order {
	o := Order{
		Version: Version, Namespace: "ns", Job: "job", JobUID: "uid",
		Circuit: Circuit{Type: "Circom"}, Key: Key{Name: "k", Format: "Snarkjs", Curve: "BN254", ProvingKey: File{Root: KeyDir, Path: "provingKey"}},
		Partitions: inputs, PartitionsPerPod: 3, Runs: 1, ProgressSeconds: 10,
	}
	for i := range inputs {
		o.Inputs = append(o.Inputs, Input{Name: fmt.Sprint("in-", i), File: File{
			Root: InputClaimsDir + "/0", Path: path, Digest: "sha256:" + strings.Repeat("0", 64),
		}})
	}
	return o
}

func TestOrderRoundTrip(t *testing.T) {
	want := sample(7, "a/b.wtns")
	data, err := want.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&want, got); diff != "" {
		t.Error(diff)
	}
	var owned []string
	for i := range 3 {
		lo, hi := got.Owned(i)
		owned = append(owned, fmt.Sprintf("%d-%d", lo, hi))
	}
	if diff := cmp.Diff([]string{"0-3", "3-6", "6-7"}, owned); diff != "" {
		t.Error(diff)
	}
}

func TestOrderShortensLongInputs(t *testing.T) {
	long := sample(256, strings.Repeat("p", 1000))
	data, err := long.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if len(data) > MaxBytes {
		t.Errorf("order takes %d bytes", len(data))
	}
	got, err := Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	if !got.InputsFromJob {
		t.Error("the order does not say that its inputs are shortened")
	}
	want := Input{File: File{Root: InputClaimsDir + "/0"}}
	if diff := cmp.Diff(want, got.Inputs[255]); diff != "" {
		t.Error(diff)
	}
}

// filecoin is the order for a window PoSt of so many sectors, which have one input.
func filecoin(sectors int) Order {
	o := sample(1, "vanilla")
	circuit := &v1alpha1.Circuit{Type: v1alpha1.CircuitFilecoinWindowPoSt, FilecoinWindowPoSt: &v1alpha1.FilecoinWindowPoStCircuit{}}
	for i := range sectors {
		circuit.FilecoinWindowPoSt.Sectors = append(circuit.FilecoinWindowPoSt.Sectors, v1alpha1.FilecoinSector{
			SectorNumber: ptr.To(int64(i)), CommR: v1alpha1.SealedCommitment(strings.Repeat("0", 64)),
		})
	}
	o.Partitions = 3
	o.Circuit = Circuit{Type: string(circuit.Type), Filecoin: circuit}
	return o
}

func TestOrderLeavesLongStatementToJob(t *testing.T) {
	for sectors, short := range map[int]bool{5: true, 2349: false} {
		want := filecoin(sectors)
		spec := &v1alpha1.ProofJobSpec{Circuit: *want.Circuit.Filecoin}
		data, err := want.Marshal()
		if err != nil || len(data) > MaxBytes {
			t.Fatalf("%d bytes, %v", len(data), err)
		}
		got, err := Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&spec.Circuit, got.Statement(spec)); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(want.Inputs, got.Inputs); diff != "" || got.InputsFromJob || got.CircuitFromJob == short {
			t.Errorf("%d sectors: statement from the job %t, inputs from the job %t %s", sectors, got.CircuitFromJob, got.InputsFromJob, diff)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*Order)
		want   string
	}{
		"another version": {func(o *Order) { o.Version = 2 }, "understands 1"},
		"no partitions":   {func(o *Order) { o.Partitions = 0 }, "no partitions"},
		"too few inputs":  {func(o *Order) { o.Inputs = o.Inputs[:1] }, "1 inputs for 2 partitions"},
		"too many inputs": {func(o *Order) { *o = filecoin(1); o.Inputs = append(o.Inputs, o.Inputs[0]) }, "2 inputs for 3 partitions, want 1"},
		"no statement":    {func(o *Order) { *o = filecoin(1); o.Circuit.Filecoin = nil }, "no statement"},
	} {
		t.Run(name, func(t *testing.T) {
			o := sample(2, "x")
			tc.change(&o)
			data, err := json.Marshal(o)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Parse(data); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got error %v, want one with %q", err, tc.want)
			}
		})
	}
}

func TestTerminationStaysWithinItsBound(t *testing.T) {
	digest := func(string) string { return "sha256:" + strings.Repeat("d", 64) }
	part := func(i, proof, public int) TerminationPartition {
		p := TerminationPartition{Index: i, InputDigest: "sha256:" + strings.Repeat("a", 64), Proof: strings.Repeat("p", proof), Milliseconds: []int64{1, 2, 3, 4, 5, 15}}
		for range public {
			p.PublicInputs = append(p.PublicInputs, strings.Repeat("7", 77))
		}
		return p
	}
	for name, tc := range map[string]struct {
		parts []TerminationPartition
		check func(t *testing.T, got Termination)
	}{
		"one proof is whole": {[]TerminationPartition{part(0, 1100, 10)}, func(t *testing.T, got Termination) {
			if got.Truncated || len(got.Partitions[0].Proof) != 1100 || len(got.Partitions[0].PublicInputs) != 10 {
				t.Errorf("shortened without need: %+v", got)
			}
		}},
		"public inputs go first": {[]TerminationPartition{part(0, 1100, 40)}, func(t *testing.T, got Termination) {
			if !got.Truncated || len(got.Partitions[0].Proof) != 1100 || got.Partitions[0].PublicInputs != nil {
				t.Errorf("want the proof and no public inputs: %+v", got)
			}
		}},
		"then proofs become digests, from the last": {[]TerminationPartition{part(0, 1100, 0), part(1, 1100, 0), part(2, 1100, 0), part(3, 1100, 0)}, func(t *testing.T, got Termination) {
			if got.Partitions[0].Proof == "" || got.Partitions[3].Proof != "" || got.Partitions[3].ProofDigest != digest("") {
				t.Errorf("want the first proof whole and the last as digest: %+v", got)
			}
		}},
		"a great many partitions": {func() (ps []TerminationPartition) {
			for i := range 256 {
				ps = append(ps, part(i, 1100, 3))
			}
			return
		}(), func(t *testing.T, got Termination) {
			if !got.Truncated || len(got.Partitions) == 0 {
				t.Errorf("want some partitions left: %+v", got)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			data := Termination{Partitions: tc.parts}.Marshal(digest)
			if len(data) > TerminationMaxBytes {
				t.Fatalf("message takes %d bytes", len(data))
			}
			var got Termination
			if err := json.Unmarshal(data, &got); err != nil {
				t.Fatal(err)
			}
			tc.check(t, got)
		})
	}
}
