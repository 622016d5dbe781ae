package audit

import (
	"context"
	_ "embed" // the schema and the queries
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/eventstore"
	"muster/projections"
)

// Name of the projection, and the version of its tables. The queries name the
// version's schema, audit_v1.
const (
	Name    = "audit"
	Version = 1
)

var (
	//go:embed schema.sql
	schema string
	//go:embed write.sql
	writeQuery string
)

// Projection returns the projection that Reader reads. It decodes no event:
// whatever was recorded can be audited, also by a program that does not know
// its type yet.
func Projection() projections.Projection {
	return projections.Projection{
		Name: Name, Version: Version, Schema: schema, Apply: apply,
		Logs: []eventstore.Log{eventstore.Reports, eventstore.Organization},
	}
}

func apply(ctx context.Context, tx projections.Tx, events []eventstore.Event) error {
	var logs, types, actors []string
	var positions []int64
	var organizations, subjects []uuid.UUID
	var times []time.Time
	var data [][]byte
	for _, e := range events {
		var m eventstore.Metadata
		if err := json.Unmarshal(e.Metadata, &m); err != nil {
			return fmt.Errorf("read metadata of event %d: %w", e.Position, err)
		}
		logs, positions = append(logs, string(e.Log)), append(positions, e.Position)
		organizations, times = append(organizations, e.OrganizationID), append(times, e.RecordedAt)
		types, actors = append(types, TrailName(e.Type)), append(actors, m.ActorID)
		subjects, data = append(subjects, e.Stream), append(data, e.Data)
	}
	_, err := tx.ExecContext(ctx, writeQuery, logs, positions, organizations, times, types, actors, subjects, data)
	return err
}

// TrailName is the name that the audit trail shows for an event's wire name:
// report.build_started is buildStarted, member.invited is memberInvited.
func TrailName(wireName string) string {
	words := strings.FieldsFunc(strings.TrimPrefix(wireName, "report."), func(r rune) bool { return r == '.' || r == '_' })
	for i, word := range words[min(1, len(words)):] {
		words[i+1] = strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.Join(words, "")
}
