package checkpoint

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"iter"
	"slices"

	"golang.org/x/mod/sumdb/tlog"

	"muster/eventstore"
	"muster/eventstore/tree"
	"muster/internal/postgres/statement"
	"muster/internal/proof/attest"
)

//go:embed sql/kept.sql
var selectKept string

// knownAtOnce is how many rows of what was signed are read at once.
const knownAtOnce = 5000

// Known is a state of a log that was signed, and what is left of it.
type Known struct {
	What string // names it in a sentence
	Note string // begins with the signed text
	Size int64  // that it is listed under; 0: none
}

// Held is what came of holding a log against everything that was signed of it and is known.
type Held struct {
	Log                 eventstore.Log
	Kept, Proofs, Files int      // the number of checkpoints, proofs of reports and files compared
	Sentences           []string // the findings, at most maxFindings
	Misfits             int

	newest state // that fits
}

// Hold holds a log's tree against every checkpoint that is kept, every kept proof of a
// report, and the file beside the secret key. Makes does so before this process signs the
// log for the first time.
func (m *Maker) Hold(ctx context.Context, log eventstore.Log) (Held, error) {
	m.holding.Lock()
	defer m.holding.Unlock()
	held, err := m.hold(ctx, log)
	if err != nil {
		return held, fmt.Errorf("hold log %s against what was signed of it: %w", log, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known[log] = held; held.Misfits == 0 && m.signed[log].size < held.newest.size {
		m.signed[log] = held.newest // from now on the log has to go on from it
	}
	return held, nil
}

// Misfit says what Hold found in this process last; empty: nothing, or nothing was held yet.
func (m *Maker) Misfit(log eventstore.Log) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if held := m.known[log]; held.Misfits > 0 {
		return held.Sentences[0]
	}
	return ""
}

// heldOnce refuses a log that does not match what was signed of it before. A log that matches
// is not checked again: later changes do not match what this process signs.
func (m *Maker) heldOnce(ctx context.Context, log eventstore.Log) error {
	m.mu.Lock()
	held, done := m.known[log]
	m.mu.Unlock()
	if !done || held.Misfits > 0 {
		var err error
		if held, err = m.Hold(ctx, log); err != nil {
			return err
		}
	}
	if held.Misfits == 0 {
		return nil
	}
	return &UnfitError{Log: log, First: held.Sentences[0], More: held.Misfits - 1}
}

// claim is a state that a source says was signed.
type claim struct {
	state
	what string
}

// claims are the different ones, each with the first that made it.
type claims struct {
	of     map[state]string
	origin string
	held   *Held
}

func (c *claims) add(k Known) {
	said, err := attest.ParseCheckpoint(k.Note)
	switch {
	case err != nil:
		c.held.misfit("%s was changed: %v", k.What, err)
	case said.Origin != c.origin:
		c.held.misfit("%s was changed: it is of %s, and the log is %s", k.What, said.Origin, c.origin)
	case k.Size != 0 && said.Size != k.Size:
		c.held.misfit("%s was changed: its note is over %d events", k.What, said.Size)
	default:
		at := state{said.Size, said.Root}
		if _, ok := c.of[at]; !ok {
			c.of[at] = k.What
		}
	}
}

// Any says whether there was anything to hold the log against.
func (h Held) Any() bool { return h.Kept+h.Proofs+h.Files > 0 }

// Of names the sources with which the log was compared.
func (h Held) Of() string {
	return fmt.Sprintf("checkpoints %d, proofs of reports %d, files beside the key %d", h.Kept, h.Proofs, h.Files)
}

func (h *Held) misfit(format string, args ...any) {
	if h.Misfits++; len(h.Sentences) < maxFindings {
		h.Sentences = append(h.Sentences, fmt.Sprintf(format, args...))
	}
}

func (m *Maker) hold(ctx context.Context, log eventstore.Log) (held Held, err error) {
	held.Log = log
	c := claims{of: map[state]string{}, origin: m.keys.Origin(log), held: &held}
	files, err := m.Beside.read(log, c.origin)
	var fault *FileError
	if errors.As(err, &fault) {
		held.misfit("%v", fault)
	} else if err != nil {
		return held, err
	}
	for _, file := range files {
		held.Files++
		c.of[file.state] = "the file " + file.path
	}
	for k, err := range m.kept(ctx, log) {
		if err != nil {
			return held, err
		}
		held.Kept++
		c.add(k)
	}
	for k, err := range m.Proofs(ctx, log) {
		if err != nil {
			return held, err
		}
		held.Proofs++
		c.add(k)
	}
	return held, m.holdAll(ctx, &held, c.of)
}

// holdAll computes one root for each size.
func (m *Maker) holdAll(ctx context.Context, held *Held, of map[state]string) error {
	head, err := head(ctx, m.db, held.Log) // after what was signed was read: of less nothing is signed
	if err != nil {
		return err
	}
	all := make([]claim, 0, len(of))
	for at, what := range of {
		all = append(all, claim{at, what})
	}
	slices.SortFunc(all, func(a, b claim) int { return int(a.size - b.size) })
	var sizes []int64
	for _, one := range all {
		if one.size <= head && (len(sizes) == 0 || sizes[len(sizes)-1] != one.size) {
			sizes = append(sizes, one.size)
		}
	}
	roots, err := m.trees.Roots(ctx, held.Log, sizes)
	if tree.Unfit(err) { // the verifier says where
		held.misfit("%v", err)
		return nil
	}
	if err != nil {
		return err
	}
	at := map[int64]tlog.Hash{}
	for i, size := range sizes {
		at[size] = roots[i]
	}
	for _, one := range all {
		root, ok := at[one.size]
		switch {
		case !ok:
			held.misfit("%s is over %d events, and the log has %d: events are gone", one.what, one.size, head)
		case root != one.root:
			held.misfit("%s says that the first %d events have the root %s, and they have %s: they were changed since", one.what, one.size, one.root, root)
		default:
			held.newest = one.state // they are in order
		}
	}
	return nil
}

// kept are the checkpoints that are kept, in order.
func (m *Maker) kept(ctx context.Context, log eventstore.Log) iter.Seq2[Known, error] {
	return func(yield func(Known, error) bool) {
		for after := int64(-1); ; {
			page, err := statement.All[row](ctx, m.db, "read the checkpoints that are kept", selectKept, string(log), after, knownAtOnce)
			if err != nil {
				yield(Known{}, err)
				return
			}
			for _, r := range page {
				if !yield(Known{What: fmt.Sprintf("the checkpoint that is kept over %d events", r.Size), Note: r.Note, Size: r.Size}, nil) {
					return
				}
				after = r.Size
			}
			if len(page) < knownAtOnce {
				return
			}
		}
	}
}

// GiveUp moves aside the files that say that more of a log, or another one, was signed, and
// returns their names. It is for an operator who restores an older backup and knows it.
func (m *Maker) GiveUp(log eventstore.Log) ([]string, error) { return m.Beside.giveUp(log) }
