package bench_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
)

// benchTeams is how many teams share the servers, an equal part each.
const benchTeams = 5

// BenchmarkTeams reads tiles of 1,000 servers that five teams share by a tag: of one team's 200
// servers by the tag, and by the ids of the same servers. Goal: by the tag p95 within 1.2 of the ids.
func BenchmarkTeams(b *testing.B) {
	m := newMeasured(start(b), tilesInstances())
	day := m.end.Add(-24 * time.Hour)
	m.load(day, m.end, time.Minute)
	m.roll()
	ids := m.teams()
	m.db.MustExec(`VACUUM ANALYZE`)
	reader := m.p.agent(m.p.token)
	w := tileWindow{size: "1m", long: 24 * time.Hour, shift: time.Minute}
	filters := map[string]url.Values{"ids": {"instanceId": ids[0]}, "tag": {"tag": {"team:team-0"}}}
	for _, tile := range tileNames() {
		b.Run(tile, func(b *testing.B) {
			path := func(by string) func(i int) string {
				return func(i int) string {
					path, query, _ := strings.Cut(m.path(tile, w, i, 0), "?")
					return path + "?" + query + "&" + filters[by].Encode()
				}
			}
			m.beside(b, asked{reader, path("tag")}, asked{reader, path("ids")})
		})
	}
}

// BenchmarkTeamLists reads lists of 1,000 servers that five teams share by a tag, as somebody with
// the role team and as an administrator. There are 200 alerts of each server. Goals: a member's
// lists p95 within 1.3 of the administrator's, and the list of 200 of 1,000 servers by the tag in 30 ms.
func BenchmarkTeamLists(b *testing.B) {
	m := newMeasured(start(b), tilesInstances())
	m.load(m.end.Add(-20*time.Minute), m.end, time.Minute)
	m.roll()
	m.findings()
	m.alerts()
	ids := m.teams()
	m.db.MustExec(scores, m.organization, allOf(ids))
	m.db.MustExec(`VACUUM ANALYZE`)
	everything, member := m.p.agent(m.p.token), m.p.agent(m.p.member("tim@bench.example", "team-0"))
	b.Run("instances-by-tag", func(b *testing.B) {
		m.report(b, everything, func(int) string { return "/api/v1/instances?pageSize=200&tag=team:team-0" })
	})
	year := "alerts?" + url.Values{"from": {m.end.AddDate(0, 0, -300).Format(time.RFC3339)}, "to": {m.end.Format(time.RFC3339)}}.Encode()
	for name, list := range map[string]string{
		"instances": "instances", "alerts": "alerts", "alerts-of-300-days": year, "findings": "findings", "overview": "health-checks/overview", "tags": "tags",
	} {
		b.Run(name, func(b *testing.B) {
			path := func(int) string { return "/api/v1/" + list }
			m.beside(b, asked{member, path}, asked{everything, path})
		})
	}
}

// asked are paths that a reader asks for.
type asked struct {
	reader agent
	path   func(i int) string
}

// beside asks for two kinds of paths in turn, so that both are measured under the same load, and
// reports how long one took and, as yardstick, the other. The first two are not counted.
func (m *measured) beside(b *testing.B, one, other asked) {
	b.Helper()
	kinds := []asked{one, other}
	took := make([][]time.Duration, len(kinds))
	ask := func(i int) {
		for n, kind := range kinds {
			start := time.Now()
			if _, _, err := kind.reader.ask(b.Context(), kind.path(i), nil); err != nil {
				b.Fatal(err)
			}
			took[n] = append(took[n], time.Since(start))
		}
	}
	ask(0)
	for i := 1; b.Loop(); i++ {
		ask(i)
	}
	b.ReportMetric(quantile(took[0][1:], 0.5), "p50-ms")
	b.ReportMetric(quantile(took[0][1:], 0.95), "p95-ms")
	b.ReportMetric(quantile(took[1][1:], 0.5), "yardstick-p50-ms")
	b.ReportMetric(quantile(took[1][1:], 0.95), "yardstick-p95-ms")
}

// alertsEach is how many alerts each server has had within a year. Two of them are open.
const alertsEach = 200

// alerts raises alerts of each server, at other times on each.
func (m *measured) alerts() {
	m.p.b.Helper()
	feed, apart := m.p.agent(m.p.tokenOf("ingest", admin)), 365*24*time.Hour/time.Duration(alertsEach*len(m.servers))
	for n := range alertsEach {
		items := make([]map[string]any, len(m.servers))
		for i, s := range m.servers {
			at := m.end.Add(-time.Duration(n*len(m.servers)+i) * apart)
			items[i] = map[string]any{
				"externalId": fmt.Sprint(s.name, "-", n), "title": "replication lags", "severity": "warning", "state": "Open", "instance": s.name,
				"createdAt": at, "firstTriggeredAt": at, "lastTriggeredAt": at,
			}
			if n >= 2 {
				items[i]["state"], items[i]["resolvedAt"] = "Resolved", at.Add(time.Minute)
			}
		}
		body, err := json.Marshal(map[string]any{"alerts": items})
		if err != nil {
			m.p.b.Fatal(err)
		}
		if _, _, err := feed.ask(m.p.b.Context(), "/ingest/v1/alerts", body); err != nil {
			m.p.b.Fatal(err)
		}
	}
}

// teams tags the servers with the team that each belongs to, and makes the teams. It returns the
// ids of each team's servers.
func (m *measured) teams() (ids [benchTeams][]string) {
	m.p.b.Helper()
	for n, s := range m.servers {
		ids[n%benchTeams] = append(ids[n%benchTeams], s.id.String())
	}
	for n := range ids {
		var acted, team any
		name := fmt.Sprintf("team-%d", n)
		m.p.call(http.MethodPost, "/instances/actions", map[string]any{"ids": ids[n], "setTags": map[string]string{"team": name}}, &acted, http.StatusOK)
		m.p.call(http.MethodPost, "/teams", map[string]any{"name": name, "selector": map[string]any{"tags": map[string][]string{"team": {name}}}}, &team, http.StatusCreated)
	}
	return ids
}

func allOf(ids [benchTeams][]string) (all []string) {
	for _, some := range ids {
		all = append(all, some...)
	}
	return all
}

// member makes somebody with the role team, who belongs to one, and returns a token of theirs.
func (p *program) member(email, team string) string {
	p.b.Helper()
	var invited struct {
		Member    struct{ ID uuid.UUID }
		InviteURL string
	}
	p.call(http.MethodPost, "/members", map[string]string{"email": email, "name": "Tim", "role": "team"}, &invited, http.StatusCreated)
	_, secret, _ := strings.Cut(invited.InviteURL, "#")
	var session any
	p.call(http.MethodPost, "/invitations/"+secret, map[string]string{"name": "Tim", "password": password}, &session, http.StatusCreated)
	var teams struct {
		Items []struct {
			ID   uuid.UUID
			Name string
		}
	}
	p.get("/teams", &teams)
	for _, t := range teams.Items {
		if t.Name == team {
			var changed any
			p.call(http.MethodPatch, "/teams/"+t.ID.String(), map[string]any{"members": []any{map[string]any{"memberId": invited.Member.ID, "role": "member"}}}, &changed, http.StatusOK)
		}
	}
	return p.tokenOf("api", email)
}
