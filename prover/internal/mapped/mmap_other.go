//go:build !unix

package mapped

import (
	"errors"
	"os"
)

// Without mmap the file is read into memory.
func mapFile(*os.File, int) ([]byte, func() error, error) { return nil, nil, errors.ErrUnsupported }
