package worker

import (
	"crypto/sha256"
	"encoding/hex"
	"os"

	"github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/worker/order"
)

// lastWord writes the termination message. complete means that it holds every proof that there is. Refusals and withdrawn
// devices are left to the reports and the pod's log: the room is for proofs.
func (w *Worker) lastWord(outcomes map[int]*outcome, err error) (complete bool, _ error) {
	t := order.Termination{}
	if err != nil {
		t.Class, t.Message = string(failure.ClassOf(err)), v1alpha1.ReportMessage(err.Error(), v1alpha1.MaxMessageLength)
	}
	for i, hi := w.Order.Owned(w.Pod.Index); i < hi; i++ {
		if o := outcomes[i]; o != nil && o.report != nil {
			t.Partitions = append(t.Partitions, o.word(i))
		}
	}
	if w.Order.Circuit.IsFilecoin() {
		sayInputOnce(t.Partitions)
	}
	data, complete := marshal(t)
	if !complete { // a proof is worth more than its times
		for i := range t.Partitions {
			t.Partitions[i].Milliseconds = nil
		}
		data, complete = marshal(t)
	}
	return complete, os.WriteFile(w.Termination, data, 0o600)
}

// word is the outcome in the termination message's form.
func (o *outcome) word(index int) order.TerminationPartition {
	p := order.TerminationPartition{
		Index: index, InputDigest: o.report.InputDigest, Proof: o.report.Proof, PublicInputs: o.report.PublicInputs,
		Backend: string(o.report.Backend), Milliseconds: milliseconds(o.report.Timings),
	}
	if o.report.Error != nil {
		p.Class, p.Message = string(failure.ClassOf(o.err)), o.report.Error.Message
	}
	return p
}

// sayInputOnce leaves the digest of the one input to the first partition, so that ten proofs fit.
func sayInputOnce(partitions []order.TerminationPartition) {
	for i := 1; i < len(partitions); i++ {
		partitions[i].InputDigest = ""
	}
}

// marshal writes the termination message and tells whether everything fitted.
func marshal(t order.Termination) (_ []byte, whole bool) {
	data := t.Marshal(func(proof string) string {
		d := sha256.Sum256([]byte(proof))
		return "sha256:" + hex.EncodeToString(d[:])
	})
	back, err := order.ParseTermination(data)
	return data, err == nil && !back.Truncated
}

func milliseconds(t *v1alpha1.Timings) []int64 {
	if t == nil {
		return nil
	}
	var ms []int64
	for _, v := range []*int64{t.QueueMilliseconds, t.SRSMilliseconds, t.SynthMilliseconds, t.GPUMilliseconds, t.VerifyMilliseconds, t.TotalMilliseconds} {
		if v == nil {
			ms = append(ms, 0)
		} else {
			ms = append(ms, *v)
		}
	}
	return ms
}
