package provingkey

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/google/go-cmp/cmp"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/controllers/internal/proverpod"
	"github.com/cuzk-dev/cuzk/controllers/internal/verifyingkey"
	"github.com/cuzk-dev/cuzk/prover/worker/order"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func newKey(change ...func(*api.ProvingKey)) *api.ProvingKey {
	k := &api.ProvingKey{
		ObjectMeta: metav1.ObjectMeta{Namespace: "proofs", Name: "key", UID: "01234567-89ab", Generation: 1},
		Spec: api.ProvingKeySpec{
			Format: api.KeyFormatSnarkjs, Curve: api.CurveBN254,
			Files: api.KeyFiles{ProvingKey: api.KeyFile{PersistentVolumeClaim: &api.ClaimPath{ClaimName: "keys", Path: "circuit.zkey"}}},
		},
	}
	for _, f := range change {
		f(k)
	}
	return k
}

func gnark(k *api.ProvingKey) { k.Spec.Format = api.KeyFormatGnark }

// wasReady is a key that jobs could use before.
func wasReady(k *api.ProvingKey) {
	k.Status.VerifyingKey = &api.VerifyingKeyLocation{Digest: "sha256:vk"}
}

func failed(job *batchv1.Job) *batchv1.Job {
	job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue}}
	return job
}

func TestReadiness(t *testing.T) {
	content := &Content{Location: api.VerifyingKeyLocation{Digest: "sha256:vk", SizeBytes: ptr.To[int64](700)}, Public: 2, Commitments: 1}
	for _, c := range []struct {
		name     string
		o        Observation
		ready    metav1.ConditionStatus
		reason   string
		says     string
		degraded metav1.ConditionStatus
		inspect  bool
	}{
		{name: "read", o: Observation{Key: newKey(), Content: content}, ready: metav1.ConditionTrue, reason: api.ReasonVerifyingKeyLoaded, says: "public inputs: 2", degraded: metav1.ConditionFalse},
		{name: "ConfigMap is not there", o: Observation{Key: newKey(), ContentErr: &verifyingkey.NotFoundError{Name: "vk"}}, ready: metav1.ConditionFalse, reason: api.ReasonSourceNotFound, says: "There is no ConfigMap vk.", degraded: metav1.ConditionFalse},
		{name: "ConfigMap is gone", o: Observation{Key: newKey(wasReady), ContentErr: &verifyingkey.NotFoundError{Name: "vk", Key: "a"}}, ready: metav1.ConditionFalse, reason: api.ReasonSourceNotFound, says: "has no key a", degraded: metav1.ConditionTrue},
		{name: "content changed", o: Observation{Key: newKey(wasReady), ContentErr: &verifyingkey.DigestError{What: "The verifying key", Want: "a", Got: "b"}}, ready: metav1.ConditionFalse, reason: api.ReasonDigestMismatch, says: "create a new ProvingKey", degraded: metav1.ConditionTrue},
		{name: "malformed", o: Observation{Key: newKey(), ContentErr: errors.New("IC[0]: not on the curve")}, ready: metav1.ConditionFalse, reason: api.ReasonVerifyingKeyInvalid, says: "not on the curve", degraded: metav1.ConditionFalse},
		{name: "claim is not there", o: Observation{Key: newKey(), MissingSource: "There is no PersistentVolumeClaim keys."}, ready: metav1.ConditionFalse, reason: api.ReasonSourceNotFound, degraded: metav1.ConditionFalse},
		{name: "gnark without verifying key", o: Observation{Key: newKey(gnark)}, ready: metav1.ConditionFalse, reason: api.ReasonVerifyingKeyMissing, says: "files.verifyingKey", degraded: metav1.ConditionFalse},
		{name: "only in the files", o: Observation{Key: newKey()}, ready: metav1.ConditionFalse, reason: api.ReasonInspecting, degraded: metav1.ConditionFalse, inspect: true},
		{name: "being inspected", o: Observation{Key: newKey(), Inspection: &batchv1.Job{}}, ready: metav1.ConditionFalse, reason: api.ReasonInspecting, degraded: metav1.ConditionFalse},
		{name: "inspection failed", o: Observation{Key: newKey(), Inspection: failed(&batchv1.Job{}), Failure: "section 3 is cut off"}, ready: metav1.ConditionFalse, reason: api.ReasonInspectionFailed, says: "Section 3 is cut off. To try again, delete Job key-inspect.", degraded: metav1.ConditionFalse},
		{name: "name is taken", o: Observation{Key: newKey(), Foreign: true}, ready: metav1.ConditionFalse, reason: api.ReasonInspectionFailed, says: "does not belong", degraded: metav1.ConditionFalse},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := MakePlan(&c.o, noon)
			for kind, status := range map[string]metav1.ConditionStatus{api.ConditionReady: c.ready, api.ConditionDegraded: c.degraded} {
				got := meta.FindStatusCondition(p.Status.Conditions, kind)
				if got == nil || got.Status != status {
					t.Fatalf("%s is %+v, want %s", kind, got, status)
				}
				if kind == api.ConditionReady && (got.Reason != c.reason || !strings.Contains(got.Message, c.says)) {
					t.Errorf("reason %q, message %q", got.Reason, got.Message)
				}
			}
			if p.Inspect != c.inspect || !p.WriteStatus {
				t.Errorf("inspect %v, write %v", p.Inspect, p.WriteStatus)
			}
			// The same again is no news.
			c.o.Key = c.o.Key.DeepCopy()
			c.o.Key.Status = p.Status
			if p := MakePlan(&c.o, noon.Add(time.Hour)); p.WriteStatus {
				t.Error("an unchanged status is written")
			}
		})
	}
}

// What an inspection found is taken over; only when the status holds it is its ConfigMap sealed and its Job ended.
func TestInspectionResult(t *testing.T) {
	o := &Observation{
		Key: newKey(), Inspection: &batchv1.Job{},
		Content: &Content{Location: api.VerifyingKeyLocation{Digest: "sha256:vk", ConfigMaps: []api.ConfigMapKey{{Name: "key-verifying-key-01234567-0", Key: order.InspectionPartKey}}}, Public: 3},
		Result: &order.InspectionResult{
			Version: order.Version, Curve: "BN254", Wires: 9, DomainSize: 16, PublicInputs: 3,
			ProvingKeyDigest: "sha256:pk", StructureDigest: "sha256:st", ProvingKeyBytes: 4096,
		},
	}
	p := MakePlan(o, noon)
	if diff := cmp.Diff(&api.CircuitFacts{PublicInputs: ptr.To[int64](3), Wires: ptr.To[int64](9), DomainSize: ptr.To[int64](16), StructureDigest: "sha256:st"}, p.Status.Facts); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
	if p.Status.ProvingKeyDigest != "sha256:pk" || p.Status.VerifyingKey.Digest != "sha256:vk" {
		t.Errorf("digests %q, %q", p.Status.ProvingKeyDigest, p.Status.VerifyingKey.Digest)
	}
	if len(p.Seal) > 0 || p.EndInspection {
		t.Errorf("before the status holds the result, %v are sealed and the inspection is ended: %v", p.Seal, p.EndInspection)
	}
	o.Key = o.Key.DeepCopy()
	o.Key.Status = p.Status
	p = MakePlan(o, noon)
	if diff := cmp.Diff([]string{"key-verifying-key-01234567-0"}, p.Seal); diff != "" || !p.EndInspection || p.WriteStatus {
		t.Errorf("sealed (-want +got):\n%s\nended: %v, status written again: %v", diff, p.EndInspection, p.WriteStatus)
	}
	// Once the Job is gone, nothing is left to do, and the facts stay.
	o.Inspection, o.Result = nil, nil
	if p := MakePlan(o, noon); p.WriteStatus || p.EndInspection || len(p.Seal) > 0 {
		t.Errorf("then: %+v", p)
	}
}

func TestReadResult(t *testing.T) {
	pod := func(code int32, message string) *corev1.Pod {
		return &corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: "Error", Message: message},
		}}}}}
	}
	good := string(order.InspectionResult{Curve: "BN254", PublicInputs: 1}.Marshal())
	bad := string(order.InspectionResult{Class: "Key", Message: "wrong magic"}.Marshal())
	for _, c := range []struct {
		pods    []*corev1.Pod
		result  bool
		failure string
	}{
		{nil, false, ""},
		{[]*corev1.Pod{{}}, false, ""},
		{[]*corev1.Pod{pod(4, bad), pod(0, good)}, true, ""},
		{[]*corev1.Pod{pod(4, bad)}, false, "wrong magic"},
		{[]*corev1.Pod{pod(1, good)}, false, "exit code 1"}, // a result counts only if the pod ended well
		{[]*corev1.Pod{pod(0, "not JSON")}, false, "exit code 0"},
		{[]*corev1.Pod{pod(0, `{"v":99}`)}, false, "exit code 0"},
		{[]*corev1.Pod{pod(4, `{"v":99,"class":"Usage","message":"use an image of the operator's release"}`)}, false, "operator's release"},
	} {
		result, failure := readResult(c.pods)
		if (result != nil) != c.result || !strings.Contains(failure, c.failure) || (failure == "") != (c.failure == "") {
			t.Errorf("result %+v, failure %q; want %v, %q", result, failure, c.result, c.failure)
		}
	}
}

// The inspection pod sees the key's files, read-only, and its order says where to put the verifying key.
func TestInspectionJob(t *testing.T) {
	key := newKey(func(k *api.ProvingKey) {
		k.Spec.Files.ConstraintSystem = &api.KeyFile{ConfigMap: &api.ConfigMapKey{Name: "r1cs", Key: "circuit.r1cs"}}
		k.Spec.Files.VerifyingKey = &api.KeyFile{URI: &api.URISource{URL: "https://example.com/vk.json", SecretRef: &api.SecretReference{Name: "login"}}, Digest: "sha256:vk", SizeBytes: ptr.To[int64](20 << 30)}
	})
	job, err := newInspection(key, "prover:1")
	if err != nil {
		t.Fatal(err)
	}
	template := job.Spec.Template
	o, err := order.ParseInspectionOrder([]byte(template.Annotations[order.Annotation]))
	if err != nil {
		t.Fatal(err)
	}
	want := order.InspectionOrder{
		Version: order.Version, Namespace: "proofs", Outputs: []string{"key-verifying-key-01234567-0"},
		Key: order.Key{
			Name: "key", UID: "01234567-89ab", Format: "Snarkjs", Curve: "BN254",
			ProvingKey:       order.File{Root: "/var/run/cuzk/key-claims/0", Path: "circuit.zkey"},
			ConstraintSystem: &order.File{Root: "/var/run/cuzk/key", Path: "constraintSystem"},
			VerifyingKey:     &order.File{URI: "https://example.com/vk.json", Credentials: "/var/run/cuzk/credentials/0", Digest: "sha256:vk", SizeBytes: 20 << 30},
		},
	}
	if diff := cmp.Diff(want, *o); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	mounts := map[string]string{}
	for _, m := range template.Spec.Containers[0].VolumeMounts {
		mounts[m.MountPath] = fmt.Sprint(m.Name, m.ReadOnly)
	}
	for path, name := range map[string]string{
		"/var/run/cuzk/key-claims/0": "key-claim-0true", "/var/run/cuzk/key": "keytrue", "/var/run/cuzk/credentials/0": "credentials-0true",
		"/var/cache/cuzk": "scratchfalse", "/etc/cuzk/order": "ordertrue",
	} {
		if mounts[path] != name {
			t.Errorf("%s is mounted as %q, want %q", path, mounts[path], name)
		}
	}
	if got := template.Spec.Volumes; len(got) != 6 {
		t.Errorf("%d volumes", len(got))
	}
	for _, v := range template.Spec.Volumes {
		if v.EmptyDir != nil && v.EmptyDir.SizeLimit.Cmp(proverpod.DefaultScratchSize) <= 0 {
			t.Errorf("scratch of %s for a download of 20 GiB", v.EmptyDir.SizeLimit)
		}
	}
	if template.Spec.ServiceAccountName != "cuzk-inspector" || job.Labels[proverpod.OwnerUIDLabel] != "01234567-89ab" {
		t.Errorf("account %s, labels %v", template.Spec.ServiceAccountName, job.Labels)
	}
	if data, err := json.Marshal(job); err != nil || len(data) > 64<<10 {
		t.Errorf("%d bytes, %v", len(data), err)
	}
}

func filecoinKey(k *api.ProvingKey) {
	k.Spec.Format, k.Spec.Curve = api.KeyFormatFilecoin, api.CurveBLS12381
}

// The largest verifying key is that of a window PoSt: 25,840 points of 96 bytes, and what comes before them.
func TestOutputsTakeTheVerifyingKey(t *testing.T) {
	const largest = 3*96 + 3*192 + 4 + 25840*96
	names := outputs(newKey(filecoinKey))
	if room := len(names) * order.InspectionPartBytes; room < largest || names[3] != "key-verifying-key-01234567-3" {
		t.Errorf("%v take %d bytes, want %d", names, room, largest)
	}
	if names := outputs(newKey()); len(names) != 1 || names[0] != "key-verifying-key-01234567-0" {
		t.Errorf("a .zkey's verifying key goes into %v", names)
	}
}

// The name of a Filecoin key's parameters is what inspection found by their lengths, or what the published digest says.
func TestNamesOfParameters(t *testing.T) {
	const window = "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-0-0377ded656c6f524f1618760bffe4e0a1c51d5a70c4509eedae8a27555733edc"
	var digest [64]byte
	if _, err := hex.Decode(digest[:], []byte("0f8ec542485568fa3468c066e9fed82b")); err != nil { // of its .vk, in parameters.json
		t.Fatal(err)
	}
	if got := published(digest); got != window {
		t.Errorf("published parameters are %q, want %q", got, window)
	}
	if got := published([64]byte{1}); got != "" {
		t.Errorf("unknown parameters are %q", got)
	}
	content := &Content{Location: api.VerifyingKeyLocation{Digest: "sha256:vk"}, Public: 25839}
	for _, c := range []struct{ published, inspected, want string }{
		{"", "", ""}, {"a", "", "a"}, {"", "b", "b"}, {"a", "b", "a"},
	} {
		content.Parameters = c.published
		o := Observation{Key: newKey(filecoinKey), Content: content, Result: &order.InspectionResult{Parameters: c.inspected}}
		if got := MakePlan(&o, noon).Status.Facts.Parameters; got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

// A verifying key that a status pins is not parsed anew.
func TestPinnedContent(t *testing.T) {
	status := &api.ProvingKeyStatus{
		VerifyingKey: &api.VerifyingKeyLocation{Digest: "sha256:vk", SizeBytes: ptr.To[int64](700)},
		Facts:        &api.CircuitFacts{PublicInputs: ptr.To[int64](2), Commitments: ptr.To[int32](1), Parameters: "p"},
	}
	want := &Content{Location: *status.VerifyingKey, Public: 2, Commitments: 1, Parameters: "p"}
	if diff := cmp.Diff(want, contentOf(status)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	status.Facts.PublicInputs = nil
	if got := contentOf(status); got != nil {
		t.Errorf("a status without facts pins %+v", got)
	}
}
