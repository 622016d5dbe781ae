package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"muster/internal/testing/longtest"
	"muster/internal/testing/skewtest"
)

// mostPages is how long the documents of a demo may be, by kind.
var mostPages = map[string]int{"Security": 18, "InstanceScorecard": 8, "DataInventory": 11}

// TestLongTheDocumentsOfADemoStayShort on whatever day it is filled: today, in about 30 days, and in about a year, when
// other versions have ended and more is overdue. The browser tests count those of a demo of today.
func TestLongTheDocumentsOfADemoStayShort(t *testing.T) {
	t.Parallel()
	longtest.Only(t)
	for _, days := range []int{0, 20 + rand.IntN(20), 350 + rand.IntN(30)} {
		t.Run(fmt.Sprintf("in %d days", days), func(t *testing.T) {
			clock := skewtest.NewClock(t)
			clock.Step(time.Duration(days) * 24 * time.Hour)
			cmd := exec.Command(skewtest.Build(t), "serve", "--demo", "--listen", "127.0.0.1:0", "--rate-limits=off", "--data-dir", dataDir(t))
			cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
			server := start(t, cmd, append(fakedDays(t, days), clock.Env())).ready(t)
			ana := visitor{base: server.base}
			ana.cookie, _ = ana.must(t, http.StatusCreated, http.MethodPost, "/api/v1/setup", map[string]any{
				"setupToken": setupToken(t, server), "email": "ana@acme.example", "name": "Ana", "password": password, "organizationName": "ignored", "demo": true,
			})["cookie"].(string)
			if n := readyPages(t, ana, days); n < 6 {
				t.Errorf("%d documents were counted", n)
			}
		})
	}
}

// fakedDays sets the clock of the private PostgreSQL, which says of what instant a report is, as many days ahead.
func fakedDays(t *testing.T, days int) []string {
	t.Helper()
	if days == 0 {
		return nil
	}
	libraries, err := filepath.Glob("/usr/lib/*/faketime/libfaketime.so.1")
	if err != nil || len(libraries) == 0 {
		t.Skip("libfaketime is missing: install faketime to count the pages of a later demo")
	}
	return []string{"LD_PRELOAD=" + libraries[0], fmt.Sprintf("FAKETIME=+%dd", days), "FAKETIME_DONT_FAKE_MONOTONIC=1"}
}

// readyPages counts the pages of the demo's documents, once they are all ready, and says how many documents there are.
func readyPages(t *testing.T, ana visitor, days int) (counted int) {
	t.Helper()
	type report struct {
		Kind, Status string
		File         *struct {
			Name  string
			Pages int
		}
	}
	var all []report
	eventually(t, "two Security reports are ready, and so are the others", func() bool {
		all = nil
		for kind := range mostPages {
			var page struct{ Items []report }
			if err := json.Unmarshal(ana.send(t, http.MethodGet, "/api/v1/reports?kind="+kind, "").body, &page); err != nil {
				t.Fatal(err)
			}
			all = append(all, page.Items...)
		}
		ready, security := 0, 0
		for _, r := range all {
			if r.File != nil || r.Status == "Failed" || r.Status == "Canceled" {
				ready++
			}
			if r.File != nil && strings.HasPrefix(r.File.Name, "security-2") { // over all servers
				security++
			}
		}
		return security > 1 && ready == len(all)
	})
	filled := func(more int) string { return time.Now().UTC().AddDate(0, 0, days+more).Format(time.DateOnly) }
	for _, r := range all {
		if r.File == nil {
			continue
		}
		counted++
		if !strings.Contains(r.File.Name, filled(0)) && !strings.Contains(r.File.Name, filled(-1)) { // midnight may have passed
			t.Errorf("%s is not of %s", r.File.Name, filled(0))
		}
		t.Logf("%s: %d pages", r.File.Name, r.File.Pages)
		if r.File.Pages > mostPages[r.Kind] {
			t.Errorf("%s has %d pages, want at most %d", r.File.Name, r.File.Pages, mostPages[r.Kind])
		}
	}
	return counted
}
