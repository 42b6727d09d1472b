package verification

import (
	"container/list"
	"context"
	"sync"

	"golang.org/x/sync/singleflight"

	"github.com/cuzk-dev/cuzk/prover/filecoin/proof"
)

// KeyRef names a verifying key by its content. Load fetches that content when the cache does not have it; it must check
// the digest.
type KeyRef struct {
	// Format and Curve as in a ProvingKey, CommitmentHash as in a gnark circuit ("" means SHA256).
	Format, Curve, CommitmentHash string
	// Digest is of the bytes that Load returns.
	Digest string
	Load   func(context.Context) ([]byte, error)
}

func (r KeyRef) id() keyID { return keyID{r.Format, r.Curve, r.CommitmentHash, r.Digest} }

type keyID struct{ format, curve, hash, digest string }

// Claim is a proof and what it must be about.
type Claim struct {
	// Proof is as in a report: snarkjs's JSON, base64 of gnark's binary, or base64 of a Filecoin proof or partition.
	Proof string
	// Public are the public inputs in decimal. Those of a Filecoin proof are computed from Statement instead.
	Public    []string
	Statement proof.Statement
}

// Key is a verifying key that has been parsed and checked. It is safe for concurrent use.
type Key interface {
	// Verify returns nil if the proof is one of what it must be about, else why not.
	Verify(Claim) error
	// Public counts the public inputs.
	Public() int
	// Commitments counts the Pedersen commitments, which only gnark circuits have.
	Commitments() int
	// Bytes estimates the key's memory.
	Bytes() int64
}

// Parse reads a verifying key; data is of a ProvingKey's format and curve.
type Parse func(ref KeyRef, data []byte) (Key, error)

// Keys caches parsed verifying keys up to a number of bytes, the least recently used leaving first. A key larger than
// the whole cache is parsed each time.
type Keys struct {
	parse Parse
	limit int64
	load  singleflight.Group

	mu    sync.Mutex
	bytes int64
	order *list.List // of *entry, most recently used first
	byID  map[keyID]*list.Element
}

type entry struct {
	id  keyID
	key Key
}

// NewKeys returns an empty cache of limit bytes.
func NewKeys(limit int64, parse Parse) *Keys {
	return &Keys{parse: parse, limit: limit, order: list.New(), byID: map[keyID]*list.Element{}}
}

// Get returns the parsed key, loading it if need be. Concurrent calls for one key load it once.
func (k *Keys) Get(ctx context.Context, ref KeyRef) (Key, error) {
	id := ref.id()
	if key := k.lookup(id); key != nil {
		return key, nil
	}
	v, err, _ := k.load.Do(id.format+"\x00"+id.curve+"\x00"+id.hash+"\x00"+id.digest, func() (any, error) {
		data, err := ref.Load(ctx)
		if err != nil {
			return nil, err
		}
		key, err := k.parse(ref, data)
		if err != nil {
			return nil, err
		}
		k.add(id, key)
		return key, nil
	})
	if err != nil {
		return nil, err
	}
	return v.(Key), nil
}

func (k *Keys) lookup(id keyID) Key {
	k.mu.Lock()
	defer k.mu.Unlock()
	e, ok := k.byID[id]
	if !ok {
		return nil
	}
	k.order.MoveToFront(e)
	return e.Value.(*entry).key
}

func (k *Keys) add(id keyID, key Key) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, ok := k.byID[id]; ok || key.Bytes() > k.limit {
		return
	}
	k.byID[id] = k.order.PushFront(&entry{id, key})
	k.bytes += key.Bytes()
	for k.bytes > k.limit {
		last := k.order.Back()
		e := last.Value.(*entry)
		k.order.Remove(last)
		delete(k.byID, e.id)
		k.bytes -= e.key.Bytes()
	}
	keyBytes.Set(float64(k.bytes))
}
