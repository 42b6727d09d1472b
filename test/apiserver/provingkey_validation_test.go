// Copyright The cuzk Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build apiserver

package apiserver

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/cuzk-dev/cuzk/api/v1alpha1"
)

func TestProvingKeyValidation(t *testing.T) {
	namespace := newNamespace(t)
	type spec = *v1alpha1.ProvingKeySpec
	key := func(f v1alpha1.KeyFile) func(spec) { return func(s spec) { s.Files.ProvingKey = f } }
	claim := &v1alpha1.ClaimPath{ClaimName: "keys", Path: "a.zkey"}
	inline := func(n int) *v1alpha1.InlineFile { return &v1alpha1.InlineFile{Text: ptr.To(strings.Repeat(" ", n))} }

	const oneSource = "spec.files.provingKey: a file has exactly one source: set one of inline, configMap, persistentVolumeClaim, uri and image"
	cases := []struct {
		name   string
		change func(spec)
		want   []string
	}{
		{name: "minimal", change: func(spec) {}},
		{name: "all of snarkjs", change: func(s spec) {
			s.Curve = v1alpha1.CurveBN254
			s.Files.ProvingKey.SizeBytes = ptr.To[int64](50_000_000_000)
			s.Files.ProvingKey.Digest = v1alpha1.Digest("blake2b-512:" + strings.Repeat("0a", 64))
			s.Files.VerifyingKey = &v1alpha1.KeyFile{Inline: &v1alpha1.InlineFile{Text: ptr.To("{}")}}
			s.Files.ConstraintSystem = &v1alpha1.KeyFile{ConfigMap: &v1alpha1.ConfigMapKey{Name: "circuit", Key: "a.r1cs"}}
			s.Files.WitnessGenerator = &v1alpha1.KeyFile{Image: &v1alpha1.ImageFile{Reference: "example.com/circuit@sha256:" + strings.Repeat("0a", 32), Path: "a.wasm", PullPolicy: corev1.PullIfNotPresent}}
		}},
		{name: "gnark", change: func(s spec) {
			s.Format = v1alpha1.KeyFormatGnark
			s.Files.ConstraintSystem = &v1alpha1.KeyFile{PersistentVolumeClaim: claim}
			s.Files.VerifyingKey = &v1alpha1.KeyFile{Inline: &v1alpha1.InlineFile{Data: []byte{1, 2}}}
		}},
		{name: "gnark without constraint system", change: func(s spec) { s.Format = v1alpha1.KeyFormatGnark },
			want: []string{"spec.files.constraintSystem: files.constraintSystem is required with format Gnark, whose proving key does not hold the constraints: add the compiled constraint system"}},
		{name: "gnark with a witness generator", change: func(s spec) {
			s.Format = v1alpha1.KeyFormatGnark
			s.Files.ConstraintSystem = &v1alpha1.KeyFile{PersistentVolumeClaim: claim}
			s.Files.WitnessGenerator = &v1alpha1.KeyFile{PersistentVolumeClaim: claim}
		}, want: []string{"spec.files.witnessGenerator: files.witnessGenerator is circom's .wasm and allowed only with format Snarkjs: remove it"}},
		{name: "Filecoin", change: func(s spec) {
			s.Format = v1alpha1.KeyFormatFilecoin
			s.Files.VerifyingKey = &v1alpha1.KeyFile{ConfigMap: &v1alpha1.ConfigMapKey{Name: "keys", Key: "a.vk"}}
		}},
		{name: "Filecoin with what it does not have", change: func(s spec) {
			s.Format, s.Curve = v1alpha1.KeyFormatFilecoin, v1alpha1.CurveBN254
			s.Files.ConstraintSystem = &v1alpha1.KeyFile{PersistentVolumeClaim: claim}
			s.Files.WitnessGenerator = &v1alpha1.KeyFile{PersistentVolumeClaim: claim}
		}, want: []string{
			"spec.curve: curve must be BLS12-381 with format Filecoin: change it",
			"spec.files.constraintSystem: files.constraintSystem is not allowed with format Filecoin, whose circuits the prover knows: remove it",
			"spec.files.witnessGenerator: files.witnessGenerator is circom's .wasm and allowed only with format Snarkjs: remove it",
		}},
		{name: "no source", change: key(v1alpha1.KeyFile{SizeBytes: ptr.To[int64](1)}), want: []string{oneSource}},
		{name: "two sources", change: key(v1alpha1.KeyFile{PersistentVolumeClaim: claim, ConfigMap: &v1alpha1.ConfigMapKey{Name: "a", Key: "b"}}), want: []string{oneSource}},
		{name: "no proving key", change: key(v1alpha1.KeyFile{}), want: []string{"spec.files: Required value"}},
		{name: "uri without digest", change: key(v1alpha1.KeyFile{URI: &v1alpha1.URISource{URL: "https://example.com/a.zkey"}}),
			want: []string{"spec.files.provingKey.digest: digest is required for a file with uri: set it to the content's digest, as sha256:<hex>"}},
		{name: "path upwards in an image", change: key(v1alpha1.KeyFile{Image: &v1alpha1.ImageFile{Reference: "a", Path: "../a.zkey"}}),
			want: []string{"spec.files.provingKey.image.path: a path must be relative to the root of the volume or image, without '.', '..' and empty elements: remove them, and any '/' at the beginning or end"}},
		{name: "empty inline", change: key(v1alpha1.KeyFile{Inline: &v1alpha1.InlineFile{}}),
			want: []string{"spec.files.provingKey.inline: inline holds exactly one thing: set either inline.data (base64) or inline.text"}},
		{name: "all of the base64 alphabet", change: func(s spec) {
			s.Files.VerifyingKey = &v1alpha1.KeyFile{Inline: &v1alpha1.InlineFile{Data: []byte{0x00, 0x10, 0x83, 0xfb, 0xff, 0xbf, 0xff}}}
		}},
		{name: "64 KiB inline", change: func(s spec) {
			s.Files.VerifyingKey = &v1alpha1.KeyFile{Inline: inline(32768)}
			s.Files.ConstraintSystem = &v1alpha1.KeyFile{Inline: &v1alpha1.InlineFile{Data: make([]byte, 32768)}}
		}},
		{name: "more than 64 KiB inline", change: func(s spec) {
			s.Files.VerifyingKey = &v1alpha1.KeyFile{Inline: inline(32768)}
			s.Files.ConstraintSystem = &v1alpha1.KeyFile{Inline: &v1alpha1.InlineFile{Data: make([]byte, 32769)}}
		}, want: []string{"spec.files: files.*.inline must be at most 64 KiB in all files together: put larger files into a ConfigMap or on a PersistentVolumeClaim"}},
		{name: "no size", change: func(s spec) { s.Files.ProvingKey.SizeBytes = ptr.To[int64](0) },
			want: []string{"spec.files.provingKey.sizeBytes: spec.files.provingKey.sizeBytes in body should be greater than or equal to 1"}},
		{name: "unknown curve", change: func(s spec) { s.Curve = "bn128" }, want: []string{`spec.curve: "bn128": supported values: "BN254", "BLS12-381"`}},
		{name: "several mistakes at once", change: func(s spec) {
			s.Files.ProvingKey.ConfigMap = &v1alpha1.ConfigMapKey{Name: "a", Key: "b"}
			s.Files.ProvingKey.PersistentVolumeClaim.Path = "/a"
			s.Files.VerifyingKey = &v1alpha1.KeyFile{URI: &v1alpha1.URISource{URL: "ftp://example.com/a"}}
		}, want: []string{
			"spec.files.provingKey.persistentVolumeClaim.path: a path must be relative to the root of the volume or image, without '.', '..' and empty elements: remove them, and any '/' at the beginning or end",
			oneSource,
			"spec.files.verifyingKey.digest: digest is required for a file with uri: set it to the content's digest, as sha256:<hex>",
			"spec.files.verifyingKey.uri.url: uri.url must begin with https://, s3://, gs:// or azblob:// and hold no white space: copy the object to one of these, or use another source",
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			object := newProvingKey(namespace, "key")
			c.change(&object.Spec)
			if diff := cmp.Diff(c.want, causes(t, dryCreate(t, object))); diff != "" {
				t.Errorf("causes (-want +got):\n%s", diff)
			}
		})
	}
	for name, ok := range map[string]bool{strings.Repeat("a", 50): true, strings.Repeat("a", 51): false, "a.b": false} {
		if err := dryCreate(t, newProvingKey(namespace, name)); (err == nil) != ok {
			t.Errorf("name %q: got %v, want admitted: %v", name, err, ok)
		}
	}
}

func TestProvingKeyImmutable(t *testing.T) {
	key := newProvingKey(newNamespace(t), "key")
	if err := admin.Create(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	changed := key.DeepCopy()
	changed.Spec.Curve = v1alpha1.CurveBN254
	changed.Spec.Files.VerifyingKey = &v1alpha1.KeyFile{Inline: &v1alpha1.InlineFile{Text: ptr.To("{}")}}
	want := []string{
		"spec.curve: curve cannot be changed: create a new ProvingKey",
		"spec.files: files cannot be changed: create a new ProvingKey",
	}
	if diff := cmp.Diff(want, causes(t, admin.Update(t.Context(), changed))); diff != "" {
		t.Errorf("causes (-want +got):\n%s", diff)
	}
}
