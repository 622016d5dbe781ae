package httpapi

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/organization"
	"muster/internal/accounts"
	"muster/internal/httpapi/contract"
	"muster/internal/testing/longtest"
)

// table is who may call what, written down from the contract's §12 and not from
// openapi.yaml, which TestEveryRouteWithEveryCredential holds to it: t(eam), v(iewer), m(ember),
// a(uditor), A(dmin), i(ngest token), or * for anyone; and the scopes any one of
// which a token needs. Somebody with the role team has to be let in as what their teams
// make them, too: as viewer or as member. V and M are somebody with the role team who is that
// in a team, where the organization's own viewers and members are not let in.
const table = `
GET    /api/v1/reports                               tvmaA reports:read
POST   /api/v1/reports                               tm--A reports:create
POST   /api/v1/reports/preview                       tvmaA reports:read
POST   /api/v1/reports/verify                        tvmaA reports:read
GET    /api/v1/reports/:reportId                     tvmaA reports:read
GET    /api/v1/reports/:reportId/download            tvmaA reports:download
GET    /api/v1/reports/:reportId/proof               tvmaA reports:download
GET    /api/v1/reports/:reportId/files               tvmaA reports:download
GET    /api/v1/reports/:reportId/files/:fileName     tvmaA reports:download
GET    /api/v1/reports/:reportId/events              tvmaA reports:read
GET    /api/v1/exports                               tvmaA reports:read
POST   /api/v1/exports/seen                          tvmaA reports:read
GET    /api/v1/health-checks/overview                tvmaA metrics:read
GET    /api/v1/metrics/connections                   tvmaA metrics:read
GET    /api/v1/metrics/connections/contributors      tvmaA metrics:read
GET    /api/v1/metrics/utilization                   tvmaA metrics:read
GET    /api/v1/metrics/utilization/contributors      tvmaA metrics:read
GET    /api/v1/metrics/query-performance             tvmaA metrics:read
GET    /api/v1/metrics/query-performance/contributors tvmaA metrics:read
GET    /api/v1/metrics/wait-events                   tvmaA metrics:read
GET    /api/v1/metrics/wait-events/contributors      tvmaA metrics:read
GET    /api/v1/statements                            tvmaA metrics:read
GET    /api/v1/statements/:statementId               tvmaA metrics:read
GET    /api/v1/activity                              tvmaA metrics:read
GET    /api/v1/activity/deadlocks                    tvmaA metrics:read
GET    /api/v1/blocking                              tvmaA metrics:read
GET    /api/v1/blocking/:episodeId                   tvmaA metrics:read
GET    /api/v1/alerts                                tvmaA alerts:read
GET    /api/v1/alerts/raised-resolved-history        tvmaA metrics:read alerts:read
GET    /api/v1/alerts/raised-resolved-history/contributors tvmaA metrics:read alerts:read
GET    /api/v1/alerts/:alertId                       tvmaA alerts:read
POST   /api/v1/alerts/actions                         tm--A alerts:write
POST   /api/v1/alerts/:alertId/acknowledge           tm--A alerts:write
POST   /api/v1/alerts/:alertId/mute                  tm--A alerts:write
POST   /api/v1/alerts/:alertId/unmute                tm--A alerts:write
POST   /api/v1/alerts/:alertId/resolve               tm--A alerts:write
GET    /api/v1/instances                             tvmaA metrics:read alerts:read reports:read reports:create
POST   /api/v1/instances                             ---A admin
GET    /api/v1/instances/:instanceId                 tvmaA metrics:read alerts:read reports:read reports:create
PATCH  /api/v1/instances/:instanceId                 t-m-A alerts:write admin
DELETE /api/v1/instances/:instanceId                 ---A admin
POST   /api/v1/instances/:instanceId/assess          ---A admin
POST   /api/v1/instances/actions                     t-m-A alerts:write admin
GET    /api/v1/tags                                  tvmaA metrics:read alerts:read reports:read reports:create
GET    /api/v1/instances/:instanceId/databases       tvmaA metrics:read alerts:read reports:read reports:create
GET    /api/v1/instances/:instanceId/health          t-maA reports:download
GET    /api/v1/members                               tvmaA members:read
POST   /api/v1/members                               ---A admin
PATCH  /api/v1/members/:memberId                     ---A admin
DELETE /api/v1/members/:memberId                     ---A admin
POST   /api/v1/members/:memberId/invitation          ---A admin
POST   /api/v1/invitations/:token                    *
GET    /api/v1/organization                          tvmaA metrics:read alerts:read reports:read reports:create members:read
GET    /api/v1/teams                                 tvmaA metrics:read alerts:read reports:read reports:create members:read
POST   /api/v1/teams                                 ---A admin
GET    /api/v1/teams/:teamId                         tvmaA metrics:read alerts:read reports:read reports:create members:read
PATCH  /api/v1/teams/:teamId                         ---A admin
DELETE /api/v1/teams/:teamId                         ---A admin
PATCH  /api/v1/organization                          ---A admin
GET    /api/v1/findings                              t-maA reports:download
GET    /api/v1/findings/groups                       t-maA reports:download
GET    /api/v1/findings/:findingId                   t-maA reports:download
PATCH  /api/v1/findings/:findingId                   t-m-A alerts:write
GET    /api/v1/checks                                tvmaA metrics:read
GET    /api/v1/checks/:checkId                       tvmaA metrics:read
GET    /api/v1/controls/:checkId                     t-maA reports:download
POST   /api/v1/evidence                              tM-aA audit:read
GET    /api/v1/alerts/:alertId/notifications         tvmaA alerts:read
GET    /api/v1/instances/:instanceId/notification-rules tvmaA alerts:read
GET    /api/v1/instances/:instanceId/transactions       tvmaA metrics:read
GET    /api/v1/instances/:instanceId/outage             tvmaA alerts:read
GET    /api/v1/instances/:instanceId/replication        tvmaA metrics:read
GET    /api/v1/instances/:instanceId/backups            tvmaA metrics:read
GET    /api/v1/instances/:instanceId/capacity           tvmaA metrics:read
GET    /api/v1/instances/:instanceId/maintenance        tvmaA metrics:read
POST   /mcp                                          tvmaA metrics:read alerts:read reports:read reports:download audit:read
GET    /api/v1/channels                              ---A admin
POST   /api/v1/channels                              ---A admin
GET    /api/v1/channels/:channelId                   ---A admin
PATCH  /api/v1/channels/:channelId                   ---A admin
DELETE /api/v1/channels/:channelId                   ---A admin
POST   /api/v1/channels/:channelId/test              ---A admin
POST   /api/v1/channels/:channelId/confirmations     ---A admin
POST   /api/v1/channel-addresses/confirmation        *
POST   /api/v1/channel-addresses/departure           *
GET    /api/v1/watch-rules                           tvmaA metrics:read alerts:read
GET    /api/v1/watch-rules/:watchRule                tvmaA metrics:read alerts:read
PUT    /api/v1/watch-rules/:watchRule                ---A admin
POST   /api/v1/watch-rules/:watchRule/preview        ---A admin
GET    /api/v1/notification-rules                    ---A admin
POST   /api/v1/notification-rules                    ---A admin
POST   /api/v1/notification-rules/preview            ---A admin
GET    /api/v1/notification-rules/:ruleId            ---A admin
PATCH  /api/v1/notification-rules/:ruleId            ---A admin
DELETE /api/v1/notification-rules/:ruleId            ---A admin
GET    /api/v1/deliveries                            -aA audit:read
GET    /api/v1/deliveries/:deliveryId                -aA audit:read
POST   /api/v1/deliveries/:deliveryId/retry          ---A admin
GET    /api/v1/exceptions                            tvmaA reports:read
POST   /api/v1/exceptions                            tm--A reports:create
GET    /api/v1/exceptions/:exceptionId               tvmaA reports:read
POST   /api/v1/exceptions/:exceptionId/grant         ---A admin
POST   /api/v1/exceptions/:exceptionId/revoke        tM--A reports:create admin
GET    /api/v1/schedules                             tvmaA reports:read
POST   /api/v1/schedules                             tm--A reports:create
POST   /api/v1/schedules/preview                     tm--A reports:create
GET    /api/v1/schedules/:scheduleId                 tvmaA reports:read
PATCH  /api/v1/schedules/:scheduleId                 tm--A reports:create
DELETE /api/v1/schedules/:scheduleId                 tm--A reports:create
GET    /api/v1/schedules/:scheduleId/runs            tvmaA reports:read
GET    /api/v1/reports/:reportId/mails               -aA reports:download
GET    /api/v1/reports/:reportId/mails/:memberId     -aA reports:download
GET    /api/v1/session                               *
POST   /api/v1/session                               *
DELETE /api/v1/session                               tvmaA admin
GET    /api/v1/sessions                              tvmaA admin
DELETE /api/v1/sessions                              tvmaA admin
DELETE /api/v1/sessions/:sessionId                   tvmaA admin
POST   /api/v1/password                              tvmaA admin
GET    /auth/oidc/:provider/start                    *
GET    /auth/oidc/:provider/callback                 *
GET    /api/v1/setup                                 *
POST   /api/v1/setup                                 *
GET    /api/v1/api-tokens                            tvmaA admin
POST   /api/v1/api-tokens                            tvmaA admin
DELETE /api/v1/api-tokens/:tokenId                   tvmaA admin
GET    /api/v1/maintenance-windows                   tvmaA alerts:read
POST   /api/v1/maintenance-windows                   tm--A alerts:write
GET    /api/v1/maintenance-windows/:windowId         tvmaA alerts:read
PATCH  /api/v1/maintenance-windows/:windowId         tm--A alerts:write
DELETE /api/v1/maintenance-windows/:windowId         tm--A alerts:write
POST   /api/v1/maintenance-windows/:windowId/end     tm--A alerts:write
GET    /api/v1/objectives                            tvmaA metrics:read
PUT    /api/v1/objectives                            ----A admin
GET    /api/v1/objectives/status                     tvmaA metrics:read
GET    /api/v1/marks                                 tvmaA metrics:read
POST   /api/v1/marks                                 tm--A marks:write
DELETE /api/v1/marks/:markId                         tm--A marks:write
GET    /api/v1/views                                 tvmaA metrics:read
POST   /api/v1/views                                 tvmaA admin
PATCH  /api/v1/views/:viewId                         tvmaA admin
DELETE /api/v1/views/:viewId                         tvmaA admin
GET    /api/v1/ingest-tokens                         ---A admin
POST   /api/v1/ingest-tokens                         ---A admin
DELETE /api/v1/ingest-tokens/:tokenId                ---A admin
GET    /api/v1/audit-events                          tVMaA audit:read
GET    /api/v1/ops/projections                       -aA ops:read
POST   /api/v1/ops/projections/:name/rebuild         ---A admin
GET    /api/v1/ops/projections/:name/diff            -aA ops:read
GET    /api/v1/ops/jobs                              -aA ops:read
GET    /api/v1/ops/engines                           -aA ops:read
GET    /api/v1/ops/loops                             -aA ops:read
GET    /api/v1/ops/logs                              -aA ops:read
GET    /api/v1/ops/budgets                           -aA ops:read
GET    /api/v1/ops/senders                           -aA ops:read
GET    /api/v1/ops/dead-letters                      ---A admin
DELETE /api/v1/ops/dead-letters/:deadLetterId        ---A admin
POST   /api/v1/ops/dead-letters/:deadLetterId/retry  ---A admin
GET    /api/v1/ops/outbox                            ---A admin
GET    /api/v1/ops/outbox/:mailId                    ---A admin
POST   /ingest/v1/fleet                              i--A ingest:write
POST   /ingest/v1/alerts                             i--A ingest:write
POST   /ingest/v1/backups                            i--A ingest:write
POST   /ingest/v1/agents                             i--A ingest:write
POST   /ingest/v1/samples                            i--A ingest:write
POST   /ingest/v1/assessments                        i--A ingest:write
POST   /ingest/v1/prometheus/write                   i--A ingest:write
POST   /ingest/v1/otlp/v1/metrics                    i--A ingest:write
POST   /ingest/v1/otlp/v1/logs                       i--A ingest:write
POST   /ingest/v1/alertmanager/webhook               i--A ingest:write
POST   /ingest/v1/grafana/webhook                    i--A ingest:write
POST   /ingest/v1/alertmanager/api/v2/alerts         i--A ingest:write
GET    /healthz                                      *
GET    /readyz                                       *
GET    /version                                      *
GET    /.well-known/muster-keys.json                 *
GET    /proof/:log/checkpoint                        -aA audit:read
GET    /proof/:log/consistency                       -aA audit:read
GET    /proof/:log/tile/:level/*tile                 -aA audit:read
GET    /metrics                                      -aA ops:read
GET    /api/v1/openapi.json                          *
GET    /api/v1/openapi.yaml                          *
`

// may is one row of the table.
type may struct {
	who    string
	scopes []organization.Scope
}

func (m may) anyone() bool { return m.who == "*" }

func (m may) admits(role organization.Role) bool {
	letter := map[organization.Role]string{organization.Team: "t", organization.Viewer: "v", organization.Member: "m", organization.Auditor: "a", organization.Admin: "A", contract.Ingest: "i"}[role]
	return m.anyone() || strings.Contains(m.who, letter)
}

func (m may) takes(scope organization.Scope) bool {
	return m.anyone() || scope == organization.ScopeAdmin || slices.Contains(m.scopes, scope)
}

func readTable(t *testing.T) map[string]may {
	t.Helper()
	rows := map[string]may{}
	for line := range strings.Lines(strings.TrimSpace(table)) {
		fields := strings.Fields(line)
		row := may{who: fields[2]}
		for _, scope := range fields[3:] {
			row.scopes = append(row.scopes, organization.Scope(scope))
		}
		rows[contract.RouteKey(fields[0], fields[1])] = row
	}
	return rows
}

// guest is somebody at the door, and whether they get in.
type guest struct {
	name     string
	as       person
	token    string
	admitted func(r *contract.Route, m may) bool
	code     string // of the refusal, where it is the credential that is refused
	often    bool   // visits every route also where tests may not take long
}

// TestEveryRouteWithEveryCredential walks the whole table: nobody, every role by session
// and by tokens of every single scope, an ingest token, and credentials that no
// longer are any. Who is let in may still be refused for what they sent; never
// with 401 or 403.
//
// Roles by session and scopes by the tokens of an administrator show the row of each route. The tokens
// of others and what is no credential any more are judged by the gate, the same for all routes:
// each of them visits every tenth route here, and all of them in TestLongEveryRouteWithEveryCredential.
func TestEveryRouteWithEveryCredential(t *testing.T) {
	t.Parallel()
	walkTheTable(t, func(route, visitor int, v guest) bool { return v.often || (route+visitor)%10 == 0 })
}

func TestLongEveryRouteWithEveryCredential(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	walkTheTable(t, func(int, int, guest) bool { return true })
}

func walkTheTable(t *testing.T, visits func(route, visitor int, v guest) bool) {
	t.Helper()
	w := newWorld(t, unlimited)
	rows := readTable(t)
	keys := slices.Sorted(maps.Keys(w.server.contract.Routes))
	keys = slices.DeleteFunc(keys, func(key string) bool { return w.server.routes[key].Page })
	for _, key := range slices.Concat(keys, slices.Collect(maps.Keys(rows))) {
		if _, ok := rows[key]; !ok || !slices.Contains(keys, key) {
			t.Errorf("%s is in only one of openapi.yaml and this test's table", key)
		}
	}
	guests := w.guests()
	for route, key := range keys {
		r, row := w.server.routes[key], rows[key]
		for visitor, v := range guests {
			if !visits(route, visitor, v) {
				continue
			}
			as := v.as
			if r.Operation.OperationID == "signOut" && as.session != "" && v.code == "" {
				as = w.again(as) // the walker's own session goes on
			}
			a := w.do(request{method: r.Method, path: somePath(r.Path), as: as, token: v.token, body: someBody(r)})
			in := a.Code != http.StatusForbidden && a.Code != http.StatusUnauthorized
			if want := v.admitted(r, row); in != want {
				t.Errorf("%s as %s: %d, let in should be %v", key, v.name, a.Code, want)
			}
			if !in && v.code != "" && (v.token != "" || !r.TokensOnly) {
				a.problem(http.StatusUnauthorized, v.code)
			}
		}
	}
}

func (w *world) guests() []guest {
	out := []guest{
		{name: "nobody", admitted: func(_ *contract.Route, m may) bool { return m.anyone() }, code: "unauthenticated", often: true},
		{name: "an ingest token", often: true, token: w.ingestToken(w.ours.admin), admitted: func(_ *contract.Route, m may) bool { return m.admits(contract.Ingest) }},
	}
	for _, inTeam := range []organization.Role{organization.Viewer, organization.Member} {
		somebody := w.person(w.ours.organization, organization.Team, "team-"+string(inTeam)+"@ours.example")
		w.team(w.ours, "of the "+string(inTeam), nil, somebody, inTeam)
		admits := func(m may) bool {
			return m.anyone() || m.admits(organization.Team) && (m.admits(inTeam) || strings.Contains(m.who, strings.ToUpper(string(inTeam[:1]))))
		}
		out = append(out, guest{name: "a team's " + string(inTeam), often: true, as: somebody, admitted: func(r *contract.Route, m may) bool {
			return admits(m) && (m.anyone() || !r.TokensOnly)
		}})
		owner := w.person(w.ours.organization, organization.Team, "tokens-of-team-"+string(inTeam)+"@ours.example")
		w.team(w.ours, "of tokens of the "+string(inTeam), nil, owner, inTeam)
		for _, scope := range organization.Scopes() {
			out = append(out, guest{name: fmt.Sprintf("the token for %s of a team's %s", scope, inTeam), token: w.anyToken(owner, scope),
				admitted: func(_ *contract.Route, m may) bool { return admits(m) && m.takes(scope) }})
		}
	}
	for _, role := range organization.Roles() {
		if role == organization.Team {
			continue
		}
		out = append(out, guest{name: string(role), often: true, as: w.again(w.ours.of(role)), admitted: func(r *contract.Route, m may) bool {
			return m.admits(role) && (m.anyone() || !r.TokensOnly) // /ingest and /mcp take no cookies
		}})
		owner := w.person(w.ours.organization, role, "tokens-of-"+string(role)+"@ours.example") // who may end all their sessions
		for _, scope := range organization.Scopes() {
			out = append(out, guest{name: fmt.Sprintf("a %s's token for %s", role, scope), often: role == organization.Admin, token: w.anyToken(owner, scope),
				admitted: func(_ *contract.Route, m may) bool { return m.admits(role) && m.takes(scope) }})
		}
	}
	shut := w.shutOut()
	for _, name := range slices.Sorted(maps.Keys(shut)) {
		v := shut[name]
		v.name, v.admitted = name, func(_ *contract.Route, m may) bool { return m.anyone() }
		out = append(out, v)
	}
	return out
}

func (t tenant) of(role organization.Role) person {
	return map[organization.Role]person{organization.Viewer: t.viewer, organization.Member: t.member, organization.Auditor: t.auditor, organization.Admin: t.admin}[role]
}

// again is the same person with a session of their own.
func (w *world) again(p person) person {
	w.t.Helper()
	session, _, err := w.deps.Accounts.StartSession(w.t.Context(), p.ID, accounts.MethodPassword, client0)
	must(w.t, err)
	return person{p.Member, session}
}

// anyToken is one that nobody can mint: its scope may be more than the owner's
// role has. It stands for one whose owner's role was lowered since.
func (w *world) anyToken(p person, scope organization.Scope) (secret string) {
	w.t.Helper()
	w.must(func(tx *sqlx.Tx) (err error) {
		secret, _, err = w.deps.Accounts.InsertToken(w.t.Context(), tx, accounts.Token{ID: uuid.New(), Kind: accounts.APIToken, OrganizationID: p.OrganizationID,
			MemberID: p.ID, Name: "any", Scopes: []organization.Scope{scope}, CreatedAt: w.clock.Now(), ExpiresAt: w.clock.Now().Add(time.Hour)})
		return err
	})
	return secret
}

func (w *world) must(do func(tx *sqlx.Tx) error) {
	w.t.Helper()
	tx, err := w.deps.DB.Beginx()
	must(w.t, err)
	must(w.t, do(tx))
	must(w.t, tx.Commit())
}

// shutOut are those whose credential was one once.
func (w *world) shutOut() map[string]guest {
	w.t.Helper()
	o := w.ours.organization
	out := map[string]guest{
		"an unknown session": {as: person{session: "x"}, code: "unauthenticated"},
		"an unknown token":   {token: "mst_pat_" + strings.Repeat("x", 36), code: "unauthenticated"},
	}
	old := w.person(o, organization.Admin, "old@ours.example")
	out["a token whose time is over"] = guest{token: w.anyToken(old, organization.ScopeAdmin), code: "token_expired"}
	w.exec(`UPDATE tokens SET expires_at = $2 WHERE member_id = $1`, old.ID, w.clock.Now())
	out["a session unused for half a day"] = guest{as: old, code: "session_expired"}
	w.exec(`UPDATE sessions SET last_seen_at = $2 WHERE member_id = $1`, old.ID, w.clock.Now().Add(-accounts.SessionIdle))
	week := w.again(old)
	out["a session of last week"] = guest{as: week, code: "session_expired"}
	w.exec(`UPDATE sessions SET expires_at = $2 WHERE member_id = $1 AND last_seen_at = $2`, old.ID, w.clock.Now())
	signedOut := w.again(w.ours.admin)
	w.do(request{method: "DELETE", path: "/api/v1/session", as: signedOut}).is(204)
	out["somebody who signed out"] = guest{as: signedOut, code: "unauthenticated"}
	revoked := w.anyToken(old, organization.ScopeAdmin)
	w.exec(`UPDATE tokens SET revoked_at = $2 WHERE member_id = $1 AND expires_at > $2`, old.ID, w.clock.Now())
	out["a revoked token"] = guest{token: revoked, code: "token_revoked"}
	disabled := w.person(o, organization.Admin, "disabled@ours.example")
	out["a disabled member"], out["a disabled member's token"] =
		guest{as: disabled, code: "unauthenticated"}, guest{token: w.token(disabled, organization.ScopeAdmin), code: "token_revoked"}
	w.do(request{method: "PATCH", path: "/api/v1/members/" + disabled.ID.String(), as: w.ours.admin, json: map[string]string{"status": "disabled"}}).is(200)
	erased := w.person(o, organization.Admin, "erased@ours.example")
	out["an erased member"], out["an erased member's token"] =
		guest{as: erased, code: "unauthenticated"}, guest{token: w.token(erased, organization.ScopeAdmin), code: "unauthenticated"}
	w.do(request{method: "DELETE", path: "/api/v1/members/" + erased.ID.String(), as: w.ours.admin}).is(204)
	return out
}

func (w *world) exec(query string, args ...any) {
	w.t.Helper()
	_, err := w.deps.DB.Exec(query, args...)
	must(w.t, err)
}

// somePath names things that nobody has, so that whoever is let in changes nothing.
func somePath(path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		switch {
		case p == ":name" || p == ":fileName" || p == ":mailId" || p == ":token" || p == ":provider":
			parts[i] = "unknown"
		case strings.HasPrefix(p, ":"):
			parts[i] = uuid.NewString()
		}
	}
	return strings.Join(parts, "/")
}

// someBody is one that nobody can read.
func someBody(r *contract.Route) string {
	if r.Method == http.MethodGet || r.Method == http.MethodDelete || r.Operation.RequestBody == nil {
		return ""
	}
	return "nonsense"
}

// TestTheRouteTableIsComplete: a server with a gap in its table is not built.
func TestTheRouteTableIsComplete(t *testing.T) {
	t.Parallel()
	c, err := ourContract()
	must(t, err)
	s := &server{routes: c.Routes}
	err = s.everyRouteHasItsRow(gin.RoutesInfo{{Method: "GET", Path: "/api/v1/secrets"}})
	if err == nil || !strings.Contains(err.Error(), "route GET /api/v1/secrets has no row") || !strings.Contains(err.Error(), "row GET /healthz has no route") {
		t.Errorf("got %v", err)
	}
}

// TestSecurityFitsTheRoles: what openapi.yaml tells other tools by `security` is
// what x-role says.
func TestSecurityFitsTheRoles(t *testing.T) {
	t.Parallel()
	c, err := ourContract()
	must(t, err)
	for key, r := range c.Routes {
		needs := c.Document.Security
		if r.Operation.Security != nil {
			needs = *r.Operation.Security
		}
		none, cookie := len(needs) == 0, false
		for _, n := range needs {
			_, byCookie := n["session"]
			none, cookie = none || len(n) == 0, cookie || byCookie
		}
		if none != r.Open() || r.IsIngest() && cookie {
			t.Errorf("%s: security %v, x-role %v", key, needs, r.Roles)
		}
	}
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	reader := w.token(w.ours.member, organization.ScopeReportsRead)
	const path = "/api/v1/reports?kind=Security"
	for name, c := range map[string]struct {
		header map[string]string
		as     person
		status int
		code   string
	}{
		"no credential":           {nil, person{}, 401, "unauthenticated"},
		"another scheme":          {map[string]string{"Authorization": "Basic eA=="}, person{}, 401, "unauthenticated"},
		"only blanks":             {map[string]string{"Authorization": "Bearer   "}, w.ours.admin, 401, "unauthenticated"},
		"a token of no form":      {map[string]string{"Authorization": "Bearer x"}, person{}, 401, "unauthenticated"},
		"an unknown session":      {nil, person{session: "x"}, 401, "unauthenticated"},
		"the header beats cookie": {map[string]string{"Authorization": "Bearer x"}, w.ours.admin, 401, "unauthenticated"},
		"lower-case scheme":       {map[string]string{"Authorization": "bearer " + reader}, person{}, 200, ""},
	} {
		a := w.do(request{method: "GET", path: path, as: c.as, header: c.header}).is(c.status)
		if c.code == "" {
			continue
		}
		a.problem(c.status, c.code)
		if a.Header().Get("WWW-Authenticate") != `Bearer realm="muster"` {
			t.Errorf("%s: WWW-Authenticate is %q", name, a.Header().Get("WWW-Authenticate"))
		}
	}
	var id string
	must(t, w.deps.DB.Get(&id, `SELECT id FROM tokens LIMIT 1`))
	// However many blanks stand before it, a token of /ingest is nobody elsewhere.
	for _, blanks := range []string{" ", "  ", " \t "} {
		header := map[string]string{"Authorization": "Bearer" + blanks + w.ingestToken(w.ours.admin)}
		w.do(request{method: "GET", path: path, header: header}).problem(401, "unauthenticated")
		if got := w.do(request{method: "GET", path: "/api/v1/session", header: header}).is(200).object(); got["authenticated"] != false {
			t.Errorf("after %q an ingest token has a session: %v", blanks, got)
		}
	}
	w.do(request{method: "DELETE", path: "/api/v1/api-tokens/" + id, as: w.ours.member}).is(204)
	w.do(request{method: "GET", path: path, token: reader}).problem(401, "token_revoked")
}
