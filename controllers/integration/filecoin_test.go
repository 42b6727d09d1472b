//go:build apiserver

package integration

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/controllers/internal/simulated"
)

// newFilecoinKey makes a key for the proofs of updates, which have four public inputs.
func newFilecoinKey(t *testing.T, namespace string) *simulated.FilecoinKey {
	t.Helper()
	key := simulated.NewFilecoinKey(4)
	create(t, newKey(namespace, "filecoin", func(k *api.ProvingKey) {
		k.Spec.Format, k.Spec.Curve = api.KeyFormatFilecoin, api.CurveBLS12381
		k.Spec.Files.VerifyingKey = &api.KeyFile{Inline: &api.InlineFile{Data: key.VerifyingKey()}}
	}))
	return key
}

// newFilecoinJob is the proof of an update in two partitions.
func newFilecoinJob(namespace, name string, change ...func(*api.ProofJob)) *api.ProofJob {
	commitment := func(digit string) string { return "0" + digit + strings.Repeat("0", 62) }
	job := newJob(namespace, name, 1, append([]func(*api.ProofJob){func(j *api.ProofJob) {
		j.Spec.Circuit = api.Circuit{Type: api.CircuitFilecoinSnapDeals, FilecoinSnapDeals: &api.FilecoinSnapDealsCircuit{
			Shape:    api.FilecoinShapeTest,
			CommROld: api.SealedCommitment(commitment("1")), CommRNew: api.SealedCommitment(commitment("2")), CommDNew: api.UnsealedCommitment(commitment("3")),
		}}
		j.Spec.ProvingKeyRef.Name = "filecoin"
		j.Spec.Inputs[0].PublicInputs = nil
		j.Spec.Execution.Dedicated.Parallelism = nil
	}}, change...)...)
	return job
}

// updateProof proves a partition of newFilecoinJob: its public inputs are its number below one bit for the choice of h, the
// old comm_r, the new comm_d and the new comm_r.
func updateProof(key *simulated.FilecoinKey, partition int) string {
	proof := key.Proof(fr.NewElement(uint64(2+partition)), fr.NewElement(1), fr.NewElement(3), fr.NewElement(2))
	return base64.StdEncoding.EncodeToString(proof)
}

// updates proves the partitions of its pod that have no proof that counts, each as another function says.
func updates(prove func(p *proverPod, partition int) string) prover {
	return func(ctx context.Context, p *proverPod) (int32, string) {
		o, err := p.order()
		if err != nil {
			return 2, err.Error()
		}
		var job api.ProofJob
		if err := admin.Get(ctx, client.ObjectKey{Namespace: p.Namespace, Name: o.Job}, &job); err != nil {
			return 7, err.Error()
		}
		lo, hi := o.Owned(p.index())
		for i := lo; i < hi; i++ {
			if job.Status.Partitions[i].State == api.PartitionSucceeded {
				continue
			}
			proof := prove(p, i)
			if proof == "" {
				return 1, "the disk is full"
			}
			report := p.done(proof)
			report.InputDigest = "sha256:" + strings.Repeat("0", 64)
			if err := p.report(ctx, i, report); err != nil {
				return 7, err.Error()
			}
		}
		return 0, ""
	}
}

func TestFilecoin(t *testing.T) {
	namespace, _ := newNamespace(t)
	operator(t, namespace)
	key := newFilecoinKey(t, namespace)
	keyIs(t, &api.ProvingKey{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "filecoin"}}, metav1.ConditionTrue, api.ReasonVerifyingKeyLoaded)

	t.Run("one pod proves all partitions", func(t *testing.T) {
		t.Parallel()
		proofs := []string{updateProof(key, 0), updateProof(key, 1)}
		job := newFilecoinJob(namespace, "whole")
		start(t, job, updates(func(_ *proverPod, partition int) string { return proofs[partition] }))
		becomes(t, job, api.ConditionComplete, metav1.ConditionTrue, api.ReasonAllProved)
		becomes(t, job, api.ConditionVerified, metav1.ConditionTrue, api.ReasonAgainstDeclaredInputs)
		if job.Status.Result == nil || job.Status.Result.Proof != strings.Join(proofs, "") || job.Status.Progress != "2/2" {
			t.Errorf("result %v, progress %s", job.Status.Result, job.Status.Progress)
		}
		for _, e := range job.Status.Partitions {
			if e.Report == nil || e.Report.Proof != "" || e.Report.Timings == nil || !ptr.Deref(e.Verified, false) {
				t.Errorf("partition %d: %+v", e.Index, e)
			}
		}
		var child batchv1.Job
		if err := admin.Get(t.Context(), client.ObjectKeyFromObject(job), &child); err != nil {
			t.Fatal(err)
		}
		if *child.Spec.Completions != 1 || *child.Spec.MaxFailedIndexes != 0 {
			t.Errorf("%d pods, of which %d may fail", *child.Spec.Completions, *child.Spec.MaxFailedIndexes)
		}
		budget(t, namespace, "whole", 2)
	})

	t.Run("what is verified is not computed again", func(t *testing.T) {
		t.Parallel()
		job := newFilecoinJob(namespace, "retried", func(j *api.ProofJob) { j.Spec.BackoffLimitPerPartition = ptr.To[int32](1) })
		proofs := []string{updateProof(key, 0), updateProof(key, 1)}
		start(t, job, updates(func(p *proverPod, partition int) string {
			switch {
			case p.attempt() == 1 && partition == 1:
				return ""
			case p.attempt() == 2 && partition == 0:
				return "AAAA" // would be refused
			}
			return proofs[partition]
		}))
		becomes(t, job, api.ConditionComplete, metav1.ConditionTrue, api.ReasonAllProved)
		if job.Status.Result == nil || job.Status.Result.Proof != strings.Join(proofs, "") {
			t.Errorf("result %v", job.Status.Result)
		}
	})

	t.Run("proofs of other statements are refused", func(t *testing.T) {
		t.Parallel()
		for name, prove := range map[string]func(partition int) string{
			"exchanged": func(partition int) string { return updateProof(key, 1-partition) },
			"another-key": func(partition int) string {
				return updateProof(simulated.NewFilecoinKey(4), partition)
			},
		} {
			job := newFilecoinJob(namespace, name, func(j *api.ProofJob) { j.Spec.Execution.Dedicated.PartitionsPerPod = ptr.To[int32](1) })
			start(t, job, updates(func(_ *proverPod, partition int) string { return prove(partition) }))
			becomes(t, job, api.ConditionFailed, metav1.ConditionTrue, api.ReasonPartitionsFailed)
			if c := meta.FindStatusCondition(job.Status.Conditions, api.ConditionVerified); c.Status != metav1.ConditionFalse || c.Reason != api.ReasonProofInvalid {
				t.Errorf("%s: Verified %s, %s", name, c.Status, c.Reason)
			}
			if job.Status.Result != nil {
				t.Errorf("%s: a failed job has the result %v", name, job.Status.Result)
			}
		}
	})

	t.Run("one lost partition ends the job", func(t *testing.T) {
		t.Parallel()
		job := newFilecoinJob(namespace, "lost", func(j *api.ProofJob) {
			j.Spec.Execution.Dedicated.PartitionsPerPod, j.Spec.BackoffLimitPerPartition = ptr.To[int32](1), ptr.To[int32](0)
		})
		start(t, job, updates(func(p *proverPod, partition int) string {
			if partition == 1 {
				return ""
			}
			return updateProof(key, partition)
		}))
		becomes(t, job, api.ConditionFailed, metav1.ConditionTrue, api.ReasonPartitionsFailed)
		if e := job.Status.Partitions[1]; e.State != api.PartitionFailed || job.Status.Result != nil {
			t.Errorf("partition 1 is %s, the result %v", e.State, job.Status.Result)
		}
		budget(t, namespace, "lost", 2)
	})

	t.Run("a key of another circuit is refused", func(t *testing.T) {
		t.Parallel()
		sector := api.FilecoinSector{SectorNumber: ptr.To[int64](1), CommR: api.SealedCommitment(fmt.Sprintf("%064d", 0)[:62] + "01")}
		job := newFilecoinJob(namespace, "other-circuit", func(j *api.ProofJob) {
			j.Spec.Circuit = api.Circuit{Type: api.CircuitFilecoinWindowPoSt, FilecoinWindowPoSt: &api.FilecoinWindowPoStCircuit{
				RegisteredProof: "StackedDrgWindow2KiBV1_1", Randomness: api.Bytes32(strings.Repeat("0", 64)), Sectors: []api.FilecoinSector{sector},
			}}
		})
		start(t, job, nil)
		becomes(t, job, api.ConditionFailed, metav1.ConditionTrue, api.ReasonKeyMismatch)
	})
}
