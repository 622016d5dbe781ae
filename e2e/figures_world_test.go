package e2e

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/internal/mail/mailtest"
)

// drawn is an organization drawn at random: what was sent about it, which is the truth that its documents are held
// against.
type drawn struct {
	*testing.T
	*rand.Rand
	of          installed
	ana         client // its administrator
	db          *sqlx.DB
	name        string
	now         time.Time
	looks       []int // days before now on which feeds assessed the servers, the oldest first; the last is of today
	dueDays     map[string]int
	checks      map[string]knownCheck
	servers     []*drawnServer
	subject     *drawnServer // of the scorecard
	alerts      []drawnAlert
	backedUp    time.Time // the last backup of the server
	host        measured
	allCVEs     []map[string]string // the rows of cves.csv of the Security report
	granted     []map[string]any    // exceptions for findings, as they were requested
	acceptedFor int                 // days, of the table whose risk is accepted
	feed        string              // as `muster feed show` prints it
	mails       *mailtest.Server
	ledger
}

// knownCheck is a check of the catalog as the API has it.
type knownCheck struct {
	ID, Engine, Domain, Severity, Title, Threshold, Scope string
	References                                            []struct{ Source, Version, ID string }
	Remediation                                           struct{ Summary string }
}

type drawnServer struct {
	id                                        uuid.UUID
	name, engine, version, team, owner, keeps string
	registered                                time.Time
	inactive, silent, unchecked               bool
	clock                                     time.Duration // of the day, at which the feed looks
	databases                                 []*drawnDatabase
	findings                                  []*drawnFinding
	blind                                     []string // checks without an answer
	accounts                                  []drawnAccount
}

// drawnFinding is there from a look on, until another.
type drawnFinding struct {
	check            knownCheck
	server           *drawnServer
	database, object string // an object of "": the check names none
	evidence         string
	from, to         int // of drawn.looks; to is the first look that no longer has it
	accepted         bool
}

type drawnAccount struct {
	name       string
	superuser  bool
	privileges []string
	seen       int // days before now; -1: never
}

type drawnDatabase struct {
	server    *drawnServer
	name      string
	encrypted *bool
	size      int64 // GB, now
	grows     int64 // GB a day
	tables    []*drawnTable
}

type drawnTable struct {
	database     *drawnDatabase
	schema, name string
	rows         int64
	readers      []string
	columns      []drawnColumn
	from         int // the look that found it first
	accepted     bool
}

type drawnColumn struct{ name, word string }

// severityRank is the place of a severity, the gravest first.
func severityRank(severity string) int {
	return slices.Index([]string{"Critical", "High", "Medium", "Low"}, severity)
}

// Versions to draw from, by engine.
var drawnVersions = map[string][]string{
	"postgresql": {"12.22", "13.23", "14.9", "15.6", "16.4", "17.5", "18.1"},
	"sqlserver":  {"13.0.7080.1", "14.0.3456.2", "15.0.4382.1", "16.0.4135.4"},
	"oracle":     {"12.2.0.1", "19.24.0.0.0", "21.3.0.0.0"},
	"mongodb":    {"6.0.5", "7.0.12", "8.0.4"},
}

// pick takes n different elements.
func pick[T any](r *rand.Rand, from []T, n int) []T {
	all := slices.Clone(from)
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:min(n, len(all))]
}

func one[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

// draw makes the facts of an organization; deep is how many days its history goes back.
func (d *drawn) draw(deep int) {
	d.load()
	d.now = time.Now().UTC().Truncate(time.Minute)
	for _, ago := range []int{deep, 61, 45, 29, 16, 8, 3} {
		if ago <= deep && !slices.Contains(d.looks, ago) {
			d.looks = append(d.looks, ago)
		}
	}
	d.looks = append(d.looks, 0)
	d.dueDays = map[string]int{"Critical": 1 + d.IntN(7), "High": 10 + d.IntN(30), "Medium": 50 + d.IntN(60), "Low": 120 + d.IntN(60)}
	words := pick(d.Rand, []string{"amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heron", "islet", "jetty", "knoll", "larch"}, 9)
	for i, engine := range []string{"postgresql", "postgresql", "postgresql", "sqlserver", "sqlserver", "oracle", "mongodb", "postgresql", "postgresql"} {
		s := &drawnServer{
			name: map[string]string{"postgresql": "pg", "sqlserver": "ms", "oracle": "ora", "mongodb": "mo"}[engine] + "-" + words[i], engine: engine,
			version: one(d.Rand, drawnVersions[engine]...), team: one(d.Rand, "red", "blue", "none"),
			registered: d.now.AddDate(0, 0, -deep-d.IntN(200)-1), inactive: i == 7, silent: i == 8, unchecked: engine == "mongodb",
			clock: time.Duration(d.IntN(24*60-1)) * time.Minute, keeps: one(d.Rand, "", "1y", "90d"),
		}
		if i < 2 { // an hour at which a day of another zone has begun, or not yet ended
			s.clock = []time.Duration{10 * time.Minute, 23*time.Hour + 40*time.Minute}[i]
		}
		if i == 1 && d.IntN(2) == 0 && len(d.looks) > 3 { // registered meanwhile
			s.registered = d.at(s, 2).Add(-time.Minute)
		}
		if i == 0 { // somebody owns something
			s.team = "red"
		}
		s.owner = map[string]string{"red": "Team Red", "blue": "Team Blue"}[s.team]
		for n := range 1 + d.IntN(2) {
			s.databases = append(s.databases, &drawnDatabase{server: s, name: fmt.Sprintf("db%d", n+1), encrypted: one(d.Rand, nil, new(true), new(false)), size: 500 + int64(d.IntN(400)), grows: int64(d.IntN(5))})
		}
		d.servers = append(d.servers, s)
		if !s.inactive && !s.silent {
			d.drawFindings(s)
			d.drawData(s)
			d.drawAccounts(s)
		}
	}
	d.subject = d.held(map[int]int{100: 59, 40: 69, 20: 89}[deep])
	d.drawUse()
}

// held is a server whose score a cap holds down: the one of that limit if there is one, else any.
func (d *drawn) held(most int) *drawnServer {
	of := map[int][]*drawnServer{}
	for _, s := range d.assessed() {
		score, lowest := d.scoreOf(s), 100
		switch {
		case score.failed[0] > 0:
			lowest = 59
		case score.failed[1] >= 5:
			lowest = 69
		case score.failed[1] > 0:
			lowest = 89
		}
		if lowest < score.uncapped {
			of[lowest] = append(of[lowest], s)
		}
	}
	for _, limit := range []int{most, 59, 69, 89} {
		if len(of[limit]) > 0 {
			return one(d.Rand, of[limit]...)
		}
	}
	return one(d.Rand, d.assessed()...)
}

// first is the first look that a server is there for.
func (d *drawn) first(s *drawnServer) int {
	for k := range d.looks {
		if d.at(s, k).After(s.registered) {
			return k
		}
	}
	return len(d.looks) - 1
}

// at is when a look took place on a server.
func (d *drawn) at(s *drawnServer, look int) time.Time {
	if d.looks[look] == 0 {
		return d.now.Add(-30 * time.Minute)
	}
	return d.now.Truncate(24*time.Hour).AddDate(0, 0, -d.looks[look]).Add(s.clock)
}

// drawFindings draws which checks fail on a server, for which objects, and since when.
func (d *drawn) drawFindings(s *drawnServer) {
	var security, others []knownCheck
	for _, id := range sortedKeys(d.checks) {
		c := d.checks[id]
		switch {
		case c.Engine != s.engine || c.ID == "PG-S30" || c.ID == "PG-S31" || c.ID == "MS-19" || c.ID == "OR-14": // what the version decides
		case c.Domain == "Security":
			security = append(security, c)
		default:
			others = append(others, c)
		}
	}
	failing := slices.Concat(pick(d.Rand, security, 4+d.IntN(5)), pick(d.Rand, others, 1+d.IntN(4)))
	start, last := d.first(s), len(d.looks)
	for _, c := range failing {
		objects := 1 + d.IntN(3)
		for n := range objects {
			f := &drawnFinding{check: c, server: s, object: fmt.Sprintf("%s_%d", one(d.Rand, "ash", "elm", "oak", "yew"), 10*n+d.IntN(10)), evidence: fmt.Sprintf("seen %d", 100+d.IntN(900)), from: start, to: last}
			if c.Scope == "database" {
				f.database = one(d.Rand, s.databases...).name
			}
			f.from = start + d.IntN(last-start)
			if f.from < last-1 && d.IntN(4) == 0 {
				f.to = f.from + 1 + d.IntN(last-f.from-1)
			}
			s.findings = append(s.findings, f)
		}
	}
	for _, c := range pick(d.Rand, slices.Concat(security, others), 3) {
		if !slices.ContainsFunc(failing, func(o knownCheck) bool { return o.ID == c.ID }) {
			s.blind = append(s.blind, c.ID)
		}
	}
}

// Words of feeds for what columns hold, to draw from.
var drawnWords = []string{"password", "paymentCard", "iban", "nationalId", "email", "phone", "name", "dateOfBirth", "health", "ipAddress", "geoCoordinates", "salary"}

func (d *drawn) drawData(s *drawnServer) {
	for _, db := range s.databases {
		for n := range d.IntN(3) {
			table := &drawnTable{database: db, schema: "app", name: fmt.Sprintf("%s%d", one(d.Rand, "person", "order", "claim"), n), rows: one[int64](d.Rand, 900, 84_000, 1_250_000, 12_500_000, 812_000_000), from: d.first(s) + d.IntN(len(d.looks)-d.first(s))}
			table.readers = one(d.Rand, []string{"PUBLIC"}, []string{"app"}, []string{"app", "report"}, []string{"PUBLIC", "app"})
			for i, word := range pick(d.Rand, drawnWords, 1+d.IntN(3)) {
				table.columns = append(table.columns, drawnColumn{fmt.Sprintf("c%d", i), word})
			}
			db.tables = append(db.tables, table)
		}
	}
}

func (d *drawn) drawAccounts(s *drawnServer) {
	for n := range 1 + d.IntN(3) {
		s.accounts = append(s.accounts, drawnAccount{
			name: fmt.Sprintf("adm%d_%s", n, s.name[len(s.name)-3:]), superuser: d.IntN(2) == 0, privileges: []string{one(d.Rand, "CREATEROLE", "CREATEDB")}, seen: one(d.Rand, -1, 2, 88, 92, 400),
		})
	}
}

// register sends the servers, and makes the teams that own some of them.
func (d *drawn) register() {
	d.Helper()
	d.setDueDays()
	var items []map[string]any
	for _, s := range d.servers {
		tags := map[string]string{"team": s.team}
		if s.keeps != "" {
			tags["retention"] = s.keeps
		}
		var databases []map[string]any
		for _, db := range s.databases {
			databases = append(databases, map[string]any{"externalId": db.name, "name": db.name, "createdAt": s.registered})
		}
		items = append(items, map[string]any{"externalId": s.name, "name": s.name, "engine": s.engine, "version": s.version, "active": !s.inactive, "createdAt": s.registered, "tags": tags, "databases": databases})
	}
	var made struct{ Instances []struct{ ID uuid.UUID } }
	answer := d.ana.call(d.T, http.StatusOK, http.MethodPost, "/ingest/v1/fleet", map[string]any{"instances": items}, &made)
	for i, s := range d.servers {
		s.id = made.Instances[i].ID
		d.ana.shown(d.T, answer, "/api/v1/instances/"+s.id.String())
	}
	for _, team := range []string{"red", "blue"} {
		d.ana.call(d.T, http.StatusCreated, http.MethodPost, "/api/v1/teams", map[string]any{
			"name": "Team " + strings.ToUpper(team[:1]) + team[1:], "selector": map[string]any{"tags": map[string][]string{"team": {team}}}, "members": []any{},
		}, nil)
	}
}

// assess sends the looks from one on, to before another.
func (d *drawn) assess(from, to int) {
	d.Helper()
	var all []map[string]any
	for _, s := range d.servers {
		for look := max(from, d.first(s)); look < to && !s.inactive && !s.silent; look++ {
			all = append(all, d.assessment(s, look))
		}
	}
	d.ana.call(d.T, http.StatusAccepted, http.MethodPost, "/ingest/v1/assessments", map[string]any{"assessments": all}, nil)
}

// assessment is what a feed found on a server.
func (d *drawn) assessment(s *drawnServer, look int) map[string]any {
	objects := map[string][]map[string]any{}
	for _, f := range s.findings {
		if f.from <= look && look < f.to {
			o := map[string]any{"object": f.object, "evidence": f.evidence}
			if f.database != "" {
				o["database"] = f.database
			}
			objects[f.check.ID] = append(objects[f.check.ID], o)
		}
	}
	checks := []map[string]any{}
	for _, id := range sortedKeys(d.checks) {
		switch {
		case d.checks[id].Engine != s.engine:
		case objects[id] != nil:
			checks = append(checks, map[string]any{"id": id, "outcome": "fail", "objects": objects[id]})
		case slices.Contains(s.blind, id):
			checks = append(checks, map[string]any{"id": id, "outcome": "notAssessed", "reason": "the sender may not look"})
		default:
			checks = append(checks, map[string]any{"id": id, "outcome": "pass", "measured": "as required"})
		}
	}
	accounts := []map[string]any{}
	for _, a := range s.accounts {
		item := map[string]any{"name": a.name, "canLogin": true, "superuser": a.superuser, "privileges": a.privileges}
		if a.seen >= 0 {
			item["lastSignInAt"] = d.now.AddDate(0, 0, -a.seen)
		}
		accounts = append(accounts, item)
	}
	var databases []map[string]any
	for _, db := range s.databases {
		tables := []map[string]any{}
		for _, table := range db.tables {
			if table.from <= look {
				tables = append(tables, table.sent())
			}
		}
		item := map[string]any{"database": db.name, "sizeBytes": (db.size - db.grows*int64(d.looks[look])) << 30, "classification": map[string]any{"completedAt": d.at(s, look), "method": "names", "tables": tables}}
		if db.encrypted != nil {
			item["encryptedAtRest"] = *db.encrypted
		}
		databases = append(databases, item)
	}
	return map[string]any{"instance": s.name, "at": d.at(s, look), "version": s.version, "checks": checks, "accounts": accounts, "settings": []any{}, "databases": databases}
}

func (t *drawnTable) sent() map[string]any {
	columns := []map[string]any{}
	for _, c := range t.columns {
		columns = append(columns, map[string]any{"column": c.name, "category": c.word, "confidence": 0.97})
	}
	return map[string]any{"schema": t.schema, "table": t.name, "rows": t.rows, "readers": t.readers, "columns": columns}
}

// load reads the catalog of checks.
func (d *drawn) load() {
	d.Helper()
	d.checks = map[string]knownCheck{}
	for page := 1; ; page++ {
		var all struct {
			Items []knownCheck
			Page  struct{ TotalPages int }
		}
		d.ana.get(d.T, fmt.Sprintf("/api/v1/checks?page=%d", page), &all)
		for _, c := range all.Items {
			d.checks[c.ID] = c
		}
		if page >= all.Page.TotalPages {
			return
		}
	}
}

// setDueDays sets within how many days findings have to be closed.
func (d *drawn) setDueDays() {
	d.Helper()
	body := fmt.Sprintf(`{"dueDays": {"critical": %d, "high": %d, "medium": %d, "low": %d}}`, d.dueDays["Critical"], d.dueDays["High"], d.dueDays["Medium"], d.dueDays["Low"])
	request, err := http.NewRequestWithContext(d.Context(), http.MethodPatch, d.ana.base+"/api/v1/organization", strings.NewReader(body))
	if err != nil {
		d.Fatal(err)
	}
	request.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + d.ana.token}, "If-Match": {d.ana.get(d.T, "/api/v1/organization", nil).header.Get("ETag")}}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		d.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		d.Fatalf("the days are not set: %d", response.StatusCode)
	}
}
