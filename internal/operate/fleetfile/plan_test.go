package fleetfile_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/domain/exception"
	"muster/domain/fleet"
	"muster/domain/organization"
	"muster/internal/operate/fleetfile"
	"muster/internal/servers"
	"muster/projections/exceptions"
	readmodel "muster/projections/fleet"
)

func id(n byte) uuid.UUID { return uuid.UUID{15: n} }

func there(n byte, externalID, name string, engine fleet.Engine, host string) fleetfile.Known {
	return fleetfile.Known{Instance: readmodel.Instance{ID: id(n), ExternalID: externalID, Name: name, Engine: engine, Host: host, Active: true}}
}

func connected(n byte, externalID, host, dsn string) fleetfile.Known {
	k := there(n, externalID, externalID, fleet.PostgreSQL, host)
	k.Connected, k.Classify, k.DSN = true, "names", dsn
	return k
}

// state is that of an organization with one server of each kind.
func state() fleetfile.State {
	orders := connected(1, "pg-orders", "db01", "postgres://muster:old@db01:5432/postgres")
	orders.DatabaseCount = 1
	orders.Tags = readmodel.Tags{"env": {Value: "prod"}, "rack": {Value: "r7", By: fleet.ByFeed("cmdb")}}
	orders.Databases = []readmodel.Database{{ID: id(11), ExternalID: "orders", Name: "orders"}}
	agent := there(3, "ora-1", "Erp", fleet.Oracle, "ora01")
	agent.Sent = true
	return fleetfile.State{
		Now: noon, Settings: organization.Settings{Name: "Acme", ReportRetentionDays: 30, PaperSize: "A4", DueDays: organization.DueDays{High: 30}},
		Instances: []fleetfile.Known{orders, there(2, "my-1", "my-1", fleet.MySQL, ""), agent},
		Exceptions: []exceptions.Exception{
			{ID: id(21), Status: exception.StatusGranted, CheckID: "PG-S17", InstanceID: ref(1), Reason: "because", Until: noon.AddDate(0, 1, 0)},
			{ID: id(22), Status: exception.StatusRequested, CheckID: "PG-S17", InstanceID: ref(2), Reason: "please", Until: noon.AddDate(0, 1, 0)},
		},
	}
}

func ref(n byte) *uuid.UUID {
	i := id(n)
	return &i
}

// compared is all lines of a plan.
func compared(t *testing.T, text string, s fleetfile.State, prune bool) string {
	t.Helper()
	plan, faults := fleetfile.Compare(read(t, text), s, prune)
	var lines []string
	for _, f := range faults {
		lines = append(lines, "! "+f.String())
	}
	for _, list := range [][]fleetfile.Change{plan.Changes, plan.Stays} {
		for _, c := range list {
			lines = append(lines, c.String())
		}
	}
	return strings.Join(lines, "\n")
}

// TestDifferencesAreReported, and nothing where there are none.
func TestDifferencesAreReported(t *testing.T) {
	t.Parallel()
	const orders = "instances:\n  - {externalId: pg-orders, engine: postgresql, "
	month, year := noon.AddDate(0, 1, 0).Format(time.RFC3339), noon.AddDate(1, 0, 0).Format(time.RFC3339)
	for name, c := range map[string]struct {
		text  string
		prune bool
		want  string
	}{
		"settings as they are": {"settings: {name: ' Acme ', reportRetentionDays: 30}", true, ""},
		"settings":             {"settings: {name: Bolt, paperSize: Letter}", false, "~ settings: name Acme → Bolt, paperSize A4 → Letter"},
		"no list":              {"settings: {}", true, ""},
		"as it is":             {orders + "name: pg-orders, host: db01, active: true, classify: names, dsn: 'postgres://muster:${OLD}@db01:5432/postgres'}\n" + others, true, ""},
		"written otherwise":    {orders + "dsn: 'postgresql://muster:${OLD}@db01?sslmode=prefer'}\n" + others, true, ""},
		"all of it": {orders + "name: Orders, host: db9, active: false, classify: values, dsn: 'postgres://watcher:${OLD}@db02/postgres'}\n" + others, true,
			"~ instance pg-orders: name pg-orders → Orders, host db01 → db9, active true → false, classify names → values, connection muster@db01:5432 → watcher@db02:5432"},
		"another password": {orders + "dsn: 'postgres://muster:${PW}@db01/postgres'}\n" + others, true,
			"~ instance pg-orders: connection muster@db01:5432 with another password"},
		"another TLS and database": {orders + "dsn: 'postgres://muster:${OLD}@db01/other?sslmode=require'}\n" + others, true,
			"~ instance pg-orders: connection muster@db01:5432 with another database, another TLS"},
		"the host goes with the connection": {orders + "dsn: 'postgres://muster:${OLD}@db02/postgres'}\n" + others, true,
			"~ instance pg-orders: host db01 → db02, connection muster@db01:5432 → muster@db02:5432"},
		"a first connection": {"instances:\n  - {externalId: my-1, engine: mysql, host: my01}\n  - {externalId: ora-1, engine: oracle}", false,
			"~ instance my-1: host none → my01\n" +
				"  instance pg-orders (postgresql, db01): is not in the file and stays"},
		"new ones": {"instances:\n  - {externalId: new, engine: postgresql, name: New one, dsn: 'postgres://muster:${PW}@db03/postgres'}\n  - {externalId: mongo, engine: mongodb, host: m1}", false,
			"+ instance new \"New one\" (postgresql, muster@db03:5432)\n+ instance mongo (mongodb, m1)\n" +
				"  instance pg-orders (postgresql, db01): is not in the file and stays\n  instance my-1 (mysql): is not in the file and stays\n  instance ora-1 \"Erp\" (oracle, ora01): is not in the file and stays"},
		"other engines": {"instances:\n  - {externalId: ms, engine: sqlserver, dsn: 'sqlserver://watcher:${PW}@ms01?database=x'}\n  - {externalId: ora, engine: oracle, dsn: 'oracle://muster:${PW}@ora02/erp'}\n  - {externalId: pg-orders, engine: postgresql}\n" + others, true,
			"+ instance ms (sqlserver, watcher@ms01:1433)\n+ instance ora (oracle, muster@ora02:1521)"},
		"prune": {"instances: []", true,
			"- instance pg-orders (postgresql, db01)\n- instance my-1 (mysql)\n" +
				"  instance ora-1 \"Erp\" (oracle, ora01): is not in the file and stays: a feed or an agent sends it, and would bring it back as a new one"},
		"another engine": {"instances:\n  - {externalId: my-1, engine: mongodb}", false,
			"! 2: instances[0].engine is mysql of the instance that is there, and never changes; a server of another engine is another instance, with an externalId of its own (engine_fixed)\n" +
				"  instance pg-orders (postgresql, db01): is not in the file and stays\n  instance ora-1 \"Erp\" (oracle, ora01): is not in the file and stays"},
		"tags as they are":   {orders + "tags: {env: prod, rack: r7}}\n" + others, true, ""},
		"tags of feeds stay": {orders + "tags: {env: prod}}\n" + others, true, ""},
		"tags": {orders + "tags: {team: payments, rack: r8}}\n" + others, true,
			"~ instance pg-orders: tags.rack r7 → r8, tags.team none → payments, tags.env prod → none"},
		"no tags":               {orders + "tags: {}}\n" + others, true, "~ instance pg-orders: tags.env prod → none"},
		"protected tags":        {"settings: {protectedTags: [team, env, team], dueDays: {high: 14}}", false, "~ settings: protectedTags none → env,team, dueDays.high 30 → 14"},
		"an exception as it is": {"exceptions: [{checkId: PG-S17, instance: pg-orders, reason: because, until: " + month + "}]", true, ""},
		"for longer":            {"exceptions: [{checkId: PG-S17, instance: pg-orders, reason: because, until: " + year + "}]", true, "~ exception PG-S17 on pg-orders: until 2026-12-23T12:00:00Z → 2027-11-23T12:00:00Z"},
		"for another reason":    {"exceptions: [{checkId: PG-S17, instance: pg-orders, reason: other, until: " + month + "}]", true, `~ exception PG-S17 on pg-orders: reason "because" → "other"`},
		"of an object": {"exceptions: [{checkId: PG-S17, instance: pg-orders, database: orders, objectRef: public.t, reason: other, until: " + month + "}]", false,
			"+ exception PG-S17 on pg-orders/orders of public.t (until 2026-12-23T12:00:00Z)\n  exception PG-S17 on pg-orders (until 2026-12-23T12:00:00Z): is not in the file and stays"},
		"none":          {"exceptions: []", true, "- exception PG-S17 on pg-orders (until 2026-12-23T12:00:00Z)"},
		"asked for":     {"exceptions: [{checkId: PG-S17, instance: my-1, reason: please, until: " + month + "}, " + kept + "]", true, "+ exception PG-S17 on my-1 (until 2026-12-23T12:00:00Z)"},
		"everywhere":    {"exceptions: [{checkId: PG-S17, reason: because, until: " + month + "}, " + kept + "]", true, "+ exception PG-S17 (until 2026-12-23T12:00:00Z)"},
		"lapsed":        {"exceptions: [{checkId: PG-S17, reason: because, until: 2020-01-01T00:00:00Z}, " + kept + "]", true, "  exception PG-S17: its time was over at 2020-01-01T00:00:00Z; take it out of the file"},
		"of nobody":     {"exceptions: [{checkId: PG-S17, instance: nobody, reason: because, until: " + month + "}, " + kept + "]", true, "! 1: exceptions[0].instance is the externalId of no instance, neither in the file nor in the organization"},
		"no database":   {"exceptions: [{checkId: PG-S17, instance: pg-orders, database: x, reason: because, until: " + month + "}, " + kept + "]", true, "! 1: exceptions[0].database is no database of that instance"},
		"not yet known": {"exceptions: [{checkId: PG-S17, instance: my-1, database: x, reason: because, until: " + month + "}, " + kept + "]", true, "  exception PG-S17 on my-1/x: waits: the databases of the instance are not known before it is assessed; apply the file again then"},
		"of what is pruned": {"instances: [{externalId: my-1, engine: mysql}]\nexceptions: [" + kept + "]", true,
			"! 2: exceptions[0].instance is an instance that --prune removes\n- instance pg-orders (postgresql, db01)\n- exception PG-S17 on pg-orders (until 2026-12-23T12:00:00Z)\n" +
				"  instance ora-1 \"Erp\" (oracle, ora01): is not in the file and stays: a feed or an agent sends it, and would bring it back as a new one"},
	} {
		if got := compared(t, c.text, state(), c.prune); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

// others are the entries that leave the other servers of the state as they are, and kept
// the one that leaves its exception.
const (
	others = "  - {externalId: my-1, engine: mysql}\n  - {externalId: ora-1, engine: oracle}"
	kept   = "{checkId: PG-S17, instance: pg-orders, reason: because, until: 2026-12-23T12:00:00Z}"
)

// TestAChosenHostStays when the connection leads elsewhere.
func TestAChosenHostStays(t *testing.T) {
	t.Parallel()
	s := state()
	s.Instances[0].Host = "orders.example"
	got := compared(t, "instances:\n  - {externalId: pg-orders, engine: postgresql, dsn: 'postgres://muster:${OLD}@db02/postgres'}\n"+others, s, true)
	if want := "~ instance pg-orders: connection muster@db01:5432 → muster@db02:5432"; got != want {
		t.Error(got)
	}
}

// TestConnectionsOfOtherEnginesAreCompared by all that leads there.
func TestConnectionsOfOtherEnginesAreCompared(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ was, is, want string }{
		{"sqlserver://m:old@ms01:1433?encrypt=true", "sqlserver://m:${OLD}@ms01", ""},
		{"sqlserver://m:old@ms01", "sqlserver://m:${OLD}@ms01?trustServerCertificate=true", "~ instance x: connection m@ms01:1433 with another parameters"},
		{"oracle://m:old@ora01:1521/erp", "oracle://m:${OLD}@ora01/erp", ""},
		{"oracle://m:old@ora01/erp", "oracle://m:${PW}@ora01/hr", "~ instance x: connection m@ora01:1521 with another password, another database"},
	} {
		engine, _, _ := strings.Cut(c.was, "://")
		k := there(1, "x", "x", fleet.Engine(engine), "")
		k.Connected, k.DSN = true, c.was
		target, err := servers.Parse(k.Engine, c.was)
		if err != nil {
			t.Fatal(err)
		}
		k.Host = target.HostName()
		got := compared(t, "instances: [{externalId: x, engine: "+engine+", dsn: '"+c.is+"'}]", fleetfile.State{Now: noon, Instances: []fleetfile.Known{k}}, true)
		if got != c.want {
			t.Errorf("%s, %s: %s", c.was, c.is, got)
		}
	}
}

// TestARunThatWasCutOffIsFinished: two exceptions about the same are in force, and the one
// that the file does not mean goes.
func TestARunThatWasCutOffIsFinished(t *testing.T) {
	t.Parallel()
	s := state()
	s.Exceptions = append(s.Exceptions, exceptions.Exception{ID: id(23), Status: exception.StatusGranted, CheckID: "PG-S17", InstanceID: ref(1), Reason: "because", Until: noon.AddDate(0, 2, 0)})
	got := compared(t, "exceptions: [{checkId: PG-S17, instance: pg-orders, reason: because, until: 2027-01-23T12:00:00Z}]", s, false)
	if want := "~ exception PG-S17 on pg-orders: until 2026-12-23T12:00:00Z → 2027-01-23T12:00:00Z"; got != want {
		t.Error(got)
	}
}

// TestNamesMayRepeat: whoever has the same name is another one.
func TestNamesMayRepeat(t *testing.T) {
	t.Parallel()
	s := fleetfile.State{Now: noon, Instances: []fleetfile.Known{there(1, "a", "same", fleet.MySQL, ""), there(2, "b", "same", fleet.MySQL, "")}}
	got := compared(t, "instances:\n  - {externalId: b, engine: mysql, name: other}\n  - {externalId: c, engine: mysql, name: same}", s, true)
	want := "~ instance b \"same\": name same → other\n+ instance c \"same\" (mysql)\n- instance a \"same\" (mysql)"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
