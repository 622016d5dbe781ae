package e2e

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"muster/internal/mail/mailtest"
	"muster/internal/testing/longtest"
	"muster/internal/testing/pgtest"
)

// incident is something that happens to a real PostgreSQL server, and how one knows that
// Muster shows it.
type incident struct {
	letter, name string
	settings     map[string]string
	major        int  // of PostgreSQL; 0: any
	standby      bool // it happens to a standby
	begin        func(t *testing.T, s *sufferer)
	// sign says whether the pages show a first sign: where.
	where string
	sign  func(t *testing.T, s *sufferer) bool
	// alert is the rule that raises an alert; empty: none does yet, and missing says what is
	// to come.
	alert   string
	cause   *regexp.Regexp // what names the cause in the alert's title or description
	missing string
	limit   time.Duration // how long is waited for an alert
}

// sufferer is the server that an incident happens to.
type sufferer struct {
	house    *incidentHouse
	name     string
	id       uuid.UUID
	server   *pgtest.Server
	primary  *pgtest.Server // of a standby
	since    time.Time
	sessions []*pgx.Conn
}

type incidentHouse struct {
	house
	mails *mailtest.Server
	feed  client
}

// seen is what came of an incident.
type seen struct {
	sign, alert, mail time.Duration
	clicks            int
}

func newIncidentHouse(t *testing.T) *incidentHouse {
	t.Helper()
	mails := mailtest.Start(t, mailtest.Options{})
	h := &incidentHouse{house: newHouseApart(t, "--smtp-url", "smtp://"+mails.Addr+"?starttls=off"), mails: mails}
	eventually(t, "administrators are told of alerts", func() bool { // a fresh installation gets its rule within a minute
		var rules struct{ Items []any }
		h.ana.get(t, "/api/v1/notification-rules", &rules)
		return len(rules.Items) > 0
	})
	h.feed = client{base: h.server.base, token: strings.TrimSpace(h.must(t, "token", "create", "--kind", "ingest", "--email", "ana@acme.example"))}
	return h
}

func (h *incidentHouse) suffers(t *testing.T, i incident) *sufferer {
	t.Helper()
	settings := map[string]string{"shared_preload_libraries": "pg_stat_statements"}
	for name, value := range i.settings {
		settings[name] = value
	}
	s := &sufferer{house: h, name: "incident-" + i.letter, server: pgtest.Cluster(t, pgtest.Options{Major: i.major, Settings: settings})}
	s.sql(t, "CREATE EXTENSION pg_stat_statements")
	if i.standby {
		s.primary = s.server
		s.server = pgtest.Standby(t, s.primary, pgtest.Options{Major: i.major, Settings: settings})
	}
	var made struct{ ID uuid.UUID }
	h.ana.call(t, http.StatusCreated, http.MethodPost, "/api/v1/instances", map[string]any{
		"name": s.name, "engine": "postgresql", "dsn": s.server.TCPURL(pgtest.Superuser, "postgres"), "host": s.host(),
	}, &made)
	s.id = made.ID
	eventually(t, s.name+" is up", func() bool { return s.status(t) == "up" })
	return s
}

// host is the machine of the server, as far as Muster knows.
func (s *sufferer) host() string { return "host-of-" + s.name }

func (s *sufferer) connect(t *testing.T) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.server.Superuser())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Second)
		defer cancel()
		_ = conn.Close(ctx)
	})
	s.sessions = append(s.sessions, conn)
	return conn
}

func (s *sufferer) sql(t *testing.T, statement string) {
	t.Helper()
	if _, err := s.connect(t).Exec(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

// spend has sessions run a statement until the incident is over.
func (s *sufferer) spend(t *testing.T, sessions int, statement string) {
	t.Helper()
	for range sessions {
		conn := s.connect(t)
		go func() {
			for t.Context().Err() == nil {
				if _, err := conn.Exec(t.Context(), statement); err != nil {
					return
				}
			}
		}()
	}
}

func (s *sufferer) status(t *testing.T) string {
	var is struct{ Status string }
	s.house.ana.get(t, "/api/v1/instances/"+s.id.String(), &is)
	return is.Status
}

// connections are the sessions of the server by what they do.
func (s *sufferer) connections(t *testing.T) (c struct{ Active, Idle, Waiting, Total *int }) {
	s.house.ana.get(t, "/api/v1/metrics/connections?instanceId="+s.id.String(), &c)
	return c
}

// text is an answer of the API about the server, for a look at what it names.
func (s *sufferer) text(t *testing.T, path string) string {
	return string(s.house.ana.get(t, strings.ReplaceAll(path, "ID", s.id.String()), nil).body)
}

// told waits for the alert of a rule and its mail.
func (s *sufferer) told(t *testing.T, i incident) (out seen) {
	t.Helper()
	var shown struct {
		Items []struct {
			ID                 uuid.UUID
			Title, Description string
			Rule               *struct{ ID string }
		}
	}
	within(i.limit, func() bool {
		if out.sign == 0 && i.sign(t, s) {
			out.sign = time.Since(s.since)
		}
		shown.Items = nil
		s.house.ana.get(t, "/api/v1/alerts?instanceId="+s.id.String(), &shown)
		return len(shown.Items) > 0
	})
	if len(shown.Items) == 0 {
		return out
	}
	out.alert = time.Since(s.since)
	if out.sign == 0 {
		out.sign = out.alert
	}
	of := shown.Items[0]
	if i.cause != nil && i.cause.MatchString(of.Title+" "+s.text(t, "/api/v1/alerts/"+of.ID.String())) {
		out.clicks = 1 // the dashboard's list of alerts leads to it
	}
	if within(3*time.Minute, func() bool {
		return slices.ContainsFunc(s.house.mails.Mails(), func(m mailtest.Mail) bool { return strings.Contains(readMail(t, m.Data).text, s.name) })
	}) {
		out.mail = time.Since(s.since)
	}
	return out
}

// TestLongADeadServerIsDown kills a PostgreSQL whose host goes on sending figures, and starts it
// again: down within 30 s, told by alert within 60 s and by mail within 90 s, and the end of
// it within 60 s (F1, F2 of the look; contract §38).
func TestLongADeadServerIsDown(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	h := newIncidentHouse(t)
	i := killed()
	s := h.suffers(t, i)
	i.begin(t, s)
	got := s.told(t, i)
	t.Logf("down after %s, alert after %s, mail after %s", got.sign, got.alert, got.mail)
	if got.sign > 30*time.Second || got.alert > 60*time.Second || got.mail > 90*time.Second || got.alert == 0 {
		t.Errorf("down after %s, alert after %s, mail after %s", got.sign, got.alert, got.mail)
	}
	var is struct {
		Status       string
		StatusSince  time.Time
		StatusReason struct{ Code, Sentence string }
		Parts        []struct{ Part, State string }
	}
	h.ana.get(t, "/api/v1/instances/"+s.id.String(), &is)
	if off := is.StatusSince.Sub(s.since).Abs(); is.Status != "down" || off > 15*time.Second || is.StatusReason.Code == "" || !strings.Contains(is.StatusReason.Sentence, s.server.Addr()) {
		t.Errorf("it is %+v, and went at %s", is, s.since)
	}
	for _, p := range is.Parts {
		if p.Part == "sessions" && p.State != "notMeasured" || p.Part == "host" && p.State != "ok" {
			t.Errorf("part %+v", p)
		}
	}
	if got := s.text(t, "/api/v1/health-checks/overview"); !strings.Contains(got, `"down":1`) {
		t.Errorf("the overview says %s", got)
	}
	if got := s.text(t, "/api/v1/instances?status=down"); !strings.Contains(got, s.name) || strings.Contains(got, "pg-live") {
		t.Errorf("the list of what is down has %s", got)
	}
	h.ana.call(t, http.StatusAccepted, http.MethodPost, "/api/v1/instances/"+s.id.String()+"/assess", nil, nil)
	eventually(t, "an assessment fails", func() bool { return !strings.Contains(s.text(t, "/api/v1/instances/ID"), `"lastError":null`) })
	s.server.Restart(t)
	back := time.Now()
	eventually(t, "it is up again", func() bool { return s.status(t) == "up" })
	eventually(t, "the alert is closed", func() bool {
		return strings.Contains(s.text(t, "/api/v1/alerts?instanceId=ID"), `"AutoResolved"`)
	})
	if took := time.Since(back); took > time.Minute {
		t.Errorf("that took %s", took)
	}
	if got := s.text(t, "/api/v1/instances/ID"); !strings.Contains(got, `"lastError":null`) {
		t.Errorf("it says %s", got)
	}
	eventually(t, "it is assessed again", func() bool {
		var is struct{ LastAssessedAt time.Time }
		h.ana.get(t, "/api/v1/instances/"+s.id.String(), &is)
		return is.LastAssessedAt.After(back)
	})
}

// killed is incident i: the server is gone, its host is not.
func killed() incident {
	return incident{
		letter: "i", name: "server killed, host alive", where: "state", alert: "down", cause: regexp.MustCompile(`is down.*Connection refused`), limit: 2 * time.Minute,
		begin: func(t *testing.T, s *sufferer) {
			s.hostGoesOn(t)
			s.server.Crash(t)
			s.since = time.Now()
		},
		sign: func(t *testing.T, s *sufferer) bool { return s.status(t) == "down" },
	}
}

// hostGoesOn sends the server's host figures every ten seconds until the test is over.
func (s *sufferer) hostGoesOn(t *testing.T) {
	t.Helper()
	send := func() answer {
		got, _ := s.house.feed.try(t.Context(), http.MethodPost, "/ingest/v1/samples", map[string]any{"hosts": []map[string]any{{
			"host": s.host(), "instances": []string{}, "at": time.Now().UTC(), "cpuPercent": 40.0,
		}}})
		return got
	}
	if got := send(); got.status != http.StatusAccepted {
		t.Fatalf("%d: %s", got.status, got.body)
	}
	go func() {
		for tick := time.NewTicker(10 * time.Second); ; {
			select {
			case <-t.Context().Done():
				tick.Stop()
				return
			case <-tick.C:
				send()
			}
		}
	}()
}

// incidents are the eleven of the day of a DBA on call.
func incidents() []incident {
	waiting := func(n int) func(t *testing.T, s *sufferer) bool {
		return func(t *testing.T, s *sufferer) bool {
			c := s.connections(t)
			return c.Waiting != nil && *c.Waiting >= n
		}
	}
	return []incident{
		{
			letter: "a", name: "ten sessions wait behind a table lock", where: "tile Connections", alert: "lock_wait", limit: 7 * time.Minute,
			cause: regexp.MustCompile(`held by session \d+|session \d+ holds`), missing: "the blocker's statement and tree (issue 38)",
			begin: func(t *testing.T, s *sufferer) {
				s.sql(t, "CREATE TABLE orders (id int)")
				s.since = time.Now()
				blocker := s.connect(t)
				if _, err := blocker.Exec(t.Context(), "BEGIN; LOCK TABLE orders"); err != nil {
					t.Fatal(err)
				}
				s.spend(t, 10, "SELECT count(*) FROM orders")
			},
			sign: waiting(10),
		},
		{
			letter: "b", name: "an index is dropped under load", where: "Statements, slower than before", limit: 3 * time.Minute, missing: "an alert (issue 39)",
			begin: func(t *testing.T, s *sufferer) {
				s.sql(t, "CREATE TABLE wares AS SELECT n AS id, repeat('x', 100) AS text FROM generate_series(1, 200000) n; CREATE INDEX wares_id ON wares (id); ANALYZE wares")
				s.spend(t, 2, "SELECT text FROM wares WHERE id = 777")
				time.Sleep(2 * time.Minute) // what is normal has to be seen first
				s.since = time.Now()
				s.sql(t, "DROP INDEX wares_id")
			},
			sign: slowStatement,
		},
		{
			letter: "c", name: "every connection is taken", settings: map[string]string{"max_connections": "40"}, where: "tile Connections", limit: 3 * time.Minute,
			missing: "an alert near the limit (issue 39)",
			begin: func(t *testing.T, s *sufferer) {
				s.since = time.Now()
				for range 60 {
					conn, err := pgx.Connect(t.Context(), s.server.Superuser())
					if err != nil {
						return
					}
					s.sessions = append(s.sessions, conn)
				}
			},
			sign: func(t *testing.T, s *sufferer) bool {
				c := s.connections(t)
				return c.Total != nil && *c.Total > 30
			},
		},
		{
			letter: "d", name: "a runaway query", where: "tile Connections", limit: 2 * time.Minute, missing: "the session and its statement (issue 38)",
			begin: func(t *testing.T, s *sufferer) {
				s.since = time.Now()
				s.spend(t, 1, "SELECT count(*) FROM generate_series(1, 100000000) a")
			},
			sign: func(t *testing.T, s *sufferer) bool {
				c := s.connections(t)
				return c.Active != nil && *c.Active >= 1
			},
		},
		{
			letter: "e", name: "a volume is full (sent by a feed)", where: "Instances, Disk", alert: "volume", cause: regexp.MustCompile(`/var/lib/postgresql.*100 % full`), limit: 2 * time.Minute,
			begin: func(t *testing.T, s *sufferer) {
				s.since = time.Now()
				s.house.feed.call(t, http.StatusAccepted, http.MethodPost, "/ingest/v1/samples", map[string]any{"hosts": []map[string]any{{
					"host": s.host(), "instances": []string{}, "at": time.Now().UTC(),
					"volumes": []map[string]any{{"mount": "/var/lib/postgresql", "usedPercent": 100}},
				}}}, nil)
			},
			sign: func(t *testing.T, s *sufferer) bool {
				return strings.Contains(s.text(t, "/api/v1/instances/ID"), `"diskPercent":100`)
			},
		},
		{
			letter: "f", name: "a standby stops following", where: "Findings after an assessment", limit: 2 * time.Minute, missing: "lag and slots (issue 39)",
			settings: map[string]string{"max_replication_slots": "5"},
			begin: func(t *testing.T, s *sufferer) {
				s.sql(t, "SELECT pg_create_physical_replication_slot('left_behind', true)")
				s.since = time.Now()
				s.sql(t, "CREATE TABLE much AS SELECT repeat('y', 1000) FROM generate_series(1, 50000)")
			},
			sign: func(t *testing.T, s *sufferer) bool {
				return strings.Contains(s.text(t, "/api/v1/findings?instanceId=ID"), "left_behind")
			},
		},
		{
			letter: "g", name: "transaction ids run out", where: "alert", alert: "wraparound", cause: regexp.MustCompile(`postgres|template`), limit: 4 * time.Minute,
			settings: map[string]string{"autovacuum": "off", "autovacuum_freeze_max_age": "2000000000"},
			begin: func(t *testing.T, s *sufferer) {
				s.server.Stop(t)
				if !s.server.Age(t, 1_800_000_000) {
					t.Fatal("no pg_resetwal")
				}
				s.server.Restart(t)
				s.since = time.Now()
			},
			sign: func(*testing.T, *sufferer) bool { return false },
		},
		{
			letter: "h", name: "a new statement takes the time", where: "Statements", limit: 4 * time.Minute, missing: "user and application (issue 38)",
			begin: func(t *testing.T, s *sufferer) {
				s.since = time.Now()
				s.spend(t, 1, "SELECT sum(n) FROM generate_series(1, 300000) AS new_statement (n)")
			},
			sign: slowStatement,
		},
		killed(),
		{
			letter: "j", name: "deadlocks", where: "nowhere", limit: 90 * time.Second, missing: "deadlocks (issue 38)",
			begin: func(t *testing.T, s *sufferer) {
				s.sql(t, "CREATE TABLE pair (id int PRIMARY KEY, n int); INSERT INTO pair VALUES (1, 0), (2, 0)")
				s.since = time.Now()
				var both sync.WaitGroup
				for _, order := range [][2]int{{1, 2}, {2, 1}} {
					conn := s.connect(t)
					both.Go(func() {
						_, _ = conn.Exec(t.Context(), fmt.Sprintf("BEGIN; UPDATE pair SET n = n + 1 WHERE id = %d; SELECT pg_sleep(0.5); UPDATE pair SET n = n + 1 WHERE id = %d; COMMIT", order[0], order[1]))
					})
				}
				both.Wait()
			},
			sign: func(*testing.T, *sufferer) bool { return false },
		},
		{
			letter: "k", name: "temporary files and forced checkpoints", settings: map[string]string{"work_mem": "64kB"}, where: "Statements", limit: 3 * time.Minute,
			missing: "temporary files and checkpoints (issue 39)",
			begin: func(t *testing.T, s *sufferer) {
				s.since = time.Now()
				s.spend(t, 1, "SELECT count(*) FROM (SELECT n FROM generate_series(1, 400000) n ORDER BY random()) s")
			},
			sign: slowStatement,
		},
	}
}

// slowStatement says whether the list of statements has one that takes its time.
func slowStatement(t *testing.T, s *sufferer) bool {
	t.Helper()
	now := time.Now().UTC()
	var listed struct{ Items []struct{ MeanMs *float64 } }
	s.house.ana.get(t, fmt.Sprintf("/api/v1/statements?instanceId=%s&from=%s&to=%s", s.id, s.since.UTC().Format(time.RFC3339), now.Add(time.Second).Format(time.RFC3339)), &listed)
	return slices.ContainsFunc(listed.Items, func(i struct{ MeanMs *float64 }) bool { return i.MeanMs != nil && *i.MeanMs > 5 })
}

// incidentsPage is the page whose table `make incidents` fills.
const incidentsPage = "TEST_INCIDENTS_PAGE"

// TestLongIncidents has the eleven incidents happen, each to a real PostgreSQL server of its
// own, and prints how long it takes until somebody can know. `make incidents` runs it.
func TestLongIncidents(t *testing.T) {
	longtest.Only(t)
	h := newIncidentHouse(t)
	all := incidents()
	results := make([]seen, len(all))
	t.Run("happen", func(t *testing.T) {
		for n, i := range all {
			t.Run(i.letter, func(t *testing.T) {
				t.Parallel()
				s := h.suffers(t, i)
				i.begin(t, s)
				results[n] = s.told(t, i)
				if i.alert != "" && results[n].alert == 0 {
					t.Errorf("%s: no alert within %s", i.name, i.limit)
				}
			})
		}
	})
	var table strings.Builder
	table.WriteString("| | Incident | First sign | Where | Alert | Mail | Clicks to the cause | Missing |\n|---|---|---|---|---|---|---|---|\n")
	for n, i := range all {
		clicks := "not named"
		if results[n].clicks > 0 {
			clicks = strconv.Itoa(results[n].clicks)
		}
		fmt.Fprintf(&table, "| %s | %s | %s | %s | %s | %s | %s | %s |\n", i.letter, i.name, after(results[n].sign), i.where, after(results[n].alert), after(results[n].mail), clicks, i.missing)
	}
	t.Logf("\n%s", table.String())
	if page := os.Getenv(incidentsPage); page != "" {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		const begin, end = "<!-- table -->\n", "<!-- end -->"
		first, rest, ok := strings.Cut(string(text), begin)
		_, last, also := strings.Cut(rest, end)
		if !ok || !also {
			t.Fatalf("%s has no place for the table", page)
		}
		if err := os.WriteFile(page, []byte(first+begin+table.String()+end+last), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if down := results[slices.IndexFunc(all, func(i incident) bool { return i.letter == "i" })]; down.sign > 30*time.Second || down.alert > time.Minute || down.mail > 90*time.Second {
		t.Errorf("down after %s, alert after %s, mail after %s", down.sign, down.alert, down.mail)
	}
}

func after(d time.Duration) string {
	if d == 0 {
		return "none"
	}
	return d.Round(time.Second).String()
}
