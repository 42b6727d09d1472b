// Package text makes the texts of conditions out of what errors, pods and the API server say.
package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limit is the longest sentence: a condition's message takes 1,024 bytes, and something is said around it.
const Limit = 900

// Sentence makes a message of a text: printable, on one line, with a capital and a full stop.
func Sentence(s string) string {
	s = strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case r == utf8.RuneError, !unicode.IsPrint(r):
			return -1
		}
		return r
	}, s))
	if s == "" {
		return s
	}
	first, size := utf8.DecodeRuneInString(s)
	s = Cut(string(unicode.ToUpper(first))+s[size:], Limit)
	if !strings.ContainsAny(s[len(s)-1:], ".!?") && !strings.HasSuffix(s, ellipsis) {
		s += "."
	}
	return s
}

const ellipsis = "…"

// Cut shortens s to at most n bytes, between characters, and shows that it did.
func Cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	if n < len(ellipsis) {
		return ""
	}
	n -= len(ellipsis)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + ellipsis
}
