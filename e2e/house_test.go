package e2e

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/google/uuid"

	"muster/internal/testing/pgtest"
)

// The houses that others begin with a copy of. The first test that needs one makes it.
var (
	firstHouse    house
	firstReported reported
)

// copied returns an installation that is a copy of a filled one. The first call fills it.
func copied(t testing.TB, name string, first *installed, fill func(i installed)) installed {
	t.Helper()
	url := pgtest.FilledURL(t, name, func(url string) error {
		fill(installed{url: url, dir: pgtest.Common(t).TempDir()})
		return nil
	})
	i := installed{url: url, dir: t.TempDir()}
	if said, err := exec.CommandContext(t.Context(), "cp", "-a", first.dir+"/.", i.dir).CombinedOutput(); err != nil {
		t.Fatalf("copy the data directory of the first %s: %v\n%s", name, err, said)
	}
	return i
}

// newHouse opens a house whose live server is assessed. Its limits are off, and its server runs in this process.
func newHouse(t testing.TB, flags ...string) house {
	t.Helper()
	i := copied(t, "house", &firstHouse.installed, func(i installed) {
		firstHouse = i.open(t, servingHere)
		firstHouse.ana.assessed(t, firstHouse.live)
		firstHouse.server.stop(t)
	})
	h := firstHouse
	h.installed = i
	h.serves(t, flags...)
	return h
}

// serves starts the server again.
func (h *house) serves(t testing.TB, flags ...string) {
	t.Helper()
	h.server = servingHere(t, append(h.flags(), append([]string{"--rate-limits=off"}, flags...)...)...)
	h.ana.base = h.server.base
}

// reported is a house with a Security report and a scorecard of its live server, both mailed and signed, whose
// server has stopped.
type reported struct {
	house
	security, scorecard uuid.UUID
	witness             string // of the log before both
}

func newReported(t testing.TB) reported {
	t.Helper()
	i := copied(t, "reported", &firstReported.installed, func(i installed) {
		r := reported{house: i.open(t, servingHere)}
		r.witness = strings.TrimSpace(r.must(t, "events", "witness"))
		r.ana.assessed(t, r.live)
		r.security = r.done(t, security(r.live))
		r.scorecard = r.done(t, scorecard(r.live, 0))
		r.server.stop(t)
		firstReported = r
	})
	r := firstReported
	r.installed = i
	return r
}
