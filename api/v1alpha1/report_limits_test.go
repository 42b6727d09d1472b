// Copyright The cuzk Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"
)

const proofJobCRD = "../../config/crd/bases/proving.cuzk.dev_proofjobs.yaml"

// TestLimitsAreTheSchemas finds the numbers of report_limits.go in the schema's rules.
func TestLimitsAreTheSchemas(t *testing.T) {
	raw, err := os.ReadFile(proofJobCRD)
	if err != nil {
		t.Fatal(err)
	}
	schema := strings.Join(strings.Fields(string(raw)), " ")
	most, roomy := 0, 0
	for n := 1; n <= MaxPartitions; n++ {
		if ReportPayloadBudget(n) == reportPayloadMax {
			most = n
		}
		if WithdrawnDevicesBudget(n) == reportDevicesMax {
			roomy = n
		}
	}
	for _, rule := range []string{
		fmt.Sprintf("(size(self) <= %d ? %d : %d / size(self) - %d)", most, reportPayloadMax, reportPayloadShare, reportPayloadBase),
		fmt.Sprintf("size(self) <= %d || !self.exists(p, has(p.report) && has(p.report.timings)", MaxDetailedPartitions),
		fmt.Sprintf("size(p.report.runs) * size(self) > %d)", MaxRunEntries),
		fmt.Sprintf("size(v) + 3).sum() > %d)", MaxReportedPublicInputBytes),
		fmt.Sprintf("size(p.message) : 0).sum() <= %d", MaxPartitionMessageBytes),
		fmt.Sprintf("size(c.message) > %d)", MaxMessageLength),
		fmt.Sprintf("size(d.uuid) + %d + (has(d.name) ? size(d.name) + %d : 0) + (has(d.reason) ? size(d.reason) + %d : 0)",
			deviceUUIDBytes, deviceNameBytes, deviceReasonBytes),
		fmt.Sprintf("(size(self) <= %d ? %d : %d / size(self) - %d)", roomy, reportDevicesMax, reportDevicesShare, reportDevicesBase),
		fmt.Sprintf("size(self) <= %d || !self.exists(p, has(p.report) && has(p.report.runs) && (has(p.report.withdrawnDevices) || has(p.report.refusals)))", MaxDetailedPartitions),
	} {
		if !strings.Contains(schema, rule) {
			t.Errorf("no rule of the schema holds %q", rule)
		}
	}
	if got, want := fmt.Sprint(MaxPartitions), regexp.MustCompile(`x-kubernetes-list-map-keys: - index x-kubernetes-list-type: map`); !want.MatchString(schema) || !strings.Contains(schema, "maxItems: "+got) {
		t.Errorf("partitions are not bounded by %s", got)
	}
}

func TestReportPayloadBudget(t *testing.T) {
	// A proof.json of snarkjs for BLS12-381 takes at most 1,034 bytes: 8 coordinates of 115 digits and 114 bytes between.
	// Beside it there is room for the digest of the public inputs in a job of any size, and for 4 KiB of values in small ones.
	const proof, digest = 8*115 + 114, len("sha256:") + 64
	for n := 1; n <= MaxPartitions; n++ {
		if got := ReportPayloadBudget(n); got < proof+digest {
			t.Errorf("%d partitions: budget of %d bytes, less than a proof and a digest, %d", n, got, proof+digest)
		}
	}
	if got := ReportPayloadBudget(80); got < proof+MaxReportedPublicInputBytes {
		t.Errorf("80 partitions: budget of %d bytes, less than a proof and 4 KiB of public inputs", got)
	}
}

func TestPublicInputsFit(t *testing.T) {
	value := strings.Repeat("7", 77) // counts 80 bytes
	values := func(n int) []string {
		all := make([]string, n)
		for i := range all {
			all[i] = value
		}
		return all
	}
	proof := strings.Repeat("p", 1034)
	for _, c := range []struct {
		values     int
		partitions int
		want       bool
	}{
		{51, 1, true}, {52, 1, false}, // 4,080 and 4,160 of 4,096 bytes
		{51, 80, true}, {52, 80, false},
		{0, 256, true}, {1, 256, false}, // 1,034 + 80 of 1,105 bytes
		{24, 128, true}, {25, 128, false}, // 1,034 + 24·80 = 2,954 of 2,972 bytes
	} {
		if got := PublicInputsFit(values(c.values), proof, c.partitions); got != c.want {
			t.Errorf("%d values in a job of %d partitions: got %v", c.values, c.partitions, got)
		}
	}
}

func TestPublicInputsDigest(t *testing.T) {
	// printf '1\n2\n' | sha256sum
	const want = "sha256:a6e2b7a040683432de03a18fd8a1939a2fdf82585b364bfc874bdd4095c4cae1"
	if got := PublicInputsDigest([]string{"1", "2"}); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if PublicInputsDigest([]string{"12"}) == PublicInputsDigest([]string{"1", "2"}) {
		t.Error("values are not told apart")
	}
}

func TestReportMessage(t *testing.T) {
	raw, err := os.ReadFile(proofJobCRD)
	if err != nil {
		t.Fatal(err)
	}
	// The pattern of report.error.message, as the API server has it.
	found := regexp.MustCompile(`pattern: (\^\[ !#-%.*)\n`).FindStringSubmatch(string(raw))
	if found == nil {
		t.Fatal("the schema has no pattern for messages")
	}
	pattern := regexp.MustCompile(found[1])
	for _, c := range []struct {
		text  string
		limit int
		want  string
	}{
		{"witness.wtns: section 2 at offset 12: too short", 100, "witness.wtns: section 2 at offset 12: too short"},
		{"say \"no\" <b>&\\ \x1b[31mred\n", 100, "say 'no' (b)+/ ?[31mred"},
		{"größer als p…", 100, "gr??er als p..."},
		{strings.Repeat("a", 30), 10, "aaaaaaa..."},
		{strings.Repeat("a", 3000), 5000, strings.Repeat("a", 1021) + "..."},
		{"abc", 2, "ab"},
	} {
		got := ReportMessage(c.text, c.limit)
		if got != c.want {
			t.Errorf("ReportMessage(%q, %d) = %q, want %q", c.text, c.limit, got, c.want)
		}
		if !pattern.MatchString(got) {
			t.Errorf("%q does not match the schema's pattern %s", got, pattern)
		}
	}
}

func TestBoundWithdrawnDevices(t *testing.T) {
	const uuid, other = "GPU-0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0", "GPU-00112233-4455-6677-8899-aabbccddeeff"
	full := []WithdrawnDevice{
		{UUID: uuid, Name: "NVIDIA H200", Reason: "it computed a wrong proof: another computation of the same proof verifies"},
		{UUID: other, Name: "NVIDIA H200", Reason: "the GPU failed: \"unspecified launch failure\""},
	}
	clean := []WithdrawnDevice{full[0], {UUID: other, Name: "NVIDIA H200", Reason: "the GPU failed: 'unspecified launch failure'"}}
	for _, c := range []struct {
		partitions int
		want       []WithdrawnDevice
	}{
		{1, clean},
		{32, clean},
		{64, []WithdrawnDevice{ // 271 bytes: 104 of them for two UUIDs, 85 and 56 for the reasons, 26 are left for names
			{UUID: uuid, Reason: full[0].Reason, Name: "NVIDIA H200"},
			{UUID: other, Reason: clean[1].Reason},
		}},
		{256, []WithdrawnDevice{{UUID: uuid}}},
	} {
		if diff := cmp.Diff(c.want, BoundWithdrawnDevices(full, c.partitions)); diff != "" {
			t.Errorf("%d partitions (-want +got):\n%s", c.partitions, diff)
		}
	}
	many := make([]WithdrawnDevice, 40)
	for i := range many {
		many[i] = WithdrawnDevice{UUID: fmt.Sprintf("GPU-%d", i)}
	}
	if got := BoundWithdrawnDevices(many, 1); len(got) != MaxWithdrawnDevices {
		t.Errorf("%d devices of 40", len(got))
	}
	if got := BoundWithdrawnDevices([]WithdrawnDevice{{Name: "without a UUID"}, {UUID: strings.Repeat("u", 65)}}, 1); got != nil {
		t.Errorf("devices that the schema refuses: %+v", got)
	}
}

func TestBoundedTimings(t *testing.T) {
	one := ptr.To[int64](1)
	all := RunTimings{Type: RunCold, Timings: Timings{SynthMilliseconds: one, TotalMilliseconds: one, PrepMSMMilliseconds: one}}
	if got := all.Bounded(MaxDetailedPartitions); got != all {
		t.Errorf("a small job's times were cut: %+v", got)
	}
	if got, want := all.Bounded(MaxDetailedPartitions+1), (RunTimings{Type: RunCold, Timings: Timings{TotalMilliseconds: one}}); got != want {
		t.Errorf("a large job's run: got %+v, want %+v", got, want)
	}
	if got, want := all.Timings.Bounded(MaxDetailedPartitions+1), (Timings{SynthMilliseconds: one, TotalMilliseconds: one}); got != want {
		t.Errorf("a large job's times: got %+v, want %+v", got, want)
	}
	if MaxRuns(1) != 50 || MaxRuns(256) != 2 {
		t.Errorf("runs of 1 and 256 partitions: %d and %d", MaxRuns(1), MaxRuns(256))
	}
}
