package libcuzk

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCandidates(t *testing.T) {
	all := func(string) bool { return true }
	none := func(string) bool { return false }
	for _, test := range []struct {
		name, named, binary string
		exists              func(string) bool
		want                []candidate
	}{
		{"named by the user", "/opt/x.so", "/usr/bin/cuzk", all, []candidate{{"/opt/x.so", true}}},
		{"beside the binary", "", "/usr/local/bin/cuzk", all,
			[]candidate{{"/usr/local/bin/libcuzk.so", false}, {"/usr/local/lib/libcuzk.so", false}, {"libcuzk.so", false}}},
		{"nowhere", "", "/usr/local/bin/cuzk", none, []candidate{{"libcuzk.so", false}}},
		{"binary unknown", "", "", all, []candidate{{"libcuzk.so", false}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := candidates(test.named, test.binary, test.exists)
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(candidate{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}
