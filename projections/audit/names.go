package audit

import (
	"context"
	_ "embed" // the query
	"regexp"

	"github.com/google/uuid"

	"muster/internal/statement"
)

//go:embed sql/names.sql
var namesQuery string

// anID finds ids in what was recorded, wherever they stand in it.
var anID = regexp.MustCompile(`[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// Names returns what the ids that entries are about or mention are called today, by id.
// Events carry ids only; who was erased has the empty name, and what is unknown to the
// organization none.
func (r *Reader) Names(ctx context.Context, organization uuid.UUID, entries []Entry) (map[string]string, error) {
	mentioned := map[string]bool{}
	for _, e := range entries {
		mentioned[e.Subject.String()] = true
		for _, id := range anID.FindAll(e.Data, -1) {
			mentioned[string(id)] = true
		}
	}
	ids := make([]string, 0, len(mentioned))
	for id := range mentioned {
		ids = append(ids, id)
	}
	rows, err := statement.All[struct{ ID, Name string }](ctx, r.db, "look up names for the audit list", namesQuery, organization, ids)
	names := make(map[string]string, len(rows))
	for _, row := range rows {
		names[row.ID] = row.Name
	}
	return names, err
}
