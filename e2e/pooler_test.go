package e2e

import (
	"net/http"
	"testing"

	"muster/internal/testing/pgtest"
)

// C1. A server is registered through a pooler, measured, assessed and removed, and the
// application that shares the pooler's only connection notices nothing of it.
func TestAnApplicationBehindAPoolerIsLeftAlone(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	server := pgtest.Cluster(t, pgtest.Options{})
	admin := pgtest.Connect(t, server.Superuser())
	admin.MustExec(`CREATE ROLE app LOGIN IN ROLE pg_monitor`)
	admin.MustExec(`CREATE DATABASE shop OWNER app`)
	pgtest.Connect(t, server.URL("app", "shop")).MustExec(`CREATE TABLE t (n int)`)
	pooler := func(mode string) string {
		return server.Pooler(t, pgtest.Pool{Mode: mode, Database: "shop", Forced: "app", Users: []string{"muster"}, Size: 1})
	}
	shared := pooler("transaction")
	app := pgtest.StartApplication(t, pgtest.PooledURL(shared, "app", "shop"), "t")

	got, err := h.ana.try(t.Context(), http.MethodPost, "/api/v1/instances",
		map[string]any{"name": "statement", "engine": "postgresql", "dsn": pgtest.PooledURL(pooler("statement"), "muster", "shop")})
	if err != nil || got.status != http.StatusUnprocessableEntity || got.code() != "connection_failed" {
		t.Errorf("a pooler in statement mode: %v, %d %s", err, got.status, got.body)
	}
	id := h.ana.watch(t, "pooled", pgtest.PooledURL(shared, "muster", "shop"))
	var shown struct {
		LastAssessedAt, LastClassifiedAt *string
		Server                           struct{ Pooler string }
		Parts                            []struct{ Part, State string }
	}
	eventually(t, "it is measured and assessed", func() bool {
		h.ana.get(t, "/api/v1/instances/"+id.String(), &shown)
		measured := false
		for _, p := range shown.Parts {
			measured = measured || p.Part == "sessions" && p.State == "ok"
		}
		return measured && shown.LastAssessedAt != nil && shown.LastClassifiedAt != nil
	})
	if shown.Server.Pooler != "transaction" {
		t.Errorf("the pooler is told as %q", shown.Server.Pooler)
	}
	h.ana.call(t, http.StatusNoContent, http.MethodDelete, "/api/v1/instances/"+id.String(), nil, nil)
	app.End(t)
}
