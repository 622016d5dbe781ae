package bench_test

import (
	_ "embed"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/internal/assessment/catalogue"
	"muster/internal/assessment/findings"
	"muster/internal/postgres/transact"
	"muster/internal/report/snapshot"
)

const (
	findingsEach   = 30 // of an instance
	findingsExcept = 20 // exceptions in force
)

//go:embed testdata/findings.sql
var plainFindings string

// BenchmarkFindings reads pages of the findings of 1,000 instances, 30 each, over HTTP,
// with exceptions in force. Beside them stands the first page in one statement over the
// same table, without exceptions and without names. Goal: 30 ms p95.
func BenchmarkFindings(b *testing.B) {
	p := start(b)
	m := newMeasured(p, tilesInstances())
	m.findings()
	m.except()
	m.db.MustExec(`VACUUM ANALYZE findings`)
	reader := p.agent(p.token)
	plain := time.Hour
	for range 20 {
		begin := time.Now()
		var rows []findings.Finding
		if err := m.db.Select(&rows, plainFindings, m.organization); err != nil || len(rows) != 20 {
			b.Fatal(len(rows), err)
		}
		plain = min(plain, time.Since(begin))
	}
	for _, c := range []struct{ name, query string }{
		{"first", ""}, {"last", "sort=severity"}, {"oldest", "sort=firstSeenAt"}, {"by-instance", "sort=instance&page=50"},
		{"search", "q=idx_7"}, {"security", "domain=Security&severity=High"}, {"instance", m.filter(1).Encode()}, {"accepted", "status=accepted"},
	} {
		b.Run(c.name, func(b *testing.B) {
			m.report(b, reader, func(int) string { return "/api/v1/findings?" + c.query })
			if c.name == "first" {
				b.ReportMetric(milliseconds(plain), "sql-ms")
			}
		})
	}
}

// findings writes what an assessment of each server found.
func (m *measured) findings() {
	m.p.b.Helper()
	checks, err := catalogue.Load()
	if err != nil {
		m.p.b.Fatal(err)
	}
	all := checks.Of(fleet.PostgreSQL)
	for n, s := range m.servers {
		a := snapshot.Assessment{Outcome: snapshot.OutcomeComplete}
		for i := range findingsEach {
			check := all[(n+i)%len(all)]
			r := snapshot.CheckResult{CheckID: check.ID, Status: snapshot.StatusFail, Measured: "1 of 4", Threshold: check.Pass, Total: 1}
			if check.Scope == catalogue.ScopeDatabase {
				r.Database = fmt.Sprint("shop_", i%databasesEach)
			}
			r.Violations = []snapshot.Violation{{Object: fmt.Sprintf("public.idx_%d_%d", n, i), Evidence: "as large as what it stands beside, and read by nobody",
				Fix: &snapshot.Fix{Database: r.Database, Statement: fmt.Sprintf("DROP INDEX CONCURRENTLY public.idx_%d_%d;", n, i)}}}
			a.Results = append(a.Results, r)
		}
		err := transact.Once(m.p.b.Context(), m.db, nil, func(tx *sqlx.Tx) error {
			return findings.Keep(m.p.b.Context(), tx, m.organization, s.id, a, m.end.Add(-time.Duration(n)*time.Minute))
		})
		if err != nil {
			m.p.b.Fatal(err)
		}
	}
}

// except has exceptions to some checks on some servers granted.
func (m *measured) except() {
	m.p.b.Helper()
	for n := range findingsExcept {
		var asked struct{ ID uuid.UUID }
		m.p.call(http.MethodPost, "/exceptions", map[string]any{
			"checkId": fmt.Sprintf("PG-S%02d", n+1), "instanceId": m.servers[n*7%len(m.servers)].id, "reason": "until the move",
			"until": time.Now().Add(24 * time.Hour),
		}, &asked, http.StatusCreated)
		m.p.call(http.MethodPost, "/exceptions/"+asked.ID.String()+"/grant", nil, new(map[string]any), http.StatusOK)
	}
}
