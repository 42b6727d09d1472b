package filecoin_test

import (
	"encoding/csv"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/internal/fixture"
)

// Digests of the identifiers in the names of the published files, and the files' sizes.
var publishedNames = []struct {
	circuit filecoin.Circuit
	sector  filecoin.SectorSize
	digest  string
	bytes   int64
}{
	{filecoin.PoRep, filecoin.Sector2KiB, "032d3138d22506ec0082ed72b2dcba18df18477904e35bafee82b3793b06832f", 1114707768},
	{filecoin.PoRep, filecoin.Sector8MiB, "ecd683648512ab1765faa2a5f14bab48f676e633467f0aa8aad4b55dcb0652bb", 1429027896},
	{filecoin.PoRep, filecoin.Sector512MiB, "6babf46ce344ae495d558e7770a585b2382d54f225af8ed0397b8be7c3fcd472", 1988841144},
	{filecoin.PoRep, filecoin.Sector32GiB, "82a357d2f2ca81dc61bb45f4a762807aedee1b0a53fd6c4e77b46a01bfef7820", 47373928632},
	{filecoin.PoRep, filecoin.Sector64GiB, "96f1b4a04c5c51e4759bbf224bbc2ef5a42c7100f16ec0637123f16a845ddfb2", 47624967288},
	{filecoin.WindowPoSt, filecoin.Sector2KiB, "0170db1f394b35d995252228ee359194b13199d259380541dc529fb0099096b0", 11501496},
	{filecoin.WindowPoSt, filecoin.Sector8MiB, "5294475db5237a2e83c3e52fd6c2b03859a1831d45ed08c4f35dbf9a803165a9", 30859704},
	{filecoin.WindowPoSt, filecoin.Sector512MiB, "0cfb4f178bbb71cf2ecfcd42accce558b27199ab4fb59cb78f2483fe21ef36d9", 45257400},
	{filecoin.WindowPoSt, filecoin.Sector32GiB, "0377ded656c6f524f1618760bffe4e0a1c51d5a70c4509eedae8a27555733edc", 60780374232},
	{filecoin.WindowPoSt, filecoin.Sector64GiB, "2627e4006b67f99cef990c0a47d5426cb7ab0a0ad58fc1061547bf2d28b09def", 62556733560},
	{filecoin.WinningPoSt, filecoin.Sector2KiB, "3ea05428c9d11689f23529cde32fd30aabd50f7d2c93657c1d3650bca3e8ea9e", 47299128},
	{filecoin.WinningPoSt, filecoin.Sector8MiB, "50c7368dea9593ed0989e70974d28024efa9d156d585b7eea1be22b2e753f331", 113383224},
	{filecoin.WinningPoSt, filecoin.Sector512MiB, "7d739b8cf60f1b0709eeebee7730e297683552e4b69cab6984ec0285663c5781", 165299640},
	{filecoin.WinningPoSt, filecoin.Sector32GiB, "559e581f022bb4e4ec6e719e563bf0e026ad6de42e56c18714a2c692b1b88d7e", 192050232},
	{filecoin.WinningPoSt, filecoin.Sector64GiB, "b62098629d07946e9028127e70295ed996fe3ed25b0f9f88eb610a0ab4385a3c", 200014584},
	{filecoin.SnapDeals, filecoin.Sector2KiB, "fb9e095bebdd77511c0269b967b4d87ba8b8a525edaa0e165de23ba454510194", 655789464},
	{filecoin.SnapDeals, filecoin.Sector8MiB, "92180959e1918d26350b8e6cfe217bbdd0a2d8de51ebec269078b364b715ad63", 4268165208},
	{filecoin.SnapDeals, filecoin.Sector512MiB, "61fa69f38b9cc771ba27b670124714b4ea77fbeae05e377fb859c4a43b73a30c", 21741422712},
	{filecoin.SnapDeals, filecoin.Sector32GiB, "3b7f44a9362e3985369454947bc94022e118211e49fd672d52bec1cbfd599d18", 34453501368},
	{filecoin.SnapDeals, filecoin.Sector64GiB, "102e1444a7e9a97ebf1e3d6855dcc77e66c011ea66f936d9b2c508f87f2f83a7", 35507495352},
	{filecoin.SnapDealsPoseidon, filecoin.Sector32GiB, "3b7f44a9362e3985369454947bc94022e118211e49fd672d52bec1cbfd599d18", 11738331960},
	{filecoin.SnapDealsPoseidon, filecoin.Sector64GiB, "102e1444a7e9a97ebf1e3d6855dcc77e66c011ea66f936d9b2c508f87f2f83a7", 12234484536},
}

var publishedPrefixes = map[filecoin.Circuit]string{
	filecoin.PoRep:             "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-TREE-sha256_hasher-",
	filecoin.WindowPoSt:        "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-TREE-",
	filecoin.WinningPoSt:       "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-TREE-",
	filecoin.SnapDeals:         "v28-empty-sector-update-merkletree-poseidon_hasher-TREE-",
	filecoin.SnapDealsPoseidon: "v28-empty-sector-update-poseidon-merkletree-poseidon_hasher-TREE-",
}

func TestParameterNamesAreThePublishedOnes(t *testing.T) {
	trees := map[filecoin.SectorSize]string{filecoin.Sector32GiB: "8-8-0", filecoin.Sector64GiB: "8-8-2"}
	for _, want := range publishedNames {
		tree, ok := trees[want.sector]
		if !ok {
			tree = "8-0-0"
		}
		name := strings.Replace(publishedPrefixes[want.circuit], "TREE", tree, 1) + want.digest
		if got := want.circuit.Shape(want.sector).ParameterName(); got != name {
			t.Errorf("%s %s: %s, want %s", want.circuit, want.sector, got, name)
		}
		p, ok := want.circuit.Published(want.sector)
		if !ok || p.Lengths.ParamsBytes() != want.bytes {
			t.Errorf("%s %s: %d bytes, want %d", want.circuit, want.sector, p.Lengths.ParamsBytes(), want.bytes)
		}
	}
	if len(filecoin.PublishedParameters) != len(publishedNames) {
		t.Errorf("%d published parameters, want %d", len(filecoin.PublishedParameters), len(publishedNames))
	}
	if _, ok := filecoin.SnapDealsPoseidon.Published(filecoin.Sector2KiB); ok {
		t.Error("parameters of the Poseidon variant are published for 2 KiB")
	}
}

// The reference's own names and sizes, of shapes beyond the published ones too.
func TestParameterNamesOfTheReference(t *testing.T) {
	r := csv.NewReader(strings.NewReader(string(fixture.Read(t, "filecoin", "params", "PARAMS.tsv"))))
	r.Comma, r.Comment = '\t', '#'
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	shapes := map[string]filecoin.Shape{
		"porep_2KiB":         filecoin.PoRepShapeOf(filecoin.Sector2KiB),
		"window_2KiB":        filecoin.WindowPoStShape(filecoin.Sector2KiB),
		"winning_2KiB":       filecoin.WinningPoStShape(filecoin.Sector2KiB),
		"snap_2KiB":          filecoin.SnapShapeOf(filecoin.Sector2KiB, false),
		"snap_poseidon_2KiB": filecoin.SnapShapeOf(filecoin.Sector2KiB, true),
		"post_tiny":          filecoin.PoStShape{Sector: filecoin.Sector2KiB, Slots: 1, Challenges: 1},
	}
	circuits := map[string]filecoin.Circuit{"porep_2KiB": filecoin.PoRep, "window_2KiB": filecoin.WindowPoSt,
		"winning_2KiB": filecoin.WinningPoSt, "snap_2KiB": filecoin.SnapDeals}
	if len(rows) != len(shapes) {
		t.Fatalf("%d files, want %d", len(rows), len(shapes))
	}
	for _, row := range rows {
		name := row[0]
		if got := shapes[name].ParameterName() + ".params"; got != row[1] {
			t.Errorf("%s: %s, want %s", name, got, row[1])
		}
		circuit, ok := circuits[name]
		if !ok {
			continue
		}
		p, _ := circuit.Published(filecoin.Sector2KiB)
		got := []string{strconv.FormatInt(p.Lengths.ParamsBytes(), 10), strconv.FormatInt(p.Lengths.VKBytes(), 10)}
		if diff := cmp.Diff([]string{row[2], row[4]}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
