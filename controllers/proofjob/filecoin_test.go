package proofjob

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/google/go-cmp/cmp"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/controllers/internal/verification"
	"github.com/cuzk-dev/cuzk/prover/worker/order"
)

// node is 32 bytes in hex, a small number.
func node(digit string) string { return "0" + digit + strings.Repeat("0", 62) }

// snapDeals makes a job that of an update's proof in two partitions.
func snapDeals(j *api.ProofJob) {
	j.Spec.Circuit = api.Circuit{Type: api.CircuitFilecoinSnapDeals, FilecoinSnapDeals: &api.FilecoinSnapDealsCircuit{
		Shape:    api.FilecoinShapeTest,
		CommROld: api.SealedCommitment(node("1")), CommRNew: api.SealedCommitment(node("2")), CommDNew: api.UnsealedCommitment(node("3")),
	}}
	j.Spec.Execution.Dedicated.Parallelism = nil
}

// newFilecoinScene is a job of one Filecoin proof of two partitions, if nothing is changed.
func newFilecoinScene(t *testing.T, change ...func(*api.ProofJob)) *scene {
	t.Helper()
	s := newScene(t, 1, append([]func(*api.ProofJob){snapDeals}, change...)...)
	s.Key.Spec.Format, s.Key.Spec.Curve = api.KeyFormatFilecoin, api.CurveBLS12381
	s.Key.Status.Facts.PublicInputs = ptr.To[int64](4)
	return s
}

// perPod has so many partitions proved by one pod.
func perPod(n int32) func(*api.ProofJob) {
	return func(j *api.ProofJob) { j.Spec.Execution.Dedicated.PartitionsPerPod = &n }
}

// proofOf stands for a partition's 192 bytes.
func proofOf(letter string) string {
	return base64.StdEncoding.EncodeToString([]byte(strings.Repeat(letter, 192)))
}

// judgeWhole tells what the pool found about all proofs together.
func (s *scene) judgeWhole(whole string, v verification.Verdict) {
	s.Verdicts[checkDigest("sha256:vk", whole, s.circuit().wholeClaim())] = v
}

func TestFilecoinCircuits(t *testing.T) {
	porep := func(registered string, shape api.FilecoinShape) func(*api.ProofJob) {
		return func(j *api.ProofJob) {
			j.Spec.Circuit = api.Circuit{Type: api.CircuitFilecoinPoRep, FilecoinPoRep: &api.FilecoinPoRepCircuit{
				RegisteredProof: registered, Shape: shape, Miner: "f01000", SectorNumber: ptr.To[int64](7),
				Ticket: api.Bytes32(node("1")), Seed: api.Bytes32(node("2")),
				CommD: api.UnsealedCommitment(node("3")), CommR: api.SealedCommitment(node("4")),
			}}
		}
	}
	window := func(registered string, sectors int) func(*api.ProofJob) {
		return func(j *api.ProofJob) {
			c := &api.FilecoinWindowPoStCircuit{RegisteredProof: registered, Randomness: api.Bytes32(node("1"))}
			for i := range sectors {
				c.Sectors = append(c.Sectors, api.FilecoinSector{SectorNumber: ptr.To(int64(i)), CommR: api.SealedCommitment(node("4"))})
			}
			j.Spec.Circuit = api.Circuit{Type: api.CircuitFilecoinWindowPoSt, FilecoinWindowPoSt: c}
		}
	}
	winning := func(j *api.ProofJob) {
		j.Spec.Circuit = api.Circuit{Type: api.CircuitFilecoinWinningPoSt, FilecoinWinningPoSt: &api.FilecoinWinningPoStCircuit{
			RegisteredProof: "StackedDrgWinning32GiBV1", Randomness: api.Bytes32(node("1")),
			Sector: api.FilecoinSector{SectorNumber: ptr.To[int64](9), CommR: api.SealedCommitment(node("4"))},
		}}
	}
	update := func(registered string, shape api.FilecoinShape) func(*api.ProofJob) {
		return func(j *api.ProofJob) {
			snapDeals(j)
			j.Spec.Circuit.FilecoinSnapDeals.RegisteredProof, j.Spec.Circuit.FilecoinSnapDeals.Shape = registered, shape
		}
	}
	pods := func(perPod, parallelism int32) func(*api.ProofJob) {
		return func(j *api.ProofJob) {
			j.Spec.Execution.Dedicated.PartitionsPerPod, j.Spec.Execution.Dedicated.Parallelism = &perPod, &parallelism
		}
	}
	nothing := func(*api.ProofJob) {}
	for name, c := range map[string]struct {
		circuit, execution                                func(*api.ProofJob)
		partitions, partitionsPerPod, completions, atOnce int32
		public                                            int
	}{
		"PoRep of 2 KiB":              {porep("StackedDrg2KiBV1_1", ""), nothing, 1, 1, 1, 1, 39},
		"PoRep of 32 GiB":             {porep("StackedDrg32GiBV1_1", api.FilecoinShapeRegistered), nothing, 10, 10, 1, 1, 327},
		"PoRep in pods of its own":    {porep("StackedDrg64GiBV1_1_Feat_SyntheticPoRep", ""), pods(1, 4), 10, 1, 10, 4, 327},
		"PoRep of the test shape":     {porep("StackedDrg2KiBV1", api.FilecoinShapeTest), nothing, 2, 2, 1, 1, 39},
		"more partitions per pod":     {porep("StackedDrg2KiBV1", ""), pods(200, 7), 1, 1, 1, 1, 39},
		"window PoSt of 3 sectors":    {window("StackedDrgWindow2KiBV1_1", 3), nothing, 2, 2, 1, 1, 22},
		"window PoSt, pods as needed": {window("StackedDrgWindow2KiBV1_1", 5), perPod(2), 3, 2, 2, 2, 22},
		"largest window PoSt":         {window("StackedDrgWindow32GiBV1_1", 2349), nothing, 1, 1, 1, 1, 25839},
		"winning PoSt":                {winning, nothing, 1, 1, 1, 1, 132},
		"update of 32 GiB":            {update("StackedDrg32GiBV1", ""), nothing, 16, 16, 1, 1, 4},
		"update of 16 KiB":            {update("", api.FilecoinShapeTest), perPod(1), 2, 1, 2, 2, 4},
		"update with Poseidon":        {update("StackedDrg32GiBV1", api.FilecoinShapePoseidon), nothing, 1, 1, 1, 1, 4},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFilecoinScene(t, c.circuit, c.execution)
			got := s.circuit()
			if diff := cmp.Diff([]int32{c.partitions, c.partitionsPerPod, c.completions, c.atOnce}, []int32{got.partitions, got.partitionsPerPod, got.completions(), got.parallelism}); diff != "" {
				t.Errorf("partitions, of them per pod, pods, of them at once (-want +got):\n%s", diff)
			}
			if got.filecoin.PublicInputs != c.public || *got.maxFailed != 0 {
				t.Errorf("%d public inputs, %d partitions may fail", got.filecoin.PublicInputs, *got.maxFailed)
			}
			child := makeChild(t, s)
			if *child.Spec.MaxFailedIndexes != 0 {
				t.Errorf("%d indexes may fail", *child.Spec.MaxFailedIndexes)
			}
			o, err := order.Parse([]byte(child.Spec.Template.Annotations[order.Annotation]))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&s.Job.Spec.Circuit, o.Statement(&s.Job.Spec)); diff != "" || o.Partitions != int(c.partitions) {
				t.Errorf("the pod is told of %d partitions and another circuit (-want +got):\n%s", o.Partitions, diff)
			}
		})
	}
}

// A job that goes well: partitions are verified one by one, then together; the proof moves from the reports into the result.
func TestFilecoinHappyJob(t *testing.T) {
	s := newFilecoinScene(t).begin()
	if n := *s.Job.Status.PartitionCount; n != 2 || *s.Child.Spec.Completions != 1 {
		t.Fatalf("%d partitions in %d pods", n, *s.Child.Spec.Completions)
	}
	pod := s.pod(0, corev1.PodRunning)
	s.report(0, pod, proofOf("A"))
	p := s.plan()
	if len(p.Checks) != 1 || p.Checks[0].Statement == nil || p.Checks[0].Public != nil || p.Checks[0].Statement.Partitions() != 1 {
		t.Fatalf("want a check by the statement of a partition, got %+v", p.Checks)
	}
	s.judge(0, valid)
	s.report(1, pod, proofOf("B"))
	p = s.plan()
	wantPartition(t, p, 0, api.PartitionSucceeded, api.ReasonAgainstDeclaredInputs)
	wantPartition(t, p, 1, api.PartitionRunning, "")
	s.judge(1, valid)

	p = s.plan()
	whole := proofOf("A") + proofOf("B")
	if len(p.Checks) != 1 || p.Checks[0].Partition != wholeProof || p.Checks[0].Proof != whole || p.Checks[0].Statement.Partitions() != 2 {
		t.Fatalf("want a check of the whole proof, got %+v", p.Checks)
	}
	want(t, p, api.ConditionComplete, "", "")
	if p.Status.Result != nil {
		t.Error("there is a result before it was verified")
	}
	s.judgeWhole(whole, valid)

	p = s.plan()
	want(t, p, api.ConditionComplete, metav1.ConditionTrue, api.ReasonAllProved)
	want(t, p, api.ConditionVerified, metav1.ConditionTrue, api.ReasonAgainstDeclaredInputs)
	if p.Status.Result == nil || p.Status.Result.Proof != whole || p.Status.Progress != "2/2" {
		t.Errorf("result %v, progress %s", p.Status.Result, p.Status.Progress)
	}
	joined, err := base64.StdEncoding.DecodeString(p.Status.Result.Proof)
	if err != nil || string(joined) != strings.Repeat("A", 192)+strings.Repeat("B", 192) {
		t.Errorf("the result reads %q, %v", joined, err)
	}
	for _, e := range p.Status.Partitions {
		if e.Report == nil || e.Report.Proof != "" || e.Report.PodUID != string(pod.UID) || e.Report.Timings == nil {
			t.Errorf("partition %d: want its report without the proof, got %+v", e.Index, e.Report)
		}
	}
	s.write(p)
	if p := s.plan(); p.WriteStatus || len(p.Checks)+len(p.Actions) != 0 {
		t.Errorf("a finished job is not left in peace: %+v", p)
	}
}

// A proof of one partition is whole as soon as that is verified.
func TestFilecoinProofOfOnePartition(t *testing.T) {
	s := newFilecoinScene(t, func(j *api.ProofJob) {
		j.Spec.Circuit.FilecoinSnapDeals.Shape, j.Spec.Circuit.FilecoinSnapDeals.RegisteredProof = "", "StackedDrg2KiBV1"
	}).begin()
	s.report(0, s.pod(0, corev1.PodRunning), proofOf("A"))
	s.judge(0, valid)
	p := s.plan()
	want(t, p, api.ConditionComplete, metav1.ConditionTrue, api.ReasonAllProved)
	if p.Status.Result == nil || p.Status.Result.Proof != proofOf("A") {
		t.Errorf("result %v", p.Status.Result)
	}
}

// What a pod calls the proof of a partition counts only as that, and only for this partition.
func TestFilecoinProofsAreNotTaken(t *testing.T) {
	for _, c := range []struct {
		name   string
		proof  string
		judge  func(s *scene)
		reason string
	}{
		{name: "not base64", proof: "{}", reason: api.ReasonProofInvalid},
		{name: "too short", proof: proofOf("B")[:252], reason: api.ReasonProofInvalid},
		{name: "of two partitions", proof: proofOf("B") + proofOf("C"), reason: api.ReasonProofInvalid},
		{name: "the other partition's", proof: proofOf("A"), reason: api.ReasonDuplicateProof},
		{name: "does not verify", proof: proofOf("B"), judge: func(s *scene) { s.judge(1, refusedVerdict) }, reason: api.ReasonProofInvalid},
		{name: "verified for another partition only", proof: proofOf("B"), judge: func(s *scene) {
			s.Verdicts[checkDigest("sha256:vk", proofOf("B"), s.circuit().claim(&s.Job.Spec, 0, nil))] = valid
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newFilecoinScene(t, perPod(1)).begin()
			s.report(0, s.pod(0, corev1.PodRunning), proofOf("A"))
			s.judge(0, valid)
			s.report(1, s.pod(1, corev1.PodRunning), c.proof)
			if c.judge != nil {
				c.judge(s)
			}
			p := s.plan()
			if c.reason == "" {
				wantPartition(t, p, 1, api.PartitionRunning, "")
				want(t, p, api.ConditionFailed, "", "")
				return
			}
			wantPartition(t, p, 1, api.PartitionFailed, c.reason)
			want(t, p, api.ConditionFailed, metav1.ConditionTrue, api.ReasonPartitionsFailed)
			want(t, p, api.ConditionVerified, metav1.ConditionFalse, c.reason)
			if p.Status.Result != nil {
				t.Error("a failed job has a result")
			}
		})
	}
}

// Partitions that verify alone and not together are a defect, which must not pass for a proof.
func TestFilecoinWholeIsRefused(t *testing.T) {
	s := newFilecoinScene(t).begin()
	pod := s.pod(0, corev1.PodRunning)
	for i, letter := range []string{"A", "B"} {
		s.report(i, pod, proofOf(letter))
		s.judge(i, valid)
	}
	s.judgeWhole(proofOf("A")+proofOf("B"), refusedVerdict)
	p := s.plan()
	want(t, p, api.ConditionFailed, metav1.ConditionTrue, api.ReasonWholeProofInvalid)
	want(t, p, api.ConditionVerified, metav1.ConditionFalse, api.ReasonProofInvalid)
	if p.Status.Result != nil {
		t.Error("a failed job has a result")
	}
}

func TestFilecoinWithoutVerification(t *testing.T) {
	s := newFilecoinScene(t, func(j *api.ProofJob) { j.Spec.Verification = api.VerificationSkip }).begin()
	pod := s.pod(0, corev1.PodRunning)
	s.report(0, pod, proofOf("A"))
	s.report(1, pod, proofOf("B"))
	p := s.plan()
	want(t, p, api.ConditionComplete, metav1.ConditionTrue, api.ReasonAllProved)
	want(t, p, api.ConditionVerified, metav1.ConditionFalse, api.ReasonSkipped)
	if p.Status.Result == nil || p.Status.Result.Proof != proofOf("A")+proofOf("B") || len(p.Checks) != 0 {
		t.Errorf("result %v, checks %v", p.Status.Result, p.Checks)
	}
}

// A retried pod finds in the status which of its partitions are verified, before it begins.
func TestFilecoinRetryKeepsVerifiedPartitions(t *testing.T) {
	s := newFilecoinScene(t).begin()
	lost := s.pod(0, corev1.PodRunning)
	s.report(0, lost, proofOf("A"))
	s.judge(0, valid)
	lost.Status.Phase = corev1.PodFailed
	ended(1, &order.Termination{Partitions: []order.TerminationPartition{{Index: 1, Class: "IO", Message: "disk"}}})(lost)
	p := s.plan()
	if !p.WriteStatus {
		t.Fatal("the verified partition is not written down for the next pod")
	}
	wantPartition(t, p, 0, api.PartitionSucceeded, api.ReasonAgainstDeclaredInputs)
	wantPartition(t, p, 1, api.PartitionPending, api.ReasonRetrying)
	s.write(p)

	next := s.later(time.Minute).pod(0, corev1.PodRunning)
	s.report(1, next, proofOf("B"))
	s.judge(1, valid)
	s.judgeWhole(proofOf("A")+proofOf("B"), valid)
	p = s.plan()
	want(t, p, api.ConditionComplete, metav1.ConditionTrue, api.ReasonAllProved)
	if p.Status.Result == nil || p.Status.Result.Proof != proofOf("A")+proofOf("B") {
		t.Errorf("result %v", p.Status.Result)
	}
}

// One lost partition ends the job, whose other partitions are of no use without it.
func TestFilecoinPartitionLost(t *testing.T) {
	s := newFilecoinScene(t, perPod(1)).begin()
	s.report(0, s.pod(0, corev1.PodRunning), proofOf("A"))
	s.judge(0, valid)
	s.pod(1, corev1.PodFailed, ended(3, &order.Termination{Class: "Input", Message: "c1: replica_id differs"}))
	s.Child.Status.FailedIndexes = ptr.To("1")
	s.Child.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailureTarget, Status: corev1.ConditionTrue, Reason: batchv1.JobReasonMaxFailedIndexesExceeded}}
	p := s.plan()
	wantPartition(t, p, 1, api.PartitionFailed, api.ReasonInvalidInput)
	want(t, p, api.ConditionFailed, metav1.ConditionTrue, api.ReasonPartitionsFailed)
	if c := condition(p, api.ConditionFailed); !strings.Contains(c.Message, "replica_id differs") {
		t.Errorf("message %q", c.Message)
	}
	if p.Status.Partitions[0].Report != nil {
		t.Error("the verified partition's report is touched")
	}
}

// What the schema cannot see of a statement ends the job with the field's name, before there is a pod.
func TestFilecoinStatementIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*api.ProofJob)
		says   string
	}{
		"not canonical": {func(j *api.ProofJob) {
			j.Spec.Circuit.FilecoinSnapDeals.CommRNew = api.SealedCommitment(strings.Repeat("f", 64))
		}, "circuit.filecoinSnapDeals: the new comm_r"},
		"not a CID": {func(j *api.ProofJob) {
			j.Spec.Circuit.FilecoinSnapDeals.CommDNew = api.UnsealedCommitment("baga6ea4sea" + strings.Repeat("7", 53))
		}, "circuit.filecoinSnapDeals.commDNew: "},
		"a sector twice": {func(j *api.ProofJob) {
			sector := api.FilecoinSector{SectorNumber: ptr.To[int64](5), CommR: api.SealedCommitment(node("4"))}
			j.Spec.Circuit = api.Circuit{Type: api.CircuitFilecoinWindowPoSt, FilecoinWindowPoSt: &api.FilecoinWindowPoStCircuit{
				RegisteredProof: "StackedDrgWindow2KiBV1_1", Randomness: api.Bytes32(node("1")), Sectors: []api.FilecoinSector{sector, sector},
			}}
		}, "circuit.filecoinWindowPoSt.sectors: sector 5"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newFilecoinScene(t, c.change).plan()
			want(t, p, api.ConditionFailed, metav1.ConditionTrue, api.ReasonInvalidConfiguration)
			if got := condition(p, api.ConditionFailed).Message; !strings.Contains(got, c.says) {
				t.Errorf("message %q does not say %q", got, c.says)
			}
			if len(p.Actions) != 0 {
				t.Errorf("actions %v", p.Actions)
			}
		})
	}
}

func TestFilecoinKeyMismatch(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*api.ProvingKey)
		says   string
	}{
		"another format":     {func(k *api.ProvingKey) { k.Spec.Format = api.KeyFormatGnark }, "wants a key of format Filecoin"},
		"another circuit":    {func(k *api.ProvingKey) { k.Status.Facts.PublicInputs = ptr.To[int64](39) }, "has 4 public inputs, and that of ProvingKey key has 39: name the key with the parameters v28-empty-sector-update-"},
		"another parameters": {func(k *api.ProvingKey) { k.Status.Facts.Parameters = "v28-of-another-size" }, "v28-of-another-size"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFilecoinScene(t)
			c.change(s.Key)
			p := s.plan()
			want(t, p, api.ConditionFailed, metav1.ConditionTrue, api.ReasonKeyMismatch)
			if got := condition(p, api.ConditionFailed).Message; !strings.Contains(got, c.says) {
				t.Errorf("message %q does not say %q", got, c.says)
			}
		})
	}
	s := newFilecoinScene(t)
	s.Key.Status.Facts.Parameters = s.circuit().filecoin.Shape.ParameterName()
	want(t, s.plan(), api.ConditionKeyReady, metav1.ConditionTrue, api.ReasonKeyReady)
}

// A termination message stands in for reports that did not arrive, and carries no public inputs either.
func TestFilecoinLastWord(t *testing.T) {
	s := newFilecoinScene(t).begin()
	word := &order.Termination{}
	for i, letter := range []string{"A", "B"} {
		word.Partitions = append(word.Partitions, order.TerminationPartition{Index: i, Proof: proofOf(letter), Milliseconds: []int64{1, 2, 3, 4, 5, 15}})
	}
	s.pod(0, corev1.PodSucceeded, ended(0, word))
	if p := s.plan(); !p.ReadFresh {
		t.Error("the API server is not asked for the reports first")
	}
	s.Fresh = true
	stored := actions[StoreReport](s.plan())
	if len(stored) != 2 {
		t.Fatalf("stored %d reports", len(stored))
	}
	if r := stored[1].Report; r.Proof != proofOf("B") || r.PublicInputs != nil || r.PublicInputsDigest != "" {
		t.Errorf("stored %+v", r)
	}
}
