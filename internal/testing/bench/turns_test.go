package bench_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"muster/internal/testing/linetest"
	"muster/internal/testing/pgtest"
)

const (
	hostileAdmin = "eve@hostile.example"
	slowServers  = 8               // of the hostile organization
	slowAnswer   = 3 * time.Second // each answer of theirs comes so late
	undisturbed  = 20              // assessments and builds before it begins
)

// BenchmarkTurns: one organization has eight servers assessed that answer after three seconds
// each, and eight reports built that need them. Another one has a server assessed and a report
// built meanwhile. Goal: its p95 is at most twice what it was before the first one began.
func BenchmarkTurns(b *testing.B) {
	p := start(b)
	server := pgtest.Cluster(b, pgtest.Options{Fsync: true})
	instance := p.register("orders", server.TCPURL(pgtest.Superuser, "postgres"))
	p.assess(instance)
	hostile := p.hostile(b)
	p.build()
	p.build()
	var assessedAlone, builtAlone, assessed, built []time.Duration
	for range undisturbed {
		assessedAlone = append(assessedAlone, p.assess(instance))
		builtAlone = append(builtAlone, p.build().took)
	}
	hostile.begin(b)
	for b.Loop() {
		assessed = append(assessed, p.assess(instance))
		built = append(built, p.build().took)
	}
	if assessments, builds := hostile.holds(pgtest.Connect(b, p.server.Superuser())); assessments == 0 || builds == 0 {
		b.Fatalf("at the end the hostile organization has %d assessments and %d builds under way: it showed nothing", assessments, builds)
	}
	for what, times := range map[string][2][]time.Duration{"assess": {assessedAlone, assessed}, "build": {builtAlone, built}} {
		alone, beside := quantile(times[0], 0.95), quantile(times[1], 0.95)
		b.ReportMetric(alone, what+"-alone-p95-ms")
		b.ReportMetric(beside, what+"-p95-ms")
		b.ReportMetric(beside/alone, what+"-ratio")
	}
}

// register registers a server and waits until it is assessed.
func (p *program) register(name, dsn string) string {
	p.b.Helper()
	var registered struct{ ID string }
	p.call(http.MethodPost, "/instances", map[string]any{"name": name, "engine": "postgresql", "dsn": dsn, "separate": true}, &registered, http.StatusCreated)
	p.until(name+" is assessed", 20*time.Millisecond, time.Minute, func() bool { return p.assessedAt(registered.ID) != nil })
	return registered.ID
}

func (p *program) assessedAt(instance string) *time.Time {
	p.b.Helper()
	var shown struct{ LastAssessedAt *time.Time }
	p.get("/instances/"+instance, &shown)
	return shown.LastAssessedAt
}

// assess has a server assessed, and says how long that took.
func (p *program) assess(instance string) time.Duration {
	p.b.Helper()
	before := p.assessedAt(instance)
	begin := time.Now()
	p.call(http.MethodPost, "/instances/"+instance+"/assess", nil, new(map[string]any), http.StatusAccepted)
	p.until("the server is assessed", pollEvery, 5*time.Minute, func() bool {
		at := p.assessedAt(instance)
		return at != nil && (before == nil || at.After(*before))
	})
	return time.Since(begin)
}

// hostile is an organization whose servers will answer slowly.
type hostile struct {
	*program
	line      *linetest.Line
	instances []string
}

// hostile makes it. Its servers are assessed once, and then answer as fast as any.
func (p *program) hostile(b *testing.B) *hostile {
	b.Helper()
	p.organization("Hostile", hostileAdmin)
	own := *p
	own.token = p.tokenOf("api", hostileAdmin)
	server := pgtest.Cluster(b, pgtest.Options{Fsync: true})
	h := &hostile{program: &own, line: linetest.New(b, server.Addr())}
	for n := range slowServers {
		dsn := strings.Replace(server.TCPURL(pgtest.Superuser, "postgres"), server.Addr(), h.line.Addr(), 1)
		h.instances = append(h.instances, h.register(fmt.Sprint("slow-", n), dsn))
	}
	return h
}

// begin has its servers answer slowly, be due and be unknown to reports, and requests a report
// about each: its assessments and builds hold whatever slots they get.
func (h *hostile) begin(b *testing.B) {
	b.Helper()
	db := pgtest.Connect(b, h.server.Superuser())
	db.MustExec(`UPDATE assessments SET recorded_at = recorded_at - interval '2 days' WHERE instance_id = ANY ($1)`, h.instances)
	h.line.Slow(slowAnswer)
	for _, instance := range h.instances {
		h.call(http.MethodPost, "/instances/"+instance+"/assess", nil, new(map[string]any), http.StatusAccepted)
		h.call(http.MethodPost, "/reports", map[string]any{"kind": "Security", "scope": map[string]any{"instanceIds": []string{instance}}}, new(map[string]any), http.StatusAccepted)
	}
	h.until("it holds slots", 10*time.Millisecond, time.Minute, func() bool {
		assessments, builds := h.holds(db)
		return assessments >= 4 && builds >= 2
	})
}

// holds is how many of its assessments and builds are under way.
func (h *hostile) holds(db *sqlx.DB) (assessments, builds int) {
	h.b.Helper()
	if err := db.Get(&assessments, `SELECT count(*) FROM assessment_targets WHERE leased_until > now() AND instance_id = ANY ($1)`, h.instances); err != nil {
		h.b.Fatal(err)
	}
	if err := db.Get(&builds, `SELECT count(*) FROM jobs WHERE kind = 'build' AND worker_id <> '' AND due_at > now() AND organization_id =
		(SELECT organization_id FROM assessment_targets WHERE instance_id::text = $1)`, h.instances[0]); err != nil {
		h.b.Fatal(err)
	}
	return assessments, builds
}
