package structure

import (
	"bytes"
	"crypto/sha256"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func written(t testing.TB, s *Structure) (data []byte, digest [DigestBytes]byte) {
	t.Helper()
	digest, err := s.Digest(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := s.WriteTo(&out, digest); err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), digest
}

func TestParseReadsWhatWasWritten(t *testing.T) {
	want := (&program{7, 40}).record(true)
	data, digest := written(t, want)
	got, err := Parse(data, digest)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if again, err := got.Digest(t.Context(), nil); err != nil || again != digest {
		t.Errorf("digest %x (%v), want %x", again, err, digest)
	}
	digest[0]++
	if _, err := Parse(data, digest); err == nil {
		t.Error("the file of another structure was accepted")
	}
}

// The checksum keeps accidents away; lengths that do not fit must be found all the same.
func FuzzParse(f *testing.F) {
	data, digest := written(f, (&program{7, 3}).record(true))
	f.Add(data[headerBytes:])
	for _, at := range []int{3, 4} { // numbers of templates and of sections, which would be negative
		counts := make([]byte, 5*8)
		counts[at*8+7] = 0x80
		f.Add(counts)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		sum := sha256.Sum256(body)
		file := append(append(append([]byte(fileMagic), digest[:]...), sum[:]...), body...)
		if s, err := Parse(file, digest); err == nil && s.Bytes() > 2*int64(len(file))+1<<12 {
			t.Errorf("%d bytes from a file of %d", s.Bytes(), len(file))
		}
	})
}
