package sqlserver

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"muster/internal/measurements"
	"muster/internal/servers/tdstest"
)

// figuresOf are those of a batch, each as "figure value" with who holds it, or how it is not told.
func (m *measured) figuresOf(b measurements.Batch) string {
	var all []string
	for _, s := range b.Servers {
		for _, f := range s.Figures {
			text := fmt.Sprintf("%s %d", f.Figure, f.Value)
			if h := f.Holder; h != nil {
				name := ""
				for database, id := range m.Known {
					if id == h.Database {
						name = database
					}
				}
				text += fmt.Sprint(" of ", strings.Join([]string{h.Session, name, h.User, h.Application, h.Client, h.Statement, string(h.State)}, "/"))
			}
			if f.Telling != measurements.Told {
				text = fmt.Sprint(f.Figure, " ", f.Telling)
			}
			all = append(all, text)
		}
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// TestFigures: what the server tells about itself, and what it does not.
func TestFigures(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.transactions = []row{
		{51, 5, 90_000, 60_000, "shop", "checkout", "web-01", nil, "idleInTransaction"},
		{52, 6, 120_000, nil, "bill", "billing", "web-02", "00000000000000AB", "waiting"},
	}
	f.temporary, f.counted = 8192*3, []row{{"logins/sec", 70}, {"checkpoint pages/sec", 1000}, {"lazy writes/sec", 1}}
	m := f.measure(t)
	untold := []string{"checkpointSyncMs notTold", "checkpointWriteMs notTold", "checkpointsRequested notTold", "checkpointsTimed notTold", "temporaryBytes notTold", "temporaryFiles notTold"}
	is := func(what string, got measurements.Batch, want ...string) {
		t.Helper()
		want = append(want, untold...)
		slices.Sort(want)
		if text := m.figuresOf(got); text != strings.Join(want, "\n") {
			t.Errorf("%s:\n%s\nwant\n%s", what, text, strings.Join(want, "\n"))
		}
	}
	oldest, idle := "oldestTransaction 120000 of 52/crm/bill/billing/web-02/00000000000000ab/waiting", "oldestIdleInTransaction 60000 of 51/app/shop/checkout/web-01//idleInTransaction"
	is("at first", m.well(), oldest, idle, "temporaryUsed 24576")
	f.counted = []row{{"logins/sec", 270}, {"checkpoint pages/sec", 1010}}
	is("a minute later", m.well(), oldest, idle, "temporaryUsed 24576", "newConnections 200", "checkpointBuffers 10")
	f.started, f.transactions = 2, nil
	is("after a start", m.well(), "oldestTransaction 0", "oldestIdleInTransaction 0", "temporaryUsed 24576")
	f.counted = nil // the edition has no counters
	is("without counters", m.well(), "oldestTransaction 0", "oldestIdleInTransaction 0", "temporaryUsed 24576")
	f.fails["transactions"], f.fails["counters"] = &tdstest.NoServerState, &tdstest.NoServerState
	is("denied between two looks", m.well(), "oldestTransaction denied", "oldestIdleInTransaction denied", "temporaryUsed 24576", "newConnections denied", "checkpointBuffers denied")
	f.sees = false
	is("denied", m.well(), "oldestTransaction denied", "oldestIdleInTransaction denied", "temporaryUsed denied", "newConnections denied", "checkpointBuffers denied")
}
