package proofjob

import api "github.com/cuzk-dev/cuzk/api/v1alpha1"

// managedElsewhere says that spec.managedBy names another controller, which alone may touch the job.
func managedElsewhere(job *api.ProofJob) bool {
	return job.Spec.ManagedBy != nil && *job.Spec.ManagedBy != api.DefaultManagedBy
}
