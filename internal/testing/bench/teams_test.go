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

// BenchmarkTeams reads tiles and lists of 1,000 servers that five teams share by a tag. Tiles of
// one team's 200 servers are read by the tag and by the ids of the same servers, and lists by an
// administrator and by somebody with the role team. Goals: by the tag p95 within 1.2 of the
// ids, a member's lists within 1.3 of the administrator's, and the list of 200 of 1,000 servers
// by the tag in 30 ms.
func BenchmarkTeams(b *testing.B) {
	m := newMeasured(start(b), tilesInstances())
	day := m.end.Add(-24 * time.Hour)
	m.load(day, m.end, time.Minute)
	m.roll()
	m.findings()
	m.alerts()
	ids := m.teams()
	m.db.MustExec(scores, m.organization, allOf(ids))
	m.db.MustExec(`VACUUM ANALYZE`)
	everything, member := m.p.agent(m.p.token), m.p.agent(m.p.member("tim@bench.example", "team-0"))
	w := tileWindow{size: "1m", long: 24 * time.Hour, shift: time.Minute}
	filters := map[string]url.Values{"ids": {"instanceId": ids[0]}, "tag": {"tag": {"team:team-0"}}}
	for _, tile := range tileNames() {
		for _, by := range []string{"ids", "tag"} {
			b.Run(fmt.Sprintf("%s/by-%s", tile, by), func(b *testing.B) {
				m.report(b, everything, func(i int) string {
					path, query, _ := strings.Cut(m.path(tile, w, i, 0), "?")
					return path + "?" + query + "&" + filters[by].Encode()
				})
			})
		}
	}
	b.Run("instances/by-tag", func(b *testing.B) {
		m.report(b, everything, func(int) string { return "/api/v1/instances?pageSize=200&" + filters["tag"].Encode() })
	})
	for _, list := range []string{"instances", "alerts", "findings", "health-checks/overview", "tags"} {
		for who, reader := range map[string]agent{"admin": everything, "team": member} {
			b.Run(fmt.Sprintf("%s/as-%s", list, who), func(b *testing.B) {
				m.report(b, reader, func(int) string { return "/api/v1/" + list })
			})
		}
	}
}

// alerts raises two on each server.
func (m *measured) alerts() {
	m.p.b.Helper()
	at := m.end.Add(-time.Hour)
	var items []map[string]any
	for _, s := range m.servers {
		for n := range 2 {
			items = append(items, map[string]any{
				"externalId": fmt.Sprint(s.name, "-", n), "title": "replication lags", "severity": "warning", "state": "Open", "instance": s.name,
				"createdAt": at, "firstTriggeredAt": at, "lastTriggeredAt": at,
			})
		}
	}
	body, err := json.Marshal(map[string]any{"alerts": items})
	if err != nil {
		m.p.b.Fatal(err)
	}
	if _, _, err := m.p.agent(m.p.tokenOf("ingest", admin)).ask(m.p.b.Context(), "/ingest/v1/alerts", body); err != nil {
		m.p.b.Fatal(err)
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
