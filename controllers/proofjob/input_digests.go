package proofjob

import (
	"maps"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
)

// inputDigests remembers which input each partition's first attempt read, so that a later attempt whose report replaces
// the first one can be compared with it. What a restart forgets is found again in the pods' termination messages.
type inputDigests struct {
	mu    sync.Mutex
	first map[types.UID]map[int32]string
}

// note remembers the digests in a job's reports and returns a copy of the first ones.
func (d *inputDigests) note(job *api.ProofJob) map[int32]string {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range job.Status.Partitions {
		e := &job.Status.Partitions[i]
		if e.Report == nil || e.Report.InputDigest == "" {
			continue
		}
		if d.first == nil {
			d.first = map[types.UID]map[int32]string{}
		}
		if d.first[job.UID] == nil {
			d.first[job.UID] = map[int32]string{}
		}
		if _, known := d.first[job.UID][e.Index]; !known {
			d.first[job.UID][e.Index] = e.Report.InputDigest
		}
	}
	return maps.Clone(d.first[job.UID])
}

func (d *inputDigests) forget(uid types.UID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.first, uid)
}
