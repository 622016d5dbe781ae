package health

import (
	"context"
	_ "embed" // the schema and the statements
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	domain "muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/eventstore"
	"muster/internal/postgres/statement"
	"muster/projections"
)

// Name of the projection, and the version of its tables. The queries name the
// version's schema, health_v1.
const (
	Name    = "health"
	Version = 1
)

// KeptDays is how long a server's days and changes are kept.
const KeptDays = 400

var (
	//go:embed sql/schema.sql
	schema string
	//go:embed sql/write_scores.sql
	writeScores string
	//go:embed sql/write_changes.sql
	writeChanges string
)

// Projection returns the projection that Reader reads.
func Projection(decode projections.Decode) projections.Projection {
	return projections.Projection{
		Name: Name, Version: Version, Logs: []eventstore.Log{eventstore.Fleet}, Schema: schema,
		Decode: func(e eventstore.Event) (any, error) {
			if e.StreamType != domain.AssessmentStream && e.Type != domain.Name(domain.InstanceRemoved{}) {
				return nil, nil
			}
			return projections.Fact[domain.Event](decode, e, "the fleet")
		},
		Apply: apply,
	}
}

// scoreRow is a day of a server, in the order of write_scores.sql.
type scoreRow struct {
	Organization, Instance uuid.UUID
	Day, At                time.Time
	Score                  *int
	Grade                  string
	Failed                 int
	Domains                string
}

// changeRow is a change, in the order of write_changes.sql.
type changeRow struct {
	Assessment             uuid.UUID
	Nth                    int
	Organization, Instance uuid.UUID
	At                     time.Time
	Kind, Key              string
	Before, After          string
}

// apply writes event by event: a server is assessed a few times a day, and most of the
// log is alerts.
func apply(ctx context.Context, tx *sqlx.Tx, events []projections.Event) error {
	for _, e := range events {
		var err error
		switch fact := e.Fact.(type) {
		case domain.InstanceRemoved:
			err = drop(ctx, tx, e.OrganizationID, e.Stream, time.Time{})
		case domain.InstanceAssessed:
			err = write(ctx, tx, e.OrganizationID, fact)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func write(ctx context.Context, tx *sqlx.Tx, organization uuid.UUID, e domain.InstanceAssessed) error {
	domains, err := json.Marshal(e.Domains)
	if err != nil {
		return fmt.Errorf("encode the domains of a score: %w", err)
	}
	at := e.At.UTC()
	row := scoreRow{organization, e.InstanceID, timegrid.Day.Floor(at), at, e.Score, e.Grade, 0, string(domains)}
	for _, d := range e.Domains {
		row.Failed += d.Failed
	}
	if err := statement.Exec(ctx, tx, "write a score", writeScores, statement.Columns([]scoreRow{row})...); err != nil {
		return err
	}
	rows := make([]changeRow, len(e.Changes))
	for i, c := range e.Changes {
		rows[i] = changeRow{e.AssessmentID, i, organization, e.InstanceID, at, string(c.Kind), c.Key, c.Before, c.After}
	}
	if err := statement.Exec(ctx, tx, "write changes", writeChanges, statement.Columns(rows)...); err != nil {
		return err
	}
	return drop(ctx, tx, organization, e.InstanceID, row.Day.AddDate(0, 0, 1-KeptDays))
}

// drop deletes the data of a server from before a day; the zero time: all of it.
func drop(ctx context.Context, tx *sqlx.Tx, organization, instance uuid.UUID, before time.Time) error {
	const whose = ` WHERE organization_id = $1 AND instance_id = $2 AND ($3 OR `
	if err := statement.Exec(ctx, tx, "drop scores", `DELETE FROM scores`+whose+`day < $4)`, organization, instance, before.IsZero(), before); err != nil {
		return err
	}
	return statement.Exec(ctx, tx, "drop changes", `DELETE FROM changes`+whose+`at < $4)`, organization, instance, before.IsZero(), before)
}
