package e2e

import (
	"testing"

	"muster/internal/testing/pgtest"
)

// TestCollectorsListen: the watch knows that somebody hears the servers also where the
// only process that does is one that measures them.
func TestCollectorsListen(t *testing.T) {
	t.Parallel()
	i := install(t)
	db := pgtest.Connect(t, i.url)
	launchHere(t, append(i.flags(), "serve", "--roles=collectors")...)
	eventually(t, "the collectors say that they listen", func() bool {
		var listens bool
		err := db.Get(&listens, `SELECT listening_since IS NOT NULL FROM watch_state`)
		return err == nil && listens
	})
}
