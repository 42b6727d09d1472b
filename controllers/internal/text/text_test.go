package text

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestSentence(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"  \n ", ""},
		{"no such file", "No such file."},
		{"Is it?", "Is it?"},
		{"two\nlines\tand a bell\a", "Two lines and a bell."},
		{"bad \xff byte", "Bad  byte."},
		{"élan", "Élan."},
	} {
		if got := Sentence(c.in); got != c.want {
			t.Errorf("Sentence(%q) = %q, want %q", c.in, got, c.want)
		}
	}
	if got := Sentence(strings.Repeat("é", 2000)); len(got) > Limit || !utf8.ValidString(got) {
		t.Errorf("a long sentence has %d bytes, valid: %v", len(got), utf8.ValidString(got))
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{
		{"short", 5, "short"},
		{"longer", 5, "lo…"},
		{"ééé", 5, "é…"}, // never half a character
		{"abc", 2, ""},
	} {
		if got := Cut(c.in, c.n); got != c.want {
			t.Errorf("Cut(%q, %d) = %q, want %q", c.in, c.n, got, c.want)
		}
	}
}
