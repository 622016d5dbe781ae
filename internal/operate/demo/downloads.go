package demo

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"muster/commands/usecase"
	"muster/domain/report"
	"muster/internal/accounts"
	"muster/internal/postgres/statement"
)

//go:embed sql/unread.sql
var unreadSQL string

// reads are who of the team fetches whose reports when they are ready.
var reads = []struct{ requester, reader int }{{ana, ana}, {ana, jonas}, {jonas, mei}}

// download lets people fetch each report that has become ready, once.
func (d *Demo) download(ctx context.Context, o accounts.Organization) error {
	team, err := d.team(ctx)
	if err != nil || team == nil {
		return err
	}
	for _, r := range reads {
		unread, err := statement.All[uuid.UUID](ctx, d.DB, "look for reports that nobody fetched", unreadSQL,
			o.ID, team[r.requester].String(), team[r.reader].String())
		if err != nil {
			return err
		}
		for _, id := range unread {
			_, err := d.Commands.RecordDownload(ctx, usecase.Actor{OrganizationID: o.ID, MemberID: team[r.reader]}, id, report.PDFFile)
			var over *report.TransitionError // it has expired
			if err != nil && !errors.As(err, &over) {
				return fmt.Errorf("fetch report %s of the demo: %w", id, err)
			}
		}
	}
	return nil
}

// team are the members in the order of people; nil where one is not there: somebody removed
// them, or they are still to come.
func (d *Demo) team(ctx context.Context) (team []uuid.UUID, err error) {
	for _, p := range people {
		member, ok, err := d.Accounts.MemberByEmail(ctx, p.email)
		if err != nil {
			return nil, fmt.Errorf("look up a member of the demo: %w", err)
		}
		if !ok {
			return nil, nil
		}
		team = append(team, member.ID)
	}
	return team, nil
}
