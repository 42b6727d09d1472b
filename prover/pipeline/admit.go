package pipeline

import (
	"math"

	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/memory"
)

// admit refuses a key with which no proof would fit into the memory that there is. It is asked as soon as the key's numbers
// are known, so that nobody waits minutes for a refusal, or for the system to end the process. assignment is the memory
// that an assignment takes at least.
func (p *core) admit(shape groth16.KeyShape, assignment int64) error {
	backend := p.config.Backend
	key, proof := backend.KeyDemand(shape)
	each := proof.HostBytes + assignment
	need, room := key.HostBytes+each, backend.Memory().Room()
	if need <= room {
		return nil
	}
	return failure.New(failure.Memory, "proving with this key needs %s of memory, %s for the key and %s for a proof, but there are %s",
		memory.Size(need), memory.Size(key.HostBytes), memory.Size(each), memory.Size(room)).WithFix("%s, or prove on a GPU", memory.RaiseLimit)
}

// keyBudget lets a key have all that no other key holds.
func (p *core) keyBudget() groth16.Budget {
	room := p.config.Backend.Memory().Room()
	if room == math.MaxInt64 {
		return groth16.Budget{} // no bound
	}
	return groth16.Budget{HostBytes: room}
}
