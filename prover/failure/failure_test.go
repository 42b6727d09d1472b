package failure

import (
	"errors"
	"fmt"
	"testing"
)

// The file is named once, and what was said around an error stays.
func TestInFile(t *testing.T) {
	bare := New(Input, "too short").At("header", 4).WithFix("fetch it again")
	cases := []struct {
		name string
		err  error
		want string
	}{
		{"bare", bare, "a.bin: header at offset 4: too short; fetch it again"},
		{"named already", bare.In("b.bin"), "b.bin: header at offset 4: too short; fetch it again"},
		{"with words around it", fmt.Errorf("partition 1: %w", bare), "a.bin: partition 1: header at offset 4: too short; fetch it again"},
		{"of no class", errors.New("no"), "no"},
	}
	for _, c := range cases {
		got := InFile(c.err, "a.bin")
		if got.Error() != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if ClassOf(got) != ClassOf(c.err) {
			t.Errorf("%s: class %v", c.name, ClassOf(got))
		}
	}
	if got := InFile(nil, "a.bin"); got != nil {
		t.Errorf("nil became %v", got)
	}
}
