package schedules

import (
	"context"
	"database/sql"
	_ "embed" // the schema and the statement
	"encoding/json"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/instant"
	"muster/domain/schedule"
	"muster/eventstore"
	"muster/projections"
)

// Name of the projection, and the version of its tables. The queries name the
// version's schema, schedules_v1.
const (
	Name    = "schedules"
	Version = 1
)

var (
	//go:embed sql/schema.sql
	schema string
	//go:embed sql/write.sql
	writeQuery string
)

// Projection returns the projection that Reader reads.
func Projection(decode projections.Decode) projections.Projection {
	return projections.Projection{
		Name: Name, Version: Version, Logs: []eventstore.Log{eventstore.Organization}, Schema: schema,
		Decode: projections.Streams[schedule.Event](decode, schedule.StreamType, "a schedule"),
		Apply:  projections.OneByOne("write schedule", write), // a schedule is due once a day at most
	}
}

func write(ctx context.Context, tx *sqlx.Tx, e eventstore.Event, fact schedule.Event) error {
	s, err := load(ctx, tx, e, fact)
	if err != nil {
		return err
	}
	at := instant.Cut(e.OccurredAt)
	s.Apply(fact, at)
	if !s.Exists() {
		_, err := tx.ExecContext(ctx, `WITH gone AS (DELETE FROM runs WHERE schedule_id = $1) DELETE FROM schedules WHERE id = $1`, e.Stream)
		return err
	}
	terms, err := json.Marshal(s.Terms)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, writeQuery, e.Stream, e.OrganizationID, s.OwnerID, s.Terms.Name, string(terms), s.From, at); err != nil {
		return err
	}
	run, ok := schedule.RunOf(fact)
	if !ok {
		return nil
	}
	report := uuid.NullUUID{UUID: run.ReportID, Valid: run.ReportID != uuid.Nil}
	_, err = tx.ExecContext(ctx, `INSERT INTO runs (schedule_id, due_at, organization_id, status, report_id, reason, at) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		e.Stream, run.DueAt, e.OrganizationID, run.Status, report, run.Reason, at)
	return err
}

// load returns the schedule of a row; a schedule that is being created has none.
func load(ctx context.Context, tx *sqlx.Tx, e eventstore.Event, fact schedule.Event) (*schedule.Schedule, error) {
	if _, isNew := fact.(schedule.Created); isNew {
		return &schedule.Schedule{}, nil
	}
	var owner uuid.UUID
	var terms []byte
	var from time.Time
	err := tx.QueryRowContext(ctx, `SELECT owner_id, terms, due_from FROM schedules WHERE id = $1`, e.Stream).Scan(&owner, &terms, &from)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, projections.UnknownStream(e)
	}
	if err != nil {
		return nil, err
	}
	state := schedule.State{OwnerID: owner, From: from}
	err = json.Unmarshal(terms, &state.Terms)
	return schedule.Restore(state), err
}
