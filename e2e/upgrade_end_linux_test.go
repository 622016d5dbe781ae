package e2e

import (
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/internal/cli/command"
	"muster/internal/cli/installation"
)

// nothingIsLost looks for every write that was answered, and holds the projections to a
// rebuild from the log.
func (u *upgrade) nothingIsLost(t *testing.T) {
	t.Helper()
	for _, failure := range u.load.failed {
		t.Errorf("failed, also the second time: %s", failure)
	}
	u.program = u.new // this binary does not know the further migrations
	c, kept := client{base: u.machines[1].runs.base, token: u.load.api}, u.load.kept
	listed := map[uuid.UUID]bool{}
	for _, id := range kept.reports {
		c.await(t, id, "Ready")
	}
	for _, id := range c.history(t, "InstanceScorecard") {
		if listed[id] {
			t.Errorf("the history lists %s twice", id)
		}
		listed[id] = true
	}
	for key, id := range kept.reports {
		if !listed[id] {
			t.Errorf("report %s (%s) was accepted and is not in the history", id, key)
		}
	}
	if want := len(kept.reports) + 1; len(listed) != want { // one was asked for on the way back
		t.Errorf("the history lists %d reports, want %d: a retry made two", len(listed), want)
	}
	for _, id := range kept.instances {
		c.call(t, http.StatusOK, http.MethodGet, "/api/v1/instances/"+id.String(), nil, nil)
	}
	for _, id := range kept.alerts {
		c.call(t, http.StatusOK, http.MethodGet, "/api/v1/alerts/"+id, nil, nil)
	}
	u.hostsAreShown(t, c)
	first := u.machines[0]
	first.follow(t, []string{"muster events verify --witness '" + u.witness + "'"})
	for _, p := range installation.ReadModels() {
		if said := first.follow(t, []string{"muster projections rebuild " + p.Name + " --stop-on-difference"}); !strings.HasPrefix(said, "no difference") {
			t.Errorf("%s is another one after a rebuild: %s", p.Name, said)
		}
	}
	t.Logf("%d of %d mails sent twice", u.holdMails(t, u.mails.Mails()).repeated, len(u.mails.Mails()))
}

// hostsAreShown counts the hosts whose samples were accepted. A window is asked for once:
// answers are kept for 30 seconds.
func (u *upgrade) hostsAreShown(t *testing.T, c client) {
	t.Helper()
	asked, shown := 0, struct{ HostCount int }{}
	if !within(patience, func() bool {
		asked++
		to := time.Now().UTC().Add(time.Hour).Truncate(time.Hour)
		window := url.Values{"from": {to.Add(-time.Duration(2+asked) * time.Hour).Format(time.RFC3339)}, "to": {to.Format(time.RFC3339)}, "bucketSize": {"1h"}}
		c.get(t, "/api/v1/metrics/utilization?"+window.Encode(), &shown)
		return shown.HostCount == u.load.kept.hosts
	}) {
		t.Errorf("%d hosts are shown, and samples of %d were accepted", shown.HostCount, u.load.kept.hosts)
	}
}

// oldProgramIsRefused starts it once more on what the second step left.
func (u *upgrade) oldProgramIsRefused(t *testing.T) {
	t.Helper()
	m := u.machines[0]
	settings := append(slices.Clone(m.settings), "MUSTER_LISTEN="+net.JoinHostPort("127.0.0.1", "0"))
	got := start(t, exec.Command(filepath.Join(m.root, "opt/muster/old/muster"), "serve"), settings).outcome(t)
	if got.status != command.ExitFailed {
		t.Errorf("the old program ends with %d", got.status)
	}
	got.says(t, "schema version", "a newer Muster has migrated it")
}

// restored goes back to the backup with the old program, and at once to the new one on it.
func (u *upgrade) restored(t *testing.T) {
	t.Helper()
	for _, m := range u.machines {
		m.follow(t, u.page.take(t, "The second step", 1))
	}
	m := u.machines[0]
	m.follow(t, u.page.take(t, "The second step", 2))
	m.settings = append(m.settings, "MUSTER_DATABASE_URL="+u.elsewhere.url, "MUSTER_DATA_DIR="+u.elsewhere.dir, "MUSTER_BLOB_URL=file://"+filepath.Join(u.dir, "blobs-before"))
	m.follow(t, []string{"install -m 0755 /opt/muster/old/muster /usr/bin/muster", "systemctl start"})
	m.runs.awaitReady(t)
	c := client{base: m.runs.base, token: u.load.api}
	before := c.history(t, "InstanceScorecard")
	if len(before) < 5 {
		t.Errorf("the restored installation has %d reports", len(before))
	}
	said := ""
	for block := range 4 { // this machine is the one on which all is taken
		said += m.follow(t, u.page.take(t, "At once", block))
	}
	if !strings.Contains(said, "finished") {
		t.Errorf("upgraded at once it says %q", said)
	}
	if after := c.history(t, "InstanceScorecard"); !slices.Equal(before, after) {
		t.Errorf("upgraded at once it has %d reports, not %d", len(after), len(before))
	}
	m.follow(t, []string{"muster events verify"})
	m.follow(t, []string{"systemctl stop"})
}
