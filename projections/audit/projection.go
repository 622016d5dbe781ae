package audit

import (
	"bytes"
	"context"
	_ "embed" // the schema and the queries
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/eventstore"
	"muster/internal/postgres/statement"
	"muster/projections"
)

// Name of the projection, and the version of its tables. The queries name the
// version's schema, audit_v3.
const (
	Name    = "audit"
	Version = 3
)

var (
	//go:embed sql/schema.sql
	schema string
	//go:embed sql/write.sql
	writeQuery string
)

// Projection returns the projection that Reader reads. It decodes no event:
// whatever was recorded can be audited, also by a program that does not know
// its type yet.
func Projection() projections.Projection {
	return projections.Projection{
		Name: Name, Version: Version, Schema: schema, Apply: apply,
		Logs: []eventstore.Log{eventstore.Reports, eventstore.Organization, eventstore.Fleet},
	}
}

// row is an entry, in the order of write.sql.
type row struct {
	Log          eventstore.Log
	Position     int64
	Organization uuid.UUID
	At           time.Time
	Type, Actor  string
	Subject      uuid.UUID
	Data         []byte
}

func apply(ctx context.Context, tx *sqlx.Tx, events []projections.Event) error {
	rows, err := read(events)
	if err != nil || len(rows) == 0 {
		return err
	}
	return statement.Exec(ctx, tx, "write entries", writeQuery, statement.Columns(rows)...)
}

func read(events []projections.Event) (rows []row, err error) {
	for _, e := range events {
		if e.Log == eventstore.Fleet && !byTokens[e.Type] && bytes.HasPrefix(e.Metadata, bySystem) {
			continue
		}
		var m eventstore.Metadata
		if err := json.Unmarshal(e.Metadata, &m); err != nil {
			return nil, fmt.Errorf("read metadata of event %d: %w", e.Position, err)
		}
		actor := m.ActorID
		if e.Log == eventstore.Fleet && uuid.Validate(actor) != nil {
			if actor = tokenOf(e, m); actor == "" {
				continue
			}
		}
		rows = append(rows, row{e.Log, e.Position, e.OrganizationID, e.RecordedAt, TrailName(e.Type), actor, e.Stream, e.Data})
	}
	return rows, nil
}

// byTokens are the types of what a feed's token may do to an instance and is audited.
var byTokens = map[string]bool{
	fleet.Name(fleet.InstanceRemoved{}): true, fleet.Name(fleet.InstanceDeactivated{}): true, fleet.Name(fleet.InstanceChanged{}): true,
}

// tokenOf is the actor of a token's event; empty if the event is not audited. A change counts
// if it gave the instance another name or host: agents report new versions every day.
func tokenOf(e projections.Event, m eventstore.Metadata) string {
	if !byTokens[e.Type] || uuid.Validate(m.TokenID) != nil {
		return ""
	}
	if e.Type == fleet.Name(fleet.InstanceChanged{}) {
		var was struct{ FormerName, FormerHost string }
		if err := json.Unmarshal(e.Data, &was); err != nil || was.FormerName == "" && was.FormerHost == "" {
			return ""
		}
	}
	return TokenActor + m.TokenID
}

// TokenActor begins the actor of what a program did with an ingest token, whose id follows.
const TokenActor = "token:"

// bySystem is how the event store begins the metadata of what no member did. It
// spares the decoding and decides nothing: metadata that begins otherwise are
// decoded.
var bySystem = []byte(`{"actorId":"system`)

// TrailName is the name that the audit trail shows for an event's wire name:
// report.build_started is buildStarted, member.invited is memberInvited.
func TrailName(wireName string) string {
	words := strings.FieldsFunc(strings.TrimPrefix(wireName, "report."), func(r rune) bool { return r == '.' || r == '_' })
	for i, word := range words[min(1, len(words)):] {
		words[i+1] = strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.Join(words, "")
}
