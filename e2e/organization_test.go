package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/internal/cli/command"
	"muster/internal/cli/installation"
	"muster/internal/operate/deletion"
	"muster/internal/testing/longtest"
	"muster/internal/testing/pgtest"
)

// feeds sends an instance, what is measured on it and an alert, and returns the first
// answer that is none of success.
func (c client) feeds(ctx context.Context, at time.Time) (refused answer, err error) {
	at = at.UTC()
	of := map[string]any{"instance": "sent", "database": "erp", "at": at}
	with := func(more map[string]any) []map[string]any {
		maps.Copy(more, of)
		return []map[string]any{more}
	}
	for _, call := range []struct {
		path string
		body any
	}{
		{"/ingest/v1/fleet", map[string]any{"instances": []map[string]any{{
			"externalId": "sent", "name": "sent", "engine": "postgresql", "createdAt": at.AddDate(0, 0, -1),
			"databases": []map[string]any{{"externalId": "erp", "name": "erp", "createdAt": at.AddDate(0, 0, -1)}},
		}}}},
		{"/ingest/v1/samples", map[string]any{
			"hosts": []map[string]any{{"host": "sent.example", "instances": []string{"sent"}, "at": at, "cpuPercent": 12.5,
				"volumes": []map[string]any{{"mount": "/", "usedPercent": 95}}}},
			"sessions": with(map[string]any{"active": 1, "idle": 0, "waiting": 0, "idleInTransaction": 0, "other": 0, "waits": map[string]int{}}),
			"statements": with(map[string]any{"intervalSeconds": 60, "busyMs": 90,
				"statements": []map[string]any{{"key": "1", "calls": 1, "totalMs": 2.5, "text": "SELECT 1"}}}),
		}},
		{"/ingest/v1/alertmanager/api/v2/alerts", []map[string]any{{
			"labels": map[string]string{"alertname": "High CPU", "muster_instance": "sent"}, "startsAt": at.Add(-time.Minute), "endsAt": at.Add(time.Hour),
		}}},
	} {
		got, err := c.try(ctx, http.MethodPost, call.path, call.body)
		if err != nil || got.status >= 300 {
			return got, err
		}
	}
	return answer{}, nil
}

// rowsOf are the rows of an organization by table, as text, of every table with rows of
// organizations, of all that hangs on its series, and of every read model.
func (i installed) rowsOf(t testing.TB, organization uuid.UUID) map[string]string {
	t.Helper()
	rows := map[string]string{}
	i.within(t, func(ctx context.Context, in *installation.Installation) error {
		var tables []struct{ Schema, Name, Column string }
		if err := in.DB.SelectContext(ctx, &tables, `SELECT table_schema AS schema, table_name AS name, column_name AS "column"
			FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
			WHERE column_name IN ('organization_id', 'series_id') AND table_type = 'BASE TABLE'`); err != nil {
			return err
		}
		tables = append(tables, struct{ Schema, Name, Column string }{"public", "organizations", "id"})
		for _, table := range tables {
			where := table.Column + ` = $1`
			if table.Column == "series_id" {
				where = `series_id IN (SELECT id FROM measured_series WHERE organization_id = $1)`
			}
			var found struct {
				N    int
				Text string
			}
			if err := in.DB.GetContext(ctx, &found, `SELECT count(*) AS n, coalesce(string_agg(r::text, E'\n' ORDER BY r::text), '') AS text
				FROM `+table.Schema+`.`+table.Name+` r WHERE `+where, organization); err != nil {
				return fmt.Errorf("%s: %w", table.Name, err)
			}
			if found.N > 0 {
				name := table.Name
				if table.Schema != "public" {
					name = table.Schema + "." + name
				}
				rows[name] = found.Text
			}
		}
		return nil
	})
	return rows
}

// wantNothingLeft holds an organization to have nothing but what is said to stay, and
// what the read models make of its events.
func (i installed) wantNothingLeft(t testing.TB, organization uuid.UUID) {
	t.Helper()
	stays := deletion.Stays()
	for table, rows := range i.rowsOf(t, organization) {
		if _, stays := stays[table]; !stays && !strings.Contains(table, ".") {
			t.Errorf("%s still has\n%s", table, rows)
		}
		if table == "security_log" && strings.Contains(rows, "127.0.0.1") {
			t.Errorf("an address is left:\n%s", rows)
		}
	}
	files, err := filepath.Glob(filepath.Join(i.dir, "blobs", "reports", organization.String(), "*", "*"))
	if err != nil || len(files) > 0 {
		t.Errorf("files are left: %v, %v", files, err)
	}
	i.within(t, func(ctx context.Context, in *installation.Installation) error {
		var orphans int
		err := in.DB.GetContext(ctx, &orphans, `SELECT count(*) FROM raw_samples WHERE series_id NOT IN (SELECT id FROM measured_series)`)
		if orphans > 0 {
			t.Errorf("%d samples of no series", orphans)
		}
		return err
	})
}

// TestAnOrganizationIsDeleted: whatever there is of it goes, however often the program is
// killed amid it, and nothing of another one is touched; its events stay, a file of its
// reports can still be proven, and its name and its address are free.
func TestAnOrganizationIsDeleted(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	bolt := h.organization(t, "Bolt")
	ben := h.as(t, h.server, bolt)
	var ids [2]uuid.UUID
	for n, c := range []client{h.ana, ben} {
		var session struct{ Organization struct{ ID uuid.UUID } }
		c.get(t, "/api/v1/session", &session)
		ids[n] = session.Organization.ID
		for minute := range 3 {
			if got, err := c.feeds(t.Context(), time.Now().Add(time.Duration(minute-3)*time.Minute)); err != nil || got.status != 0 {
				t.Fatalf("%v %d %s", err, got.status, got.body)
			}
		}
		c.member(t, fmt.Sprintf("invited-%d@example.org", n), "viewer")
		c.call(t, 201, http.MethodPost, "/api/v1/views", map[string]any{"name": "shared", "query": "/alerts", "shared": true}, nil)
		c.call(t, 201, http.MethodPost, "/api/v1/marks", map[string]any{"text": "deploy"}, nil)
	}
	live := ben.watch(t, "pg-live", pgtest.Watched(t).TCPURL(pgtest.Superuser, "postgres"))
	hers, his := h.ana.request(t, security(h.live)), ben.request(t, security(live))
	h.ana.await(t, hers, "Ready")
	ben.await(t, his, "Ready")
	_, pdf := h.ana.download(t, hers)
	ben.download(t, his)

	told := h.muster(t, "organization", "delete", "Acme")
	if told.status != command.ExitUsage || !strings.Contains(told.errors, "nothing was deleted") || !regexp.MustCompile(`(?m)^ +[1-9]\d* files of reports$`).MatchString(told.out) ||
		!regexp.MustCompile(`(?m)^ +2 members$`).MatchString(told.out) || !strings.Contains(told.out, "events would stay") {
		t.Errorf("without --yes it says %d %s%s", told.status, told.out, told.errors)
	}
	h.ana.get(t, "/api/v1/session", nil)
	h.fail(t, []string{"organization", "delete", "Cargo", "--yes"}, `"Cargo"`)
	h.server.stop(t)

	was, events := h.rowsOf(t, ids[1]), h.rowsOf(t, ids[0])
	for _, table := range []string{"raw_samples", "findings", "alert_last_seen", "jobs", "assessment_targets", "signs", "tokens", "members", "views", "chart_marks"} {
		if was[table] == "" || events[table] == "" {
			t.Errorf("the organization has nothing in %s, so this shows nothing", table)
		}
	}
	h.within(t, func(ctx context.Context, in *installation.Installation) error {
		killed := errors.New("killed")
		d := in.Deletion()
		for _, at := range deletion.Steps() {
			d.Reached = func(s deletion.Step) error {
				if s == at {
					return killed
				}
				return nil
			}
			if err := d.Delete(ctx, ids[0], "cli"); !errors.Is(err, killed) {
				t.Fatalf("at %s: %v", at, err)
			}
		}
		return nil
	})
	h.wantNothingLeft(t, ids[0])
	now := h.rowsOf(t, ids[1])
	for _, table := range slices.Sorted(maps.Keys(was)) {
		if now[table] != was[table] {
			t.Errorf("%s of the other organization was\n%s\nand is\n%s", table, was[table], now[table])
		}
	}
	if h.signsIn(t, "ana@acme.example", password) {
		t.Error("she still signs in")
	}
	after := h.rowsOf(t, ids[0])
	if !strings.HasPrefix(after["streams"], events["streams"][:100]) || strings.Count(after["events"], "\n") != strings.Count(events["events"], "\n")+1 {
		t.Error("events are missing, or others than that it was deleted came")
	}
	if said := h.must(t, "events", "list", "--log", "organization", "--type", "organization.deleted"); !strings.Contains(said, ids[0].String()) {
		t.Errorf("of the deletion the log says\n%s", said)
	}
	h.must(t, "events", "verify")
	if said := h.must(t, "verify", pdf); !strings.Contains(said, "ours and intact") || strings.Contains(said, "Acme") || strings.Contains(said, "ana@") {
		t.Errorf("of a report of it that somebody has it says\n%s", said)
	}
	h.must(t, "backup", filepath.Join(t.TempDir(), "backup"))
	if said := h.must(t, "organization", "delete", ids[0].String(), "--yes"); !strings.Contains(said, "deleted before") {
		t.Errorf("once more it says %s", said)
	}
	h.fail(t, []string{"organization", "delete", "Acme", "--yes"}, `"Acme"`)
	h.organization(t, "Acme")
	if !h.signsIn(t, "ana@acme.example", password) {
		t.Error("the name and the address are not free")
	}
}

// TestLongADemoIsDeleted: of all that a demo is filled with, while serve goes on filling
// and firing, nothing is left.
func TestLongADemoIsDeleted(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	i := install(t)
	server := serving(t, nil, append(i.flags(), "--demo")...)
	i.organization(t, "Bolt")
	var demo uuid.UUID
	i.within(t, func(ctx context.Context, in *installation.Installation) error {
		all, err := in.Accounts.Organizations(ctx)
		demo = all[0].ID
		return err
	})
	if was := i.rowsOf(t, demo); len(was) < 30 {
		t.Errorf("the demo has rows in %d tables only", len(was))
	}
	i.must(t, "organization", "delete", demo.String(), "--yes")
	i.wantNothingLeft(t, demo)
	server.stop(t)
	i.wantNothingLeft(t, demo)
	i.must(t, "events", "verify")
	for _, projection := range []string{"report_history", "audit", "fleet", "alerts"} {
		i.must(t, "projections", "rebuild", projection, "--stop-on-difference")
	}
	i.wantNothingLeft(t, demo)
}

// TestLongAnOrganizationIsDeletedDuringItsSamples: senders are told what an unknown token is told and
// nothing else, and what they send late is not there.
func TestLongAnOrganizationIsDeletedDuringItsSamples(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	i := install(t)
	email := i.organization(t, "Acme")
	i.organization(t, "Bolt")
	server := servingHere(t, append(i.flags(), "--rate-limits=off")...)
	ana := i.as(t, server, email)
	var session struct{ Organization struct{ ID uuid.UUID } }
	ana.get(t, "/api/v1/session", &session)
	if got, err := ana.feeds(t.Context(), time.Now()); err != nil || got.status != 0 {
		t.Fatalf("%v %d %s", err, got.status, got.body)
	}
	var senders sync.WaitGroup
	sent := make(chan struct{}, 1)
	for range 4 {
		senders.Go(func() {
			for n := 0; ; n++ {
				got, err := ana.feeds(t.Context(), time.Now().Add(-time.Duration(n)*time.Second))
				if err != nil || got.status != 0 && got.status != http.StatusUnauthorized {
					t.Errorf("a sender is told %d %s, %v", got.status, got.body, err)
				}
				if err != nil || got.status != 0 {
					return
				}
				select {
				case sent <- struct{}{}:
				default:
				}
			}
		})
	}
	<-sent
	i.must(t, "organization", "delete", "Acme", "--yes")
	senders.Wait()
	i.wantNothingLeft(t, session.Organization.ID)
	server.stop(t)
	i.wantNothingLeft(t, session.Organization.ID)
}

// TestAnOrganizationIsDeletedDuringARequest: a sender that was let in before, and whose message arrives in full
// after the deletion, gets the answer for an unknown token.
func TestAnOrganizationIsDeletedDuringARequest(t *testing.T) {
	t.Parallel()
	i := install(t)
	email := i.organization(t, "Acme")
	server := servingHere(t, append(i.flags(), "--rate-limits=off")...)
	ana := i.as(t, server, email)
	var session struct{ Organization struct{ ID uuid.UUID } }
	ana.get(t, "/api/v1/session", &session)
	body, rest := io.Pipe()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.base+"/ingest/v1/samples", body)
	if err != nil {
		t.Fatal(err)
	}
	request.Header = http.Header{"Authorization": {"Bearer " + ana.token}, "Content-Type": {"application/json"}, "Expect": {"100-continue"}}
	type told struct {
		status int
		body   string
		err    error
	}
	answered := make(chan told, 1)
	go func() {
		patient := http.Client{Transport: &http.Transport{ExpectContinueTimeout: patience}}
		response, err := patient.Do(request)
		if err != nil {
			answered <- told{err: err}
			return
		}
		defer response.Body.Close()
		read, err := io.ReadAll(response.Body)
		answered <- told{response.StatusCode, string(read), err}
	}()
	// The body is asked for by whoever reads it, and that is after the door.
	_, _ = io.WriteString(rest, `{"sessions":[],"statements":[],"hosts":[{"host":"late.example",`)
	i.must(t, "organization", "delete", "Acme", "--yes")
	_, _ = fmt.Fprintf(rest, `"instances":[],"at":%q,"cpuPercent":1}]}`, time.Now().UTC().Format(time.RFC3339))
	_ = rest.Close()
	if got := <-answered; got.err != nil || got.status != http.StatusUnauthorized || !strings.Contains(got.body, `"unauthenticated"`) {
		t.Errorf("it is told %d %s, %v", got.status, got.body, got.err)
	}
	i.wantNothingLeft(t, session.Organization.ID)
}

// TestNoRowIsInsertedForADeletedOrganization: every table with rows of organizations
// refuses or leaves out those of one that was deleted, but those that are named here.
func TestNoRowIsInsertedForADeletedOrganization(t *testing.T) {
	t.Parallel()
	i := install(t)
	without := []string{"dead_letters", "events", "streams", "whole_activity", "whole_marks", "whole_missing", "whole_rows"}
	i.within(t, func(ctx context.Context, in *installation.Installation) error {
		var unguarded []string
		err := in.DB.SelectContext(ctx, &unguarded, `SELECT table_name::text FROM information_schema.columns
			JOIN information_schema.tables USING (table_schema, table_name)
			WHERE table_schema = 'public' AND column_name = 'organization_id' AND table_type = 'BASE TABLE'
			  AND NOT EXISTS (SELECT FROM pg_trigger WHERE tgname = 'not_for_deleted_organizations' AND tgrelid = table_name::regclass)
			ORDER BY 1`)
		if !slices.Equal(unguarded, without) {
			t.Errorf("%v take rows of deleted organizations, %v were to", unguarded, without)
		}
		return err
	})
}

// TestADeletionWaitsForOpenTransactions: a transaction that inserted for an organization before it was deleted
// commits, and its rows are deleted.
func TestADeletionWaitsForOpenTransactions(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.organization(t, "Acme")
	i.within(t, func(ctx context.Context, in *installation.Installation) error {
		acme, err := in.OrganizationNamed(ctx, "Acme")
		if err != nil {
			return err
		}
		const insert = `INSERT INTO alert_mutes (alert_id, organization_id, until) VALUES ($1, $2, now())`
		tx := sqlx.MustConnect("pgx", i.url).MustBeginTx(ctx, nil)
		tx.MustExecContext(ctx, insert, uuid.New(), acme.ID)
		d, noted, done := in.Deletion(), make(chan struct{}), make(chan error, 1)
		d.Reached = func(s deletion.Step) error {
			if s == deletion.Noted {
				close(noted)
			}
			return nil
		}
		go func() { done <- d.Delete(ctx, acme.ID, "cli") }()
		<-noted
		eventually(t, "it waits, or does not", func() bool {
			var waiting bool
			err := in.DB.GetContext(ctx, &waiting, `SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
				AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`)
			return waiting || err != nil || len(done) > 0
		})
		if err := errors.Join(tx.Commit(), <-done); err != nil {
			return err
		}
		var left int
		if err := in.DB.GetContext(ctx, &left, `SELECT count(*) FROM alert_mutes`); err != nil || left > 0 {
			t.Errorf("%d rows are left of who wrote before, %v", left, err)
		}
		if _, err := in.DB.ExecContext(ctx, insert, uuid.New(), acme.ID); err == nil {
			t.Error("a row of a deleted organization is taken")
		}
		return nil
	})
}
