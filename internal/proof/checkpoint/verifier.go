package checkpoint

import (
	"context"
	"database/sql"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"muster/eventstore"
	"muster/eventstore/tree"
	"muster/internal/postgres/statement"
)

var (
	//go:embed sql/claim_verification.sql
	claimVerification string
	//go:embed sql/keep_verification.sql
	keepVerification string
	//go:embed sql/verifications.sql
	selectVerifications string
)

const (
	// VerifyEvery is how often a log is verified a step further.
	VerifyEvery = time.Minute
	// stepEvents is how many events a step has at least, whole tiles of the tree. A log of
	// that size is verified whole each minute: about 30 ms.
	stepEvents = 80 * tile
	// steps is how many a long log takes: four hours, so that a day is kept on a bad one.
	steps = 240
	// verifyWithin is how old the verification of an event may become (MusterHistoryUnverified).
	verifyWithin = 24 * time.Hour
	// lateSteps is the number of steps for a long log that was not verified because no process
	// ran: half an hour, for which the alert waits.
	lateSteps = 30
	// tile is how many events a tile of leaves has.
	tile = 1 << tree.Height
	// stepTerm is how long a process owns a step. A process that dies during one holds up the
	// log for that long.
	stepTerm = 2 * time.Minute
	// maxFindings bounds what is kept of a log that is broken throughout.
	maxFindings = 100
)

// Verifier verifies the logs while they are served, a step at a time: data against digests,
// digests against the chain, the chain against the head row, and the kept hashes of the tree
// against the events.
type Verifier struct {
	DB     *sqlx.DB
	Events *eventstore.Store
	Log    *slog.Logger

	trees *tree.Trees
	least int64 // events of a step
}

// NewVerifier returns the verifier of a database's logs.
func NewVerifier(db *sqlx.DB, log *slog.Logger) *Verifier {
	return &Verifier{DB: db, Events: eventstore.New(db), Log: log, trees: tree.New(db), least: stepEvents}
}

// Finding is something in a log that does not fit.
type Finding struct {
	First    int64  `json:"first"`
	Last     int64  `json:"last"`
	Tree     bool   `json:"tree,omitempty"` // the hashes that are kept of the tree, and not the events
	Sentence string `json:"sentence,omitempty"`
}

type findings []Finding

// Scan reads a column of findings.
func (f *findings) Scan(src any) error { return statement.ScanJSON(src, f) }

// Verified is how far a log is verified.
type Verified struct {
	Log      eventstore.Log `db:"log"`
	Head     int64          `db:"head"`
	Position int64          `db:"position"` // all events up to it were verified within Age
	Age      float64        `db:"age"`      // seconds since the last whole pass began, or since there could be one
	Findings findings       `db:"findings"` // the findings that were not accepted
}

// Verified returns how far the logs are verified.
func (v *Verifier) Verified(ctx context.Context) ([]Verified, error) {
	return statement.All[Verified](ctx, v.DB, "read how far the logs are verified", selectVerifications)
}

// Step verifies each log a step further, unless another process does, or has within the last
// minute. What does not fit is an error in the log, each time; the error is that of a step
// that could not be made.
func (v *Verifier) Step(ctx context.Context) error {
	var failed error
	for _, log := range eventstore.Logs {
		found, err := v.step(ctx, log)
		failed = errors.Join(failed, err)
		if len(found) > 0 {
			v.Log.ErrorContext(ctx, "events were changed or deleted", "log", log, "findings", len(found), "first", found[0].Sentence)
		}
	}
	return failed
}

// claimed is a step that is this process's.
type claimed struct {
	Fence      int64        `db:"fence"`
	Position   int64        `db:"position"`
	Hash       []byte       `db:"hash"`
	RecordedAt sql.NullTime `db:"recorded_at"`
	Findings   findings     `db:"findings"`
	Accepted   findings     `db:"accepted"`
	Late       bool         `db:"late"` // no whole pass began within verifyWithin
}

func (v *Verifier) step(ctx context.Context, log eventstore.Log) ([]Finding, error) {
	s, ok, err := statement.Find[claimed](ctx, v.DB, "claim the verification of a log", claimVerification, string(log), stepTerm.Seconds(), verifyWithin.Seconds())
	if err != nil || !ok {
		return nil, err
	}
	end, err := v.Events.VerifyEnd(ctx, log)
	if err != nil {
		return nil, err
	}
	if s.Position > end.Head.Position { // the log was set back
		s.Position = 0
	}
	from := eventstore.Reached{Position: s.Position, Hash: s.Hash, RecordedAt: s.RecordedAt.Time}
	upTo := min(end.Head.Position, s.Position+v.stepOf(end.Head.Position, s.Late))
	reached, found, err := v.look(ctx, log, from, upTo, end)
	if err != nil {
		return nil, err
	}
	again, err := v.again(ctx, log, s.Findings, from.Position, upTo, end)
	if err != nil {
		return nil, err
	}
	found = fresh(slices.Concat(again, found), s.Accepted)
	kept, err := json.Marshal(found)
	if err != nil {
		return nil, fmt.Errorf("write down what does not fit: %w", err)
	}
	err = statement.Exec(ctx, v.DB, "keep how far a log is verified", keepVerification, string(log), s.Fence,
		reached.Position, reached.Hash, sql.NullTime{Time: reached.RecordedAt, Valid: !reached.RecordedAt.IsZero()}, string(kept),
		(VerifyEvery - VerifyEvery/10).Seconds(), upTo == end.Head.Position)
	return found, err
}

// stepOf is how many events a step of a log has.
func (v *Verifier) stepOf(events int64, late bool) int64 {
	of := int64(steps)
	if late {
		of = lateSteps
	}
	return max(v.least, (events/of/tile+1)*tile)
}

// Accept verifies each log completely and records its findings as accepted: the verifier does
// not report them again, and checkpoints are signed over them. It is for an operator who
// continues with a changed log. Beyond maxFindings in a log, findings are not accepted.
func (v *Verifier) Accept(ctx context.Context) error {
	for _, log := range eventstore.Logs {
		end, err := v.Events.VerifyEnd(ctx, log)
		if err != nil {
			return err
		}
		_, found, err := v.look(ctx, log, eventstore.Reached{}, end.Head.Position, end)
		if err != nil {
			return err
		}
		kept, err := json.Marshal(fresh(found, nil))
		if err != nil {
			return fmt.Errorf("write down what is accepted: %w", err)
		}
		err = statement.Exec(ctx, v.DB, "keep what is accepted of a log", `UPDATE log_verifications SET accepted = $2::jsonb, findings = '[]' WHERE log = $1`, string(log), string(kept))
		if err != nil {
			return err
		}
	}
	return nil
}

// Accepted returns which findings in a log an operator accepted (Accept).
func (v *Verifier) Accepted(ctx context.Context, log eventstore.Log) (func(eventstore.Mismatch) bool, error) {
	known, err := knownOf(ctx, v.DB, log)
	return func(m eventstore.Mismatch) bool {
		return len(fresh([]Finding{{First: m.Position, Last: m.Until}}, known.Accepted)) == 0
	}, err
}

// known is what is known not to fit in a log.
type known struct {
	Findings findings `db:"findings"` // and not accepted
	Accepted findings `db:"accepted"`
}

func knownOf(ctx context.Context, q sqlx.QueryerContext, log eventstore.Log) (known, error) {
	of, _, err := statement.Find[known](ctx, q, "read what does not fit in a log", `SELECT findings, accepted FROM log_verifications WHERE log = $1`, string(log))
	return of, err
}

// look verifies events, the tiles over them and, at the end of the log, its end and the tree
// above.
func (v *Verifier) look(ctx context.Context, log eventstore.Log, from eventstore.Reached, upTo int64, end eventstore.Verification) (eventstore.Reached, []Finding, error) {
	reached, verified, err := v.Events.VerifyOn(ctx, log, from, upTo)
	if err != nil {
		return from, nil, err
	}
	found := append(findingsOf(verified), findingsOf(end)...)
	err = v.trees.CheckLeaves(ctx, log, from.Position/tile*tile, upTo)
	if err == nil && upTo == end.Head.Position {
		err = v.trees.CheckAbove(ctx, log)
	}
	var different *tree.DifferentTileError
	switch {
	case errors.As(err, &different):
		found = append(found, Finding{First: different.First, Last: different.Last, Tree: true, Sentence: different.Error()})
	case tree.Unfit(err): // which the chain says, too
	case err != nil:
		return from, nil, err
	}
	return reached, found, nil
}

// again looks at what did not fit and lies outside of what is looked at anyway: it may have
// been put right.
func (v *Verifier) again(ctx context.Context, log eventstore.Log, before []Finding, after, upTo int64, end eventstore.Verification) ([]Finding, error) {
	var found []Finding
	for _, f := range before {
		first, last := max(f.First-1, 1), min(f.Last+1, end.Head.Position) // a changed hash shows at its neighbor
		if first > after && last <= upTo && !f.Tree || last < first {
			continue
		}
		still, err := v.still(ctx, log, f, first, last)
		if err != nil {
			return nil, err
		}
		found = append(found, still...)
	}
	return found, nil
}

func (v *Verifier) still(ctx context.Context, log eventstore.Log, f Finding, first, last int64) ([]Finding, error) {
	if !f.Tree {
		from, err := v.Events.ReachedAt(ctx, log, first-1)
		if err != nil {
			return nil, err
		}
		_, verified, err := v.Events.VerifyOn(ctx, log, from, last)
		return findingsOf(verified), err
	}
	err := v.trees.CheckAbove(ctx, log)
	if err == nil && f.Last-f.First < tile {
		err = v.trees.CheckLeaves(ctx, log, (f.First-1)/tile*tile, (f.Last+tile-1)/tile*tile)
	}
	if tree.Unfit(err) {
		return []Finding{f}, nil
	}
	return nil, err
}

func findingsOf(v eventstore.Verification) []Finding {
	found := make([]Finding, len(v.Findings))
	for i, f := range v.Findings {
		found[i] = Finding{First: f.Position, Last: f.Until, Sentence: f.String()}
	}
	return found
}

// fresh are the findings that were not accepted, each once, in order of position.
func fresh(found, accepted []Finding) []Finding {
	seen, kept := map[string]bool{}, []Finding{}
	for _, f := range found {
		known := slices.ContainsFunc(accepted, func(a Finding) bool { return a.First <= f.First && f.Last <= a.Last })
		if known || seen[f.Sentence] {
			continue
		}
		seen[f.Sentence] = true
		kept = append(kept, f)
	}
	slices.SortStableFunc(kept, func(a, b Finding) int { return int(a.First - b.First) })
	return kept[:min(len(kept), maxFindings)]
}
