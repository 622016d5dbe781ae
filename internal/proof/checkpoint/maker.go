package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"muster/eventstore"
	"muster/eventstore/tree"
	"muster/internal/concurrency/pause"
	"muster/internal/postgres/statement"
	"muster/internal/postgres/transact"
)

// between is the least time between two checkpoints of a log (contract, §25).
const between = time.Second

// Maker makes the checkpoints of an installation's logs.
type Maker struct {
	Refused func(eventstore.Log)        // is called for each refusal (Changed)
	Made    func(eventstore.Log)        // is called when a new one is kept
	Unkept  func(eventstore.Log, error) // is called where Beside could not be written
	// Proofs are what is kept of a log elsewhere: proof.Maker has those of reports.
	Proofs func(context.Context, eventstore.Log) iter.Seq2[Known, error]
	Beside Beside

	db     *sqlx.DB
	events *eventstore.Store
	trees  *tree.Trees
	keys   Keys

	holding sync.Mutex // one holds a log against what was signed
	mu      sync.Mutex
	signed  map[eventstore.Log]state // the last one that this process has signed, or found to fit
	known   map[eventstore.Log]Held
	refused map[eventstore.Log]error // why the last attempt at a checkpoint was refused
}

// state is a tree, in short.
type state struct {
	size int64
	root tlog.Hash
}

// New returns the maker of a process. It has to be the only one there: it remembers what
// it has signed.
func New(db *sqlx.DB, keys Keys) *Maker {
	return &Maker{
		db: db, events: eventstore.New(db), trees: tree.New(db), keys: keys,
		signed: map[eventstore.Log]state{}, known: map[eventstore.Log]Held{}, refused: map[eventstore.Log]error{},
		Refused: func(eventstore.Log) {}, Made: func(eventstore.Log) {}, Unkept: func(eventstore.Log, error) {},
		Proofs: func(context.Context, eventstore.Log) iter.Seq2[Known, error] { return func(func(Known, error) bool) {} },
	}
}

// RefusedError reports a log that differs from the one that was signed before: it is not
// signed.
type RefusedError struct {
	Log        eventstore.Log
	Size, Head int64  // of what was signed before, and of the log now
	Here       bool   // this process has signed it; else it is the last that is kept
	File       string // that has it; empty: none
}

func (e *RefusedError) Error() string {
	by := "the last checkpoint that is kept"
	switch {
	case e.File != "":
		by = "the last checkpoint that was signed here (" + e.File + ")"
	case e.Here:
		by = "the last checkpoint that this process has signed or verified"
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
	First string // the findings
	More  int    // so many other things do not
}

func (e *UnfitError) Error() string {
	more := ""
	if e.More > 0 {
		more = fmt.Sprintf(", and %d more", e.More)
	}
	return fmt.Sprintf("log %s was changed, nothing more is signed: %s%s; keep the database as it is (docs/auditors.md)", e.Log, e.First, more)
}

// Changed says whether an error of a Maker means that the log has changed: events are gone or
// different, or the signed states are.
func Changed(err error) bool {
	var refused *RefusedError
	var altered *AlteredError
	var unfit *UnfitError
	var file *FileError
	return errors.As(err, &refused) || errors.As(err, &altered) || errors.As(err, &unfit) || errors.As(err, &file) || tree.Unfit(err)
}

// Makes returns a stored checkpoint that covers a position, or makes one. It waits for a second
// if the last was made just now. The first time, it waits until the log was compared with
// everything that was signed of it (Hold). Errors: *RefusedError, *AlteredError, *UnfitError,
// *FileError, *tree.MissingError if the log has no such position.
func (m *Maker) Makes(ctx context.Context, log eventstore.Log, atLeast int64) (Checkpoint, error) {
	for {
		kept, wait, err := m.attempt(ctx, log, atLeast)
		if err != nil {
			return Checkpoint{}, m.counted(log, fmt.Errorf("make a checkpoint of log %s: %w", log, err))
		}
		if wait == 0 {
			m.note(log, nil)
			return kept, nil
		}
		if err := pause.For(ctx, wait); err != nil {
			return Checkpoint{}, err
		}
	}
}

// Latest returns the last stored checkpoint that a key of the ring has signed; ok is false if
// there is none. Errors: *AlteredError.
func (m *Maker) Latest(ctx context.Context, log eventstore.Log) (c Checkpoint, ok bool, err error) {
	last, ok, err := latest(ctx, m.db, log)
	if err != nil || !ok {
		return Checkpoint{}, false, err
	}
	c, by, err := m.read(log, last)
	return c, len(by) > 0, err
}

// Grown makes a checkpoint of a log that has grown since the last. It refuses a log that the
// verifier knows to be changed, grown or not.
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
		m.note(log, err)
		m.Refused(log)
	}
	return err
}

// note keeps what came of the last attempt.
func (m *Maker) note(log eventstore.Log, refused error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refused[log] = refused
}

// Check returns why this process does not sign a log, or what does not fit in one: it is a
// check of readiness.
func (m *Maker) Check(context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, log := range eventstore.Logs {
		if err := m.refused[log]; err != nil {
			return err
		}
		if held := m.known[log]; held.Misfits > 0 {
			return &UnfitError{Log: log, First: held.Sentences[0], More: held.Misfits - 1}
		}
	}
	return nil
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
// signed. It verifies nothing if the last one is enough. It runs before the turn, because the
// holder of a transaction must not wait for another connection.
func (m *Maker) verified(ctx context.Context, log eventstore.Log, atLeast int64, before []signed) (upTo int64, err error) {
	for _, b := range before {
		atLeast = max(atLeast, b.size)
	}
	last, _, err := latest(ctx, m.db, log)
	if err != nil || last.Size >= atLeast {
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

// attempt returns how long to wait if it is too early to make one.
func (m *Maker) attempt(ctx context.Context, log eventstore.Log, atLeast int64) (c Checkpoint, wait time.Duration, err error) {
	if err := m.heldOnce(ctx, log); err != nil {
		return c, 0, err
	}
	files, err := m.Beside.read(log, m.keys.Origin(log))
	if err != nil {
		return c, 0, err
	}
	before := m.before(log, files)
	upTo, err := m.verified(ctx, log, atLeast, before)
	if err != nil {
		return c, 0, err
	}
	var made bool
	err = transact.Once(ctx, m.db, nil, func(tx *sqlx.Tx) error {
		if err := takeTurns(ctx, tx, log); err != nil {
			return err
		}
		t := turn{Maker: m, tx: tx, trees: m.trees.Within(tx), log: log, before: before, verified: upTo}
		c, wait, made, err = t.take(ctx, atLeast)
		return err
	})
	if err == nil && wait == 0 {
		m.remember(c)
		if err := m.keepBeside(ctx, c, files); err != nil {
			m.Unkept(log, err)
		}
	}
	if err == nil && made {
		m.Made(log)
	}
	return c, wait, err
}

// keepBeside keeps a checkpoint in a file, unless a file has it or a larger one; files are those that
// were read before. Another process may have written since, so they are read again in a turn.
func (m *Maker) keepBeside(ctx context.Context, c Checkpoint, files []besideState) error {
	if m.Beside.Name == "" || has(files, c) {
		return nil
	}
	return transact.Once(ctx, m.db, nil, func(tx *sqlx.Tx) error {
		if err := takeTurns(ctx, tx, c.Log); err != nil {
			return err
		}
		files, err := m.Beside.read(c.Log, m.keys.Origin(c.Log))
		if err != nil || has(files, c) {
			return err
		}
		return m.Beside.write(c)
	})
}

func takeTurns(ctx context.Context, tx *sqlx.Tx, log eventstore.Log) error {
	return statement.Exec(ctx, tx, "take turns at checkpoints", `SELECT pg_advisory_xact_lock(hashtext('log_checkpoints'), hashtext($1))`, string(log))
}

// signed is what was signed, and is not known from the database.
type signed struct {
	state
	file string // that has it; empty: this process has it in memory
}

// before is what the log has to go on from, beside what is kept.
func (m *Maker) before(log eventstore.Log, files []besideState) []signed {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := []signed{{m.signed[log], ""}}
	for _, f := range files {
		all = append(all, signed{f.state, f.path})
	}
	return all
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

	before   []signed
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
		if !slices.ContainsFunc(t.before, func(b signed) bool { return b.size > c.Size }) && c.Size >= atLeast && signedBy(by, signers[0]) {
			return c, 0, false, t.goesOn(ctx, state{c.Size, c.Root})
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
	kept := state{last.Size, last.Root}
	for _, b := range t.before {
		if size < b.size {
			return Checkpoint{}, t.refuse(b.size, size, &b)
		}
	}
	if size < kept.size {
		return Checkpoint{}, t.refuse(kept.size, size, nil)
	}
	if size = min(size, max(t.verified, kept.size)); size < atLeast {
		return Checkpoint{}, &tree.MissingError{Log: t.log, Size: atLeast, Has: size}
	}
	root, err := t.trees.Root(ctx, t.log, size)
	if err != nil {
		return Checkpoint{}, err
	}
	now := state{size, root}
	if err := t.goesOn(ctx, now); err != nil {
		return Checkpoint{}, err
	}
	if err := t.continues(ctx, kept, now, nil); err != nil {
		return Checkpoint{}, err
	}
	return t.keep(ctx, now, last, signers)
}

// goesOn refuses a tree that does not begin with what this process and the files have.
func (t turn) goesOn(ctx context.Context, now state) error {
	for _, b := range t.before {
		if err := t.continues(ctx, b.state, now, &b); err != nil {
			return err
		}
	}
	return nil
}

// continues refuses a tree that does not begin with the one that was signed before; by names
// the source of that one, nil if it is stored.
func (t turn) continues(ctx context.Context, before, now state, by *signed) error {
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
	return t.refuse(before.size, now.size, by)
}

func (t turn) refuse(size, head int64, by *signed) error {
	refused := &RefusedError{Log: t.log, Size: size, Head: head}
	if by != nil {
		refused.Here, refused.File = by.file == "", by.file
	}
	return refused
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

// timestampAt is the token of a checkpoint of this size.
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
