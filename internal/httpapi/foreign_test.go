package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/commands/alerting"
	"muster/domain/organization"
	"muster/internal/accounts"
	"muster/internal/mail"
	"muster/internal/measurements"
)

// belongings are ids of everything that an organization can have, by the path
// parameter that takes them.
func (w *world) belongings(of tenant) map[string]string {
	w.t.Helper()
	ctx := context.Background()
	id := func(query string) (id string) {
		w.t.Helper()
		must(w.t, w.deps.DB.Get(&id, query, of.organization.ID))
		return id
	}
	ready := w.requested(of, of.member, of.viewer.ID)
	w.ready(of, ready, pdfText)
	instance := w.instance(of, "hidden")
	w.assessed(of, instance, broken("PG-S01", "", "hidden", nil))
	w.token(of.admin, organization.ScopeAdmin)
	ingesting := w.ingestToken(of.admin)
	w.do(request{method: "POST", path: "/ingest/v1/fleet", token: ingesting, json: map[string]any{"instances": []any{map[string]any{
		"externalId": "e", "name": "e", "engine": "oracle", "createdAt": w.clock.Now(), "databases": []any{map[string]any{"externalId": "d", "name": "d", "createdAt": w.clock.Now()}}}}}}).is(200)
	asked := w.post(of.member, "/api/v1/exceptions", map[string]any{"checkId": "PG-S01", "instanceId": instance, "reason": "until the move", "until": w.clock.Now().Add(time.Hour)}).is(201)
	scheduled := w.post(of.member, schedulesPath, everyDay()).is(201)
	w.exec(`UPDATE jobs SET dead_at = now() WHERE organization_id = $1`, of.organization.ID)
	from, err := mail.ParseFrom("Muster <muster@localhost>")
	must(w.t, err)
	message, err := (&mail.Composer{From: from, Now: w.clock.Now}).Compose(mail.ReadyNotice{OrganizationID: of.organization.ID, ReportID: ready, MemberID: of.member.ID, Kind: "hidden"}, mail.Address{Email: of.member.Email})
	must(w.t, err)
	_, err = w.deps.Outbox.Send(ctx, message)
	must(w.t, err)
	mails, err := w.deps.Outbox.List(of.organization.ID, 1)
	must(w.t, err)
	database := id(`SELECT stream_id FROM events WHERE organization_id = $1 AND stream_type = 'database' LIMIT 1`)
	w.measuredNow(of, instance, uuid.MustParse(database))
	raised := w.raised(of, alerting.Item{ExternalID: "hidden", CreatedAt: w.ago(time.Hour), Instance: to("e")})["hidden"].String()
	channel, rule := w.told(of)
	return map[string]string{
		"channelId":    channel,
		"ruleId":       rule,
		"teamId":       w.team(of, "hidden", map[string][]string{"env": {"hidden"}}, of.viewer, organization.Viewer),
		"deliveryId":   id(`SELECT id FROM deliveries WHERE organization_id = $1 LIMIT 1`),
		"reportId":     ready.String(),
		"instanceId":   instance.String(),
		"alertId":      raised,
		"databaseId":   database,
		"statementId":  measurements.StatementID(instance, measurements.HashStatement(uuid.MustParse(database), w.secret(of))).String(),
		"episodeId":    w.blocked(of, instance, w.ago(time.Minute)).String(),
		"memberId":     of.viewer.ID.String(),
		"findingId":    id(`SELECT id FROM findings WHERE organization_id = $1 LIMIT 1`),
		"exceptionId":  asked.object()["id"].(string),
		"scheduleId":   scheduled.object()["id"].(string),
		"tokenId":      id(`SELECT id FROM tokens WHERE organization_id = $1 AND kind = 'api' LIMIT 1`),
		"ingestToken":  id(`SELECT id FROM tokens WHERE organization_id = $1 AND kind = 'ingest' LIMIT 1`),
		"viewId":       w.view(of.member, "hidden", true),
		"windowId":     w.announce(of.member, "hidden", selecting(nil, instance)),
		"markId":       w.mark(of.member, "hidden", w.ago(time.Minute), map[string]string{"team": "hidden"}),
		"sessionId":    id(`SELECT id FROM sessions WHERE organization_id = $1 LIMIT 1`),
		"deadLetterId": id(`SELECT id FROM jobs WHERE organization_id = $1 AND dead_at IS NOT NULL LIMIT 1`),
		"mailId":       mails[0].ID,
	}
}

// unknownOf is an id of the same form that nobody has.
func unknownOf(id string) string {
	unknown := uuid.NewString()
	if strings.Count(id, ".") == 2 { // a mail's: organization, report, recipient
		return id[:36] + "." + unknown + "." + unknown
	}
	return unknown
}

var ownRequestID = regexp.MustCompile(`"requestId":"[^"]*"`)

// withoutIDs is an answer less what must differ between two requests.
func withoutIDs(a answer, id string) string {
	body := strings.ReplaceAll(a.Body.String(), id, "…")
	return fmt.Sprintf("%d %s %s", a.Code, a.Header().Get("Content-Type"), ownRequestID.ReplaceAllString(body, ""))
}

// TestForeignIDsLookUnknown: it sends every operation that takes an id, as an administrator, once with the id
// of something that another organization has and once with one that nobody has: to the byte the same answer.
func TestForeignIDsLookUnknown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, unlimited)
	theirs := w.belongings(w.theirs)
	before := w.theirEvents()
	bodies := map[string]string{ // where one is needed
		"changeChannel": `{"name":"x"}`, "changeFinding": `{"ticketUrl":null}`, "changeNotificationRule": `{"enabled":false}`,
		"changeMaintenanceWindow": `{"name":"x"}`, "changeTeam": `{"name":"x"}`, "changeInstance": `{"active":false}`, "changeMember": `{"role":"viewer"}`, "changeSchedule": `{"name":"x"}`, "changeView": `{"name":"x"}`,
	}
	window := windowed(w.ago(day).Format(time.RFC3339), w.clock.Now().Format(time.RFC3339), "1h")
	queries := map[string]string{"getStatement": window, "getInstanceTransactions": window}
	untold := []string{"name", "provider", "token", "checkId", "watchRule", "log"} // the installation's; an invitation's secret is nobody's id
	tried := 0
	for _, key := range slices.Sorted(maps.Keys(w.server.routes)) {
		r := w.server.routes[key]
		_, parameter, _ := strings.Cut(r.Path, ":")
		parameter, _, _ = strings.Cut(parameter, "/")
		if parameter == "" || slices.Contains(untold, parameter) || r.Page { // of a page nothing is in the answer
			continue
		}
		if strings.HasPrefix(r.Path, "/api/v1/ingest-tokens") {
			parameter = "ingestToken"
		}
		id, ok := theirs[parameter]
		if !ok {
			t.Errorf("%s: this test knows no foreign %s", key, parameter)
			continue
		}
		tried++
		ask := func(id string) string {
			path := pathSegment.ReplaceAllString(strings.ReplaceAll(r.Path, ":fileName", "report.pdf"), id) + queries[r.Operation.OperationID]
			return withoutIDs(w.do(request{method: r.Method, path: path, as: w.ours.admin, body: bodies[r.Operation.OperationID]}), id)
		}
		foreign, unknown := ask(id), ask(unknownOf(id))
		if foreign != unknown || !strings.HasPrefix(foreign, "404 ") {
			t.Errorf("%s\nforeign: %s\nunknown: %s", key, foreign, unknown)
		}
	}
	if tried < 20 {
		t.Errorf("only %d operations were tried", tried)
	}
	w.foreignInside(theirs)
	if now := w.theirEvents(); now != before {
		t.Errorf("they have %d events and had %d", now, before)
	}
}

var pathSegment = regexp.MustCompile(`:[A-Za-z]+`)

func (w *world) theirEvents() (n int64) {
	w.t.Helper()
	must(w.t, w.deps.DB.Get(&n, `SELECT count(*) FROM events WHERE organization_id = $1`, w.theirs.organization.ID))
	return n
}

// foreignInside does the same with ids in bodies and in filters.
func (w *world) foreignInside(theirs map[string]string) {
	w.t.Helper()
	now := w.clock.Now().Format(time.RFC3339)
	mine := w.instance(w.ours, "mine").String()
	today := windowed(w.ago(day).Format(time.RFC3339), now, "1h")
	since := "?" + url.Values{"from": {w.ago(day).Format(time.RFC3339)}, "to": {now}}.Encode()
	for _, c := range []struct{ method, path, id, body string }{
		{"POST", "/api/v1/reports", "instanceId", `{"kind":"Security","scope":{"instanceIds":["%s"]}}`},
		{"POST", "/api/v1/reports", "memberId", `{"kind":"Security","recipientIds":["%s"]}`},
		{"POST", "/api/v1/reports", "instanceId", `{"kind":"InstanceScorecard","scope":{"instanceIds":["%s"],"from":"2026-01-01T00:00:00Z","to":"2026-01-02T00:00:00Z"}}`},
		{"POST", "/api/v1/reports", "databaseId", `{"kind":"InstanceScorecard","scope":{"instanceIds":["` + mine + `"],"databaseId":"%s","from":"2026-01-01T00:00:00Z","to":"2026-01-02T00:00:00Z"}}`},
		{"POST", schedulesPath, "instanceId", `{"name":"x","kind":"Security","every":"day","at":"08:00","timeZone":"UTC","scope":{"instanceIds":["%s"]}}`},
		{"POST", schedulesPath, "memberId", `{"name":"x","kind":"Security","every":"day","at":"08:00","timeZone":"UTC","recipientIds":["%s"]}`},
		{"POST", "/api/v1/exports/seen", "reportId", `{"upTo":"%s"}`},
		{"POST", "/api/v1/ingest-tokens", "instanceId", `{"name":"x","instanceIds":["%s"]}`},
		{"POST", "/api/v1/exceptions", "instanceId", `{"checkId":"PG-S01","instanceId":"%s","reason":"r","until":"2999-01-01T00:00:00Z"}`},
		{"POST", "/api/v1/exceptions", "databaseId", `{"checkId":"PG-S01","instanceId":"` + mine + `","databaseId":"%s","reason":"r","until":"` + now + `"}`},
		{"POST", "/api/v1/alerts/actions", "alertId", `{"ids":["%s"],"action":"mute","note":"n","until":"` + time.Now().Add(time.Hour).UTC().Format(time.RFC3339) + `"}`},
		{"POST", "/api/v1/channels", "memberId", `{"name":"x","kind":"email","memberIds":["%s"]}`},
		{"POST", "/api/v1/notification-rules", "channelId", `{"name":"x","match":{},"channelIds":["%s"]}`},
		{"POST", "/api/v1/notification-rules/preview", "instanceId", `{"match":{"instanceIds":["%s"]}}`},
		{"GET", "/api/v1/deliveries?channelId=%s", "channelId", ""},
		{"GET", "/api/v1/instances?id=%s", "instanceId", ""},
		{"GET", "/api/v1/health-checks/overview?instanceId=%s", "instanceId", ""},
		{"GET", "/api/v1/alerts?instanceId=%s", "instanceId", ""},
		{"GET", "/api/v1/alerts?instanceName=hidden&instanceName=%s", "instanceId", ""},
		{"GET", "/api/v1/alerts/raised-resolved-history?from=2026-01-01T00:00:00Z&to=" + now + "&bucketSize=1w&instanceId=%s", "instanceId", ""},
		{"GET", "/api/v1/metrics/connections?instanceId=%s", "instanceId", ""},
		{"GET", "/api/v1/metrics/utilization" + today + "&instanceId=%s", "instanceId", ""},
		{"GET", "/api/v1/metrics/query-performance" + today + "&instanceId=%s", "instanceId", ""},
		{"GET", "/api/v1/metrics/wait-events" + today + "&instanceId=%s", "instanceId", ""},
		{"GET", "/api/v1/alerts/raised-resolved-history/contributors" + since + "&series=active&by=alert&instanceId=%s", "instanceId", ""},
		{"GET", "/api/v1/metrics/connections/contributors?series=total&by=instance&instanceId=%s", "instanceId", ""},
		{"GET", "/api/v1/metrics/utilization/contributors" + since + "&series=cpu&by=host&instanceId=%s", "instanceId", ""},
		{"GET", "/api/v1/metrics/query-performance/contributors" + since + "&series=average&by=statement&instanceId=%s", "instanceId", ""},
		{"GET", "/api/v1/metrics/wait-events/contributors" + since + "&series=all&by=database&instanceId=%s", "instanceId", ""},
		{"GET", "/api/v1/statements" + since + "&instanceId=%s", "instanceId", ""},
		{"GET", "/api/v1/statements" + since + "&databaseId=%s", "databaseId", ""},
		{"GET", "/api/v1/exceptions?instanceId=%s", "instanceId", ""},
		{"GET", "/api/v1/findings?instanceId=%s", "instanceId", ""},
		{"GET", "/api/v1/findings?databaseId=%s", "databaseId", ""},
		{"GET", "/api/v1/findings/groups?instanceId=%s", "instanceId", ""},
		{"GET", "/api/v1/findings/groups?databaseId=%s", "databaseId", ""},
		{"GET", "/api/v1/controls/PG-S01" + since + "&instanceId=%s", "instanceId", ""},
		{"GET", "/api/v1/audit-events?actorId=%s", "memberId", ""},
	} {
		ask := func(id string) string {
			path, body := strings.ReplaceAll(c.path, "%s", id), strings.ReplaceAll(c.body, "%s", id)
			return withoutIDs(w.do(request{method: c.method, path: path, as: w.ours.admin, body: body}), id)
		}
		foreign, unknown := ask(theirs[c.id]), ask(uuid.NewString())
		if foreign != unknown || strings.Contains(foreign, "hidden") {
			w.t.Errorf("%s %s %s\nforeign: %s\nunknown: %s", c.method, c.path, c.body, foreign, unknown)
		}
	}
	// As a feed knows a server: a key of theirs is a new server of ours.
	ingesting := w.ingestToken(w.ours.admin)
	for _, sample := range []members{
		{"hosts": []members{w.ofHost(members{"instances": []string{"%s"}})}},
		{"sessions": []members{w.ofSessions(members{"instance": "%s"})}},
		{"statements": []members{w.ofStatements(members{"instance": "%s"})}},
		{"sessions": []members{w.ofSessions(members{"instance": mine, "database": "%s"})}},
	} {
		body, err := json.Marshal(sample)
		must(w.t, err)
		ask := func(id string) string {
			return withoutIDs(w.do(request{method: "POST", path: samplesPath, token: ingesting, body: strings.ReplaceAll(string(body), "%s", id)}), id)
		}
		foreign, unknown := ask(theirs["instanceId"]), ask(uuid.NewString())
		if foreign != unknown || !strings.HasPrefix(foreign, "422 ") {
			w.t.Errorf("%s\nforeign: %s\nunknown: %s", body, foreign, unknown)
		}
	}
	w.do(request{method: "POST", path: "/ingest/v1/fleet", token: ingesting,
		body: `{"instances":[{"externalId":"e","name":"ours","engine":"mysql","createdAt":"` + now + `"}]}`}).is(200)
}

// TestATokenHasAtMostTheRightsOfItsMaker: at most those of its owner's role and of the token that makes it. A
// member without the role admin makes none at all.
func TestATokenHasAtMostTheRightsOfItsMaker(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t, unlimited)
	all := organization.Scopes()
	mint := func(as person, token string, scopes []organization.Scope) (answer, []string) {
		a := w.do(request{method: "POST", path: "/api/v1/api-tokens", as: as, token: token, json: map[string]any{"name": "t", "scopes": scopes}})
		var made struct {
			Token  string
			Scopes []string
		}
		if a.Code == 201 {
			a.decode(&made)
		}
		return a, made.Scopes
	}
	inTeam := w.person(w.ours.organization, organization.Team, w.ours.address("team-member"))
	w.team(w.ours, "members", nil, inTeam, organization.Member)
	seeing := w.person(w.ours.organization, organization.Team, w.ours.address("team-viewer"))
	w.team(w.ours, "viewers", nil, seeing, organization.Viewer)
	for _, scope := range all {
		if a, got := mint(seeing, "", []organization.Scope{scope}); (a.Code == 201) != (organization.Viewer.Allows(scope) || scope == organization.ScopeAuditRead) {
			t.Errorf("a team's viewer mints %s: %d %v", scope, a.Code, got)
		}
	}
	for _, role := range organization.Roles() {
		p := w.ours.of(role)
		if role == organization.Team {
			p = inTeam
		}
		for _, scope := range all {
			a, got := mint(p, "", []organization.Scope{scope})
			if (a.Code == 201) != role.Allows(scope) {
				t.Errorf("a %s mints %s: %d %v", role, scope, a.Code, got)
			}
		}
	}
	// A token with scope admin, whose owner is a viewer, mints like the viewer.
	viewer := w.anyToken(w.ours.viewer, organization.ScopeAdmin)
	if a, got := mint(person{}, viewer, []organization.Scope{organization.ScopeReportsCreate}); a.Code == 201 {
		t.Errorf("a viewer's token mints %v", got)
	}
	// Members, tokens, sessions, passwords: nothing less than a session or admin.
	principal, err := w.deps.Accounts.SessionPrincipal(t.Context(), w.ours.admin.session)
	must(t, err)
	most := slices.DeleteFunc(organization.Scopes(), func(s organization.Scope) bool { return s == organization.ScopeAdmin })
	_, secret, _, err := w.deps.Commands.MintToken(t.Context(), principal, "", accounts.NewToken{Kind: accounts.APIToken, Name: "all but admin", Scopes: most})
	must(t, err)
	for _, r := range []request{
		{method: "POST", path: "/api/v1/members", body: `{"email":"x@ours.example","name":"x","role":"admin"}`},
		{method: "PATCH", path: "/api/v1/members/" + w.ours.viewer.ID.String(), body: `{"role":"admin"}`},
		{method: "DELETE", path: "/api/v1/members/" + w.ours.viewer.ID.String()},
		{method: "POST", path: "/api/v1/api-tokens", body: `{"name":"x","scopes":["reports:read"]}`},
		{method: "GET", path: "/api/v1/api-tokens"},
		{method: "POST", path: "/api/v1/ingest-tokens", body: `{"name":"x"}`},
		{method: "GET", path: "/api/v1/sessions"},
		{method: "DELETE", path: "/api/v1/sessions"},
		{method: "POST", path: "/api/v1/password", body: `{"currentPassword":"x","newPassword":"y"}`},
		{method: "PATCH", path: "/api/v1/organization", body: `{"name":"x"}`},
		{method: "POST", path: "/api/v1/views", body: `{"name":"x","query":"/alerts"}`},
	} {
		r.token = secret
		w.do(r).problem(403, "forbidden")
	}
}
