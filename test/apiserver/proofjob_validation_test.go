// Copyright The cuzk Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build apiserver

package apiserver

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/cuzk-dev/cuzk/api/v1alpha1"
)

func TestProofJobValidation(t *testing.T) {
	namespace := newNamespace(t)
	type spec = *v1alpha1.ProofJobSpec
	first := func(s spec) *v1alpha1.ProofInput { return &s.Inputs[0] }
	source := func(s v1alpha1.InputSource) func(spec) { return func(spec spec) { first(spec).InputSource = s } }
	path := func(p v1alpha1.RelativePath) func(spec) {
		return source(v1alpha1.InputSource{PersistentVolumeClaim: &v1alpha1.ClaimPath{ClaimName: "inputs", Path: p}})
	}
	url := func(u string) func(spec) {
		return func(s spec) {
			first(s).InputSource = v1alpha1.InputSource{URI: &v1alpha1.URISource{URL: u}}
			first(s).Digest = v1alpha1.Digest("sha256:" + strings.Repeat("0a", 32))
		}
	}
	digest := func(d v1alpha1.Digest) func(spec) { return func(s spec) { first(s).Digest = d } }
	public := func(values ...string) func(spec) { return func(s spec) { first(s).PublicInputs = values } }

	const (
		oneSource  = "spec.inputs[0]: an input has exactly one source: set one of inline, configMap, secret, persistentVolumeClaim and uri"
		badPath    = "spec.inputs[0].persistentVolumeClaim.path: a path must be relative to the root of the volume or image, without '.', '..' and empty elements: remove them, and any '/' at the beginning or end"
		badURL     = "spec.inputs[0].uri.url: uri.url must begin with https://, s3://, gs:// or azblob:// and hold no white space: copy the object to one of these, or use another source"
		badDigest  = "spec.inputs[0].digest: a digest must be sha256:<64 hex digits> or blake2b-512:<128 hex digits>, in lower case: take what sha256sum or b2sum prints, with the prefix"
		badName    = "spec.inputs[0].name: an input's name must be a DNS label: use lower-case letters, digits and '-' only, beginning and ending with a letter or digit"
		badPublic  = "spec.inputs[0].publicInputs[0]: a public input must be a decimal number without sign, white space or leading zeros: convert it"
		oneInline  = "spec.inputs[0].inline: inline holds exactly one thing: set either inline.witness (base64 of the witness file) or inline.input (the text of circom's input.json)"
		manyRuns   = "spec.runs: runs and warmupRuns together must be at most 50: lower one of them"
		manyProofs = "spec.runs: (runs + warmupRuns) times the number of inputs must be at most 512: lower runs or warmupRuns, or split inputs into several ProofJobs"
		badLabels  = "spec.execution.dedicated.podLabels: podLabels must not hold keys that begin with proving.cuzk.dev/, batch.kubernetes.io/ or kueue.x-k8s.io/, nor controller-uid or job-name: remove them (labels for Kueue belong on the ProofJob itself)"
		badEnv     = "spec.execution.dedicated.env: env must not hold JOB_COMPLETION_INDEX or names that begin with CUZK_, which Kubernetes and the operator set: remove or rename them"
		badNotes   = "spec.execution.dedicated.podAnnotations: podAnnotations must not hold keys that begin with proving.cuzk.dev/, batch.kubernetes.io/ or kueue.x-k8s.io/: remove them"
	)
	cases := []struct {
		name   string
		inputs int
		change func(spec)
		want   []string
	}{
		{name: "minimal", change: func(spec) {}},
		{name: "circom settings", change: func(s spec) { s.Circuit.Circom = &v1alpha1.CircomCircuit{WitnessTimeoutSeconds: ptr.To[int32](60)} }},
		{name: "gnark with a witness", change: func(s spec) {
			s.Circuit = v1alpha1.Circuit{Type: v1alpha1.CircuitGnark, Gnark: &v1alpha1.GnarkCircuit{CommitmentHash: v1alpha1.CommitmentHashKeccak256}}
			first(s).Inline = &v1alpha1.InlineInput{Witness: []byte{0, 1, 2}}
		}},
		{name: "gnark with circom's member", change: func(s spec) {
			s.Circuit = v1alpha1.Circuit{Type: v1alpha1.CircuitGnark, Circom: &v1alpha1.CircomCircuit{}}
			first(s).Inline = &v1alpha1.InlineInput{Witness: []byte{0}}
		}, want: []string{"spec.circuit.circom: circuit.circom is allowed only with circuit.type Circom: remove it or change type"}},
		{name: "circom with gnark's member", change: func(s spec) { s.Circuit.Gnark = &v1alpha1.GnarkCircuit{} },
			want: []string{"spec.circuit.gnark: circuit.gnark is allowed only with circuit.type Gnark: remove it or change type"}},
		{name: "gnark with input.json", change: func(s spec) { s.Circuit.Type = v1alpha1.CircuitGnark },
			want: []string{"spec.inputs: inputs[].inline.input is text for circom's witness generator: with circuit.type Gnark put the serialized witness into inputs[].inline.witness"}},

		{name: "no source", change: source(v1alpha1.InputSource{}), want: []string{oneSource}},
		{name: "two sources", change: func(s spec) { first(s).ConfigMap = &v1alpha1.ConfigMapKey{Name: "a", Key: "b"} }, want: []string{oneSource}},
		{name: "config map", change: source(v1alpha1.InputSource{ConfigMap: &v1alpha1.ConfigMapKey{Name: "a", Key: "alice.wtns"}})},
		{name: "config map key", change: source(v1alpha1.InputSource{ConfigMap: &v1alpha1.ConfigMapKey{Name: "a", Key: "a/b"}}),
			want: []string{"spec.inputs[0].configMap.key: configMap.key may hold letters, digits, '-', '_' and '.' only: use the key as it stands in the ConfigMap's data"}},
		{name: "secret", change: source(v1alpha1.InputSource{Secret: &v1alpha1.SecretKey{Name: "a", Key: "alice.wtns"}})},
		{name: "secret key", change: source(v1alpha1.InputSource{Secret: &v1alpha1.SecretKey{Name: "a", Key: "a b"}}),
			want: []string{"spec.inputs[0].secret.key: secret.key may hold letters, digits, '-', '_' and '.' only: use the key as it stands in the Secret's data"}},
		{name: "empty inline", change: source(v1alpha1.InputSource{Inline: &v1alpha1.InlineInput{}}), want: []string{oneInline}},
		{name: "double inline", change: func(s spec) { first(s).Inline.Witness = []byte{1} }, want: []string{oneInline}},

		{name: "path", change: path("2026/alice.wtns")},
		{name: "path with dots in names", change: path("..alice/b..wtns/.c")},
		{name: "path upwards", change: path("a/../../etc/passwd"), want: []string{badPath}},
		{name: "path upwards alone", change: path(".."), want: []string{badPath}},
		{name: "absolute path", change: path("/alice.wtns"), want: []string{badPath}},
		{name: "path with an empty element", change: path("a//b"), want: []string{badPath}},
		{name: "path of a folder", change: path("a/"), want: []string{badPath}},

		{name: "https", change: url("https://example.com/alice.wtns?version=3")},
		{name: "s3", change: url("s3://bucket/alice.wtns")},
		{name: "gs", change: url("gs://bucket/alice.wtns")},
		{name: "azblob", change: url("azblob://container/alice.wtns")},
		{name: "@ in a path", change: url("https://example.com/a@b")},
		{name: "http", change: url("http://example.com/alice.wtns"), want: []string{badURL}},
		{name: "file", change: url("file:///etc/passwd"), want: []string{badURL}},
		{name: "white space", change: url("https://example.com/a b"), want: []string{badURL}},
		{name: "query of an object store", change: url("s3://bucket/a?versionId=3"), want: []string{"spec.inputs[0].uri.url: uri.url must have no fragment, and a query only with https: remove what follows '#' or '?'"}},
		{name: "fragment", change: url("https://example.com/a#b"), want: []string{"spec.inputs[0].uri.url: uri.url must have no fragment, and a query only with https: remove what follows '#' or '?'"}},
		{name: "credentials in the url", change: url("https://user:secret@example.com/alice.wtns"),
			want: []string{"spec.inputs[0].uri.url: uri.url must not hold credentials, since whoever may read the object may read it: put them into a Secret and name it in uri.secretRef"}},
		{name: "uri without digest", change: func(s spec) { url("https://example.com/a")(s); first(s).Digest = "" },
			want: []string{"spec.inputs[0].digest: digest is required for an input with uri: set it to the content's digest, as sha256:<hex>"}},

		{name: "blake2b digest", change: digest(v1alpha1.Digest("blake2b-512:" + strings.Repeat("0a", 64)))},
		{name: "upper-case digest", change: digest(v1alpha1.Digest("sha256:" + strings.Repeat("0A", 32))), want: []string{badDigest}},
		{name: "long digest", change: digest(v1alpha1.Digest("sha256:" + strings.Repeat("0a", 33))), want: []string{badDigest}},
		{name: "short digest", change: digest("sha256:0a"), want: []string{badDigest}},
		{name: "digest of another kind", change: digest(v1alpha1.Digest("sha384:" + strings.Repeat("0a", 48))), want: []string{badDigest}},

		{name: "input name", change: func(s spec) { first(s).Name = "Alice_1" }, want: []string{badName}},
		{name: "input name ends with -", change: func(s spec) { first(s).Name = "alice-" }, want: []string{badName}},
		{name: "same names", inputs: 2, change: func(s spec) { s.Inputs[1].Name = s.Inputs[0].Name },
			want: []string{`spec.inputs[1]: {"name":"input-0"}`}},
		{name: "no inputs", change: func(s spec) { s.Inputs = []v1alpha1.ProofInput{} }, want: []string{"spec.inputs: Required value"}},
		{name: "257 inputs", inputs: 257, change: func(spec) {}, want: []string{"spec.inputs: Too many: 257: must have at most 256 items"}},

		{name: "public inputs", change: public("0", "1", "52435875175126190479447740508185965837690552500527637822603658699938581184512")},
		{name: "hexadecimal public input", change: public("0x1f"), want: []string{badPublic}},
		{name: "negative public input", change: public("-1"), want: []string{badPublic}},
		{name: "leading zero", change: public("01"), want: []string{badPublic}},
		{name: "white space around", change: public(" 1"), want: []string{badPublic}},
		{name: "differing numbers of public inputs", inputs: 3, change: func(s spec) {
			s.Inputs[0].PublicInputs, s.Inputs[2].PublicInputs = []string{"1", "2"}, []string{"1"}
		}, want: []string{"spec.inputs: inputs[].publicInputs must have the same number of values in each input that declares them, since all inputs are of one circuit: add the missing or remove the surplus values"}},

		{name: "all of the base64 alphabet", change: func(s spec) {
			first(s).Inline = &v1alpha1.InlineInput{Witness: []byte{0x00, 0x10, 0x83, 0xfb, 0xff, 0xbf, 0xff}}
		}},
		{name: "64 KiB inline", inputs: 2, change: func(s spec) {
			s.Inputs[0].Inline = &v1alpha1.InlineInput{Witness: make([]byte, 32768)}
			s.Inputs[1].Inline = &v1alpha1.InlineInput{Input: ptr.To(strings.Repeat("1", 32768))}
		}},
		{name: "more than 64 KiB inline", inputs: 2, change: func(s spec) {
			s.Inputs[0].Inline = &v1alpha1.InlineInput{Witness: make([]byte, 32769)}
			s.Inputs[1].Inline = &v1alpha1.InlineInput{Input: ptr.To(strings.Repeat("1", 32768))}
		}, want: []string{"spec.inputs: inputs[].inline must be at most 64 KiB in all inputs together: put larger inputs into a ConfigMap, a Secret, a PersistentVolumeClaim or behind a URI"}},
		{name: "too many digits", inputs: 256, change: func(s spec) {
			for i := range s.Inputs {
				for range 7 {
					s.Inputs[i].PublicInputs = append(s.Inputs[i].PublicInputs, strings.Repeat("1", 77))
				}
			}
		}, want: []string{"spec.inputs: inputs[].publicInputs must be at most 131072 digits in all inputs together: split the inputs into several ProofJobs"}},
		{name: "too long paths", inputs: 256, change: func(s spec) {
			for i := range s.Inputs {
				s.Inputs[i].InputSource = v1alpha1.InputSource{PersistentVolumeClaim: &v1alpha1.ClaimPath{ClaimName: "a", Path: v1alpha1.RelativePath(strings.Repeat("a", 513))}}
			}
		}, want: []string{"spec.inputs: inputs[].uri.url and inputs[].persistentVolumeClaim.path must be at most 131072 characters in all inputs together: use shorter ones or split the inputs into several ProofJobs"}},

		{name: "50 runs", change: func(s spec) { s.Runs, s.WarmupRuns = ptr.To[int32](40), ptr.To[int32](10) }},
		{name: "51 runs", change: func(s spec) { s.Runs, s.WarmupRuns = ptr.To[int32](40), ptr.To[int32](11) }, want: []string{manyRuns}},
		{name: "512 proofs", inputs: 256, change: func(s spec) { s.Runs = ptr.To[int32](2) }},
		{name: "513 proofs", inputs: 171, change: func(s spec) { s.Runs, s.WarmupRuns = ptr.To[int32](2), ptr.To[int32](1) }, want: []string{manyProofs}},
		{name: "no runs", change: func(s spec) { s.Runs = ptr.To[int32](0) }, want: []string{"spec.runs: spec.runs in body should be greater than or equal to 1"}},

		{name: "partitions per pod", inputs: 3, change: func(s spec) { s.Execution.Dedicated.PartitionsPerPod = ptr.To[int32](3) }},
		{name: "more partitions per pod than inputs", inputs: 3, change: func(s spec) { s.Execution.Dedicated.PartitionsPerPod = ptr.To[int32](4) },
			want: []string{"spec.execution.dedicated.partitionsPerPod: execution.dedicated.partitionsPerPod must be at most the number of inputs: lower it"}},
		{name: "parallelism 0", change: func(s spec) { s.Execution.Dedicated.Parallelism = ptr.To[int32](0) },
			want: []string{"spec.execution.dedicated.parallelism: spec.execution.dedicated.parallelism in body should be greater than or equal to 1"}},
		{name: "parallelism 257", change: func(s spec) { s.Execution.Dedicated.Parallelism = ptr.To[int32](257) },
			want: []string{"spec.execution.dedicated.parallelism: spec.execution.dedicated.parallelism in body should be less than or equal to 256"}},

		{name: "pod surface", change: func(s spec) {
			d := &s.Execution.Dedicated
			d.Image = "registry.example.com/cuzk-prover:v1"
			d.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "registry"}}
			d.Resources = corev1.ResourceRequirements{Limits: corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("1")}}
			d.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimTemplateName: ptr.To("gpu")}}
			d.NodeSelector = map[string]string{"nvidia.com/gpu.product": "H200"}
			d.Tolerations = []corev1.Toleration{{Key: "nvidia.com/gpu", Operator: corev1.TolerationOpExists}}
			d.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: "kubernetes.io/hostname"}}}}
			d.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: corev1.ScheduleAnyway}}
			d.Env = []corev1.EnvVar{{Name: "GOMAXPROCS", Value: "4"}}
			d.PodLabels = map[string]string{"team": "proofs"}
			d.PodAnnotations = map[string]string{"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}
			d.SecurityContext = &v1alpha1.PodUsers{RunAsUser: ptr.To[int64](1000), SupplementalGroups: []int64{44}, FSGroupChangePolicy: ptr.To(corev1.FSGroupChangeOnRootMismatch)}
			d.ScratchSize = ptr.To(resource.MustParse("10Gi"))
			d.TerminationGracePeriodSeconds = ptr.To[int64](0)
		}},
		{name: "labels of this project", change: func(s spec) {
			s.Execution.Dedicated.PodLabels = map[string]string{"proving.cuzk.dev/x": "y"}
		}, want: []string{badLabels}},
		{name: "labels of the Job controller", change: func(s spec) { s.Execution.Dedicated.PodLabels = map[string]string{"job-name": "y"} }, want: []string{badLabels}},
		{name: "labels of Kueue", change: func(s spec) {
			s.Execution.Dedicated.PodLabels = map[string]string{"kueue.x-k8s.io/queue-name": "y"}
		}, want: []string{badLabels}},
		{name: "long label value", change: func(s spec) { s.Execution.Dedicated.PodLabels = map[string]string{"a": strings.Repeat("b", 64)} },
			want: []string{"spec.execution.dedicated.podLabels: podLabels must hold label keys of at most 317 and values of at most 63 characters: shorten them"}},
		{name: "annotations of this project", change: func(s spec) {
			s.Execution.Dedicated.PodAnnotations = map[string]string{"proving.cuzk.dev/order": "y"}
		}, want: []string{badNotes}},
		{name: "long annotations", change: func(s spec) {
			s.Execution.Dedicated.PodAnnotations = map[string]string{"a": strings.Repeat("b", 32768)}
		}, want: []string{"spec.execution.dedicated.podAnnotations: podAnnotations must be at most 32 KiB together: shorten or remove some"}},
		{name: "environment of this project", change: func(s spec) { s.Execution.Dedicated.Env = []corev1.EnvVar{{Name: "CUZK_POD_UID", Value: "1"}} },
			want: []string{badEnv}},
		{name: "environment of the Job controller", change: func(s spec) { s.Execution.Dedicated.Env = []corev1.EnvVar{{Name: "JOB_COMPLETION_INDEX", Value: "1"}} },
			want: []string{badEnv}},
		{name: "large environment", change: func(s spec) {
			s.Execution.Dedicated.Env = []corev1.EnvVar{{Name: "A", Value: strings.Repeat("b", 32768)}}
		}, want: []string{"spec.execution.dedicated.env: env must be at most 32 KiB together: mount larger values from a ConfigMap or Secret"}},
		{name: "root", change: func(s spec) {
			s.Execution.Dedicated.SecurityContext = &v1alpha1.PodUsers{RunAsUser: ptr.To[int64](0)}
		}, want: []string{"spec.execution.dedicated.securityContext.runAsUser: spec.execution.dedicated.securityContext.runAsUser in body should be greater than or equal to 1"}},
		{name: "no scratch", change: func(s spec) { s.Execution.Dedicated.ScratchSize = ptr.To(resource.MustParse("0")) },
			want: []string{"spec.execution.dedicated.scratchSize: execution.dedicated.scratchSize must be more than 0: raise it, or remove it for the default"}},
		{name: "repeated spread constraint", change: func(s spec) {
			c := corev1.TopologySpreadConstraint{MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: corev1.ScheduleAnyway}
			s.Execution.Dedicated.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{c, c}
		}, want: []string{`spec.execution.dedicated.topologySpreadConstraints[1]: {"topologyKey":"zone","whenUnsatisfiable":"ScheduleAnyway"}`}},

		{name: "managed by someone else", change: func(s spec) { s.ManagedBy = ptr.To("example.com/controller") }},
		{name: "managed by a word", change: func(s spec) { s.ManagedBy = ptr.To("controller") },
			want: []string{"spec.managedBy: managedBy must be a domain and a path with '/' between, such as example.com/controller: add the domain"}},
		{name: "unknown circuit", change: func(s spec) { s.Circuit.Type = "Halo2" }, want: []string{`spec.circuit.type: "Halo2": supported values: "Circom", "Gnark", "FilecoinPoRep", "FilecoinWindowPoSt", "FilecoinWinningPoSt", "FilecoinSnapDeals"`}},

		{name: "several mistakes at once", inputs: 2, change: func(s spec) {
			s.Circuit.Gnark = &v1alpha1.GnarkCircuit{}
			s.Inputs[0].Name = "Alice"
			s.Inputs[1].InputSource = v1alpha1.InputSource{}
			s.Runs, s.WarmupRuns = ptr.To[int32](50), ptr.To[int32](1)
			s.Execution.Dedicated.PodLabels = map[string]string{"job-name": "y"}
			s.Execution.Dedicated.PartitionsPerPod = ptr.To[int32](3)
		}, want: []string{
			"spec.circuit.gnark: circuit.gnark is allowed only with circuit.type Gnark: remove it or change type",
			"spec.execution.dedicated.partitionsPerPod: execution.dedicated.partitionsPerPod must be at most the number of inputs: lower it",
			badLabels, badName,
			"spec.inputs[1]: an input has exactly one source: set one of inline, configMap, secret, persistentVolumeClaim and uri",
			manyRuns,
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			job := newProofJob(namespace, "job", max(1, c.inputs))
			c.change(&job.Spec)
			if diff := cmp.Diff(c.want, causes(t, dryCreate(t, job))); diff != "" {
				t.Errorf("causes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestProofJobName(t *testing.T) {
	namespace := newNamespace(t)
	bad := []string{"<nil>: metadata.name must be a DNS label of at most 52 characters (lower-case letters, digits and '-', no dots), since pods are named after it: choose a shorter or simpler name"}
	for name, want := range map[string][]string{
		"a": nil, "7": nil, strings.Repeat("a", 52): nil,
		strings.Repeat("a", 53): bad, "a.b": bad,
	} {
		if diff := cmp.Diff(want, causes(t, dryCreate(t, newProofJob(namespace, name, 1)))); diff != "" {
			t.Errorf("name %q: causes (-want +got):\n%s", name, diff)
		}
	}
	generated := newProofJob(namespace, "", 1)
	generated.GenerateName = strings.Repeat("a", 47)
	if err := dryCreate(t, generated); err != nil {
		t.Errorf("a generated name of 52 characters: %v", err)
	}
}

// TestProofJobUnknownFields makes sure that a misspelt field is no silent default, where the client asks for it as kubectl does.
func TestProofJobUnknownFields(t *testing.T) {
	namespace := newNamespace(t)
	object := parse(t, fmt.Sprintf(`
apiVersion: proving.cuzk.dev/v1alpha1
kind: ProofJob
metadata: {name: job, namespace: %s}
spec:
  circuit: {type: Circom}
  provingKeyRef: {name: membership}
  inputs:
  - name: alice
    inline: {input: '{}'}
  executions: {}
`, namespace))
	err := strict(t).Create(t.Context(), object)
	if err == nil || !strings.Contains(err.Error(), `unknown field "spec.executions"`) {
		t.Errorf("got %v, want an error about spec.executions", err)
	}
}

func TestProofJobDefaults(t *testing.T) {
	job := newProofJob(newNamespace(t), "job", 1)
	if err := admin.Create(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	want := newProofJob(job.Namespace, "job", 1).Spec
	want.ProvingKeyRef.Kind = v1alpha1.ProvingKeyKindNamespaced
	want.Execution.Type = v1alpha1.ExecutionDedicated
	want.Backend.Type = v1alpha1.BackendAuto
	want.Runs, want.WarmupRuns = ptr.To[int32](1), ptr.To[int32](0)
	want.Output.Type = v1alpha1.OutputStatus
	want.Verification = v1alpha1.VerificationRequired
	want.BackoffLimitPerPartition = ptr.To[int32](3)
	if diff := cmp.Diff(want, job.Spec); diff != "" {
		t.Errorf("spec with defaults (-want +got):\n%s", diff)
	}
}

// TestInlineIsBase64 makes sure that nothing gets in that clients could not decode: one such object, and no list of its kind
// can be read any more.
func TestInlineIsBase64(t *testing.T) {
	namespace := newNamespace(t)
	for text, good := range map[string]bool{
		"AA==": true, "AAA=": true, "AAAA": true, "+/+/": true,
		"A": false, "AA": false, "AA=": false, "AAA": false, "A===": false, "AAAA====": false, "AA==AAAA": false,
		"AA_-": false, "AA A": false, "AAAA\\n": false,
	} {
		object := parse(t, fmt.Sprintf(`
apiVersion: proving.cuzk.dev/v1alpha1
kind: ProofJob
metadata: {name: job, namespace: %s}
spec:
  circuit: {type: Circom}
  provingKeyRef: {name: membership}
  inputs:
  - name: alice
    inline: {witness: "%s"}
`, namespace, text))
		if err := dryCreate(t, object); (err == nil) != good {
			t.Errorf("%q: %v", text, err)
		}
	}
}
