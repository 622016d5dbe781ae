package dictionary

import (
	"context"
	_ "embed" // the statements
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/measurements"
	"muster/internal/measurements/pgstore/tables"
	"muster/internal/postgres/statement"
)

var (
	//go:embed sql/name_statements.sql
	nameStatements string
	//go:embed sql/own_statements.sql
	ownStatements string
	//go:embed sql/match_statements.sql
	matchStatements string
	//go:embed sql/first_executions.sql
	firstExecutions string
)

// namedRow is a statement as the dictionary has it.
type namedRow struct {
	Instance            uuid.UUID
	Hash                int64
	Engine              fleet.Engine
	Database            uuid.UUID
	Key, Text           string
	FirstSeen, LastSeen time.Time
	RanBefore           bool
	WatchedFrom         *time.Time
}

func (r namedRow) named() measurements.NamedStatement {
	var watched time.Time
	if r.WatchedFrom != nil {
		watched = r.WatchedFrom.UTC()
	}
	key, role, _ := strings.Cut(r.Key, roleBehind)
	return measurements.NamedStatement{
		StatementRef: measurements.StatementRef{Instance: r.Instance, Hash: uint64(r.Hash)},
		Engine:       r.Engine, Database: r.Database, Key: key, Role: role, Text: r.Text, FirstSeen: r.FirstSeen.UTC(), LastSeen: r.LastSeen.UTC(),
		RanBefore: r.RanBefore, WatchedFrom: watched,
	}
}

// NameStatements is documented at measurements.Store.
func (d *Dictionary) NameStatements(ctx context.Context, organization uuid.UUID, ids []uuid.UUID) (map[uuid.UUID]measurements.NamedStatement, error) {
	rows, err := statement.All[namedRow](ctx, d.db, fmt.Sprintf("name %d statements", len(ids)), nameStatements, organization, statement.IDs(ids))
	named := make(map[uuid.UUID]measurements.NamedStatement, len(rows))
	for _, row := range rows {
		one := row.named()
		named[one.ID()] = one
	}
	return named, err
}

// MatchStatements is documented at measurements.Store.
func (d *Dictionary) MatchStatements(ctx context.Context, organization uuid.UUID, scope measurements.StatementScope, match measurements.StatementMatch) (map[measurements.StatementRef]bool, error) {
	var database, from, to any
	if scope.Database != uuid.Nil {
		database = scope.Database
	}
	if !match.FirstTo.IsZero() {
		from, to = match.FirstFrom, match.FirstTo
	}
	type found struct {
		Instance uuid.UUID
		Hash     int64
	}
	query, args := matchStatements, []any{organization, !scope.Filtered, tables.Subjects(scope.Instances), database, match.Text, from, to}
	if match.Own {
		query, args = ownStatements, args[:4]
	}
	rows, err := statement.All[found](ctx, d.db, "look for statements", query, args...)
	matched := make(map[measurements.StatementRef]bool, len(rows))
	for _, row := range rows {
		matched[measurements.StatementRef{Instance: row.Instance, Hash: uint64(row.Hash)}] = true
	}
	return matched, err
}

// FirstExecutions is documented at measurements.Store.
func (d *Dictionary) FirstExecutions(ctx context.Context, organization uuid.UUID, scope fleet.Scope, from, to time.Time, most int) ([]measurements.FirstExecutions, error) {
	found, err := statement.All[measurements.FirstExecutions](ctx, d.db, "count new statements", firstExecutions,
		organization, !scope.Filtered, tables.Subjects(scope.Instances), from, to, measurements.NewAfter.Seconds(), most)
	for i := range found {
		found[i].At = found[i].At.UTC()
	}
	return found, err
}
