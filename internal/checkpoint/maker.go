package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"muster/eventstore"
	"muster/eventstore/tree"
	"muster/internal/pause"
	"muster/internal/postgres/transact"
	"muster/internal/statement"
)

// between is the least time between two checkpoints of a log (contract, §25).
const between = time.Second

// Maker makes the checkpoints of an installation's logs.
type Maker struct {
	Refused func(eventstore.Log) // is called for each refusal (Changed)
	Made    func(eventstore.Log) // is called when a new one is kept

	db     *sqlx.DB
	events *eventstore.Store
	trees  *tree.Trees
	keys   Keys

	mu     sync.Mutex
	signed map[eventstore.Log]state // the last one that this process has signed
}

// state is a tree, in short.
type state struct {
	size int64
	root tlog.Hash
}

// New returns the maker of a process. It has to be the only one there: it remembers what
// it has signed.
func New(db *sqlx.DB, keys Keys) *Maker {
	return &Maker{db: db, events: eventstore.New(db), trees: tree.New(db), keys: keys, signed: map[eventstore.Log]state{}, Refused: func(eventstore.Log) {}, Made: func(eventstore.Log) {}}
}

// RefusedError reports a log that is not the one that was signed before: nothing is
// signed over it.
type RefusedError struct {
	Log        eventstore.Log
	Size, Head int64 // of what was signed before, and of the log now
	Here       bool  // this process has signed it; else it is the last that is kept
}

func (e *RefusedError) Error() string {
	by := "the last checkpoint that is kept"
	if e.Here {
		by = "the last checkpoint that this process has signed"
	}
	if e.Head < e.Size {
		return fmt.Sprintf("log %s has %d events and had %d by %s: events are gone, nothing more is signed; keep the database as it is (docs/auditors.md)",
			e.Log, e.Head, e.Size, by)
	}
	return fmt.Sprintf("the first %d events of log %s are others than by %s: its history was changed, nothing more is signed; keep the database as it is (docs/auditors.md)",
		e.Size, e.Log, by)
}

// UnfitError reports a log in which events were changed or deleted: nothing is signed over it.
type UnfitError struct {
	Log   eventstore.Log
	First string // what does not fit
	More  int    // so many other things do not
}

func (e *UnfitError) Error() string {
	more := ""
	if e.More > 0 {
		more = fmt.Sprintf(", and %d more", e.More)
	}
	return fmt.Sprintf("log %s was changed, nothing more is signed: %s%s; keep the database as it is (docs/auditors.md)", e.Log, e.First, more)
}

// Changed says whether an error of a Maker is about the log, which is not the one that it
// was: events are gone or others, or what was signed is.
func Changed(err error) bool {
	var refused *RefusedError
	var altered *AlteredError
	var unfit *UnfitError
	return errors.As(err, &refused) || errors.As(err, &altered) || errors.As(err, &unfit) || tree.Unfit(err)
}

// Makes returns a kept checkpoint that covers a position, or makes one. It waits for a
// second where the last was made just now. Errors: *RefusedError, *AlteredError, *UnfitError,
// *tree.MissingError where the log has no such position.
func (m *Maker) Makes(ctx context.Context, log eventstore.Log, atLeast int64) (Checkpoint, error) {
	for {
		kept, wait, err := m.attempt(ctx, log, atLeast)
		if err != nil {
			return Checkpoint{}, m.counted(log, fmt.Errorf("make a checkpoint of log %s: %w", log, err))
		}
		if wait == 0 {
			return kept, nil
		}
		if err := pause.For(ctx, wait); err != nil {
			return Checkpoint{}, err
		}
	}
}

// Latest returns the last kept checkpoint that a key of the ring has signed; ok is false
// where there is none. Errors: *AlteredError.
func (m *Maker) Latest(ctx context.Context, log eventstore.Log) (c Checkpoint, ok bool, err error) {
	last, ok, err := latest(ctx, m.db, log)
	if err != nil || !ok {
		return Checkpoint{}, false, err
	}
	c, by, err := m.read(log, last)
	return c, len(by) > 0, err
}

// Grown makes a checkpoint of a log that has grown since the last. It refuses a log of which
// the verifier knows that it was changed, grown or not.
func (m *Maker) Grown(ctx context.Context, log eventstore.Log) error {
	if _, err := m.accepted(ctx, log); err != nil {
		return m.counted(log, err)
	}
	head, err := head(ctx, m.db, log)
	if err != nil || head == 0 {
		return err
	}
	_, err = m.Makes(ctx, log, head)
	return err
}

func (m *Maker) counted(log eventstore.Log, err error) error {
	if Changed(err) {
		m.Refused(log)
	}
	return err
}

// accepted refuses a log that the verifier found something in. Of another it returns what an
// operator has accepted.
func (m *Maker) accepted(ctx context.Context, log eventstore.Log) ([]Finding, error) {
	known, err := knownOf(ctx, m.db, log)
	if err == nil {
		err = unfit(log, known.Findings)
	}
	return known.Accepted, err
}

func unfit(log eventstore.Log, found []Finding) error {
	if len(found) == 0 {
		return nil
	}
	return &UnfitError{Log: log, First: found[0].Sentence, More: len(found) - 1}
}

// verified verifies the events since the last checkpoint, and says up to where a log may be
// signed. Nothing is verified where the last one is enough. It comes before the turn: who
// holds a transaction must not wait for another connection.
func (m *Maker) verified(ctx context.Context, log eventstore.Log, atLeast int64) (upTo int64, err error) {
	last, _, err := latest(ctx, m.db, log)
	if err != nil || last.Size >= max(atLeast, m.ours(log).size) {
		return last.Size, err
	}
	accepted, err := m.accepted(ctx, log)
	if err != nil {
		return 0, err
	}
	if upTo, err = head(ctx, m.db, log); err != nil || upTo <= last.Size {
		return upTo, err
	}
	from, err := m.events.ReachedAt(ctx, log, last.Size)
	if err != nil {
		return 0, err
	}
	_, found, err := m.events.VerifyOn(ctx, log, from, upTo)
	if err != nil {
		return 0, err
	}
	return upTo, unfit(log, fresh(findingsOf(found), accepted))
}

func head(ctx context.Context, q sqlx.QueryerContext, log eventstore.Log) (int64, error) {
	return statement.One[int64](ctx, q, "look at the head of a log", `SELECT position FROM log_head WHERE log = $1`, string(log))
}

// attempt says how long to wait where it is too early to make one.
func (m *Maker) attempt(ctx context.Context, log eventstore.Log, atLeast int64) (c Checkpoint, wait time.Duration, err error) {
	var made bool
	upTo, err := m.verified(ctx, log, atLeast)
	if err != nil {
		return c, 0, err
	}
	err = transact.Once(ctx, m.db, nil, func(tx *sqlx.Tx) error {
		if err := statement.Exec(ctx, tx, "take turns at checkpoints", `SELECT pg_advisory_xact_lock(hashtext('log_checkpoints'), hashtext($1))`, string(log)); err != nil {
			return err
		}
		t := turn{Maker: m, tx: tx, trees: m.trees.Within(tx), log: log, verified: upTo}
		c, wait, made, err = t.take(ctx, atLeast)
		return err
	})
	if err == nil && wait == 0 {
		m.remember(c)
	}
	if err == nil && made {
		m.Made(log)
	}
	return c, wait, err
}

// ours is what this process stands by.
func (m *Maker) ours(log eventstore.Log) state {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.signed[log]
}

func (m *Maker) remember(c Checkpoint) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.signed[c.Log].size < c.Size {
		m.signed[c.Log] = state{c.Size, c.Root}
	}
}

// turn is one turn at the checkpoints of a log.
type turn struct {
	*Maker
	tx    *sqlx.Tx
	trees *tree.Trees
	log   eventstore.Log

	verified int64 // up to where the log may be signed
}

// take says how long to wait, or whether the checkpoint is a new one.
func (t turn) take(ctx context.Context, atLeast int64) (c Checkpoint, wait time.Duration, made bool, err error) {
	last, found, err := latest(ctx, t.tx, t.log)
	if err != nil {
		return c, 0, false, err
	}
	signers, err := t.keys.LogSigners(t.log)
	if err != nil {
		return c, 0, false, err
	}
	if found {
		var by []note.Signature
		if c, by, err = t.read(t.log, last); err != nil {
			return c, 0, false, err
		}
		ours := t.ours(t.log)
		if c.Size >= atLeast && c.Size >= ours.size && signedBy(by, signers[0]) {
			return c, 0, false, t.continues(ctx, ours, state{c.Size, c.Root}, true)
		}
		if age := time.Duration(last.Age * float64(time.Second)); age >= 0 && age < between {
			return c, between - age, false, nil
		}
	}
	c, err = t.sign(ctx, c, atLeast, signers)
	return c, 0, err == nil, err
}

// sign makes a checkpoint over the whole log, or adds signatures to the last one where
// the log has not grown.
func (t turn) sign(ctx context.Context, last Checkpoint, atLeast int64, signers []note.Signer) (Checkpoint, error) {
	size, err := head(ctx, t.tx, t.log)
	if err != nil {
		return Checkpoint{}, err
	}
	ours, kept := t.ours(t.log), state{last.Size, last.Root}
	if size < ours.size || size < kept.size {
		return Checkpoint{}, t.refuse(max(ours.size, kept.size), size, ours.size >= kept.size)
	}
	if size = min(size, max(t.verified, kept.size)); size < atLeast {
		return Checkpoint{}, &tree.MissingError{Log: t.log, Size: atLeast, Has: size}
	}
	root, err := t.trees.Root(ctx, t.log, size)
	if err != nil {
		return Checkpoint{}, err
	}
	now := state{size, root}
	if err := t.continues(ctx, ours, now, true); err != nil {
		return Checkpoint{}, err
	}
	if err := t.continues(ctx, kept, now, false); err != nil {
		return Checkpoint{}, err
	}
	return t.keep(ctx, now, last, signers)
}

// continues refuses a tree that does not begin with the one that was signed before.
func (t turn) continues(ctx context.Context, before, now state, here bool) error {
	switch before.size {
	case 0:
		return nil
	case now.size:
		if before.root == now.root {
			return nil
		}
	default:
		proof, err := t.trees.Consistency(ctx, t.log, before.size, now.size)
		if err != nil {
			return err
		}
		if tlog.CheckTree(proof, now.size, now.root, before.size, before.root) == nil {
			return nil
		}
	}
	return t.refuse(before.size, now.size, here)
}

func (t turn) refuse(size, head int64, here bool) error {
	return &RefusedError{Log: t.log, Size: size, Head: head, Here: here}
}

// keep signs and stores a checkpoint. One of the same size is added to.
func (t turn) keep(ctx context.Context, now state, last Checkpoint, signers []note.Signer) (Checkpoint, error) {
	body := text(t.keys.Origin(t.log), now.size, now.root)
	signed, err := note.Sign(&note.Note{Text: body}, signers...)
	if err != nil {
		return Checkpoint{}, fmt.Errorf("sign: %w", err)
	}
	whole := string(signed)
	if last.Size == now.size {
		whole = last.Note
		for _, line := range strings.SplitAfter(strings.TrimPrefix(string(signed), body+"\n"), "\n") {
			if !strings.Contains(last.Note, line) {
				whole += line
			}
		}
	}
	made, err := statement.One[time.Time](ctx, t.tx, "keep a checkpoint", keepCheckpoint, string(t.log), now.size, now.root[:], whole)
	return Checkpoint{Log: t.log, Size: now.size, Root: now.root, Note: whole, MadeAt: made.UTC(), Timestamp: last.timestampAt(now.size)}, err
}

// timestampAt is the token of a checkpoint that is of this size.
func (c Checkpoint) timestampAt(size int64) []byte {
	if c.Size == size {
		return c.Timestamp
	}
	return nil
}

func signedBy(signatures []note.Signature, signer note.Signer) bool {
	for _, s := range signatures {
		if s.Name == signer.Name() && s.Hash == signer.KeyHash() {
			return true
		}
	}
	return false
}
