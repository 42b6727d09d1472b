package worker

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/worker/order"
)

const windowName = "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-0170db1f394b35d995252228ee359194b13199d259380541dc529fb0099096b0"

func inspectionOf(curve, digest string) *order.InspectionOrder {
	return &order.InspectionOrder{Key: order.Key{Format: "Filecoin", Curve: curve, ProvingKey: order.File{Digest: digest}}}
}

func TestFactsOfAFilecoinKey(t *testing.T) {
	params, vk := windowKey()
	sum := sha256.Sum256(params)
	// Sizes as the reference has them for the window PoSt of 2 KiB: 23 inputs with the one, 22128 others, a domain of 2^15.
	want := &KeyFacts{
		Curve: "BLS12-381", PublicInputs: 22, Wires: 23 + 22128, DomainSize: 1 << 15, Parameters: windowName,
		ProvingKeyDigest: "sha256:" + hex.EncodeToString(sum[:]), ProvingKeyBytes: 11501496, VerifyingKey: vk,
	}
	for _, files := range []KeyFiles{
		{ProvingKey: openKey(t, windowName+".params", params)},
		{ProvingKey: openKey(t, "provingKey", params), VerifyingKey: openKey(t, "vk", vk)},
	} {
		read := int64(0)
		got, err := KeyReaders{}.InspectKey(t.Context(), files, inspectionOf("BLS12-381", ""), func(done, _ int64) { read = done })
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if read != want.ProvingKeyBytes {
			t.Errorf("progress ended at %d bytes", read)
		}
	}
	// A file that was checked against its digest is not read again.
	pinned := "sha256:" + strings.Repeat("a", 64)
	got, err := KeyReaders{}.InspectKey(t.Context(), KeyFiles{ProvingKey: openKey(t, "p", params)}, inspectionOf("BLS12-381", pinned), nil)
	if err != nil || got.ProvingKeyDigest != pinned {
		t.Errorf("with a pinned digest: %+v, %v", got, err)
	}
}

func TestFilecoinKeysAreRefused(t *testing.T) {
	params, vk := windowKey()
	otherVK := bytes.Clone(vk)
	copy(otherVK, vk[96:192]) // alpha is beta
	for want, c := range map[string]struct {
		curve string
		files KeyFiles
	}{
		"spec.curve is BN254":     {"BN254", KeyFiles{ProvingKey: openKey(t, "p", params)}},
		"the file ends too early": {"BLS12-381", KeyFiles{ProvingKey: openKey(t, "p", params[:len(params)-1])}},
		"section ic at offset":    {"BLS12-381", KeyFiles{ProvingKey: openKey(t, strings.Replace(windowName, "0170db1f394b35d995252228ee359194b13199d259380541dc529fb0099096b0", "3ea05428c9d11689f23529cde32fd30aabd50f7d2c93657c1d3650bca3e8ea9e", 1)+".params", params)}},
		"not the verifying key":   {"BLS12-381", KeyFiles{ProvingKey: openKey(t, "p", params), VerifyingKey: openKey(t, "vk", otherVK)}},
		"vk: ":                    {"BLS12-381", KeyFiles{ProvingKey: openKey(t, "p", params), VerifyingKey: openKey(t, "vk", vk[1:])}},
	} {
		_, err := KeyReaders{}.InspectKey(t.Context(), c.files, inspectionOf(c.curve, ""), func(int64, int64) {})
		if failure.ClassOf(err) != failure.Key || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
