package filparams

import (
	"encoding/json"
	"io"
	"os"

	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
)

// Meta is the note that lies beside a parameter file.
type Meta struct {
	SectorSize filecoin.SectorSize `json:"sector_size"`
}

// maxMetaBytes is far above what a note has.
const maxMetaBytes = 4096

// OpenMeta reads a .meta file.
func OpenMeta(path string) (Meta, error) {
	f, err := os.Open(path)
	if err != nil {
		return Meta{}, failure.New(failure.Usage, "cannot be opened: %w", err).In(path)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxMetaBytes))
	if err != nil {
		return Meta{}, failure.New(failure.IO, "read: %w", err).In(path)
	}
	return ParseMeta(path, data)
}

// ParseMeta reads the bytes of a .meta file; name is for messages.
func ParseMeta(name string, data []byte) (Meta, error) {
	var m Meta
	if err := json.Unmarshal(data, &m); err != nil {
		return Meta{}, failure.New(failure.Key, "is no note of a parameter file: %w", err).In(name)
	}
	if !m.SectorSize.Known() {
		return Meta{}, failure.New(failure.Key, "%d is no sector size", uint64(m.SectorSize)).In(name).At("sector_size", -1)
	}
	return m, nil
}
