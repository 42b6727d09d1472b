package verification

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/cuzk-dev/cuzk/controllers/internal/simulated"
)

// start runs a pool until the test ends, and returns it with a channel of the jobs that it wakes.
func start(t *testing.T, keys *Keys) (*Pool, *clocktesting.FakePassiveClock, chan types.NamespacedName) {
	t.Helper()
	woken := make(chan types.NamespacedName, 100)
	clock := clocktesting.NewFakePassiveClock(time.Unix(1_800_000_000, 0))
	p := NewPool(2, keys, clock, func(_ context.Context, n types.NamespacedName) { woken <- n })
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := p.Start(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); wg.Wait() })
	return p, clock, woken
}

func loaded(data []byte) func(context.Context) ([]byte, error) {
	return func(context.Context) ([]byte, error) { return data, nil }
}

func snarkjsRef(key *simulated.Key) KeyRef {
	return KeyRef{Format: formatSnarkjs, Curve: "BN254", Digest: "sha256:1", Load: loaded(key.VerifyingKey())}
}

func TestPoolVerdicts(t *testing.T) {
	key := simulated.NewKey(2)
	p, _, woken := start(t, NewKeys(1<<20, ParseGroth16))
	good := key.Proof(3, 4)
	job := types.NamespacedName{Namespace: "a", Name: "b"}
	for _, c := range []struct {
		name, proof string
		public      []string
		valid       bool
		message     string
	}{
		{"good", good, []string{"3", "4"}, true, ""},
		{"other input", good, []string{"3", "5"}, false, "does not verify"},
		{"too few inputs", good, []string{"3"}, false, "public inputs"},
		{"alias", good, []string{"3", "21888242871839275222246405745257275088548364400416034343698204186575808495621"}, false, "below"},
		{"other key", simulated.NewKey(2).Proof(3, 4), []string{"3", "4"}, false, "does not verify"},
		{"damaged", good[:len(good)-2], []string{"3", "4"}, false, ""},
		{"empty", "", []string{"3", "4"}, false, ""},
		{"not JSON", "AAAA", []string{"3", "4"}, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			id := ID{UID: "u", Digest: c.name}
			p.Submit(Task{ID: id, Job: job, Key: snarkjsRef(key), Claim: Claim{Proof: c.proof, Public: c.public}})
			if got := <-woken; got != job {
				t.Errorf("woke %v", got)
			}
			v, ok := p.Verdict(id)
			if !ok || v.Valid != c.valid || v.KeyUnavailable || !strings.Contains(v.Message, c.message) || (v.Message == "") != c.valid {
				t.Errorf("verdict %+v, known %v", v, ok)
			}
		})
	}
}

// A key that cannot be read is no verdict on the proof, and is left alone for a while.
func TestPoolKeyUnavailable(t *testing.T) {
	key := simulated.NewKey(1)
	p, clock, woken := start(t, NewKeys(1<<20, ParseGroth16))
	loads := 0
	fault := errors.New("ConfigMap is not there")
	ref := snarkjsRef(key)
	ref.Load = func(context.Context) ([]byte, error) {
		loads++
		return key.VerifyingKey(), fault
	}
	task := Task{ID: ID{UID: "u", Digest: "d"}, Key: ref, Claim: Claim{Proof: key.Proof(1), Public: []string{"1"}}}
	p.Submit(task)
	<-woken
	want := Verdict{KeyUnavailable: true, Message: fault.Error()}
	v, _ := p.Verdict(task.ID)
	if diff := cmp.Diff(want, v, cmpopts.IgnoreUnexported(Verdict{})); diff != "" {
		t.Fatalf("verdict (-want +got):\n%s", diff)
	}
	p.Submit(task)
	fault = nil
	if loads != 1 {
		t.Errorf("%d loads at once", loads)
	}
	clock.SetTime(clock.Now().Add(KeyRetry))
	p.Submit(task)
	<-woken
	if v, _ := p.Verdict(task.ID); !v.Valid || loads != 2 {
		t.Errorf("after a while: verdict %+v, %d loads", v, loads)
	}
	p.Submit(task) // known
	p.Forget("u")
	if _, ok := p.Verdict(task.ID); ok {
		t.Error("a forgotten job has a verdict")
	}
}

type panicking struct{ Key }

func (panicking) Verify(Claim) error { panic("index out of range") }
func (panicking) Bytes() int64       { return 1 }

// The bytes come from outside: what goes wrong with one proof must not end the operator.
func TestPoolSurvivesPanic(t *testing.T) {
	p, _, woken := start(t, NewKeys(1<<20, func(KeyRef, []byte) (Key, error) { return panicking{}, nil }))
	id := ID{UID: "u", Digest: "d"}
	p.Submit(Task{ID: id, Key: KeyRef{Load: loaded(nil)}})
	<-woken
	if v, _ := p.Verdict(id); v.Valid || v.Message == "" {
		t.Errorf("verdict %+v", v)
	}
}

type sized struct {
	Key
	bytes int64
}

func (s sized) Bytes() int64 { return s.bytes }

func TestKeysAreBounded(t *testing.T) {
	parsed := map[string]int{}
	keys := NewKeys(100, func(ref KeyRef, data []byte) (Key, error) {
		parsed[ref.Digest]++
		return sized{bytes: int64(len(data))}, nil
	})
	get := func(digest string, bytes int) {
		t.Helper()
		if _, err := keys.Get(t.Context(), KeyRef{Digest: digest, Load: loaded(make([]byte, bytes))}); err != nil {
			t.Fatal(err)
		}
	}
	get("a", 40)
	get("b", 40)
	get("a", 40)  // kept
	get("c", 40)  // drops b, the least recently used
	get("a", 40)  // kept
	get("b", 40)  // drops c
	get("d", 101) // larger than the cache: never kept
	get("d", 101)
	if diff := cmp.Diff(map[string]int{"a": 1, "b": 2, "c": 1, "d": 2}, parsed); diff != "" {
		t.Errorf("parsed (-want +got):\n%s", diff)
	}
	if keys.bytes != 80 {
		t.Errorf("%d bytes kept", keys.bytes)
	}
}

func TestParseGroth16Refuses(t *testing.T) {
	vk := simulated.NewKey(1).VerifyingKey()
	for _, c := range []struct {
		name string
		ref  KeyRef
		data []byte
		want string
	}{
		{"other curve", KeyRef{Format: formatSnarkjs, Curve: "BLS12-381"}, vk, "BN254"},
		{"other format", KeyRef{Format: formatGnark, Curve: "BN254"}, vk, ""},
		{"no format", KeyRef{Curve: "BN254"}, vk, "format"},
		{"no curve", KeyRef{Format: formatSnarkjs}, vk, "curve"},
		{"cut off", KeyRef{Format: formatSnarkjs, Curve: "BN254"}, vk[:len(vk)/2], ""},
		{"unknown hash", KeyRef{Format: formatSnarkjs, Curve: "BN254", CommitmentHash: "MD5"}, vk, "hash"},
	} {
		if _, err := ParseGroth16(c.ref, c.data); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
