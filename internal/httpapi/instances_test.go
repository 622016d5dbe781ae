package httpapi

import (
	"net"
	"strconv"
	"strings"
	"testing"

	"muster/internal/servers/tdstest"
	"muster/internal/testing/pgtest"
	"muster/internal/testing/porttest"
)

func TestAddAServer(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	server := pgtest.Shared(t)
	dsn := server.TCPURL(pgtest.Superuser, "postgres")
	body := map[string]any{"name": "own", "engine": "postgresql", "dsn": dsn}

	made := w.post(w.ours.admin, "/api/v1/instances", body).is(201)
	shown := made.object()
	path := "/api/v1/instances/" + shown["id"].(string)
	if made.Header().Get("Location") != path || shown["active"] != true || shown["host"] != "127.0.0.1" || shown["databaseCount"] != 0.0 {
		t.Errorf("made %v", shown)
	}
	if strings.Contains(made.Body.String(), "postgres://") {
		t.Errorf("the answer holds credentials: %s", made.Body)
	}
	var due int
	must(t, w.deps.DB.Get(&due, `SELECT count(*) FROM assessment_targets WHERE instance_id = $1`, shown["id"]))
	if due != 1 {
		t.Errorf("%d connections are kept", due)
	}
	if got := w.do(request{method: "PATCH", path: path, as: w.ours.admin, json: map[string]any{"name": "renamed", "active": false}}).is(200).object(); got["name"] != "renamed" || got["active"] != false {
		t.Errorf("changed to %v", got)
	}
	w.do(request{method: "PATCH", path: path, as: w.ours.admin, json: map[string]any{"dsn": dsn}}).is(200)
	w.post(w.ours.admin, path+"/assess", nil).is(202)
	w.do(request{method: "DELETE", path: path, as: w.ours.admin}).is(204)
	w.get(w.ours.admin, path).problem(404, "not_found")
	must(t, w.deps.DB.Get(&due, `SELECT count(*) FROM assessment_targets WHERE instance_id = $1`, shown["id"]))
	if due != 0 {
		t.Error("a removed server's connection is still there")
	}

	fed := w.instance(w.ours, "fed")
	w.post(w.ours.admin, "/api/v1/instances/"+fed.String()+"/assess", nil).problem(422, "engine_not_collected")
}

func TestServersOutOfReach(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	closed := porttest.Address(t)
	open := pgtest.Shared(t).Addr()
	ms := tdstest.Start(t, tdstest.Options{User: "watcher", Password: "right"})
	for name, c := range map[string]struct{ engine, dsn, code, class string }{
		"nobody listens":      {"postgresql", "postgres://u:hunter2@" + closed + "/d", "connection_failed", "refused"},
		"no such database":    {"postgresql", "postgres://" + pgtest.Superuser + ":hunter2@" + open + "/nowhere", "connection_failed", "database"},
		"no TLS there":        {"postgresql", "postgres://" + pgtest.Superuser + ":hunter2@" + open + "/postgres?sslmode=require", "connection_failed", "tls"},
		"SQL Server, refused": {"sqlserver", "sqlserver://watcher:hunter2@" + ms.Address() + "?encrypt=disable", "connection_failed", "authentication"},
		"SQL Server, no TLS":  {"sqlserver", "sqlserver://watcher:hunter2@" + ms.Address(), "connection_failed", "tls"},
		"SQL Server, away":    {"sqlserver", "sqlserver://watcher:hunter2@" + closed, "connection_failed", "refused"},
		"an engine not known": {"mongodb", "mongodb://u:hunter2@h/d", "engine_not_collected", ""},
	} {
		a := w.post(w.ours.admin, "/api/v1/instances", map[string]any{"name": "x", "engine": c.engine, "dsn": c.dsn})
		a.problem(422, c.code)
		if c.class != "" && !strings.Contains(a.Body.String(), `"class":"`+c.class+`"`) {
			t.Errorf("%s: %s", name, a.Body)
		}
		if strings.Contains(a.Body.String(), "hunter2") || strings.Contains(a.Body.String(), "SQLSTATE") || strings.Contains(a.Body.String(), "18456") {
			t.Errorf("%s: the answer tells too much: %s", name, a.Body)
		}
	}
	if n := w.get(w.ours.admin, "/api/v1/instances").is(200).object()["page"].(map[string]any)["totalItems"]; n != 0.0 {
		t.Errorf("%v servers were registered", n)
	}
}

// TestASQLServerIsRegistered by its own kind of connection string, which is tried first.
func TestASQLServerIsRegistered(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	ms := tdstest.Start(t, tdstest.Options{})
	made := w.post(w.ours.admin, "/api/v1/instances", map[string]any{"name": "shop", "engine": "sqlserver", "dsn": ms.DSN("encrypt=disable")}).is(201).object()
	if made["engine"] != "sqlserver" || made["host"] != "127.0.0.1" || len(ms.Logins()) != 1 {
		t.Errorf("made %v after %d logins", made, len(ms.Logins()))
	}
}

// TestAChangeOfAServerIsAllOrNothing: a name and a connection in one call.
func TestAChangeOfAServerIsAllOrNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	server := pgtest.Shared(t)
	dsn := server.TCPURL(pgtest.Superuser, "postgres")
	made := w.post(w.ours.admin, "/api/v1/instances", map[string]any{"name": "own", "engine": "postgresql", "dsn": dsn}).is(201).object()
	path := "/api/v1/instances/" + made["id"].(string)
	sealed := func() (connection string) {
		must(t, w.deps.DB.Get(&connection, `SELECT encode(sealed_dsn, 'hex') FROM assessment_targets WHERE instance_id = $1`, made["id"]))
		return connection
	}
	before := sealed()
	change := func(body map[string]any) answer {
		return w.do(request{method: "PATCH", path: path, as: w.ours.admin, json: body})
	}
	unchanged := func(after string) {
		t.Helper()
		if got := w.get(w.ours.admin, path).is(200).object(); got["name"] != "own" || sealed() != before {
			t.Errorf("after %s it is called %v, and its connection is the same: %v", after, got["name"], sealed() == before)
		}
	}
	change(map[string]any{"name": "renamed", "dsn": "postgres://u@" + server.Addr() + "/nowhere"}).problem(422, "connection_failed")
	unchanged("a connection that fails")
	change(map[string]any{"name": "\x00", "dsn": dsn}).is(422)
	unchanged("a name that cannot be")
	if got := change(map[string]any{"name": "renamed", "dsn": dsn}).is(200).object(); got["name"] != "renamed" || sealed() == before {
		t.Errorf("it is called %v", got["name"])
	}
}

// TestTargetsThatAreNotAllowed: nothing of them is dialled, and nothing is kept.
func TestTargetsThatAreNotAllowed(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	dsn := pgtest.Shared(t).TCPURL(pgtest.Superuser, "postgres")
	made := w.post(w.ours.admin, "/api/v1/instances", map[string]any{"name": "own", "engine": "postgresql", "dsn": dsn}).is(201).object()
	outside, err := net.Listen("tcp", "127.0.0.3:0")
	must(t, err)
	t.Cleanup(func() { _ = outside.Close() })
	dialled := make(chan struct{})
	go func() {
		if _, err := outside.Accept(); err == nil {
			close(dialled)
		}
	}()
	for _, excluded := range []string{
		pgtest.Shared(t).Superuser(), // by its socket
		"postgres://u:hunter2@" + outside.Addr().String() + "/d",
		"postgres://u:hunter2@[::ffff:127.0.0.3]:" + strconv.Itoa(outside.Addr().(*net.TCPAddr).Port) + "/d",
	} {
		for _, a := range []answer{
			w.post(w.ours.admin, "/api/v1/instances", map[string]any{"name": "x", "engine": "postgresql", "dsn": excluded}),
			w.do(request{method: "PATCH", path: "/api/v1/instances/" + made["id"].(string), as: w.ours.admin, json: map[string]any{"dsn": excluded}}),
		} {
			a.problem(422, "target_not_allowed")
			if strings.Contains(a.Body.String(), "hunter2") {
				t.Errorf("the answer holds the password: %s", a.Body)
			}
		}
	}
	select {
	case <-dialled:
		t.Error("an address outside was dialled")
	default:
	}
	if n := w.get(w.ours.admin, "/api/v1/instances").is(200).object()["page"].(map[string]any)["totalItems"]; n != 1.0 {
		t.Errorf("%v servers are registered", n)
	}
}
