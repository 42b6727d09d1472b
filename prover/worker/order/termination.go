package order

import (
	"encoding/json"
	"fmt"
)

// TerminationPath is the container's termination message file.
const TerminationPath = "/dev/termination-log"

// TerminationMaxBytes keeps the message below the kubelet's 4,096 bytes a container.
const TerminationMaxBytes = 3584

// Termination is the pod's last word, the fallback when its report could not be applied.
type Termination struct {
	Version    int                    `json:"v"`
	Partitions []TerminationPartition `json:"partitions,omitempty"`
	// Class and Message tell why the pod ends without all its proofs.
	Class   string `json:"class,omitempty"`
	Message string `json:"message,omitempty"`
	// Truncated says that proofs or messages were left out to stay within the limit.
	Truncated bool `json:"truncated,omitempty"`
}

// TerminationPartition is what became of one partition.
type TerminationPartition struct {
	Index       int    `json:"i"`
	InputDigest string `json:"in,omitempty"`
	// Proof is as in the report; ProofDigest (sha256 of it) stands in its place when it did not fit.
	Proof        string   `json:"proof,omitempty"`
	ProofDigest  string   `json:"proofDigest,omitempty"`
	PublicInputs []string `json:"public,omitempty"`
	// Stage times in milliseconds: queue, srs, synth, gpu, verify, total.
	Milliseconds []int64 `json:"ms,omitempty"`
	Backend      string  `json:"backend,omitempty"`
	Class        string  `json:"class,omitempty"`
	Message      string  `json:"message,omitempty"`
}

// Marshal writes the message within TerminationMaxBytes: first public inputs, then proofs (replaced by their digests),
// then the partitions' messages make room, in this order, from the last partition on.
func (t Termination) Marshal(digest func(proof string) string) []byte {
	t.Version = Version
	parts := append([]TerminationPartition(nil), t.Partitions...)
	t.Partitions = parts
	shrink := []func(*TerminationPartition) bool{
		func(p *TerminationPartition) bool { had := p.PublicInputs != nil; p.PublicInputs = nil; return had },
		func(p *TerminationPartition) bool {
			had := p.Proof != ""
			if had {
				p.Proof, p.ProofDigest = "", digest(p.Proof)
			}
			return had
		},
		func(p *TerminationPartition) bool {
			had := len(p.Message) > 80
			p.Message = cut(p.Message, 80)
			return had
		},
		func(p *TerminationPartition) bool { had := p.Milliseconds != nil; p.Milliseconds = nil; return had },
	}
	for _, s := range shrink {
		for i := len(parts) - 1; i >= 0; i-- {
			if data, ok := t.fits(); ok {
				return data
			}
			t.Truncated = s(&parts[i]) || t.Truncated
		}
	}
	for {
		if data, ok := t.fits(); ok {
			return data
		}
		t.Truncated = true
		if len(t.Partitions) > 0 {
			t.Partitions = t.Partitions[:len(t.Partitions)-1]
		} else {
			t.Message = cut(t.Message, len(t.Message)/2)
		}
	}
}

func (t *Termination) fits() ([]byte, bool) {
	data, err := json.Marshal(t)
	if err != nil { // strings and integers only: cannot fail
		panic(err)
	}
	return data, len(data) <= TerminationMaxBytes
}

// cut shortens s to at most n bytes on a rune boundary.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n]
}

// ParseTermination reads a termination message.
func ParseTermination(data []byte) (*Termination, error) {
	var t Termination
	if err := json.Unmarshal(data, &t); err != nil {
		return nil, fmt.Errorf("termination message: %w", err)
	}
	if t.Version != Version {
		return nil, fmt.Errorf("termination message has version %d, not %d", t.Version, Version)
	}
	return &t, nil
}
