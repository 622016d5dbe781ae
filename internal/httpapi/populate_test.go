package httpapi

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"muster/commands"
	"muster/commands/usecase"
	"muster/domain/organization"
	"muster/eventstore"
	"muster/internal/accounts"
	"muster/internal/postgres"
	"muster/projections/fleet"
)

// populated are the organizations of the template "world", whose members have signed in.
var populated struct{ ours, theirs tenant }

// populate makes the two organizations of every world and fills the projections with
// them, once for all tests: that took half of what a test costs that asks little.
func populate(database string) error {
	ctx := context.Background()
	db, pool, err := postgres.Connect(ctx, database, postgres.PoolOptions{Name: "test"})
	if err != nil {
		return err
	}
	defer pool.Close()
	now := time.Now().UTC().Truncate(time.Second)
	clock := func() time.Time { return now }
	events, people := eventstore.New(db).WithClock(clock), accounts.New(db, clock)
	f := founder{db, commands.New(usecase.Base{DB: db, Events: events, Accounts: people, Now: clock}, commands.Needs{Instances: fleet.NewReader(db)}), events}
	if populated.ours, err = f.tenant("ours", "ours.example", false); err != nil {
		return err
	}
	if populated.theirs, err = f.tenant("theirs", "theirs.example", true); err != nil {
		return err
	}
	for _, p := range append(populated.ours.people(), populated.theirs.people()...) {
		if p.session, _, err = people.StartSession(ctx, p.ID, accounts.MethodPassword, client0); err != nil {
			return err
		}
	}
	return project(ctx, db, database, events)
}

// signInNow has the sessions of a world begin when it does, and not when its template was made.
const signInNow = `WITH seen AS (
    UPDATE members SET last_sign_in_at = $1 WHERE last_sign_in_at IS NOT NULL
), known AS (
    UPDATE sign_in_addresses SET last_at = $1
)
UPDATE sessions SET created_at = $1, last_seen_at = $1, expires_at = $1 + (expires_at - created_at)`

func (t *tenant) people() []*person { return []*person{&t.admin, &t.member, &t.auditor, &t.viewer} }

// project fills the projections with what the logs hold, and ends.
func project(ctx context.Context, db *sqlx.DB, database string, events *eventstore.Store) error {
	runner := newRunner(db, database, slog.New(slog.DiscardHandler))
	if err := runner.Prepare(ctx); err != nil {
		return err
	}
	running, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = runner.Run(running)
	}()
	defer func() { stop(); <-ended }()
	for _, log := range []eventstore.Log{eventstore.Reports, eventstore.Organization, eventstore.Fleet} {
		for deadline := time.Now().Add(patience); ; {
			if there, err := runner.CatchUp(ctx, log); err != nil {
				return err
			} else if there {
				break
			}
			if time.Now().After(deadline) {
				return fmt.Errorf("the projections of %s do not catch up", log)
			}
		}
	}
	return nil
}

// founder makes organizations, and members who have joined.
type founder struct {
	db       *sqlx.DB
	commands *commands.Service
	events   *eventstore.Store
}

func (f founder) tenant(name, domain string, demo bool) (made tenant, err error) {
	if made.organization, _, _, err = f.commands.CreateOrganization(context.Background(), name, demo, nil); err != nil {
		return made, err
	}
	for _, joins := range []struct {
		role organization.Role
		as   *person
	}{{organization.Admin, &made.admin}, {organization.Member, &made.member}, {organization.Auditor, &made.auditor}, {organization.Viewer, &made.viewer}} {
		if joins.as.Member, _, err = f.member(made.organization, joins.role, string(joins.role)+"@"+domain); err != nil {
			return made, err
		}
	}
	return made, nil
}

func (f founder) member(o accounts.Organization, role organization.Role, email string) (accounts.Member, usecase.Mark, error) {
	ctx := context.Background()
	m, _, _, mark, err := f.commands.InviteMember(ctx, usecase.Actor{OrganizationID: o.ID, Component: "cli"},
		commands.NewMember{Email: email, Name: strings.ToUpper(string(role)), Role: role})
	if err != nil {
		return m, mark, err
	}
	// They join without a password, whose hash costs a tenth of a second.
	if _, err := f.db.Exec(`UPDATE members SET status = 'active' WHERE id = $1`, m.ID); err != nil {
		return m, mark, err
	}
	joined, err := usecase.Registry().Encode(organization.MemberJoined{MemberID: m.ID, Role: role})
	if err != nil {
		return m, mark, err
	}
	_, err = f.events.Append(ctx, eventstore.Organization, eventstore.Append{Organization: o.ID,
		StreamType: organization.StreamType, Stream: o.ID, Expected: eventstore.AnyVersion, Events: []eventstore.NewEvent{joined}})
	return m, mark, err
}
