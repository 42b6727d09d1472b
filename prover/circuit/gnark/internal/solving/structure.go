package solving

import (
	"fmt"

	"github.com/consensys/gnark/constraint"
)

// checkStructure compares what gnark decoded with the shape that the header told, and follows the solver's way through
// the instructions: each index lies in its table, each instruction runs once, reads only wires that an earlier level has
// set, and sets wires that nothing else sets. The solver itself would panic, or solve something else, where that fails.
//
// In a system with blueprints other than rows, hints and lookups (gnark's GKR gadgets) only indices are checked: a decoded
// blueprint of these does not tell which wires it sets.
func checkStructure(sys *constraint.System, coefficients int, want *Shape) error {
	if err := checkShape(sys, want); err != nil {
		return err
	}
	w := &walk{sys: sys, coefficients: uint32(coefficients), done: make([]bool, len(sys.Instructions)), level: make([]int32, want.Wires()),
		tables: make(map[*constraint.BlueprintLookupHint[constraint.U64]]*table)}
	for i := want.Public + want.Secret + 1; i < len(w.level); i++ {
		w.level[i] = unset
	}
	for _, b := range sys.Blueprints {
		switch b.(type) {
		case *constraint.BlueprintGenericR1C, *constraint.BlueprintGenericHint, *constraint.BlueprintLookupHint[constraint.U64]:
		default:
			w.indicesOnly = true
		}
	}
	constraints := 0
	for level, instructions := range sys.Levels {
		w.now = int32(level) + 1
		for _, i := range instructions {
			if int64(i) >= int64(len(sys.Instructions)) {
				return fmt.Errorf("level %d has instruction %d of %d", level, i, len(sys.Instructions))
			}
			if w.done[i] {
				return fmt.Errorf("instruction %d is to run twice", i)
			}
			w.done[i] = true
			n, err := w.instruction(sys.Instructions[i])
			if err != nil {
				return fmt.Errorf("instruction %d: %w", i, err)
			}
			constraints += n
		}
	}
	if constraints != sys.NbConstraints {
		return fmt.Errorf("its instructions hold %d constraints instead of %d", constraints, sys.NbConstraints)
	}
	row := 0
	for i, done := range w.done {
		if !done {
			return fmt.Errorf("instruction %d never runs", i)
		}
		if n := sys.Blueprints[sys.Instructions[i].BlueprintID].NbConstraints(); n > 0 {
			if int(sys.Instructions[i].ConstraintOffset) != row {
				return fmt.Errorf("instruction %d is for constraint %d, but the next is %d", i, sys.Instructions[i].ConstraintOffset, row)
			}
			row += n
		}
	}
	for i, level := range w.level {
		if level == unset && !w.indicesOnly {
			return fmt.Errorf("no instruction computes wire %d", i)
		}
	}
	return nil
}

func checkShape(sys *constraint.System, want *Shape) error {
	commitments, ok := sys.CommitmentInfo.(constraint.Groth16Commitments)
	if !ok {
		return fmt.Errorf("its commitments are not Groth16's, but %T", sys.CommitmentInfo)
	}
	if sys.Type != constraint.SystemR1CS || len(sys.Public) != want.Public+1 || len(sys.Secret) != want.Secret ||
		sys.NbInternalVariables != want.Internal || sys.NbConstraints != want.Constraints || len(commitments) != len(want.Committed) {
		return fmt.Errorf("gnark decodes another shape than its header tells")
	}
	for i, c := range commitments {
		if len(c.PrivateCommitted) != want.Committed[i] {
			return fmt.Errorf("gnark decodes another commitment %d than its header tells", i)
		}
		for _, list := range [][]int{c.PrivateCommitted, c.PublicAndCommitmentCommitted, {c.CommitmentIndex}} {
			for _, wire := range list {
				if wire < 0 || wire >= want.Wires() {
					return fmt.Errorf("commitment %d is of wire %d of %d", i, wire, want.Wires())
				}
			}
		}
	}
	return nil
}

const unset = -1

// walk is the state of the walk through the instructions. level holds, for each wire, the level after which it is known:
// 0 for inputs.
type walk struct {
	sys          *constraint.System
	coefficients uint32
	done         []bool
	level        []int32
	now          int32
	indicesOnly  bool
	tables       map[*constraint.BlueprintLookupHint[constraint.U64]]*table
}

// table is how far the entries of a lookup table have been followed.
type table struct {
	data    words32
	entries uint32
}

// instruction checks one instruction and returns the number of its constraints.
func (w *walk) instruction(pi constraint.PackedInstruction) (int, error) {
	if int64(pi.BlueprintID) >= int64(len(w.sys.Blueprints)) {
		return 0, fmt.Errorf("it has blueprint %d of %d", pi.BlueprintID, len(w.sys.Blueprints))
	}
	blueprint := w.sys.Blueprints[pi.BlueprintID]
	words := uint64(len(w.sys.CallData))
	if pi.StartCallData >= words {
		return 0, fmt.Errorf("its data begins at word %d of %d", pi.StartCallData, words)
	}
	size := uint64(0)
	if n := blueprint.CalldataSize(); n >= 0 {
		size = uint64(n)
	} else {
		size = uint64(w.sys.CallData[pi.StartCallData])
	}
	if size > words-pi.StartCallData {
		return 0, fmt.Errorf("its data of %d words ends behind the last of %d", size, words)
	}
	data := &words32{words: w.sys.CallData[pi.StartCallData : pi.StartCallData+size]}
	n := blueprint.NbConstraints()
	if n < 0 || int64(pi.ConstraintOffset)+int64(n) > int64(w.sys.NbConstraints) {
		return 0, fmt.Errorf("it is for constraint %d of %d", pi.ConstraintOffset, w.sys.NbConstraints)
	}
	var err error
	switch b := blueprint.(type) {
	case *constraint.BlueprintGenericR1C:
		err = w.constraint(data)
	case *constraint.BlueprintGenericHint:
		err = w.hint(data)
	case *constraint.BlueprintLookupHint[constraint.U64]:
		err = w.lookup(b, pi, data)
	case constraint.BlueprintR1C:
		err = fmt.Errorf("its blueprint %T is not known", blueprint)
	case constraint.BlueprintSolvable[constraint.U64]:
		if int64(pi.WireOffset) > int64(len(w.level)) {
			err = fmt.Errorf("it computes wires from %d of %d", pi.WireOffset, len(w.level))
		}
	default:
		err = fmt.Errorf("its blueprint %T cannot be solved on this curve", blueprint)
	}
	if err == nil {
		err = data.err
	}
	return n, err
}

// constraint follows a row: at most one wire is not known yet, and is computed from the others.
func (w *walk) constraint(data *words32) error {
	data.next() // The size.
	total := uint64(data.next()) + uint64(data.next()) + uint64(data.next())
	var unknown []uint32
	for ; total > 0 && data.err == nil; total-- {
		known, wire, err := w.term(data)
		if err != nil {
			return err
		}
		if !known {
			unknown = append(unknown, wire)
		}
	}
	if len(unknown) > 1 {
		return fmt.Errorf("the constraint has %d wires that are not known yet, at most one can be", len(unknown))
	}
	if len(unknown) == 1 {
		return w.set(uint64(unknown[0]), 1)
	}
	return nil
}

func (w *walk) hint(data *words32) error {
	data.next() // The size.
	data.next() // The hint's number; the parent has compared the list of all.
	for n := data.next(); n > 0 && data.err == nil; n-- {
		if err := w.expression(data); err != nil {
			return err
		}
	}
	start, end := data.next(), data.next()
	if data.err == nil && end < start {
		return fmt.Errorf("its outputs are wires %d to %d", start, end)
	}
	return w.set(uint64(start), uint64(end)-uint64(start))
}

func (w *walk) lookup(b *constraint.BlueprintLookupHint[constraint.U64], pi constraint.PackedInstruction, data *words32) error {
	data.next() // The size.
	entries, inputs := data.next(), data.next()
	// Entries are read when they are first needed, so each is followed once.
	t := w.tables[b]
	if t == nil {
		t = &table{data: words32{words: b.EntriesCalldata}}
		w.tables[b] = t
	}
	for ; t.entries < entries; t.entries++ {
		if err := w.expression(&t.data); err != nil {
			return fmt.Errorf("entry %d of its table: %w", t.entries, err)
		}
		if t.data.err != nil {
			return fmt.Errorf("its table has %d entries instead of %d", t.entries, entries)
		}
	}
	for n := inputs; n > 0 && data.err == nil; n-- {
		if err := w.expression(data); err != nil {
			return err
		}
	}
	return w.set(uint64(pi.WireOffset), uint64(inputs))
}

// expression reads a linear expression of which all wires must be known.
func (w *walk) expression(data *words32) error {
	for n := data.next(); n > 0 && data.err == nil; n-- {
		known, wire, err := w.term(data)
		if err != nil {
			return err
		}
		if !known {
			return fmt.Errorf("wire %d is read before it is computed", wire)
		}
	}
	return nil
}

// term reads a coefficient and a wire. Constant terms have no wire and are known.
func (w *walk) term(data *words32) (known bool, wire uint32, err error) {
	coefficient := data.next()
	wire = data.next()
	if data.err != nil {
		return true, 0, nil
	}
	if coefficient >= w.coefficients {
		return false, wire, fmt.Errorf("it has coefficient %d of %d", coefficient, w.coefficients)
	}
	t := constraint.Term{CID: coefficient, VID: wire}
	if t.IsConstant() {
		return true, wire, nil
	}
	if int64(wire) >= int64(len(w.level)) {
		return false, wire, fmt.Errorf("it has wire %d of %d", wire, len(w.level))
	}
	return w.indicesOnly || w.level[wire] != unset && w.level[wire] < w.now, wire, nil
}

func (w *walk) set(start, n uint64) error {
	if n > uint64(len(w.level)) || start > uint64(len(w.level))-n {
		return fmt.Errorf("it computes wires %d to %d of %d", start, start+n, len(w.level))
	}
	for i := start; i < start+n; i++ {
		if w.level[i] != unset && !w.indicesOnly {
			return fmt.Errorf("it computes wire %d, which is computed already", i)
		}
		w.level[i] = w.now
	}
	return nil
}

// words32 reads the data of an instruction; after its end, err is set and reads give zero.
type words32 struct {
	words []uint32
	err   error
}

func (d *words32) next() uint32 {
	if len(d.words) == 0 {
		if d.err == nil {
			d.err = fmt.Errorf("its data ends too early")
		}
		return 0
	}
	n := d.words[0]
	d.words = d.words[1:]
	return n
}
