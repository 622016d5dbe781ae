package dictionary

import (
	"cmp"
	"context"
	_ "embed" // the statements
	"fmt"
	"hash/fnv"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/instant"
	"muster/internal/measurements"
	"muster/internal/measurements/blocking"
	"muster/internal/measurements/pgstore/tables"
	"muster/internal/postgres/statement"
)

var (
	//go:embed sql/statements_to_keep.sql
	statementsToKeep string
	//go:embed sql/keep_statements.sql
	keepStatements string
	//go:embed sql/drop_texts.sql
	dropTexts string
	//go:embed sql/forget_statements.sql
	forgetStatements string
)

// statementsKept is how long the dictionary keeps a statement after it was seen last. One day more
// than its details is longer than its last sighting may be out of date (rememberedFor).
const statementsKept = measurements.DayDetailsKept + 24*time.Hour

// sighting is a statement that was executed in the samples of a batch.
type sighting struct {
	Series      int64
	Hash        int64
	First, Last time.Time
	Digest      int64 // of the text; 0: there is none
}

// entry is a row of measured_statements.
type entry struct {
	sighting
	ID, Database uuid.UUID
	Key, Text    string
	RanBefore    bool // by the sample at First
	Own          bool
}

// Noted are statements that the dictionary has once a transaction is committed.
type Noted []entry

// Dictionary has the statements of all instances.
type Dictionary struct {
	db     *sqlx.DB
	noted  memory
	forgot atomic.Pointer[time.Time] // when it was looked for old statements

	// KeepsTexts says whether an organization keeps the texts of statements, and sees to
	// it that this stays until tx ends; nil: none does.
	KeepsTexts func(ctx context.Context, tx *sqlx.Tx, organization uuid.UUID) (bool, error)

	names names
	keeps sync.Map // of each organization, its decision
	// KeepsPeople says whether an organization keeps users, applications and clients of sessions,
	// and HoldsPeople the same, and sees to it that this stays until tx ends; nil: none does.
	KeepsPeople func(ctx context.Context, organization uuid.UUID) (bool, error)
	HoldsPeople func(ctx context.Context, tx *sqlx.Tx, organization uuid.UUID) (bool, error)

	nameKeys sync.Map // of each organization, its keyRead
	// NewNameKey makes a key; not in tests, a random one.
	NewNameKey func() measurements.NameKey
	MostNames  int // of an organization; the constant, but in tests
}

// In returns the dictionary in a database.
func In(db *sqlx.DB) *Dictionary {
	return &Dictionary{db: db, noted: memory{series: make(map[int64]remembered)}, NewNameKey: newNameKey, MostNames: mostNames}
}

// NoteStatements notes the statements of samples that are kept, and returns those of which
// the dictionary was asked: RememberStatements takes them after the commit. series are those of
// the instances' statements, locked; now is the database's time. Texts are written under a share
// of whatever holds the organization's decision to keep them (KeepsTexts), which is taken before
// any row is.
func (d *Dictionary) NoteStatements(ctx context.Context, tx *sqlx.Tx, organization uuid.UUID, series func(instance uuid.UUID) int64, now time.Time, samples []measurements.StatementSample) (noted Noted, err error) {
	noted = d.sightings(series, now, samples)
	if len(noted) == 0 {
		return nil, nil
	}
	entries, err := toKeep(ctx, tx, noted)
	if err != nil || len(entries) == 0 {
		return noted, err
	}
	if slices.ContainsFunc(entries, func(e entry) bool { return e.Digest != 0 }) {
		keeps := false
		if d.KeepsTexts != nil {
			if keeps, err = d.KeepsTexts(ctx, tx, organization); err != nil {
				return nil, err
			}
		}
		if !keeps {
			for i := range entries {
				entries[i].Digest, entries[i].Text = 0, ""
			}
		}
	}
	return noted, statement.Exec(ctx, tx, fmt.Sprintf("note %d statements", len(entries)), keepStatements, statement.Columns(entries)...)
}

// RememberStatements spares the look-ups of statements that the dictionary has by now.
func (d *Dictionary) RememberStatements(noted Noted) { d.noted.add(noted) }

// toKeep leaves those entries that the dictionary does not have like this.
func toKeep(ctx context.Context, tx *sqlx.Tx, entries []entry) ([]entry, error) {
	type asked struct {
		Series, Hash int64
		First        time.Time
		Hour         time.Time // who was seen in it, or later, is not written for being seen
		Digest       int64
	}
	all := make([]asked, len(entries))
	for i, e := range entries {
		all[i] = asked{e.Series, e.Hash, e.First, NoteHour(e.Series, e.Last), e.Digest}
	}
	places, err := statement.All[int](ctx, tx, fmt.Sprintf("look for %d statements", len(all)), statementsToKeep, statement.Columns(all)...)
	kept := make([]entry, len(places))
	for i, place := range places {
		kept[i] = entries[place]
	}
	return kept, err
}

// sightings are the statements that were executed in samples and have to be looked up in the
// dictionary, each once, in the order of series and hash. Each that has a text is looked up,
// because the text may change at any time.
func (d *Dictionary) sightings(of func(instance uuid.UUID) int64, now time.Time, samples []measurements.StatementSample) []entry {
	var all []entry
	for _, sample := range samples {
		at, series := instant.Cut(sample.At), of(sample.Instance)
		known := d.noted.known(series, at, now)
		for _, one := range sample.Statements {
			if one.Calls == 0 {
				continue
			}
			hash := measurements.HashStatement(sample.Database, one.Key)
			if _, is := slices.BinarySearch(known, int64(hash)); is && one.Text == "" {
				continue
			}
			all = append(all, entry{sighting{series, int64(hash), at, at, digest(one.Text)},
				measurements.StatementID(sample.Instance, hash), sample.Database, keyOf(one), one.Text, one.RanBefore, one.Own})
		}
	}
	return once(all)
}

// roleBehind separates a statement's key from the name of its role, in one column: the record
// of a statement when it is first seen.
const roleBehind = "\x1f"

func keyOf(one measurements.Statement) string {
	if one.Role == "" {
		return one.Key
	}
	return one.Key + roleBehind + one.Role
}

// once puts entries in the order of series and hash, and those of one statement together.
func once(all []entry) []entry {
	slices.SortStableFunc(all, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.Series, b.Series), cmp.Compare(a.Hash, b.Hash))
	})
	left := all[:0]
	for _, e := range all {
		n := len(left)
		if n == 0 || left[n-1].Series != e.Series || left[n-1].Hash != e.Hash {
			left = append(left, e)
			continue
		}
		known := &left[n-1]
		if e.First.Before(known.First) {
			known.RanBefore = e.RanBefore
		}
		known.Own = known.Own || e.Own
		known.First, known.Last = instant.Earlier(known.First, e.First), instant.Later(known.Last, e.Last)
		if e.Digest != 0 {
			known.Digest, known.Text = e.Digest, e.Text
		}
	}
	return left
}

// digest identifies a text; 0: there is none.
func digest(text string) int64 {
	if text == "" {
		return 0
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(text))
	return cmp.Or(int64(h.Sum64()), 1)
}

// DropTexts deletes the texts of an organization's statements, and of the sessions that waited for each other. Who
// calls it holds what KeepsTexts shares, so that no writer brings one back.
func (d *Dictionary) DropTexts(ctx context.Context, tx *sqlx.Tx, organization uuid.UUID) error {
	if err := statement.Exec(ctx, tx, "delete the texts of statements", dropTexts, organization); err != nil {
		return err
	}
	return blocking.DropTexts(ctx, tx, organization)
}

// ForgetStatements deletes statements and names of which nothing is left, once a day: it looks at each
// statement, because an index by time would be written to with each of them.
func (d *Dictionary) ForgetStatements(ctx context.Context) error {
	now := time.Now()
	if last := d.forgot.Load(); last != nil && now.Sub(*last) < 24*time.Hour {
		return nil
	}
	if err := tables.Forget(ctx, d.db, "forget old statements", forgetStatements, statementsKept); err != nil {
		return err
	}
	if err := d.forgetNames(ctx); err != nil {
		return err
	}
	d.forgot.Store(&now)
	return nil
}
