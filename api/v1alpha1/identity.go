// Copyright The cuzk Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import "strconv"

const (
	// ProverIdentity is the name of the ServiceAccount, Role and RoleBinding under which prover pods run.
	ProverIdentity = "cuzk-prover"

	// VerbManageStatus is the made-up verb on proofjobs and provingkeys that the manager has, and prover pods have not:
	// without it a status can be written only as the admission policies allow.
	VerbManageStatus = "manage-status"

	// MaxPartitions is the largest number of partitions of a job.
	MaxPartitions = 256
)

// PartitionFieldManager returns the field manager with which a pod applies the report of a partition.
func PartitionFieldManager(index int32) string {
	return "cuzk-partition-" + strconv.FormatInt(int64(index), 10)
}
