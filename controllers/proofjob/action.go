package proofjob

import (
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
)

// Action is one thing to do to another object than the job's status. Plans list actions; act.go carries them out.
type Action interface{ action() }

// CreateChild makes the Job, and before it the identity that its pods need. It is create-only.
type CreateChild struct{ Job *batchv1.Job }

// DeleteChild deletes the Job that has this UID.
type DeleteChild struct {
	UID         types.UID
	Propagation metav1.DeletionPropagation
}

// SetSuspend patches spec.suspend of the Job that has this UID, and nothing else.
type SetSuspend struct {
	UID     types.UID
	Suspend bool
}

// StoreReport writes a report that a pod could give in its termination message only.
type StoreReport struct {
	Index  int32
	Report api.PartitionReport
}

// FailPod marks a pod of a dead node as failed by a disruption and removes it, as the pod garbage collector does for
// nodes that are gone.
type FailPod struct {
	Name    string
	UID     types.UID
	Node    string
	Message string
}

// DeletePod removes a pod that has ended and that nobody needs any more; with Force without its kubelet's consent.
type DeletePod struct {
	Name  string
	UID   types.UID
	Force bool
}

// DeleteProofJob deletes the job itself, and with it all that it owns, if it is still as it was seen.
type DeleteProofJob struct {
	UID             types.UID
	ResourceVersion string
}

func (CreateChild) action()    {}
func (DeleteChild) action()    {}
func (SetSuspend) action()     {}
func (StoreReport) action()    {}
func (FailPod) action()        {}
func (DeletePod) action()      {}
func (DeleteProofJob) action() {}
