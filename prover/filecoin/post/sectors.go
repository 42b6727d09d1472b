package post

import (
	"encoding/json"

	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
)

// sectorEntry is a sector as users list it: a number and comm_r, or lotus's SectorInfo.
type sectorEntry struct {
	Number    *uint64 `json:"sector_number"`
	CommR     string  `json:"comm_r"`
	LotusID   *uint64 `json:"SectorNumber"`
	SealedCID struct {
		CID string `json:"/"`
	} `json:"SealedCID"`
}

// ParseSectors reads a JSON list of sectors: {"sector_number": 1, "comm_r": "hex digits or a CID"}, or lotus's SectorInfo
// with SectorNumber and SealedCID. Errors are of class Input and name the entry.
func ParseSectors(name string, data []byte) ([]Sector, error) {
	var entries []sectorEntry
	if err := json.Unmarshal(data, &entries); err != nil {
		return nil, failure.New(failure.Input, "is no list of sectors: %w", err).In(name).
			WithFix(`write [{"sector_number": 1, "comm_r": "…"}]`)
	}
	sectors := make([]Sector, len(entries))
	for i, e := range entries {
		number, commR := e.Number, e.CommR
		if number == nil {
			number = e.LotusID
		}
		if commR == "" {
			commR = e.SealedCID.CID
		}
		if number == nil {
			return nil, failure.New(failure.Input, "entry %d has no sector_number", i).In(name)
		}
		node, err := filecoin.Sealed.Parse(commR)
		if err != nil {
			return nil, failure.New(failure.Input, "comm_r of sector %d: %w", *number, err).In(name)
		}
		sectors[i] = Sector{ID: *number, CommR: node}
	}
	return sectors, nil
}

// FormatSectors writes a list that ParseSectors reads.
func FormatSectors(sectors []Sector) ([]byte, error) {
	type entry struct {
		Number uint64 `json:"sector_number"`
		CommR  string `json:"comm_r"`
	}
	entries := make([]entry, len(sectors))
	for i, s := range sectors {
		entries[i] = entry{s.ID, s.CommR.String()}
	}
	out, err := json.MarshalIndent(entries, "", "  ")
	return append(out, '\n'), err
}
