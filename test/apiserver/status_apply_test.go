// Copyright The cuzk Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build apiserver

package apiserver

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cuzk-dev/cuzk/api/v1alpha1"
	apply "github.com/cuzk-dev/cuzk/api/v1alpha1/applyconfiguration/api/v1alpha1"
)

// TestStatusApplyMeetsTheJobThatWasRead shows what the operator rests on: of the metadata in a status apply only the
// resourceVersion tells a job from one that was made anew under its name.
func TestStatusApplyMeetsTheJobThatWasRead(t *testing.T) {
	namespace := newNamespace(t)
	read := newProofJob(namespace, "job", 1)
	if err := admin.Create(t.Context(), read); err != nil {
		t.Fatal(err)
	}
	if err := admin.Delete(t.Context(), read, client.PropagationPolicy(metav1.DeletePropagationBackground)); err != nil {
		t.Fatal(err)
	}
	if err := admin.Create(t.Context(), newProofJob(namespace, "job", 1)); err != nil {
		t.Fatal(err)
	}
	end := func() *apply.ProofJobApplyConfiguration {
		return apply.ProofJob("job", namespace).WithStatus(apply.ProofJobStatus().WithState(v1alpha1.ProofJobSucceeded))
	}
	write := func(job *apply.ProofJobApplyConfiguration) error {
		return admin.Status().Apply(t.Context(), job, client.FieldOwner("cuzk-manager"), client.ForceOwnership)
	}
	if err := write(end().WithResourceVersion(read.ResourceVersion)); !apierrors.IsConflict(err) {
		t.Errorf("with the resourceVersion that was read: %v, want a conflict", err)
	}
	if err := write(end().WithUID(read.UID)); err != nil {
		t.Errorf("the UID is looked at: %v", err)
	}
}
