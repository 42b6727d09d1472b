//go:build linux && (amd64 || arm64) && !nocuda

package libcuzk

import (
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/cuzk-dev/cuzk/prover/groth16"
)

// reading is a key that is being loaded and reads its points. The library knows it by number.
type reading struct {
	number uintptr
	key    *KeyData
	err    error
}

var readings struct {
	mu   sync.Mutex
	last uintptr
	all  map[uintptr]*reading
}

func startReading(k *KeyData) *reading {
	readings.mu.Lock()
	defer readings.mu.Unlock()
	if readings.all == nil {
		readings.all = map[uintptr]*reading{}
	}
	readings.last++
	r := &reading{number: readings.last, key: k}
	readings.all[r.number] = r
	return r
}

func (r *reading) stop() {
	readings.mu.Lock()
	defer readings.mu.Unlock()
	delete(readings.all, r.number)
}

// readCallback is readPoints for the library; callbacks cannot be given back, so there is one.
var readCallback = sync.OnceValue(func() uintptr { return purego.NewCallback(readPoints) })

// readPoints is a cuzk_read_points.
func readPoints(number uintptr, section uint32, first, count uint64, into unsafe.Pointer) int32 {
	readings.mu.Lock()
	r := readings.all[number]
	readings.mu.Unlock()
	bytes := int(count) * r.key.PointBytes(int(section))
	if r.err = r.key.Read(groth16.Section(section), int(first), unsafe.Slice((*byte)(into), bytes)); r.err != nil {
		return 1
	}
	return 0
}
