package backups

import (
	"cmp"
	"context"
	_ "embed" // the statements
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/domain/instant"
	"muster/internal/measurements/arrival"
	"muster/internal/postgres/statement"
	"muster/internal/postgres/transact"
)

var (
	//go:embed sql/put_look.sql
	putLook string
	//go:embed sql/put_newest.sql
	putNewest string
	//go:embed sql/put_days.sql
	putDays string
	//go:embed sql/looks.sql
	looksQuery string
	//go:embed sql/newest.sql
	newestQuery string
	//go:embed sql/days.sql
	daysQuery string
	//go:embed sql/forget.sql
	forgetDays string
)

// How long things are kept, and how late a Look may come.
const (
	Kept = 400 * 24 * time.Hour // ends of backups
)

// Record keeps Looks of an organization; received is when they came.
func Record(ctx context.Context, db *sqlx.DB, organization uuid.UUID, received time.Time, looks []Look) error {
	for _, l := range looks {
		if !arrival.InTime(l.At, received) || !slices.Contains(Sources(), l.Source) {
			continue
		}
		l = l.Fit(received.Add(arrival.Ahead))
		if err := transact.Once(ctx, db, nil, func(tx *sqlx.Tx) error { return keep(ctx, tx, organization, received, l) }); err != nil {
			return err
		}
	}
	return nil
}

// key is what a newest backup is known by.
type key struct {
	Database uuid.UUID
	Kind     Kind
}

// minute is one in which a backup ended.
type minute struct {
	Database uuid.UUID
	Whole    bool
	Day      time.Time
	Minute   int16
}

func keep(ctx context.Context, tx *sqlx.Tx, organization uuid.UUID, received time.Time, l Look) error {
	state, err := json.Marshal(l)
	if err != nil {
		return fmt.Errorf("encode what is told of backups: %w", err)
	}
	if err := statement.Exec(ctx, tx, "keep what is told of backups", putLook, organization, l.Instance, l.Source, instant.Cut(l.At), string(state)); err != nil {
		return err
	}
	if len(l.Backups) == 0 {
		return nil
	}
	newest := map[key]Backup{}
	var minutes []minute
	for _, b := range l.Backups {
		b.FinishedAt = instant.Cut(b.FinishedAt)
		k := key{b.Database, b.Kind}
		if known, ok := newest[k]; !ok || b.FinishedAt.After(known.FinishedAt) {
			newest[k] = b
		}
		if b.FinishedAt.After(received.Add(-Kept)) {
			day := b.FinishedAt.Truncate(24 * time.Hour)
			minutes = append(minutes, minute{b.Database, b.Kind.Whole(), day, int16(b.FinishedAt.Sub(day).Minutes())})
		}
	}
	if err := statement.Exec(ctx, tx, "keep the newest backups", putNewest, append([]any{organization, l.Instance, l.Source}, statement.Columns(rowsOf(newest))...)...); err != nil {
		return err
	}
	return statement.Exec(ctx, tx, "keep when backups ended", putDays, append([]any{organization, l.Instance}, statement.Columns(minutes)...)...)
}

type newestRow struct {
	Database   uuid.UUID
	Kind       Kind
	StartedAt  *time.Time
	FinishedAt time.Time
	SizeBytes  *int64
	Tool       *string
}

func rowsOf(newest map[key]Backup) (rows []newestRow) {
	for k, b := range newest {
		row := newestRow{Database: k.Database, Kind: k.Kind, StartedAt: b.StartedAt, FinishedAt: b.FinishedAt, SizeBytes: b.SizeBytes}
		if b.Tool != "" {
			row.Tool = &b.Tool
		}
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b newestRow) int { // one order in which everybody locks rows
		return cmp.Or(slices.Compare(a.Database[:], b.Database[:]), cmp.Compare(a.Kind, b.Kind))
	})
	return rows
}

// KeptLook is the newest Look of a source of a server.
type KeptLook struct {
	Instance uuid.UUID `db:"instance_id"`
	Source   Source    `db:"source"`
	At       time.Time `db:"at"`
	State    look      `db:"state"`
}

type look Look

// Scan implements sql.Scanner.
func (l *look) Scan(src any) error { return statement.ScanJSON(src, l) }

// Looks returns what the sources of the instances in scope said last.
func Looks(ctx context.Context, q sqlx.QueryerContext, organization uuid.UUID, scope fleet.Scope) ([]Look, error) {
	rows, err := statement.All[KeptLook](ctx, q, "read what is told of backups", looksQuery, organization, scope.Filtered, statement.IDs(scope.Instances))
	looks := make([]Look, 0, len(rows))
	for _, row := range rows {
		l := Look(row.State)
		l.Instance, l.Source, l.At = row.Instance, row.Source, row.At.UTC()
		looks = append(looks, l)
	}
	return looks, err
}

// Newest is the newest backup of a kind that a source told of.
type Newest struct {
	Instance   uuid.UUID  `db:"instance_id"`
	Database   uuid.UUID  `db:"database_id"` // zero: the whole server
	Kind       Kind       `db:"kind"`
	Source     Source     `db:"source"`
	StartedAt  *time.Time `db:"started_at"`
	FinishedAt time.Time  `db:"finished_at"`
	SizeBytes  *int64     `db:"size_bytes"`
	Tool       string     `db:"tool"`
}

// NewestOf returns the newest backups of the instances in scope.
func NewestOf(ctx context.Context, q sqlx.QueryerContext, organization uuid.UUID, scope fleet.Scope) ([]Newest, error) {
	return statement.All[Newest](ctx, q, "read the newest backups", newestQuery, organization, scope.Filtered, statement.IDs(scope.Instances))
}

// portion is how many rows one statement deletes.
const portion = 1000

// Forget deletes ends of backups that are older than they are kept, by the database's clock.
func Forget(ctx context.Context, db *sqlx.DB) error {
	for {
		n, err := statement.Affected(ctx, db, "forget when old backups ended", forgetDays, Kept.Seconds(), portion)
		if err != nil || n < portion {
			return err
		}
	}
}
