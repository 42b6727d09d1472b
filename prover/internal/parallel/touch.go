package parallel

import (
	"context"
	"sync/atomic"
)

// Touch reads a byte of each page of memory that may be a mapped file. Code that cannot be guarded, such as a library's,
// would end the process on a fault, of storage that fails or a file that was cut; here it is an error. Pages that are not
// in memory yet are fetched on all cores.
func Touch(ctx context.Context, data []byte) error {
	const page = 4096
	return Ranges(ctx, len(data), 256*page, func(start, end int) error {
		sum := data[end-1]
		for i := start; i < end; i += page {
			sum += data[i]
		}
		touched.Store(uint32(sum))
		return nil
	})
}

// touched keeps the compiler from leaving out reads that nothing else needs.
var touched atomic.Uint32
