package httpapi

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5"

	"muster/commands/inventory"
	domain "muster/domain/fleet"
	"muster/internal/agent"
	"muster/internal/assessment/changes"
	"muster/internal/assessment/inspection"
	"muster/internal/assessment/postgresql"
	"muster/internal/engine/live"
	"muster/internal/report/snapshot"
	"muster/internal/servers"
	"muster/internal/testing/pgtest"
)

// looked is an inspector that remembers what it found: what the collector would keep.
type looked struct {
	inspection.Inspector
	mu         sync.Mutex
	found      snapshot.Assessment
	state      changes.State
	classified map[string]snapshot.Classification
}

func (l *looked) Assess(ctx context.Context, target servers.Target) (snapshot.Assessment, changes.State) {
	a, state := l.Inspector.Assess(ctx, target)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.found, l.state = a, state
	return a, state
}

func (l *looked) Classify(ctx context.Context, target servers.Target, database, mode string) snapshot.Classification {
	c := l.Inspector.Classify(ctx, target, database, mode)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.classified[database] = c
	return c
}

// door is the API as an agent reaches it.
type door struct {
	http.Handler
	mu    sync.Mutex
	calls []string
	came  chan string // the paths of calls that were taken
}

func (d *door) RoundTrip(r *http.Request) (*http.Response, error) {
	body := r.Body
	inside := httptest.NewRequestWithContext(r.Context(), r.Method, r.URL.String(), body)
	inside.Header = r.Header.Clone()
	answer := httptest.NewRecorder()
	d.ServeHTTP(answer, inside)
	d.mu.Lock()
	d.calls = append(d.calls, fmt.Sprintf("%s %d %.300s", r.URL.Path, answer.Code, answer.Body))
	d.mu.Unlock()
	if answer.Code < 300 {
		select {
		case d.came <- r.URL.Path:
		default:
		}
	}
	return answer.Result(), nil
}

// TestAnAgentFindsTheSameAsTheCollector: an assessment of a PostgreSQL that comes by an agent,
// through the door, has the results of the one that serve keeps, but for what such a call
// cannot say. The agent's token is limited to the server, which is called otherwise, and said
// to be elsewhere, than the agent's configuration says.
func TestAnAgentFindsTheSameAsTheCollector(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	server := pgtest.Cluster(t, pgtest.Options{Settings: map[string]string{"log_connections": "off", "password_encryption": "md5", "ssl_min_protocol_version": "TLSv1"}})
	conn, err := pgx.Connect(t.Context(), server.Superuser())
	must(t, err)
	for _, statement := range []string{
		`CREATE DATABASE "Größe ""x""; 🙂"`, `CREATE DATABASE closed ALLOW_CONNECTIONS false`, "CREATE DATABASE \"two\nlines\"",
		`CREATE ROLE second LOGIN SUPERUSER VALID UNTIL '2030-01-01'`, `CREATE ROLE legacy LOGIN PASSWORD 'planted'`,
		`CREATE TABLE people (email text, phone text, note text)`, `GRANT SELECT ON people TO PUBLIC`, `CREATE TABLE a (b int)`,
		`CREATE INDEX one ON a (b)`, `CREATE INDEX two ON a (b)`,
	} {
		_, err := conn.Exec(t.Context(), statement)
		must(t, err)
	}
	must(t, conn.Close(t.Context()))

	inspector, err := postgresql.New(time.Now)
	must(t, err)
	seen := &looked{Inspector: inspector, classified: map[string]snapshot.Classification{}}
	in := &door{Handler: w.handler, came: make(chan string, 100)}
	ids := w.fed(w.ours, inventory.Item{ExternalID: "shop", Name: "The shop of the north", Host: new("db7.example.org")})
	runAgent(t, w, w.ingestToken(w.ours.admin, ids["shop"]), server.Superuser(), in, seen)
	came := map[string]bool{}
	for !came[assessmentsPath] || !came[samplesPath] || !came[agentsPath] {
		select {
		case path := <-in.came:
			came[path] = true
		case <-time.After(patience):
			t.Fatalf("the agent sent %q", in.calls)
		}
	}
	seen.mu.Lock()
	defer seen.mu.Unlock()
	w.compareWithDoor(seen)
}

func runAgent(t *testing.T, w *world, token, dsn string, in http.RoundTripper, inspector inspection.Inspector) {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		must(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	tokenFile := write("token", token)
	write("dsn", dsn)
	path := write("agent.yaml", fmt.Sprintf("name: there\ndirectory: %s\nservers:\n  - {name: shop, engine: postgresql, dsnFile: dsn}\n", filepath.Join(dir, "buffer")))
	config, err := agent.ReadConfig(path, os.LookupEnv)
	must(t, err)
	a, err := agent.Open(agent.Options{
		Config: config, Server: &url.URL{Scheme: "http", Host: "muster.test"}, TokenFile: tokenFile, Version: "test", Engines: live.Measured,
		Inspectors: map[domain.Engine]inspection.Inspector{domain.PostgreSQL: inspector}, Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Client: &http.Client{Transport: in},
	})
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		<-ended
		must(t, a.Close())
	})
}

// compareWithDoor compares what the door kept with what the inspector found.
func (w *world) compareWithDoor(seen *looked) {
	t := w.t
	t.Helper()
	found, err := w.deps.Commands.FindPlaces(t.Context(), w.ours.organization.ID, []inventory.PlaceName{{Instance: new("shop")}})
	must(t, err)
	kept, classified, err := w.deps.Servers.Latest(t.Context(), w.ours.organization.ID, found[0].Instance)
	must(t, err)
	want := seen.found
	named := func(database string) bool { return !strings.Contains(database, "\n") }
	want.Results = slices.DeleteFunc(slices.Clone(want.Results), func(r snapshot.CheckResult) bool { return !named(r.Database) })
	failing := 0
	for _, r := range want.Results {
		if r.Status == snapshot.StatusFail {
			failing++
		}
	}
	if failing < 10 {
		t.Errorf("only %d results fail", failing)
	}
	lost := cmp.Options{ // what the call has no words for
		cmpopts.IgnoreFields(snapshot.CheckResult{}, "FirstSeenAt"),
		cmpopts.IgnoreFields(snapshot.Violation{}, "Fix", "FirstSeenAt"),
		cmpopts.EquateEmpty(),
	}
	for i, r := range want.Results {
		if r.Reason != "" {
			want.Results[i].ReasonCode = snapshot.ReasonSent
		}
	}
	if diff := cmp.Diff(want.Results, kept.Results, lost); diff != "" {
		t.Errorf("results (-collector +agent):\n%s", diff)
	}

	roles := cmp.Options{
		cmpopts.IgnoreFields(snapshot.DatabaseRole{}, "PasswordKind", "RemoteLogin"), cmpopts.EquateEmpty(), cmpopts.SortSlices(strings.Compare),
	}
	if diff := cmp.Diff(want.Roles, kept.Roles, roles); diff != "" || len(kept.Roles) < 2 {
		t.Errorf("roles (-collector +agent):\n%s", diff)
	}
	want.Databases = slices.DeleteFunc(slices.Clone(want.Databases), func(d snapshot.DatabaseFact) bool { return !named(d.Name) || !d.AllowsConn })
	if diff := cmp.Diff(want.Databases, kept.Databases, cmpopts.IgnoreFields(snapshot.DatabaseFact{}, "Owner", "AllowsConn"), cmpopts.EquateEmpty()); diff != "" || len(kept.Databases) != 2 {
		t.Errorf("databases (-collector +agent):\n%s", diff)
	}
	if kept.VersionNum != want.VersionNum || !kept.Sent {
		t.Errorf("version %d, want %d", kept.VersionNum, want.VersionNum)
	}

	tables := cmp.Options{
		cmpopts.IgnoreFields(snapshot.ClassifiedTable{}, "Readers", "ReaderPaths", "SizeBytes", "Grantees"), cmpopts.EquateEmpty(),
		cmpopts.IgnoreFields(snapshot.ClassifiedColumn{}, "DataType"),
	}
	if len(classified) != 2 {
		t.Errorf("%d databases are classified", len(classified))
	}
	for _, c := range classified {
		read := func(c snapshot.Classification) [5]any { // C25
			return [5]any{c.Status, c.TablesSeen, c.TablesClassified, c.ColumnsSeen, c.ColumnsClassified}
		}
		if want, got := read(seen.classified[c.Database]), read(c.Classification); want != got {
			t.Errorf("of %s was read %v, want %v", c.Database, got, want)
		}
		if diff := cmp.Diff(seen.classified[c.Database].Tables, c.Classification.Tables, tables); diff != "" {
			t.Errorf("what is personal in %s (-collector +agent):\n%s", c.Database, diff)
		}
	}
	settings, err := w.deps.Servers.Settings(t.Context(), w.ours.organization.ID, found[0].Instance)
	must(t, err)
	values := map[string]string{}
	for _, s := range settings {
		if s.Value != nil {
			values[s.Name] = *s.Value
		}
	}
	compared := 0
	for _, item := range seen.state.Items {
		if item.Kind != domain.ChangedSetting {
			continue
		}
		if value, told := values[item.Name]; item.Secret && told || !item.Secret && value != item.Value {
			t.Errorf("%s is %q, found %q (secret: %t)", item.Name, value, item.Value, item.Secret)
		}
		compared++
	}
	if compared < 100 {
		t.Errorf("only %d settings were compared", compared)
	}
}
