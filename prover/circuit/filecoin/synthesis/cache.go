package synthesis

import (
	"context"
	"encoding/hex"
	"errors"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/structure"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
)

// Load returns the constraint system of a shape, from a folder where it has been kept under its digest, or else records it
// and keeps it there. A file that cannot be read, or is not what its name says, is replaced; where that cannot be done, the
// log is warned. Shapes of unknown digest, those of tests, and all where there is no folder, are recorded each time.
func Load(ctx context.Context, folder string, shape filecoin.Shape, log *slog.Logger) (*structure.Structure, error) {
	digest, known := Digest(shape)
	if folder == "" || !known {
		return Record(shape), ctx.Err()
	}
	name := filepath.Join(folder, hex.EncodeToString(digest[:])+".constraints")
	if data, err := os.ReadFile(name); err == nil {
		if s, err := structure.Parse(data, digest); err == nil {
			return s, nil
		}
	}
	s := Record(shape)
	if err := keep(name, s, digest); err != nil {
		log.Warn("The constraint system is not kept, and has to be recorded again next time", "file", name, "reason", err.Error())
	}
	return s, ctx.Err()
}

// keep writes a file that has its name only when it is complete.
func keep(name string, s *structure.Structure, digest [structure.DigestBytes]byte) (err error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	if err := errors.Join(s.WriteTo(f, digest), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}
