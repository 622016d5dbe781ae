package summaries

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands"
	"muster/commands/usecase"
	"muster/domain/report"
	"muster/internal/accounts"
	"muster/internal/postgres/statement"
)

//go:embed due.sql
var dueSQL string

// recording is how long the alerts of the past month take to be recorded at most.
const recording = 15 * time.Second

// window is how many days a summary covers.
type window struct {
	kind report.Kind
	days int
}

func windows() []window {
	return []window{{report.AlertsSummary, 30}, {report.PerformanceSLA, 30}, {report.DailyDigest, 1}}
}

// Request requests them in the name of the member with the first address, for the second. Members who are not there, or
// no longer, request nothing.
func Request(ctx context.Context, db *sqlx.DB, service *commands.Service, members *accounts.Store, o accounts.Organization, now time.Time, by, to string) error {
	requester, there, err := members.MemberByEmail(ctx, by)
	if err != nil || !there {
		return err
	}
	recipient, there, err := members.MemberByEmail(ctx, to)
	if err != nil || !there {
		return err
	}
	until := now.UTC().Truncate(time.Minute)
	for _, w := range windows() {
		due, err := statement.One[bool](ctx, db, "look whether a summary is due", dueSQL, o.ID, until.Add(-recording), w.kind)
		if err != nil {
			return err
		}
		if !due {
			continue
		}
		from := until.AddDate(0, 0, -w.days)
		_, err = service.RequestReport(ctx, usecase.Actor{OrganizationID: o.ID, MemberID: requester.ID}, commands.RequestReport{
			Kind: w.kind, InstanceIDs: []uuid.UUID{}, From: &from, To: &until, RecipientIDs: []uuid.UUID{recipient.ID},
		})
		var refused *usecase.RuleError // too many are being built: the next minute asks again
		if err != nil && !errors.As(err, &refused) {
			return fmt.Errorf("request the demo's %s: %w", w.kind, err)
		}
	}
	return nil
}
