package httpapi

import (
	"strings"
	"testing"

	"muster/internal/testing/pgtest"
)

// C10, F29. A server is registered once, by whatever name and way, unless that is wanted.
func TestAServerIsRegisteredOnce(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	primary := pgtest.Cluster(t, pgtest.Options{})
	standby := pgtest.Standby(t, primary, pgtest.Options{})
	dsn := func(s *pgtest.Server) string { return s.TCPURL(pgtest.Superuser, "postgres") }
	register := func(name, dsn string, separate bool) answer {
		body := members{"name": name, "engine": "postgresql", "dsn": dsn}
		if separate {
			body["separate"] = true
		}
		return w.post(w.ours.admin, "/api/v1/instances", body)
	}
	id := register("shop", dsn(primary), false).is(201).object()["id"].(string)
	refused := func(how string, a answer) {
		t.Helper()
		p := a.problem(409, "already_registered")
		if !strings.Contains(p.Detail, "the instance shop") || len(p.Errors) != 1 || p.Errors[0].Pointer != "#/dsn" ||
			p.Errors[0].Params["instanceId"] != id || p.Errors[0].Params["instanceName"] != "shop" {
			t.Errorf("%s: %+v", how, p)
		}
	}
	refused("the same connection", register("twin", dsn(primary), false))
	refused("another name", register("twin", strings.Replace(dsn(primary), "127.0.0.1", "localhost", 1), false))
	refused("another database", register("twin", primary.TCPURL(pgtest.Superuser, "template1"), false))
	primary.Restart(t)
	refused("a server that was started again", register("twin", dsn(primary), false))
	pooled := pgtest.PooledURL(primary.Pooler(t, pgtest.Pool{Mode: "transaction", Database: "postgres", Forced: pgtest.Superuser, Size: 1, Users: []string{"muster"}}), "muster", "postgres")
	a := register("twin", pooled, false)
	refused("a pooler in front of it", a)
	if !strings.Contains(a.problem(409, "already_registered").Detail, "pooler") {
		t.Errorf("the pooler is not named: %s", a.Body)
	}

	follower := register("shop-standby", dsn(standby), false).is(201).object()["id"].(string)
	refused("the connection of another instance", w.do(request{method: "PATCH", path: "/api/v1/instances/" + follower, as: w.ours.admin, json: members{"dsn": dsn(primary)}}))
	twin := register("shop-again", pooled, true).is(201).object()["id"].(string)
	w.post(w.theirs.admin, "/api/v1/instances", members{"name": "theirs", "engine": "postgresql", "dsn": dsn(primary)}).is(201)

	server := func(id string) map[string]any {
		t.Helper()
		shown, _ := w.get(w.ours.admin, "/api/v1/instances/"+id).is(200).object()["server"].(map[string]any)
		if shown == nil {
			t.Fatalf("nothing is known of the server of %s", id)
		}
		return shown
	}
	named := func(list any) (names string) {
		for _, one := range list.([]any) {
			one := one.(map[string]any)
			names += one["name"].(string) + " " + one["role"].(string) + ";"
		}
		return names
	}
	one, two, three := server(id), server(twin), server(follower)
	if one["role"] != "primary" || one["system"] == nil || one["pooler"] != nil || one["movedAt"] != nil ||
		named(one["sameAs"]) != "shop-again primary;" || named(one["related"]) != "shop-standby standby;" {
		t.Errorf("the primary's is %v", one)
	}
	if two["pooler"] != "transaction" || named(two["sameAs"]) != "shop primary;" || named(two["related"]) != "shop-standby standby;" {
		t.Errorf("that behind a pooler is %v", two)
	}
	if three["role"] != "standby" || named(three["sameAs"]) != "" || named(three["related"]) != "shop primary;shop-again primary;" || three["system"] != one["system"] {
		t.Errorf("the standby's is %v", three)
	}

	for _, gone := range []string{id, twin} {
		w.do(request{method: "DELETE", path: "/api/v1/instances/" + gone, as: w.ours.admin}).is(204)
	}
	register("shop", dsn(primary), false).is(201)
}
