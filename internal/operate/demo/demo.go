package demo

import (
	"context"
	"database/sql"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands"
	"muster/commands/inventory"
	"muster/commands/usecase"
	"muster/domain/fleet"
	"muster/domain/report"
	"muster/internal/accounts"
	"muster/internal/assessment"
	"muster/internal/concurrency/pause"
	"muster/internal/intake/push"
	"muster/internal/postgres/statement"
	"muster/internal/report/snapshot"
)

//go:embed sql/shop.sql
var shopSQL string

//go:embed sql/requested.sql
var requestedSQL string

// OrganizationName is what the demo organization is called.
const OrganizationName = "Demo organization"

// OwnServerName is the one demo server that is alive.
const OwnServerName = "demo-pg-muster-01"

// fillLock keeps two processes from filling at once (an advisory lock).
const fillLock = 0x6d757374657264 // "musterd"

// OwnServer is the private PostgreSQL that the demo watches.
type OwnServer interface {
	// MonitorURL is the DSN of a role that may read statistics.
	MonitorURL(ctx context.Context) (string, error)
	// DatabaseURL makes the database if it is missing and names it.
	DatabaseURL(ctx context.Context, database string) (string, error)
}

// Assessor assesses one instance now.
type Assessor interface {
	AssessNow(ctx context.Context, organization, instance uuid.UUID) error
}

// Series show what was measured; *pgstore.Store is one.
type Series interface {
	// Roll brings everything into the series that has come, but for what another
	// process is at.
	Roll(ctx context.Context) (hours int, err error)
	// Behind is how long ago the oldest sample came that is in no series yet; 0: none is.
	Behind(ctx context.Context) (time.Duration, error)
}

// Demo fills the demo organization.
type Demo struct {
	DB       *sqlx.DB
	Commands *commands.Service
	Accounts *accounts.Store
	Facts    *assessment.Store
	Assessor Assessor
	Own      OwnServer // nil: the database was given, and no server is watched
	// Assessments takes what agents find on the servers on paper; nil: nothing is sent.
	Assessments Assessments
	// Intake takes what is measured of the servers on paper; nil: nothing is.
	Intake *push.Intake
	// Past is how long before the organization was made measurements begin. Those of
	// the time Recent before now are of every minute.
	Past, Recent time.Duration
	Series       Series // of what Intake takes
	// Wait waits a while for the projections to pass a mark, and says whether
	// they have.
	Wait func(context.Context, usecase.Mark) bool
	Now  func() time.Time
	Log  *slog.Logger // of progress
}

// Organization makes the demo organization, or finds it. Where admin is set and
// the organization is new, it gets this first administrator.
func (d *Demo) Organization(ctx context.Context, admin *commands.NewMember) (accounts.Organization, error) {
	var made accounts.Organization
	err := d.locked(ctx, fillLock, func() error {
		all, err := d.Accounts.Organizations(ctx)
		if err != nil {
			return err
		}
		if i := slices.IndexFunc(all, func(o accounts.Organization) bool { return o.Demo }); i >= 0 {
			made = all[i]
			return nil
		}
		if made, _, _, err = d.Commands.CreateOrganization(ctx, OrganizationName, true, admin); err != nil {
			return fmt.Errorf("make the demo organization: %w", err)
		}
		return nil
	})
	return made, err
}

// Fill does every step that is not done yet.
func (d *Demo) Fill(ctx context.Context, o accounts.Organization) error {
	var team []uuid.UUID
	var paper []inventory.IDs
	err := d.locked(ctx, fillLock, func() (err error) {
		team, paper, err = d.fillNow(ctx, o)
		return err
	})
	if err != nil {
		return err
	}
	// Without the lock, which Organization takes, too: measurements are complete after
	// a minute, or when somebody rolls them up, and no process may have to wait for
	// that before it starts.
	if err := d.complete(ctx, o); err != nil {
		return fmt.Errorf("wait for the demo's measurements: %w", err)
	}
	return d.locked(ctx, fillLock, func() error {
		// A scorecard of a server on paper, which has a month to tell of.
		past := []request{{ana, d.scorecard(paper[0].ID, alertDays), nil}}
		if err := d.reports(ctx, o.ID, team, past); err != nil {
			return fmt.Errorf("request the demo's reports of its past: %w", err)
		}
		return nil
	})
}

// fillNow does the steps that need no measurements.
func (d *Demo) fillNow(ctx context.Context, o accounts.Organization) (team []uuid.UUID, paper []inventory.IDs, err error) {
	actor := usecase.Actor{OrganizationID: o.ID, Component: "demo"}
	if team, err = d.people(ctx, actor); err != nil {
		return nil, nil, fmt.Errorf("fill the demo's members: %w", err)
	}
	if paper, err = d.fleet(ctx, actor, items(o.CreatedAt)); err != nil {
		return nil, nil, fmt.Errorf("fill the demo's fleet: %w", err)
	}
	if err := d.teams(ctx, actor, team); err != nil {
		return nil, nil, fmt.Errorf("make the demo's teams: %w", err)
	}
	if err := d.objectives(ctx, actor); err != nil {
		return nil, nil, fmt.Errorf("set the demo's objectives: %w", err)
	}
	if err := d.marks(ctx, o, team); err != nil {
		return nil, nil, fmt.Errorf("set the demo's marks: %w", err)
	}
	if server := idOf(paper, heldServer); server != uuid.Nil {
		if err := d.storm(ctx, o, server); err != nil {
			return nil, nil, fmt.Errorf("tell of the demo's lock storm: %w", err)
		}
	}
	if err := d.alerts(ctx, actor, team, o.CreatedAt); err != nil {
		return nil, nil, fmt.Errorf("fill the demo's alerts: %w", err)
	}
	own, err := d.ownServer(ctx, actor, o.CreatedAt)
	if err != nil {
		return nil, nil, fmt.Errorf("watch the demo's own server: %w", err)
	}
	if err := d.exceptions(ctx, o.ID, team, own); err != nil {
		return nil, nil, fmt.Errorf("decide about the demo's exceptions: %w", err)
	}
	if err := d.reports(ctx, o.ID, team, d.reportsOf(own)); err != nil {
		return nil, nil, fmt.Errorf("request the demo's reports of the live server: %w", err)
	}
	if err := d.assess(ctx, o); err != nil {
		return nil, nil, fmt.Errorf("assess the demo's servers: %w", err)
	}
	if err := d.reports(ctx, o.ID, team, reportsOfAll(paper)); err != nil {
		return nil, nil, fmt.Errorf("request the demo's reports: %w", err)
	}
	if err := d.schedules(ctx, o.ID, team, paper); err != nil {
		return nil, nil, fmt.Errorf("make the demo's schedules: %w", err)
	}
	if err := d.notifications(ctx, o.ID, team, len(channels), len(rulesOfNotices)); err != nil {
		return nil, nil, fmt.Errorf("set up the demo's other channels: %w", err)
	}
	return team, paper, nil
}

// locked runs work while no other process does what has the same lock.
func (d *Demo) locked(ctx context.Context, key int64, work func() error) (err error) {
	conn, err := d.DB.Connx(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	// As long as it takes: the pool's lock_timeout is shorter than filling may be, and
	// off for this one statement.
	err = statement.Exec(ctx, conn, "wait for whoever else fills the demo", `SELECT pg_advisory_lock($1) FROM set_config('lock_timeout', '0', true)`, key)
	if err != nil {
		return err
	}
	defer func() {
		_, unlockErr := conn.ExecContext(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock($1)`, key)
		err = errors.Join(err, unlockErr)
	}()
	return work()
}

// settle waits until the projections have passed a mark, however long they
// take: what is written next is validated by them, and a refusal would end the
// process.
func (d *Demo) settle(ctx context.Context, mark usecase.Mark) error {
	for !d.Wait(ctx, mark) {
		if err := pause.For(ctx, settleRetry); err != nil {
			return err
		}
	}
	return nil
}

// settleRetry keeps settle from spinning while the database does not answer.
const settleRetry = 50 * time.Millisecond

// fleet sends servers. Those on paper are counted from the organization's first day,
// so that sending them again changes nothing.
func (d *Demo) fleet(ctx context.Context, actor usecase.Actor, servers []inventory.Item) ([]inventory.IDs, error) {
	ids, mark, err := d.Commands.RecordFleet(ctx, actor, servers)
	if err != nil {
		return nil, err
	}
	return ids, d.settle(ctx, mark)
}

// ownServer registers and assesses Muster's private PostgreSQL.
func (d *Demo) ownServer(ctx context.Context, actor usecase.Actor, since time.Time) (uuid.UUID, error) {
	if d.Own == nil {
		return uuid.Nil, nil
	}
	if err := d.shop(ctx); err != nil {
		return uuid.Nil, err
	}
	dsn, err := d.Own.MonitorURL(ctx)
	if err != nil {
		return uuid.Nil, err
	}
	active, host := true, "localhost"
	ids, err := d.fleet(ctx, actor, []inventory.Item{{
		ExternalID: OwnServerName, Name: OwnServerName, Engine: fleet.PostgreSQL, Host: &host, Active: &active, CreatedAt: since, Tags: &map[string]string{"env": "prod", "team": "platform"},
	}})
	if err != nil {
		return uuid.Nil, err
	}
	own := ids[0].ID
	if err := d.Facts.SaveCredentials(ctx, d.DB, assessment.Credentials{
		Organization: actor.OrganizationID, Instance: own, Engine: fleet.PostgreSQL, DSN: dsn, Own: true,
	}); err != nil {
		return uuid.Nil, err
	}
	known, err := d.Facts.LatestAssessment(ctx, actor.OrganizationID, own)
	if err != nil || known != nil && known.Outcome != snapshot.OutcomeUnreachable {
		return own, err // each look is an event: filled twice, the log says nothing more
	}
	return own, d.Assessor.AssessNow(ctx, actor.OrganizationID, own)
}

// shop makes the shop database with its planted mistakes.
func (d *Demo) shop(ctx context.Context) (err error) {
	url, err := d.Own.DatabaseURL(ctx, "shop")
	if err != nil {
		return err
	}
	db, err := sql.Open("pgx", url)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var there bool
	if err := db.QueryRowContext(ctx, `SELECT to_regnamespace('shop') IS NOT NULL`).Scan(&there); err != nil || there {
		return err
	}
	// One statement string is one transaction: the shop is there whole or not at all.
	return statement.Exec(ctx, db, "stock the shop", shopSQL)
}

// request is a report that one of the team requests, for others of it as well.
type request struct {
	by int // of people
	commands.RequestReport
	recipients []int
}

// reportsOf are one report of each kind over the live server, and one for the auditor alone.
func (d *Demo) reportsOf(own uuid.UUID) []request {
	if own == uuid.Nil {
		return nil
	}
	return []request{
		{ana, d.scorecard(own, 7), nil},
		{ana, over(report.DataInventory, own), []int{jonas, mei}},
		{jonas, over(report.Security, own), []int{mei}},
	}
}

// reportsOfAll are a Security report and a Data Inventory over all servers, and a Data
// Inventory over the one that is retired, of which nothing is classified: it fails, and
// says what to do.
func reportsOfAll(paper []inventory.IDs) []request {
	retired := slices.IndexFunc(servers(), func(s server) bool { return s.Inactive })
	return []request{
		{ana, over(report.Security), []int{jonas}},
		{ana, over(report.DataInventory), []int{mei}},
		{ana, over(report.DataInventory, paper[retired].ID), nil},
	}
}

func over(kind report.Kind, instances ...uuid.UUID) commands.RequestReport {
	return commands.RequestReport{Kind: kind, InstanceIDs: append([]uuid.UUID{}, instances...)}
}

func (d *Demo) scorecard(instance uuid.UUID, days int) commands.RequestReport {
	to := d.Now().UTC()
	from := to.AddDate(0, 0, -days)
	return commands.RequestReport{Kind: report.InstanceScorecard, InstanceIDs: []uuid.UUID{instance}, From: &from, To: &to}
}

// reports requests those that were not requested before.
func (d *Demo) reports(ctx context.Context, organization uuid.UUID, team []uuid.UUID, wanted []request) error {
	for _, w := range wanted {
		actor := usecase.Actor{OrganizationID: organization, MemberID: team[w.by]}
		for _, to := range w.recipients {
			w.RecipientIDs = append(w.RecipientIDs, team[to])
		}
		instances, err := json.Marshal(w.InstanceIDs)
		if err != nil {
			return err
		}
		asked, err := statement.One[bool](ctx, d.DB, fmt.Sprintf("look for a %s report requested before", w.Kind), requestedSQL,
			organization, actor.MemberID.String(), w.Kind, string(instances))
		if err != nil {
			return err
		}
		if asked {
			continue
		}
		if _, err := d.Commands.RequestReport(ctx, actor, w.RequestReport); err != nil {
			return err
		}
	}
	return nil
}
