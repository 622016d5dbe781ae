package sqlserver

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/internal/measurements"
	"muster/internal/servers/tdstest"
)

// reported is a report of a deadlock between sessions 51 and 52 as the ring buffer has it, so many seconds after the
// scene began; 51, whose database it names, is the victim.
func reported(seconds float64, database int) string {
	const side = `<process id="%s" waitresource="KEY: 5:7205759404 (8194443284a0)" waittime="%d" lockMode="U" status="suspended" spid="%d" ecid="0"
		clientapp="%s" hostname="web01     " loginname="%s" currentdb="%d" currentdbname="app"><executionStack><frame procname="%s" queryhash="0xa1" line="1">%s</frame></executionStack><inputbuf>
%s   </inputbuf></process>`
	first := fmt.Sprintf(side, "process1", 1625, 51, "shop", "bill", database, "app.dbo.pay", "UPDATE orders SET total = 42 WHERE id = 'x&lt;y'", "Proc [Database Id = 5 Object Id = 99]")
	parallel := strings.Replace(first, "process1", "process3", 1)
	second := fmt.Sprintf(side, "process2", 4000, 52, "backoffice", "ann", 6, "adhoc", "unknown", "UPDATE stock SET count = 7")
	return fmt.Sprintf(`<event name="xml_deadlock_report" package="sqlserver" timestamp="%s"><data name="xml_report"><type name="xml" package="package0"></type><value>`+
		`<deadlock><victim-list><victimProcess id="process1"/></victim-list><process-list>%s</process-list><resource-list>`+
		`<keylock hobtid="1" dbid="5" objectname="app.dbo.orders" mode="X"><owner-list><owner id="process2" mode="X"/></owner-list><waiter-list><waiter id="process1" mode="U" requestType="wait"/></waiter-list></keylock>`+
		`<keylock hobtid="2" dbid="5" objectname="app.dbo.stock" mode="X"><owner-list><owner id="process1" mode="X"/></owner-list><waiter-list><waiter id="process2" mode="X" requestType="wait"/></waiter-list></keylock>`+
		`</resource-list></deadlock></value></data></event>`,
		began.Add(time.Duration(seconds*float64(time.Second))).Format("2006-01-02T15:04:05.000Z"), first+parallel+second)
}

// ring is a ring buffer with these events, between others.
func ring(events ...string) string {
	const other = `<event name="wait_info" package="sqlos" timestamp="2026-11-20T12:00:01.000Z"><data name="wait_type"><value>4</value></data></event>`
	return `<RingBufferTarget truncated="0" eventCount="9">` + other + strings.Join(events, other) + other + `</RingBufferTarget>`
}

// deadlocked says of a round how many deadlocks each database had ("?": it does not tell), and what deadlocks
// without a database and sides there were.
func (m *measured) deadlocked(b measurements.Batch) string {
	var out []string
	for _, name := range []string{"app", "crm"} {
		said := "?"
		if s := m.sessionsOf(b, name); s != nil && s.Deadlocks != nil {
			said = fmt.Sprint(*s.Deadlocks)
		}
		out = append(out, said)
	}
	for _, s := range b.Blocking {
		if d := s.Deadlock; d != nil && len(s.Nodes) == 0 {
			out = append(out, fmt.Sprintf("bare %d", d.Count))
		} else if d != nil {
			out = append(out, fmt.Sprintf("sides of %q at %g", d.Database, s.At.Sub(began).Seconds()))
		}
	}
	slices.Sort(out[2:])
	return strings.Join(out, ", ")
}

// TestDeadlocksAreCountedByTheDatabasesOfTheirVictims: what was there before the first look does not count, each one
// counts once, and one that nothing is known of has no database. Reports may come two minutes late.
func TestDeadlocksAreCountedByTheDatabasesOfTheirVictims(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.deadlocks, f.reports, f.skew = 7, ring(reported(-60, 5)), 90*time.Second
	m := f.measure(t)
	asked := func() (n int) {
		for _, q := range m.Queries() {
			if strings.HasPrefix(q.Text, tdstest.FirstLine(query("deadlock_reports"))) {
				n++
			}
		}
		return n
	}
	at := func(seconds float64) float64 { return seconds + f.skew.Seconds() } // by the server's clock
	for i, step := range []struct {
		counter int
		reports string
		want    string
		asked   int // so far
	}{
		{7, f.reports, "?, ?", 0}, // the first look
		{7, f.reports, "0, 0", 0}, // nothing new, nothing asked
		{8, ring(reported(-60, 5), reported(at(100), 5)), `1, 0, sides of "app" at 100`, 1},
		{8, ring(reported(at(100), 5)), "0, 0", 1},                                               // each once
		{10, ring(reported(at(100), 5), reported(at(200), 6)), `?, 1, sides of "crm" at 200`, 2}, // one is still to come
		{10, ring(reported(at(201), 6)), `0, 1, sides of "crm" at 201`, 3},
		{11, ring(), "?, ?", 4},
		{11, ring(), "?, ?", 5},
		{11, ring(), "?, ?, bare 1", 6}, // it will not come any more
		{11, ring(), "0, 0", 6},
		{12, ring(reported(at(590), 2)), `0, 0, bare 1, sides of "" at 590`, 7}, // in tempdb
		{1, ring(reported(at(650), 5)), `1, 0, sides of "app" at 650`, 8},       // the server was started again
		{2, ring(reported(at(710), 5))[:1400], "?, ?", 9},                       // cut off
	} {
		f.deadlocks, f.reports = step.counter, step.reports
		if got := m.deadlocked(m.well()); got != step.want || asked() != step.asked {
			t.Errorf("look %d: %s, want %s; reports were asked for %d times", i, got, step.want, asked())
		}
	}
}

// TestBothSidesOfADeadlockAreReported with the lock that each wanted of the other, once where a request is
// parallel, and with their statements only where texts are kept, without literals.
func TestBothSidesOfADeadlockAreReported(t *testing.T) {
	t.Parallel()
	for _, texts := range []bool{false, true} {
		f := newFake(t)
		m := f.measure(t)
		m.Texts = texts
		m.well()
		f.deadlocks, f.reports = 1, ring(reported(30, 5))
		batch := m.well()
		found := batch.Blocking[len(batch.Blocking)-1]
		if d := found.Deadlock; d == nil || d.Seen || d.Count != 1 || !slices.Equal(d.Victims, []string{"51"}) || len(found.Nodes) != 2 {
			t.Fatalf("%+v", found)
		}
		var told []string
		for _, n := range found.Nodes {
			told = append(told, fmt.Sprintf("%s %s/%s/%s %s %v %s %s %s %.3f %s", n.Session, n.User, n.Application, n.Client, n.Database, n.For, n.Lock, n.Mode, n.Object,
				found.At.Sub(*n.Waits).Seconds(), n.Statement))
		}
		want := []string{
			"51 bill/shop/web01 app [52] keylock U app.dbo.orders 1.625 ",
			"52 ann/backoffice/web01 crm [51] keylock X app.dbo.stock 4.000 ",
		}
		if texts {
			want[0] += "UPDATE orders SET total = ? WHERE id = ?"
			want[1] += "UPDATE stock SET count = ?"
		}
		if !slices.Equal(told, want) {
			t.Errorf("texts %t:\n%s\nwant\n%s", texts, strings.Join(told, "\n"), strings.Join(want, "\n"))
		}
	}
}

// TestDeadlocksWithoutTheirReports are counted without a database, at once where the reports are refused. Azure SQL
// Database counts none, and one look costs one query.
func TestDeadlocksWithoutTheirReports(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	m := f.measure(t)
	m.well()
	f.deadlocks, f.fails["deadlock_reports"] = 3, &tdstest.Error{Number: 300}
	if b, err := m.round(); err == nil || m.deadlocked(b) != "?, ?, bare 3" {
		t.Error(m.deadlocked(b), err)
	}
	if got := m.deadlocked(m.well()); got != "0, 0" {
		t.Error(got)
	}
	delete(f.fails, "deadlock_reports")
	f.fails["deadlocks"] = &tdstest.Error{Number: 300}
	if b, err := m.round(); err == nil || m.deadlocked(b) != "?, ?" {
		t.Error(m.deadlocked(b), err)
	}
	azure := newFake(t)
	azure.edition, azure.seesHere = azureDatabase, true
	m = azure.measure(t)
	m.well()
	azure.deadlocks, azure.reports = 1, ring(reported(30, 5))
	if b := m.well(); strings.Contains(m.deadlocked(b), "1") {
		t.Error(m.deadlocked(b))
	}
}
