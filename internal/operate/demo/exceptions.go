package demo

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"muster/commands"
	"muster/commands/usecase"
	"muster/domain/exception"
	"muster/domain/timegrid"
	"muster/internal/postgres/statement"
)

//go:embed sql/excepted.sql
var exceptedSQL string

// excepted are the exceptions to what is wrong with the live server: one that
// holds, one that lapses soon, one that nobody has decided about, one that was refused,
// and one that was granted and taken back.
var excepted = []struct {
	check, object, reason string
	days                  int
	granted, revoked      bool
}{
	{"PG-S18", "shop.newsletter", "The sign-up page reads it as PUBLIC. It gets a role of its own with the next release of the shop.", 90, true, false},
	{"PG-S19", "", "The function is replaced this month; nobody but the shop may call it.", 14, true, false},
	{"PG-S24", "", "The table is filled by the import only, which its owner runs.", 60, false, false},
	{"PG-C03", "", "Nobody deletes from the tables that these keys lead to.", 30, false, true},
	{"PG-C02", "", "The import makes its table anew each night, and nobody looks a row up in it.", 45, true, true},
}

// exceptions asks for them in the name of Ana, and decides in that of Jonas.
func (d *Demo) exceptions(ctx context.Context, organization uuid.UUID, team []uuid.UUID, own uuid.UUID) error {
	if own == uuid.Nil {
		return nil
	}
	asks := usecase.Actor{OrganizationID: organization, MemberID: team[ana]}
	decides := usecase.Actor{OrganizationID: organization, MemberID: team[jonas]}
	today := timegrid.Day.Floor(d.Now())
	type request struct {
		ID               uuid.UUID
		Granted, Revoked bool
	}
	for _, e := range excepted {
		known, ok, err := statement.Find[request](ctx, d.DB, "look for it", exceptedSQL, organization, asks.MemberID.String(), e.check)
		if err == nil && !ok {
			known.ID, _, err = d.Commands.RequestException(ctx, asks, commands.RequestException{
				Subject: exception.Subject{CheckID: e.check, InstanceID: &own, ObjectRef: e.object},
				Reason:  e.reason, Until: today.AddDate(0, 0, e.days),
			})
		}
		if err != nil {
			return fmt.Errorf("exception to %s: %w", e.check, err)
		}
		if e.granted && !known.Granted && !known.Revoked {
			_, err = d.Commands.GrantException(ctx, decides, known.ID)
		}
		if err == nil && e.revoked && !known.Revoked {
			_, err = d.Commands.RevokeException(ctx, decides, known.ID)
		}
		var over *usecase.RuleError // its time ran out while nothing was running
		if err != nil && !errors.As(err, &over) {
			return fmt.Errorf("exception to %s: %w", e.check, err)
		}
	}
	return nil
}
