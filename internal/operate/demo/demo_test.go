package demo_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/internal/accounts"
	"muster/internal/operate/demo"
	"muster/internal/postgres"
	"muster/internal/report/snapshot"
)

// whole is a demo with every step done: six people in three teams, thirteen servers on paper
// and the live one, one report of each kind over that and another for the auditor, and
// of one on paper a scorecard and a report that must fail.
var whole = state{
	Organizations: 1, Members: 6, Instances: 14, Databases: 20 + 3, // muster, postgres and shop on the live one
	Reports: map[string]int{"Security": 2, "InstanceScorecard": 2, "DataInventory": 3}, Builds: 7, Credentials: 1,
	Exceptions: map[string]int{"exception.requested": 5, "exception.granted": 3, "exception.revoked": 2},
	Schedules:  map[string]int{"America/New_York": 1, "America/Sao_Paulo": 1, "Asia/Tokyo": 1, "Europe/Berlin": 1, "Europe/Madrid": 1},
	Channels:   map[string]int{"email": 2, "webhook": 1, "chat": 1, "alertmanager": 1},
	Rules:      map[string]int{"true": 3, "false": 1},
	Teams:      3,
	Marks:      6,
}

func TestDemo(t *testing.T) {
	t.Parallel()
	own := privateServer(t)
	for name, test := range map[string]func(*testing.T, *postgres.Server){
		"filled twice changes nothing":     filledTwiceChangesNothing,
		"a process that dies is completed": aProcessThatDiesIsCompleted,
		"two processes at once":            twoProcessesAtOnce,
		"on somebody's own server":         onSomebodysOwnServer,
	} {
		t.Run(name, func(t *testing.T) { test(t, own) })
	}
}

func filledTwiceChangesNothing(t *testing.T, own *postgres.Server) {
	s := newScene(t, own)
	first := s.filled(s.Demo)
	if diff := cmp.Diff(whole, s.state()); diff != "" {
		t.Errorf("filled (-want +got):\n%s", diff)
	}
	if !first.Demo || first.Name != demo.OrganizationName {
		t.Errorf("%+v does not say that it is a demo", first)
	}
	events := s.count(`events`)
	if second := s.filled(s.Demo); second.ID != first.ID {
		t.Errorf("a second organization %s", second.ID)
	}
	if now := s.count(`events`); now != events {
		t.Errorf("%d events more", now-events)
	}
	engines := s.count(`(SELECT DISTINCT convert_from(data, 'UTF8')::jsonb ->> 'engine' FROM events WHERE type = 'instance.registered') e`)
	if engines != len(fleet.Engines()) {
		t.Errorf("%d engines", engines)
	}
	t.Run("the shop is what a report has to tell of", func(t *testing.T) { s.theShopIsWhatAReportHasToTellOf(t, first) })
}

// theShopIsWhatAReportHasToTellOf holds the shop against what an assessment
// with the monitor's own rights finds there.
func (s *scene) theShopIsWhatAReportHasToTellOf(t *testing.T, o accounts.Organization) {
	var id uuid.UUID
	must(t, s.db.Get(&id, `SELECT instance_id FROM assessment_targets`))
	a, classified, err := s.Facts.Latest(t.Context(), o.ID, id)
	must(t, err)
	if a.Outcome == snapshot.OutcomeUnreachable {
		t.Fatal(a.Error)
	}
	var failed []string
	for _, r := range a.Results {
		if r.Database == "shop" && r.Status == snapshot.StatusFail {
			failed = append(failed, r.CheckID)
			if r.CheckID == "PG-S18" && !slices.ContainsFunc(r.Violations, func(v snapshot.Violation) bool { return v.Object == "shop.newsletter" }) {
				t.Errorf("the exception to PG-S18 covers nothing of %v", r.Violations)
			}
		}
	}
	slices.Sort(failed)
	// No primary key, foreign keys without an index, readable by PUBLIC, a
	// SECURITY DEFINER function without a search_path, row security without a policy.
	for _, planted := range []string{"PG-C02", "PG-C03", "PG-S18", "PG-S19", "PG-S24"} {
		if !slices.Contains(failed, planted) {
			t.Errorf("%s is not found; failed: %v", planted, failed)
		}
	}
	var columns []string
	for _, c := range classified {
		if c.Database != "shop" {
			continue
		}
		if c.Classification.Status != snapshot.ClassificationCompleted {
			t.Errorf("classification %s: %s", c.Classification.Status, c.Classification.Reason)
		}
		for _, table := range c.Classification.Tables {
			for _, column := range table.Columns {
				columns = append(columns, table.Name+"."+column.Name)
			}
		}
	}
	slices.Sort(columns)
	want := []string{
		"customer.date_of_birth", "customer.email", "customer.first_name", "customer.last_name", "customer.phone",
		"customer.postcode", "customer.street", "employee.full_name", "employee.iban", "employee.salary",
		"newsletter.email", "payment_card.card_number", "sales_order.client_ip",
	}
	if diff := cmp.Diff(want, columns); diff != "" {
		t.Errorf("personal data (-want +got):\n%s", diff)
	}
}

// aProcessThatDiesIsCompleted: one process after another dies, each at a later step than the one before.
func aProcessThatDiesIsCompleted(t *testing.T, own *postgres.Server) {
	s := newScene(t, own)
	for _, death := range []struct {
		at   string
		kill func(d *demo.Demo)
	}{
		{"making the shop", func(d *demo.Demo) { d.Own = deadServer{OwnServer: own, database: true} }},
		{"asking for the connection", func(d *demo.Demo) { d.Own = deadServer{OwnServer: own, monitor: true} }},
		{"looking at the server", func(d *demo.Demo) { d.Assessor = deadAssessor{} }},
		{"before the last exception", func(d *demo.Demo) {
			left := 4
			d.Commands.Instances = deadInstances{Instances: d.Commands.Instances, left: &left}
		}},
		{"before the first report", func(d *demo.Demo) { dieAfter(d, 0) }},
		{"before the last report", func(d *demo.Demo) { dieAfter(d, 6) }},
	} {
		dying := s.process(s.db, own)
		death.kill(dying)
		if _, err := fill(t.Context(), dying); !errors.Is(err, errDied) {
			t.Fatalf("%s: it ended with %v", death.at, err)
		}
	}
	s.filled(s.Demo)
	if diff := cmp.Diff(whole, s.state()); diff != "" {
		t.Errorf("completed (-want +got):\n%s", diff)
	}
}

func dieAfter(d *demo.Demo, requests int) {
	d.Commands.Jobs = deadJobs{Jobs: d.Commands.Jobs, left: &requests}
}

// fillLock is the advisory lock of whoever fills: "musterd".
const fillLock = 0x6d757374657264

// twoProcessesAtOnce: the second waits longer than its pool waits for a lock.
func twoProcessesAtOnce(t *testing.T, own *postgres.Server) {
	s := newScene(t, own)
	impatient := s.process(impatientPool(t, s.url), own)
	fillers := make(chan error, 2)
	holder, err := s.db.Connx(t.Context())
	must(t, err)
	_, err = holder.ExecContext(t.Context(), `SELECT pg_advisory_lock($1)`, int64(fillLock))
	must(t, err)
	for _, d := range []*demo.Demo{s.Demo, impatient} {
		go func() { _, err := fill(t.Context(), d); fillers <- err }()
	}
	const waiting = `SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
	for n := 0; n < 2; {
		must(t, s.db.Get(&n, waiting))
		select {
		case err := <-fillers:
			t.Fatalf("one did not wait: %v", err)
		default:
		}
	}
	s.db.MustExec(`SELECT pg_sleep(0.1)`) // ten times what impatient's pool waits
	_, err = holder.ExecContext(t.Context(), `SELECT pg_advisory_unlock($1)`, int64(fillLock))
	must(t, errors.Join(err, holder.Close()))
	for range 2 {
		if err := <-fillers; err != nil {
			t.Error(err)
		}
	}
	if diff := cmp.Diff(whole, s.state()); diff != "" {
		t.Errorf("filled by two (-want +got):\n%s", diff)
	}
	var patience string
	must(t, impatient.DB.Get(&patience, `SHOW lock_timeout`))
	if patience != "10ms" {
		t.Errorf("the pool got a session back with lock_timeout %s", patience)
	}
}

// impatientPool has one session, which waits for no lock longer than 10 ms.
func impatientPool(t *testing.T, url string) *sqlx.DB {
	t.Helper()
	config, err := pgxpool.ParseConfig(url)
	must(t, err)
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, `SET lock_timeout = '10ms'`)
		return err
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	must(t, err)
	t.Cleanup(pool.Close)
	return sqlx.NewDb(stdlib.OpenDBFromPool(pool), "pgx")
}

// onSomebodysOwnServer: with --database-url there is no server of ours to watch.
func onSomebodysOwnServer(t *testing.T, _ *postgres.Server) {
	s := newScene(t, nil)
	s.filled(s.Demo)
	want := whole
	want.Instances, want.Databases, want.Credentials, want.Builds = 13, 20, 0, 4
	want.Reports, want.Exceptions = map[string]int{"Security": 1, "InstanceScorecard": 1, "DataInventory": 2}, map[string]int{}
	if diff := cmp.Diff(want, s.state()); diff != "" {
		t.Errorf("filled (-want +got):\n%s", diff)
	}
}
