package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	domain "muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/internal/measurements"
	"muster/internal/measurements/blocks"
	"muster/internal/measurements/pgstore"
	"muster/internal/proof/signing"
	"muster/internal/testing/longtest"
)

// faultyStore is a store of measurements of which one method fails. It embeds nothing: a new
// method does not compile until it can fail, too.
type faultyStore struct {
	store  *pgstore.Store
	method string
	err    error // nil: it says nothing
	called map[string]bool
}

// fails is the error of the method, if it is the one that fails.
func (f *faultyStore) fails(ctx context.Context, method string) error {
	f.called[method] = true
	if method != f.method {
		return nil
	}
	if f.err == nil { // it says nothing
		<-ctx.Done()
		return ctx.Err()
	}
	return f.err
}

func (f *faultyStore) Write(ctx context.Context, b measurements.Batch) (measurements.Receipt, error) {
	if err := f.fails(ctx, "Write"); err != nil {
		return measurements.Receipt{}, err
	}
	return f.store.Write(ctx, b)
}

func (f *faultyStore) Utilization(ctx context.Context, organization uuid.UUID, hosts measurements.HostScope, w timegrid.Window) (measurements.Utilization, error) {
	if err := f.fails(ctx, "Utilization"); err != nil {
		return measurements.Utilization{}, err
	}
	return f.store.Utilization(ctx, organization, hosts, w)
}

func (f *faultyStore) QueryPerformance(ctx context.Context, organization uuid.UUID, engine domain.Engine, scope domain.Scope, w timegrid.Window, now time.Time) (measurements.QuerySums, error) {
	if err := f.fails(ctx, "QueryPerformance"); err != nil {
		return measurements.QuerySums{}, err
	}
	return f.store.QueryPerformance(ctx, organization, engine, scope, w, now)
}

func (f *faultyStore) WaitEvents(ctx context.Context, organization uuid.UUID, engine domain.Engine, scope domain.Scope, w timegrid.Window) (measurements.WaitSums, error) {
	if err := f.fails(ctx, "WaitEvents"); err != nil {
		return measurements.WaitSums{}, err
	}
	return f.store.WaitEvents(ctx, organization, engine, scope, w)
}

func (f *faultyStore) Activity(ctx context.Context, organization uuid.UUID, engine domain.Engine, scope domain.Scope, w timegrid.Window, q measurements.ActivityQuery) (measurements.ActivityPart, error) {
	if err := f.fails(ctx, "Activity"); err != nil {
		return measurements.ActivityPart{}, err
	}
	return f.store.Activity(ctx, organization, engine, scope, w, q)
}

func (f *faultyStore) Deadlocks(ctx context.Context, organization uuid.UUID, engine domain.Engine, scope domain.Scope, w timegrid.Window, limit int) (measurements.Deadlocks, error) {
	if err := f.fails(ctx, "Deadlocks"); err != nil {
		return measurements.Deadlocks{}, err
	}
	return f.store.Deadlocks(ctx, organization, engine, scope, w, limit)
}

func (f *faultyStore) ServerFigures(ctx context.Context, organization uuid.UUID, engine domain.Engine, instance uuid.UUID, w timegrid.Window) (measurements.ServerFigures, error) {
	if err := f.fails(ctx, "ServerFigures"); err != nil {
		return nil, err
	}
	return f.store.ServerFigures(ctx, organization, engine, instance, w)
}

func (f *faultyStore) Names(ctx context.Context, organization uuid.UUID, of measurements.Dimension, hashes []uint64) (map[uint64]string, error) {
	if err := f.fails(ctx, "Names"); err != nil {
		return nil, err
	}
	return f.store.Names(ctx, organization, of, hashes)
}

func (f *faultyStore) Machines(ctx context.Context, organization uuid.UUID, scope measurements.HostScope, since time.Time, most int) ([]measurements.Machine, error) {
	if err := f.fails(ctx, "Machines"); err != nil {
		return nil, err
	}
	return f.store.Machines(ctx, organization, scope, since, most)
}

func (f *faultyStore) Connections(ctx context.Context, organization uuid.UUID, engine domain.Engine, databases []uuid.UUID, now time.Time) (measurements.OpenConnections, error) {
	if err := f.fails(ctx, "Connections"); err != nil {
		return measurements.OpenConnections{}, err
	}
	return f.store.Connections(ctx, organization, engine, databases, now)
}

func (f *faultyStore) UtilizationContributors(ctx context.Context, organization uuid.UUID, hosts measurements.HostScope, span measurements.Span, b measurements.Breakdown) (measurements.Ranking, error) {
	if err := f.fails(ctx, "UtilizationContributors"); err != nil {
		return measurements.Ranking{}, err
	}
	return f.store.UtilizationContributors(ctx, organization, hosts, span, b)
}

func (f *faultyStore) QueryContributors(ctx context.Context, organization uuid.UUID, engine domain.Engine, scope domain.Scope, span measurements.Span, b measurements.Breakdown, now time.Time) (measurements.Ranking, error) {
	if err := f.fails(ctx, "QueryContributors"); err != nil {
		return measurements.Ranking{}, err
	}
	return f.store.QueryContributors(ctx, organization, engine, scope, span, b, now)
}

func (f *faultyStore) WaitContributors(ctx context.Context, organization uuid.UUID, engine domain.Engine, scope domain.Scope, span measurements.Span, b measurements.Breakdown) (measurements.Ranking, error) {
	if err := f.fails(ctx, "WaitContributors"); err != nil {
		return measurements.Ranking{}, err
	}
	return f.store.WaitContributors(ctx, organization, engine, scope, span, b)
}

func (f *faultyStore) Statements(ctx context.Context, organization uuid.UUID, engine domain.Engine, scope measurements.StatementScope, span measurements.Span, now time.Time, take func(measurements.StatementSums)) (sampled, partial bool, err error) {
	if err := f.fails(ctx, "Statements"); err != nil {
		return false, false, err
	}
	return f.store.Statements(ctx, organization, engine, scope, span, now, take)
}

func (f *faultyStore) StatementSeries(ctx context.Context, organization uuid.UUID, of measurements.NamedStatement, w timegrid.Window, now time.Time) (measurements.StatementSeries, error) {
	if err := f.fails(ctx, "StatementSeries"); err != nil {
		return measurements.StatementSeries{}, err
	}
	return f.store.StatementSeries(ctx, organization, of, w, now)
}

func (f *faultyStore) NameStatements(ctx context.Context, organization uuid.UUID, ids []uuid.UUID) (map[uuid.UUID]measurements.NamedStatement, error) {
	if err := f.fails(ctx, "NameStatements"); err != nil {
		return nil, err
	}
	return f.store.NameStatements(ctx, organization, ids)
}

func (f *faultyStore) MatchStatements(ctx context.Context, organization uuid.UUID, scope measurements.StatementScope, match measurements.StatementMatch) (map[measurements.StatementRef]bool, error) {
	if err := f.fails(ctx, "MatchStatements"); err != nil {
		return nil, err
	}
	return f.store.MatchStatements(ctx, organization, scope, match)
}

func (f *faultyStore) FirstExecutions(ctx context.Context, organization uuid.UUID, scope domain.Scope, from, to time.Time, most int) ([]measurements.FirstExecutions, error) {
	if err := f.fails(ctx, "FirstExecutions"); err != nil {
		return nil, err
	}
	return f.store.FirstExecutions(ctx, organization, scope, from, to, most)
}

func (f *faultyStore) ConnectionContributors(ctx context.Context, organization uuid.UUID, engine domain.Engine, databases []uuid.UUID, b measurements.Breakdown, now time.Time) (measurements.Ranking, error) {
	if err := f.fails(ctx, "ConnectionContributors"); err != nil {
		return measurements.Ranking{}, err
	}
	return f.store.ConnectionContributors(ctx, organization, engine, databases, b, now)
}

func (f *faultyStore) InstancesOn(ctx context.Context, organization uuid.UUID, names []string) (map[string][]uuid.UUID, error) {
	if err := f.fails(ctx, "InstancesOn"); err != nil {
		return nil, err
	}
	return f.store.InstancesOn(ctx, organization, names)
}

func (f *faultyStore) Mounted(ctx context.Context, organization uuid.UUID, scope measurements.HostScope, since time.Time) (map[string][]string, error) {
	if err := f.fails(ctx, "Mounted"); err != nil {
		return nil, err
	}
	return f.store.Mounted(ctx, organization, scope, since)
}

// everyGet are the addresses of all GET operations, about what an organization has, each by its
// operation, or by what more is asked of it.
func (w *world) everyGet(of tenant) map[string]string {
	w.t.Helper()
	has := w.belongings(of)
	maps.Copy(has, map[string]string{"checkId": "PG-S01", "watchRule": "down", "log": "reports", "level": "0", "tile": "000", "name": "fleet", "fileName": "report.pdf", "provider": "corp", "token": "x"})
	given := url.Values{
		"from": {w.ago(2 * time.Hour).Format(time.RFC3339)}, "to": {w.clock.Now().Format(time.RFC3339)}, "bucketSize": {"1m"}, "kind": {"Security"},
	}
	by := map[string]string{
		"listUtilizationContributors": "host", "listQueryPerformanceContributors": "statement", "listWaitEventsContributors": "instance",
		"getActivity": "waitEvent", "listConnectionsContributors": "instance", "listAlertHistoryContributors": "alert",
	}
	all := map[string]string{}
	for _, r := range w.server.routes {
		if r.Method != http.MethodGet || r.Page {
			continue
		}
		path := pathSegment.ReplaceAllStringFunc(strings.ReplaceAll(r.Path, "*", ":"), func(segment string) string {
			id, ok := has[segment[1:]]
			if !ok {
				w.t.Errorf("%s: this test knows no %s", r.Path, segment)
			}
			return id
		})
		query := url.Values{}
		for _, p := range r.Operation.Parameters {
			name := p.Value.Name
			switch {
			case p.Value.In != "query":
			case (name == "from" || name == "to") && p.Value.Schema.Value.Type.Is("integer"): // positions of a log
				query.Set(name, "1")
			case given[name] != nil && (p.Value.Required || name != "kind"):
				query[name] = given[name]
			case p.Value.Required && name == "by":
				query.Set(name, by[r.Operation.OperationID])
			case p.Value.Required && len(p.Value.Schema.Value.Enum) > 0:
				query.Set(name, fmt.Sprint(p.Value.Schema.Value.Enum[0]))
			case p.Value.Required:
				query.Set(name, "x")
			}
		}
		if len(query) > 0 {
			path += "?" + query.Encode()
		}
		all[r.Operation.OperationID] = path
	}
	for _, sort := range []string{"-alerts", "score", "-cpu", "-disk", "-connections", "-lag", "-backup", "full", "lastSeenAt"} {
		all["listInstances by "+strings.Trim(sort, "-")] = "/api/v1/instances?sort=" + sort
	}
	all["listStatements with a text"] = all["listStatements"] + "&q=x"
	all["listStatements, new ones"] = all["listStatements"] + "&only=new"
	all["listStatements, slower ones"] = all["listStatements"] + "&only=slower"
	return all
}

// saysWhatIsMissing says that the answer names something that is not known: a side figure, or
// an engine's part.
func (a answer) saysWhatIsMissing() bool {
	return strings.Contains(a.Body.String(), `"unavailable":[{`) || strings.Contains(a.Body.String(), `"incomplete":true`)
}

// subject says which answers a source is the subject of, and why they are of no use without it.
type subject struct {
	why     string
	answers string // operations; or what everyGet calls them, with "; " between
}

// of says that the source is the subject of an answer.
func (s subject) of(what string) bool {
	if names := strings.Split(s.answers, "; "); len(names) > 1 {
		return slices.Contains(names, what)
	}
	return s.answers == "every" || slices.Contains(strings.Fields(s.answers), operationOf(what))
}

// operationOf is the operation of what everyGet calls an answer.
func operationOf(what string) string {
	operation, _, _ := strings.Cut(strings.ReplaceAll(what, ",", ""), " ")
	return operation
}

// ofMethods are the answers of which a method of the store of measurements is the subject. All
// others that call it stand without.
var ofMethods = map[string]subject{
	"Connections":             {"the card", "getConnections"},
	"ConnectionContributors":  {"who is behind the card", "listConnectionsContributors"},
	"Utilization":             {"the tile", "getUtilization"},
	"UtilizationContributors": {"who is behind the tile", "listUtilizationContributors"},
	"QueryPerformance":        {"the tile", "getQueryPerformance"},
	"QueryContributors":       {"who is behind the tile", "listQueryPerformanceContributors"},
	"WaitEvents":              {"the tile", "getWaitEvents"},
	"Activity":                {"the series", "getActivity"},
	"Deadlocks":               {"the series", "getDeadlocks"},
	"ServerFigures":           {"the figures", "getInstanceTransactions"},
	"WaitContributors":        {"who is behind the tile", "listWaitEventsContributors"},
	"Statements":              {"the list, and the figures of one", "listStatements getStatement"},
	"StatementSeries":         {"the chart of a statement", "getStatement"},
	"NameStatements":          {"which statement an id is", "getStatement"},
	"MatchStatements":         {"which statements are asked for", "listStatements with a text; listStatements, new ones"},
}

// TestAFailedSideFigureDoesNotFailTheAnswer is fault 4 of the look of 26 November 2026: every GET of the
// API while a method of the store of measurements fails, as where a figure is not kept as far back,
// and as where a shard is away. A table of PostgreSQL that cannot be read is another such source;
// TestLongEverySourceFails has all of them.
func TestAFailedSideFigureDoesNotFailTheAnswer(t *testing.T) {
	t.Parallel()
	w, store, gets := worldOfSources(t)
	callers := map[string][]string{}
	for _, what := range slices.Sorted(maps.Keys(gets)) {
		clear(store.called)
		if a := w.get(w.ours.admin, gets[what]); a.Code >= 500 || a.saysWhatIsMissing() {
			t.Errorf("nothing fails, and %s is answered %d %s", what, a.Code, a.Body)
		}
		for method := range store.called {
			callers[method] = append(callers[method], what)
		}
	}
	of := reflect.TypeFor[measurements.Store]()
	for i := range of.NumMethod() {
		if method := of.Method(i).Name; method != "Write" && len(callers[method]) == 0 {
			t.Errorf("no GET calls %s", method)
		}
	}
	for method := range callers {
		for _, err := range []error{&measurements.NotKeptError{Since: w.clock.Now()}, &blocks.UnavailableError{Part: "ClickHouse on shard2", Err: errors.New("refused")}} {
			store.method, store.err = method, err
			w.build() // forgets the tiles that it keeps
			for _, what := range callers[method] {
				a := w.get(w.ours.admin, gets[what])
				switch fails := a.Code >= 400; {
				case fails != ofMethods[method].of(what):
					t.Errorf("%s fails with %T: %s is answered %d %s", method, err, what, a.Code, a.Body)
				case !fails && !a.saysWhatIsMissing():
					t.Errorf("%s fails with %T, and %s does not say what is missing: %s", method, err, what, a.Body)
				}
			}
		}
	}
	// One that says nothing leaves the answer the time that it needs.
	store.method, store.err = "UtilizationContributors", nil
	short, cancel := context.WithTimeout(t.Context(), 900*time.Millisecond)
	defer cancel()
	if a := w.doIn(short, request{method: "GET", path: gets["listInstances"], as: w.ours.admin}).is(200); strings.Count(a.Body.String(), "It could not be read in time.") < 3 {
		t.Errorf("hosts say nothing, and the list of instances %s", a.Body)
	}
	store.method = ""
	w.build()
	for source, figure := range map[string]string{
		"agent_servers": "agent", "observations": "status", "watch_state": "status", "server_identities": "server",
		"alerts_v5.": "health.openAlerts", "health_v1.": "health.scoreHistory",
	} {
		w.without(source, func() {
			for _, what := range []string{"listInstances", "getInstance", "getOverview", "getSession"} {
				a := w.get(w.ours.admin, gets[what])
				if a.Code != http.StatusOK || strings.Contains(what, "Instance") && !strings.Contains(a.Body.String(), `"figure":"`+figure+`"`) {
					t.Errorf("%s cannot be read: %s is answered %d %s", source, what, a.Code, a.Body)
				}
			}
		})
	}
	// What the watch keeps is beside what a server was seen with last.
	w.without("sign_hours", func() {
		for what, figure := range map[string]string{"getCapacity": "connections", "getMaintenance": "certificateEndsInDays"} {
			if a := w.get(w.ours.admin, gets[what]); a.Code != http.StatusOK || !strings.Contains(a.Body.String(), `"figure":"`+figure+`"`) {
				t.Errorf("sign_hours cannot be read: %s is answered %d %s", what, a.Code, a.Body)
			}
		}
	})
}

// worldOfSources is a world of which any source can fail, and the addresses of all that it answers.
func worldOfSources(t *testing.T) (*world, *faultyStore, map[string]string) {
	t.Helper()
	store := &faultyStore{called: map[string]bool{}}
	w := newWorld(t, func(d *Dependencies) {
		store.store = d.Tiles.Store.(*pgstore.Store)
		d.Tiles.Store, d.Hosts, d.Unlimited = store, store, true
		d.Log, d.Tiles.Log = slog.New(slog.DiscardHandler), slog.New(slog.DiscardHandler)
	})
	w.keepTexts("normalized")
	gets := w.everyGet(w.ours)
	w.roll()
	for _, path := range gets { // a download writes, which the projections wait for
		if strings.HasSuffix(path, "/download") {
			w.get(w.ours.admin, path).is(http.StatusOK)
		}
	}
	w.stopProjections()
	return w, store, gets
}

// without does it while a table, or a schema, which ends with a dot, cannot be read.
func (w *world) without(source string, do func()) {
	w.t.Helper()
	kind := "TABLE"
	name, isSchema := strings.CutSuffix(source, ".")
	if isSchema {
		kind = "SCHEMA"
	}
	w.exec("ALTER " + kind + " " + name + " RENAME TO away")
	do()
	w.exec("ALTER " + kind + " away RENAME TO " + name)
}

// ofTables are the answers of which a table, or the read model in a schema, is the subject.
var ofTables = map[string]subject{
	"members":       {"who is calling", "every"},
	"organizations": {"who is calling", "every"},
	"sessions":      {"who is calling", "every"},

	"fleet_v3": {"the servers and databases: what is asked about, and the names of what is found", `getActivity getAlertHistory getBackups getBlocking getCapacity getConnections getControl getDeadlocks getFinding
		getInstance getInstanceHealth getInstanceTransactions getMaintenance getOutage getOverview getReplication getStatement groupFindings listAlertHistoryContributors
		listBlocking listConnectionsContributors listDatabases listFindings listInstanceNotificationRules listInstances listMarks listObjectiveStates listQueryPerformanceContributors listStatements listTags
		listUtilizationContributors listWaitEventsContributors`},
	"alerts_v5":         {"the alerts", "getAlert getAlertHistory getOutage listAlertHistoryContributors listAlertNotifications listAlerts"},
	"report_history_v2": {"the reports", `downloadReport getReport getReportFile getReportMail getReportProof listExports listReportEvents listReportFiles listReportMails listReports`},
	"audit_v3":          {"what happened", "listAuditEvents listReportEvents"},
	"exceptions_v1":     {"exceptions, and which findings are accepted", "getException getFinding groupFindings listExceptions listFindings"},
	"health_v1":         {"the score", "getInstanceHealth"},
	"schedules_v1":      {"the schedules", "getSchedule listScheduleRuns listSchedules"},

	"blocking_episodes":      {"the episodes", "getBlocking listBlocking"},
	"blocking_deadlocks":     {"the sides of deadlocks, and those without a database", "getDeadlocks"},
	"signs":                  {"on which hosts a server runs, whose volumes are shown", "getCapacity"},
	"watch_rules":            {"the rules, of which one says when a backup is late", "getBackups getWatchRule listWatchRules"},
	"details_since":          {"the figures", "getInstanceTransactions"},
	"head_state":             {"the figures", "getInstanceTransactions"},
	"measured_series":        {"the figures", "getInstanceTransactions"},
	"room_states":            {"what was seen last", "getCapacity getMaintenance"},
	"room_days":              {"what was used, by the day", "getCapacity"},
	"backup_looks":           {"what sources tell", "getBackups"},
	"backup_newest":          {"the newest backups", "getBackups"},
	"replication_states":     {"what was seen last", "getReplication"},
	"blocking_samples":       {"the samples of an episode", "getBlocking"},
	"alert_people":           {"whose sessions a delivery names", "getDelivery"},
	"alert_last_seen":        {"when alerts fired last", "getAlert getAlertHistory getOutage listAlertHistoryContributors listAlertNotifications listAlerts"},
	"assessment_feeds":       {"how a server is assessed, and which findings count", "getInstance groupFindings listFindings listInstances"},
	"assessment_targets":     {"whether Muster connects to a server, and which findings count", "getInstance groupFindings listFindings listInstances"},
	"monitor_leases":         {"when Muster was last connected to a server", "getInstance listInstances"},
	"declined_grants":        {"which grants to ask for: those that are declined would be asked for again", "getInstance listInstances"},
	"assessments":            {"the evidence", "getControl"},
	"findings":               {"the findings", "getFinding groupFindings listFindings"},
	"teams":                  {"the teams, which rules tell of a server, and who is told of an alert", "getTeam listAlertNotifications listInstanceNotificationRules listTeams"},
	"finding_assignments":    {"who closes the findings", "getFinding listFindings"},
	"channel_addresses":      {"whom a channel reaches", "getChannel listChannels listInstanceNotificationRules"},
	"notification_channels":  {"the channels", "getChannel getDelivery listAlertNotifications listChannels listDeliveries listInstanceNotificationRules"},
	"notification_rules":     {"the rules", "getChannel getDelivery getNotificationRule listAlertNotifications listChannels listDeliveries listInstanceNotificationRules listNotificationRules"},
	"deliveries":             {"the deliveries", "getChannel getDelivery listAlertNotifications listChannels listDeliveries listInstanceNotificationRules"},
	"delivery_events":        {"what deliveries tell", "getDelivery listAlertNotifications listDeliveries"},
	"delivery_mails":         {"whom deliveries reached", "listAlertNotifications"},
	"jobs":                   {"the jobs; when a delivery is tried again; whether a proof is on its way", "getDelivery getReportProof listDeadLetters listDeliveries listJobs"},
	"checkpoints":            {"where projections are", "listProjections"},
	"dead_letters":           {"what was set aside", "listDeadLetters listProjections"},
	"projection_generations": {"whether a projection is rebuilt", "getProjectionDiff listProjections"},
	"events":                 {"the log: evidence, the keys and when they ended, which rules tell of a server, and downloads, which are recorded before they begin", "downloadReport getControl getKeys getReportFile listInstanceNotificationRules listProjections"},
	"log_head":               {"the log's head", "getControl listEventLogs listProjections"},
	"log_verifications":      {"how far the logs are verified", "listEventLogs"},
	"report_claims":          {"downloads, which are recorded before they begin", "downloadReport getReportFile"},
	"engine_drops":           {"the list", "listDroppedEngines"},
	"loop_falls":             {"the list", "listFallenLoops"},
	"export_marks":           {"which exports are seen", "listExports"},
	"installation":           {"which program's marks the events of assessments bear, and whether this program's keys are the current ones", "getControl getKeys"},
	"marks":                  {"since when events bear marks", "getControl"},
	"report_mails":           {"the mails", "getReportMail listReportMails"},
	"report_proofs":          {"the proof", "getReportProof"},
	"log_checkpoints":        {"the checkpoint", "getCheckpoint getConsistency getReportProof getTile"},
	"security_log":           {"sign-ins and refusals: an audit list without them would be untrue", "listAuditEvents"},
	"sender_counts":          {"the list", "listSenders"},
	"budget_use":             {"the list", "listBudgets"},
	"open_alerts":            {"the list", "listBudgets"},
	"views":                  {"the list", "listViews"},
	"maintenance_windows":    {"the windows", "getMaintenanceWindow listMaintenanceWindows listObjectiveStates"},
	"objectives":             {"the objectives", "listObjectives listObjectiveStates"},
	"uptime":                 {"when servers were up", "listObjectiveStates"},
	"chart_marks":            {"the marks that were set", "listMarks"},
	"tokens":                 {"the tokens, and who sends", "listApiTokens listBudgets listIngestTokens listSenders"},
}

// TestLongEverySourceFails walks every GET of the API while one table or read model of PostgreSQL
// after the other cannot be read.
func TestLongEverySourceFails(t *testing.T) {
	longtest.Only(t)
	w, _, gets := worldOfSources(t)
	var sources []string
	must(t, w.deps.DB.Select(&sources, `
		SELECT nspname || '.' FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname !~ '_g[0-9]+$' AND nspname NOT IN ('information_schema', 'public')
		UNION ALL
		SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename !~ '^raw_samples_'`))
	before := map[string]int{}
	for what, path := range gets {
		before[what] = w.get(w.ours.admin, path).Code
	}
	measured := []string{"block_", "head_", "measured_", "raw_samples", "details_since", "latest_sessions", "whole"} // what the store of measurements is on
	for _, source := range sources {
		is := ofTables[strings.TrimSuffix(source, ".")]
		ofStore := slices.ContainsFunc(measured, func(prefix string) bool { return strings.HasPrefix(source, prefix) })
		failed := map[string]bool{}
		w.without(source, func() {
			w.build()
			if slices.Contains(strings.Fields(is.answers), "getKeys") {
				time.Sleep(signing.PublishedAge) // for as long the document of keys is answered without reading anything
			}
			for what, path := range gets {
				a := w.get(w.ours.admin, path)
				if a.Code < 500 || before[what] >= 500 {
					continue
				}
				failed[operationOf(what)] = true
				if ofStore && !strings.Contains(what, "Instance") || is.of(what) {
					continue
				}
				t.Errorf("%s cannot be read: %s is answered %d %s", source, what, a.Code, a.Body)
			}
		})
		for _, operation := range strings.Fields(is.answers) {
			if operation != "every" && !failed[operation] {
				t.Errorf("%s cannot be read, which is the subject of %s, and it is answered", source, operation)
			}
		}
	}
}
