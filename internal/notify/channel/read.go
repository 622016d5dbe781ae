package channel

import (
	"context"
	_ "embed" // the statement
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"muster/domain/notification"
	"muster/internal/postgres/statement"
	"muster/internal/report/brief"
)

// EventFilter leaves some of the events of a delivery.
type EventFilter struct {
	Alerts bool        // those of alerts alone
	Owners []uuid.UUID // those about servers of one of these teams; nil: all
	// Unnamed are titles without people, for a recipient from whom the pages hide them.
	Unnamed bool
}

//go:embed read.sql
var readQuery string

// Read returns the first events of a delivery, and how many more there are. A test has none.
func (t Tools) Read(ctx context.Context, d Delivery, filter EventFilter) (notices []Notice, omitted int, err error) {
	if d.Test {
		return []Notice{}, 0, nil
	}
	rows, err := statement.All[struct {
		Notice []byte `db:"notice"`
		All    int    `db:"all_of_them"`
	}](ctx, t.DB, "read the events of a delivery", readQuery, d.ID, d.OrganizationID, Most, filter.Alerts, filter.Owners)
	if err != nil {
		return nil, 0, err
	}
	notices = make([]Notice, len(rows))
	for i, row := range rows {
		if err := json.Unmarshal(row.Notice, &notices[i]); err != nil {
			return nil, 0, fmt.Errorf("read a notice: %w", err)
		}
		omitted = row.All - len(rows)
	}
	if err := t.brief(ctx, d.OrganizationID, notices); err != nil {
		return nil, 0, err
	}
	if filter.Unnamed {
		return notices, omitted, nil
	}
	return notices, omitted, Name(ctx, t.DB, d.OrganizationID, notices)
}

// brief puts the briefs of ready reports into their events.
func (t Tools) brief(ctx context.Context, organization uuid.UUID, notices []Notice) error {
	var ids []uuid.UUID
	for _, n := range notices {
		if n.Type == notification.ReportReady && n.ReportID != nil {
			ids = append(ids, *n.ReportID)
		}
	}
	briefs, err := brief.Read(ctx, t.DB, organization, ids...)
	for i, n := range notices {
		if n.Type != notification.ReportReady || n.ReportID == nil {
			continue
		}
		if b, ok := briefs[*n.ReportID]; ok {
			notices[i].Brief = &b
		}
	}
	return err
}
