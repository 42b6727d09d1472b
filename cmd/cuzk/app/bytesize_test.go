package app

import "testing"

func TestByteSize(t *testing.T) {
	for in, want := range map[string]int64{
		"1": 1, "512MiB": 512 << 20, "8GiB": 8 << 30, "8Gi": 8 << 30, "1.5GiB": 3 << 29, "2 GB": 2e9, "3k": 3000, "7B": 7,
		"": -1, "GiB": -1, "-1": -1, "0": -1, "nan": -1, "1e30": -1, "8XiB": -1,
	} {
		var b byteSize
		err := b.Set(in)
		if want < 0 && err == nil || want >= 0 && (err != nil || int64(b) != want) {
			t.Errorf("%q: %d, %v", in, int64(b), err)
		}
	}
	for n, want := range map[int64]string{5: "5 B", 1 << 10: "1.00 KiB", 3 << 29: "1.50 GiB", 47_400_000_000: "44.1 GiB", 1 << 50: "1024 TiB"} {
		if got := formatBytes(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
