package oracle

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/internal/measurements"
	"muster/internal/servers"
)

// figuresOf are those of a batch, each as "figure value" with who holds it, or how it is not told.
func (s *scene) figuresOf(b measurements.Batch) string {
	var all []string
	for _, sample := range b.Servers {
		for _, f := range sample.Figures {
			text := fmt.Sprintf("%s %d", f.Figure, f.Value)
			if h := f.Holder; h != nil {
				name := ""
				for database, id := range s.home.Known {
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

// TestFigures: what the server tells about itself, what it does not, and what is not granted.
func TestFigures(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.statements(entry(3, queryA, 5, 1, 10, 10))
	counted := func(logons, temporary, checkpoint int) {
		s.on(countersQuery, []string{"logons cumulative", fmt.Sprint(logons)}, []string{"physical writes direct temporary tablespace", fmt.Sprint(temporary)},
			[]string{"DBWR checkpoint buffers written", fmt.Sprint(checkpoint)})
	}
	is := func(what string, want ...string) {
		t.Helper()
		want = append(want, "checkpointSyncMs notTold", "checkpointWriteMs notTold", "checkpointsRequested notTold", "checkpointsTimed notTold", "temporaryFiles notTold")
		slices.Sort(want)
		if text := s.figuresOf(s.pass(time.Minute)); text != strings.Join(want, "\n") {
			t.Errorf("%s:\n%s\nwant\n%s", what, text, strings.Join(want, "\n"))
		}
	}
	s.on(transactionsQuery, []string{"7", "11", "1", "3", "90", "60", "ERP", "erp.exe", "app01", queryA, "idleInTransaction"},
		[]string{"8", "12", "1", "3", "120", "", "ERP", "batch", "app02", queryA, "cpu"})
	s.on(temporarySpaceQuery, []string{"3"})
	counted(70, 100, 1000)
	s.pass(time.Minute) // it knows the statements from now on
	oldest, idle := "oldestTransaction 120000 of 8,12,1/ERP/ERP/batch/app02/5/1/cpu", "oldestIdleInTransaction 60000 of 7,11,1/ERP/ERP/erp.exe/app01/5/1/idleInTransaction"
	counted(270, 102, 1010)
	is("a minute later", oldest, idle, "temporaryUsed 24576", "newConnections 200", "temporaryBytes 16384", "checkpointBuffers 10")
	s.on(transactionsQuery)
	s.started = "2026-11-23 09:59:00"
	s.instance("NO")
	s.session.Close(t.Context())
	is("after a start", "oldestTransaction 0", "oldestIdleInTransaction 0", "temporaryUsed 24576")
	s.deny(blockSizeQuery)
	is("without the size of a block", "oldestTransaction 0", "oldestIdleInTransaction 0", "temporaryUsed denied", "newConnections 0", "temporaryBytes denied", "checkpointBuffers 0")
	if !strings.Contains(s.lacking(), `V$PARAMETER: GRANT SELECT ON SYS.V_$PARAMETER TO "C##MUSTER";`) {
		t.Errorf("lacking %s", s.lacking())
	}
	s.deny(transactionsQuery)
	s.deny(countersQuery)
	s.deny(temporarySpaceQuery)
	is("without grants", "oldestTransaction denied", "oldestIdleInTransaction denied", "temporaryUsed denied", "newConnections denied", "temporaryBytes denied", "checkpointBuffers denied")
	s.figures()
	is("with grants again", "oldestTransaction 0", "oldestIdleInTransaction 0", "temporaryUsed 0")
	s.deny(sessionsQuery)
	is("without sessions", "oldestTransaction denied", "oldestIdleInTransaction denied", "temporaryUsed 0")
	s.fail(countersQuery, 12170, servers.TimedOut)
	s.clock.Advance(time.Minute)
	s.now()
	if err := s.server.Round(t.Context()); err == nil || strings.Contains(s.figuresOf(s.home.Batches[len(s.home.Batches)-1]), "newConnections") {
		t.Errorf("a look that fails is denied: %v", err)
	}
}
