package attest

import (
	"encoding/json"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"
)

// Link proves that a tree begins with a smaller one.
type Link struct {
	From   int64    `json:"from"`
	Hashes [][]byte `json:"hashes"` // base64 in JSON
}

func (l Link) wellFormed() error {
	if l.From < 1 || len(l.Hashes) > 2*64 {
		return fmt.Errorf("consistency: from %d, %d hashes", l.From, len(l.Hashes))
	}
	for _, hash := range l.Hashes {
		if len(hash) != tlog.HashSize {
			return fmt.Errorf("consistency: a hash has %d bytes", len(hash))
		}
	}
	return nil
}

// NewLink is a proof of package tlog as a document carries it.
func NewLink(from int64, proof tlog.TreeProof) Link {
	l := Link{From: from, Hashes: [][]byte{}}
	for _, hash := range proof {
		l.Hashes = append(l.Hashes, hash[:])
	}
	return l
}

// Consistency is what GET /proof/{log}/consistency answers.
type Consistency struct {
	Origin string `json:"origin"`
	To     int64  `json:"to"`
	Link
}

// ParseConsistency reads one. Errors: *MalformedError.
func ParseConsistency(document []byte) (c Consistency, err error) {
	if len(document) > MaxProof {
		return c, &MalformedError{"consistency proof", fmt.Sprintf("it has %d bytes", len(document))}
	}
	if err = json.Unmarshal(document, &c); err == nil {
		err = c.wellFormed()
	}
	if err == nil && (c.Origin == "" || c.To < c.From) {
		err = fmt.Errorf("origin %q, from %d to %d", c.Origin, c.From, c.To)
	}
	if err != nil {
		return c, &MalformedError{"consistency proof", err.Error()}
	}
	return c, nil
}

// CheckKept compares the tree of a proof with a kept one of the same log. If neither the proof
// nor one of the given links leads from one to the other, the result is that it cannot be told.
func CheckKept(p Proof, kept Tree, links []Consistency) Step {
	say := func(state State, format string, args ...any) Step {
		return Step{StepKept, state, fmt.Sprintf(format, args...)}
	}
	tree, err := p.Tree()
	switch {
	case err != nil:
		return say(Untold, "The proof has no checkpoint.")
	case tree.Origin != kept.Origin:
		return say(Untold, "The kept checkpoint belongs to %s, but the report's checkpoint belongs to %s.", kept.Origin, tree.Origin)
	case tree.Size == kept.Size && tree.Root == kept.Root:
		return say(Held, "The kept checkpoint covers the same tree of %d events.", kept.Size)
	case tree.Size == kept.Size:
		return say(Broken, "The kept checkpoint and the report's checkpoint both cover %d events, but have different roots: the log has two histories.", kept.Size)
	}
	older, newer := tree, kept
	if kept.Size < tree.Size {
		older, newer = kept, tree
		for _, l := range p.Consistency {
			links = append(links, Consistency{tree.Origin, tree.Size, l})
		}
	}
	for _, l := range links {
		if l.Origin != tree.Origin || l.From != older.Size || l.To != newer.Size {
			continue
		}
		proof := make(tlog.TreeProof, len(l.Hashes))
		for i, hash := range l.Hashes {
			proof[i] = tlog.Hash(hash)
		}
		if tlog.CheckTree(proof, newer.Size, newer.Root, older.Size, older.Root) != nil {
			return say(Broken, "The log's tree of %d events does not continue the tree of %d events: the log was changed, or it has two histories.", newer.Size, older.Size)
		}
		return say(Held, "The log's tree of %d events continues the tree of %d events; the kept checkpoint covers one of the two.", newer.Size, older.Size)
	}
	return say(Untold, "The given files do not connect the log's tree of %d events with its tree of %d events. GET /proof/%s/consistency?from=%d&to=%d gives the proof that does.",
		older.Size, newer.Size, p.Event.Log, older.Size, newer.Size)
}

// Parted says where two proofs are of two histories of one log: another root of one size, or
// another event at one position; empty: they are not, as far as these two show.
func Parted(a, b Proof) string {
	one, err := a.Tree()
	if err != nil {
		return ""
	}
	two, err := b.Tree()
	switch {
	case err != nil || one.Origin != two.Origin:
		return ""
	case one.Size == two.Size && one.Root != two.Root:
		return fmt.Sprintf("the tree of %d events of %s has two roots", one.Size, one.Origin)
	case a.Event.Position == b.Event.Position && a.Event.Hash != b.Event.Hash:
		return fmt.Sprintf("there are two events %s:%d of %s", a.Event.Log, a.Event.Position, one.Origin)
	}
	if step := CheckKept(a, two, b.links()); step.State == Broken {
		return fmt.Sprintf("neither of the trees of %d and %d events of %s continues the other", one.Size, two.Size, one.Origin)
	}
	return ""
}

// links are those of a proof with where they lead to.
func (p Proof) links() (all []Consistency) {
	tree, err := p.Tree()
	if err != nil {
		return nil
	}
	for _, l := range p.Consistency {
		all = append(all, Consistency{tree.Origin, tree.Size, l})
	}
	return all
}
