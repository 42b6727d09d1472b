// Package verifyingkey reads the verifying keys of ProvingKeys from where the operator may read them: the object itself,
// and ConfigMaps of its namespace. Volumes and URIs are left to pods.
package verifyingkey

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"golang.org/x/crypto/blake2b"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
)

// MaxBytes bounds a verifying key: 64 ConfigMaps are more than that, and a key of this size has some 20,000 public inputs.
const MaxBytes = 8 << 20

// NotFoundError says that a ConfigMap, or a key in it, is not there.
type NotFoundError struct{ Name, Key string }

func (e *NotFoundError) Error() string {
	if e.Key == "" {
		return fmt.Sprintf("there is no ConfigMap %s", e.Name)
	}
	return fmt.Sprintf("ConfigMap %s has no key %s", e.Name, e.Key)
}

// DigestError says that content is not what a digest pins.
type DigestError struct{ What, Want, Got string }

func (e *DigestError) Error() string {
	return fmt.Sprintf("%s has digest %s, expected %s", e.What, e.Got, e.Want)
}

// Load reads the verifying key that a ProvingKey's status pins, and checks its digest. reader must not be a cache:
// ConfigMaps are not cached.
func Load(ctx context.Context, reader client.Reader, key *api.ProvingKey) ([]byte, error) {
	at := key.Status.VerifyingKey
	if at == nil {
		return nil, fmt.Errorf("ProvingKey %s has no verifying key yet", key.Name)
	}
	var data []byte
	if len(at.ConfigMaps) == 0 {
		f := key.Spec.Files.VerifyingKey
		if f == nil || f.Inline == nil {
			return nil, fmt.Errorf("the status of ProvingKey %s does not say where its verifying key is", key.Name)
		}
		data = f.Inline.Bytes()
	}
	for i := range at.ConfigMaps {
		part, err := Part(ctx, reader, key.Namespace, &at.ConfigMaps[i])
		if err != nil {
			return nil, err
		}
		if data = append(data, part...); len(data) > MaxBytes {
			return nil, fmt.Errorf("the verifying key of ProvingKey %s has more than %d bytes", key.Name, MaxBytes)
		}
	}
	if err := CheckDigest("the verifying key of ProvingKey "+key.Name, data, string(at.Digest)); err != nil {
		return nil, err
	}
	return data, nil
}

// Part reads one key of a ConfigMap.
func Part(ctx context.Context, reader client.Reader, namespace string, ref *api.ConfigMapKey) ([]byte, error) {
	var cm corev1.ConfigMap
	if err := reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: ref.Name}, &cm); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, &NotFoundError{Name: ref.Name}
		}
		return nil, fmt.Errorf("get ConfigMap %s: %w", ref.Name, err)
	}
	if data, ok := cm.BinaryData[ref.Key]; ok {
		return data, nil
	}
	if text, ok := cm.Data[ref.Key]; ok {
		return []byte(text), nil
	}
	return nil, &NotFoundError{Name: ref.Name, Key: ref.Key}
}

// Digest is the digest by which content is pinned.
func Digest(data []byte) api.Digest {
	sum := sha256.Sum256(data)
	return api.Digest("sha256:" + hex.EncodeToString(sum[:]))
}

// CheckDigest compares content with a digest of any kind that the API knows; none is no constraint.
func CheckDigest(what string, data []byte, want string) error {
	got := string(Digest(data))
	switch {
	case want == "":
		return nil
	case len(want) > 12 && want[:12] == "blake2b-512:":
		sum := blake2b.Sum512(data)
		got = "blake2b-512:" + hex.EncodeToString(sum[:])
	}
	if got != want {
		return &DigestError{What: what, Want: want, Got: got}
	}
	return nil
}
