package vanilla

import (
	"errors"

	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/filecoin/merkle"
)

func (p *place) within(name string, check func()) {
	p.enter(name)
	check()
	p.leave()
}

func (p *place) withinItem(i int, check func()) {
	p.enterItem(i)
	check()
	p.leave()
}

// same refuses a field whose node is another than it should be. Without a name it is the place itself.
func (p *place) same(name string, got, want filecoin.Node) {
	if got != want {
		p.refuse(name, "is %s, it should be %s", got, want)
	}
}

// sameNumber is same for numbers.
func (p *place) sameNumber(name string, got, want uint64) {
	if got != want {
		p.refuse(name, "is %d, it should be %d", got, want)
	}
}

func (p *place) refuse(name, format string, args ...any) {
	if name != "" {
		p.enter(name)
		defer p.leave()
	}
	p.fail(-1, format, args...)
}

// checkOpening checks that the proof in a field opens this node of the tree with this root. Without a name it is the place
// itself.
func (t *tree) checkOpening(at *place, name string, p *merkle.Proof, root filecoin.Node, node uint64) {
	if at.err != nil {
		return
	}
	check := func() {
		if index := p.LeafIndex(); index != node {
			at.fail(-1, "opens node %d, it should open %d", index, node)
		}
		at.same("root", p.Root, root)
		t.checkPath(at, p)
	}
	if name == "" {
		check()
		return
	}
	at.within(name, check)
}

// checkPath walks along a path.
func (t *tree) checkPath(at *place, p *merkle.Proof) {
	err := p.Check(t.hasher)
	if err == nil {
		return
	}
	var wrong *merkle.PathError
	if !errors.As(err, &wrong) {
		at.fail(-1, "%w", err)
		return
	}
	at.within("path", func() { at.withinItem(wrong.Level, func() { at.fail(-1, "%w", err) }) })
}
