package gnarkkey

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
)

// dumpMarker begins a dump, in the byte order of the machine that wrote it.
const dumpMarker = 0xdeadbeef

// parse reads the layout of the file. gnark writes it with (*ProvingKey).writeTo and WriteDump of
// backend/groth16/<curve>/marshal.go: numbers are big-endian, but for the lengths within a dump.
func (k *Key) parse() error {
	r := &reader{file: k.name, data: k.data}
	if len(r.data) == 0 {
		return failure.New(failure.Key, "the file is empty").In(r.file).WithFix("%s", fixFile)
	}
	k.encoding = Raw
	if len(r.data) >= 8 {
		switch {
		case binary.LittleEndian.Uint64(r.data) == dumpMarker:
			k.encoding = Dump
			r.at = 8
		case binary.BigEndian.Uint64(r.data) == dumpMarker:
			return r.fail("header", "the dump was written by a machine of the other byte order").
				WithFix("write the key with WriteTo or WriteRawTo")
		}
	}
	if err := k.parseDomain(r); err != nil {
		return err
	}
	r.id = k.id
	if k.encoding != Dump && r.at < len(r.data) && k.id.IsCompressed(r.data[r.at]) {
		k.encoding = Compressed
	}
	k.alphaG1 = k.vertex(r, "alpha in G1", 1)
	k.betaG1 = k.vertex(r, "beta in G1", 1)
	k.deltaG1 = k.vertex(r, "delta in G1", 1)
	if k.encoding == Dump {
		k.parseDump(r)
	} else {
		k.parsePoints(r)
	}
	if r.err != nil {
		return r.err
	}
	if left := len(r.data) - r.at; left > 0 {
		return r.fail("end", "the file goes on for %d bytes after the end of the key", left).WithFix("%s", fixFile)
	}
	return k.reconcile(r)
}

const fixFile = "hand in a complete proving key as gnark's WriteTo, WriteRawTo or WriteDump wrote it"

// sectionLabels name the sections in messages, with gnark's letters.
var sectionLabels = [...]string{
	groth16.SectionA:  "section A (G1)",
	groth16.SectionB1: "section B (G1)",
	groth16.SectionB2: "section B (G2)",
	groth16.SectionL:  "section K (G1)",
	groth16.SectionH:  "section Z (G1)",
}

func (k *Key) parsePoints(r *reader) {
	for _, s := range []groth16.Section{groth16.SectionA, groth16.SectionB1, groth16.SectionH, groth16.SectionL} {
		k.runs[s] = r.points(sectionLabels[s], 1)
	}
	k.betaG2 = k.vertex(r, "beta in G2", 2)
	k.deltaG2 = k.vertex(r, "delta in G2", 2)
	k.runs[groth16.SectionB2] = r.points(sectionLabels[groth16.SectionB2], 2)
	n := k.parseInfinities(r)
	for i := uint32(0); i < n && r.err == nil; i++ {
		k.commitments = append(k.commitments, commitmentRuns{
			basis: r.points(fmt.Sprintf("commitment key %d (basis)", i), 1),
			sigma: r.points(fmt.Sprintf("commitment key %d (basis times sigma)", i), 1),
		})
	}
}

func (k *Key) parseDump(r *reader) {
	k.betaG2 = k.vertex(r, "beta in G2", 2)
	k.deltaG2 = k.vertex(r, "delta in G2", 2)
	n := k.parseInfinities(r)
	for _, s := range []groth16.Section{groth16.SectionA, groth16.SectionB1, groth16.SectionH, groth16.SectionL} {
		k.runs[s] = r.dumped(sectionLabels[s], 1)
	}
	k.runs[groth16.SectionB2] = r.dumped(sectionLabels[groth16.SectionB2], 2)
	for i := uint32(0); i < n && r.err == nil; i++ {
		k.commitments = append(k.commitments, commitmentRuns{
			basis: r.dumped(fmt.Sprintf("commitment key %d (basis)", i), 1),
			sigma: r.dumped(fmt.Sprintf("commitment key %d (basis times sigma)", i), 1),
		})
	}
}

// parseInfinities reads which wires have no point in A and B, and returns the number of commitment keys, which follows
// them. One byte a wire in the file, one bit a wire in memory.
func (k *Key) parseInfinities(r *reader) uint32 {
	const label = "points at infinity"
	wires := r.uint64(label, "the number of wires")
	r.absent[0] = r.uint64(label, "the number of wires without a point in A")
	r.absent[1] = r.uint64(label, "the number of wires without a point in B")
	if r.err != nil {
		return 0
	}
	if left := uint64(len(r.data) - r.at); wires > left/2 {
		r.err = r.fail(label, "the key says it has %d wires, but only %d bytes are left for their two flags each", wires, left).
			WithFix("%s", fixFile)
		return 0
	}
	k.wires = int(wires)
	k.absentA = k.parseFlags(r, "flags of A", r.absent[0])
	k.absentB = k.parseFlags(r, "flags of B", r.absent[1])
	return r.uint32("commitment keys", "the number of commitment keys")
}

func (k *Key) parseFlags(r *reader, label string, want uint64) []uint64 {
	at := r.at
	flags := r.take(uint64(k.wires), label, "one byte a wire")
	if r.err != nil {
		return nil
	}
	set := make([]uint64, (len(flags)+63)/64)
	for i, f := range flags {
		if f > 1 {
			r.at = at + i
			r.err = r.fail(label, "the flag of wire %d is %d: it must be 0 or 1", i, f).WithFix("%s", fixFile)
			return nil
		}
		set[i/64] |= uint64(f) << (i % 64)
	}
	var n uint64
	for _, w := range set {
		n += uint64(bits.OnesCount64(w))
	}
	if n != want {
		r.at = at
		r.err = r.fail(label, "%d flags are set, but the key says that %d wires have no point", n, want).WithFix("%s", fixFile)
		return nil
	}
	if n == 0 {
		return nil
	}
	return set
}

// reconcile compares the sections' lengths with each other.
func (k *Key) reconcile(r *reader) error {
	length := func(s groth16.Section, want int, why string) error {
		run := k.runs[s]
		if run.count == want {
			return nil
		}
		return failure.New(failure.Key, "has %d points, but %d are wanted (%s)", run.count, want, why).
			In(r.file).At(run.label, run.offset).WithFix("%s", fixFile)
	}
	withA, withB := k.wires-int(r.absent[0]), k.wires-int(r.absent[1])
	for _, err := range []error{
		length(groth16.SectionA, withA, "wires that have a point in A"),
		length(groth16.SectionB1, withB, "wires that have a point in B"),
		length(groth16.SectionB2, withB, "wires that have a point in B"),
		length(groth16.SectionH, k.domain-1, "one less than the domain"),
	} {
		if err != nil {
			return err
		}
	}
	private := k.runs[groth16.SectionL].count + len(k.commitments)
	for i, c := range k.commitments {
		if c.basis.count != c.sigma.count {
			return failure.New(failure.Key, "has %d points, but its basis has %d", c.sigma.count, c.basis.count).
				In(r.file).At(c.sigma.label, c.sigma.offset).WithFix("%s", fixFile)
		}
		private += k.commitments[i].basis.count
	}
	if k.wires <= private {
		return failure.New(failure.Key, "the key has %d wires, but %d private ones: there must be at least one more, the constant one", k.wires, private).
			In(r.file).WithFix("%s", fixFile)
	}
	k.public = k.wires - private - 1
	return nil
}

// vertex reads a single point.
func (k *Key) vertex(r *reader, label string, group int) []byte {
	if r.err != nil {
		return nil
	}
	if r.at >= len(r.data) {
		r.err = r.fail(label, "the file ends here: it is truncated").WithFix("%s", fixFile)
		return nil
	}
	p := &run{file: r.file, label: label, offset: int64(r.at), id: k.id, group: group, count: 1, encoding: encodingOf(k.id, r.data[r.at])}
	if p.data = r.take(uint64(p.size()), label, "a point"); r.err != nil {
		return nil
	}
	raw, err := p.load(context.Background(), nil)
	if err != nil {
		r.err = err
		return nil
	}
	k.vertices = append(k.vertices, vertex{label: label, offset: p.offset, raw: raw, group: group})
	return raw
}

func encodingOf(id curve.ID, first byte) Encoding {
	if id.IsCompressed(first) {
		return Compressed
	}
	return Raw
}
