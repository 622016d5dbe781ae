package e2e

import (
	"cmp"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// still are the findings that the last look found, and that nobody has accepted: of a domain, or of all (""); of a
// server, or of all (nil).
func (d *drawn) still(domain string, on *drawnServer) []*drawnFinding {
	return d.standing(domain, on, false)
}

// standing are the findings that the last look found, accepted or not.
func (d *drawn) standing(domain string, on *drawnServer, accepted bool) (out []*drawnFinding) {
	for _, s := range d.servers {
		for _, f := range s.findings {
			if (on == nil || on == s) && (domain == "" || f.check.Domain == domain) && f.to == len(d.looks) && f.accepted == accepted {
				out = append(out, f)
			}
		}
	}
	return out
}

// seen is since when a finding is there, and due until when it has to be closed.
func (d *drawn) seen(f *drawnFinding) time.Time { return d.at(f.server, f.from) }

func (d *drawn) due(f *drawnFinding) time.Time {
	return d.seen(f).Add(time.Duration(d.dueDays[f.check.Severity]) * 24 * time.Hour)
}

// grave says whether something has to be acted on first.
func grave(f *drawnFinding) bool { return severityRank(f.check.Severity) < 2 }

func those[T any](all []T, holds func(T) bool) (out []T) {
	for _, one := range all {
		if holds(one) {
			out = append(out, one)
		}
	}
	return out
}

// different counts what is different.
func different[T any, K comparable](all []T, by func(T) K) map[K][]T {
	out := map[K][]T{}
	for _, one := range all {
		out[by(one)] = append(out[by(one)], one)
	}
	return out
}

func serverOf(f *drawnFinding) string { return f.server.name }

func checkOf(f *drawnFinding) string { return f.check.ID }

// assessed are the servers with checks that a feed assesses, by name.
func (d *drawn) assessed() []*drawnServer {
	out := those(d.servers, func(s *drawnServer) bool { return !s.inactive && !s.silent && !s.unchecked })
	slices.SortFunc(out, func(a, b *drawnServer) int { return cmp.Compare(a.name, b.name) })
	return out
}

// blindIn are the checks of a domain that a server gave no answer to.
func (d *drawn) blindIn(s *drawnServer, domain string) []string {
	return those(s.blind, func(id string) bool { return domain == "" || d.checks[id].Domain == domain })
}

// results are the answers of a server in a domain: a check of databases has one for each of them.
func (d *drawn) results(s *drawnServer, domain, scope string) (n int) {
	for id, c := range d.checks {
		if c.Engine != s.engine || domain != "" && c.Domain != domain || slices.Contains(s.blind, id) || scope != "" && c.Scope != scope {
			continue
		}
		n++
		if c.Scope == "database" {
			n += len(s.databases) - 1
		}
	}
	return n
}

// release is what `muster feed show` says of the major version of a server.
type release struct {
	major, latest string
	end           time.Time
}

var feedLine = regexp.MustCompile(`(?m)^(\w+) {2,}(\S+(?: \S+)*) {2,}(\d{4}-\d\d-\d\d) {2,}(\S+(?: \S+)*) {2,}`)

// releaseOf finds it by the version: the major of SQL Server is a year, that of Oracle has a letter.
func (d *drawn) releaseOf(s *drawnServer) release {
	d.Helper()
	number, _, _ := strings.Cut(s.version, ".")
	major := map[string]string{
		"sqlserver 13": "2016", "sqlserver 14": "2017", "sqlserver 15": "2019", "sqlserver 16": "2022", "oracle 12": "12c Release 2", "oracle 19": "19c", "oracle 21": "21c",
		"mongodb 6": "6.0", "mongodb 7": "7.0", "mongodb 8": "8.0",
	}[s.engine+" "+number]
	for _, line := range feedLine.FindAllStringSubmatch(d.feed, -1) {
		if line[1] == s.engine && line[2] == cmp.Or(major, number) {
			end, err := time.Parse(time.DateOnly, line[3])
			if err != nil {
				d.Fatal(err)
			}
			return release{line[2], line[4], end}
		}
	}
	d.Fatalf("the feed knows no release of %s %s", s.engine, s.version)
	return release{}
}

// accept has two findings accepted, one with all of its check on the server, and one table of the register.
func (d *drawn) accept() {
	d.Helper()
	open := d.still("Security", nil)
	d.Shuffle(len(open), func(i, j int) { open[i], open[j] = open[j], open[i] })
	whole := open[0]
	for _, f := range open {
		f.accepted = f.server == whole.server && f.check.ID == whole.check.ID
	}
	d.except(map[string]any{"checkId": whole.check.ID, "instanceId": whole.server.id, "reason": "the whole of it waits"}, 20+d.IntN(60))
	for _, f := range open {
		if f.accepted || f.database != "" {
			continue
		}
		f.accepted = true
		d.except(map[string]any{"checkId": f.check.ID, "instanceId": f.server.id, "objectRef": f.object, "reason": "one object waits"}, 100+d.IntN(60))
		break
	}
}

// except grants an exception for findings.
func (d *drawn) except(x map[string]any, days int) {
	d.Helper()
	d.grant(x, days)
	d.granted = append(d.granted, x)
}

// acceptRisk has the first table accepted.
func (d *drawn) acceptRisk() {
	d.Helper()
	for _, s := range d.servers {
		for _, db := range s.databases {
			for _, t := range db.tables {
				t.accepted, d.acceptedFor = true, 40+d.IntN(200)
				d.grant(map[string]any{"checkId": d.riskID(t), "instanceId": s.id, "reason": "the table goes"}, d.acceptedFor)
				return
			}
		}
	}
}

// grant requests an exception that ends in so many days, and grants it.
func (d *drawn) grant(x map[string]any, days int) {
	d.Helper()
	x["until"] = d.now.AddDate(0, 0, days).Add(-7 * time.Hour)
	var made struct{ ID uuid.UUID }
	answer := d.ana.call(d.T, http.StatusCreated, http.MethodPost, "/api/v1/exceptions", x, &made)
	d.ana.shown(d.T, answer, "/api/v1/exceptions/"+made.ID.String())
	d.ana.call(d.T, http.StatusOK, http.MethodPost, "/api/v1/exceptions/"+made.ID.String()+"/grant", nil, nil)
}

// cve is a row of cves.csv by what it says of a server.
func (p *paper) cves(server string, applies string) []map[string]string {
	return those(p.tables["cves.csv"], func(row map[string]string) bool {
		return (server == "" || row["instance"] == server) && row["applies"] == applies
	})
}

func highest(rows []map[string]string) (most float64) {
	for _, row := range rows {
		var score float64
		_, _ = fmt.Sscan(row["cvss"], &score)
		most = max(most, score)
	}
	return most
}

func cveID(row map[string]string) string { return row["cveId"] }

// sum counts rows by severity, from critical to low.
func bySeverity[T any](all []T, severity func(T) string) (n [4]int) {
	for _, one := range all {
		n[severityRank(severity(one))]++
	}
	return n
}
