package exceptions

import (
	"context"
	"database/sql"
	_ "embed" // the schema and the statement
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/exception"
	"muster/eventstore"
	"muster/projections"
)

// Name of the projection, and the version of its tables. The queries name the
// version's schema, exceptions_v1.
const (
	Name    = "exceptions"
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
		Decode: projections.Streams[exception.Event](decode, exception.StreamType, "an exception"),
		Apply:  projections.OneByOne("write exception", write), // people decide about a few exceptions a day
	}
}

func write(ctx context.Context, tx *sqlx.Tx, e eventstore.Event, fact exception.Event) error {
	who, err := actor(e)
	if err != nil {
		return err
	}
	if r, ok := fact.(exception.Requested); ok {
		_, err := tx.ExecContext(ctx, writeQuery, e.Stream, e.OrganizationID, exception.StatusRequested, r.CheckID,
			r.InstanceID, r.DatabaseID, r.ObjectRef, r.Reason, r.Until, who, e.OccurredAt)
		return err
	}
	var from exception.Status
	err = tx.QueryRowContext(ctx, `SELECT status FROM exceptions WHERE id = $1`, e.Stream).Scan(&from)
	if errors.Is(err, sql.ErrNoRows) {
		return projections.UnknownStream(e)
	}
	if err != nil {
		return err
	}
	to, _ := exception.Next(from, fact)
	_, err = tx.ExecContext(ctx, `UPDATE exceptions SET status = $2, decided_by = $3, decided_at = $4 WHERE id = $1`, e.Stream, to, who, e.OccurredAt)
	return err
}

func actor(e eventstore.Event) (uuid.UUID, error) {
	var m eventstore.Metadata
	if err := json.Unmarshal(e.Metadata, &m); err != nil {
		return uuid.Nil, fmt.Errorf("read metadata: %w", err)
	}
	id, err := uuid.Parse(m.ActorID)
	if err != nil {
		return uuid.Nil, fmt.Errorf("read who did it: %w", err)
	}
	return id, nil
}
