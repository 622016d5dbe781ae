package sqlserver

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/internal/engine/sqlserver"
	"muster/internal/intake/measure"
	"muster/internal/intake/sqltext"
	"muster/internal/measurements/blocking"
	"muster/internal/servers"
)

// dispatched is after how many looks, a minute apart, a report is there that will come: the session
// system_health passes events on after two minutes at the latest.
const dispatched = 3

// deadlocks is what the reader knows of its server's deadlocks.
type deadlocks struct {
	known   bool
	counted int64     // the server's counter
	last    time.Time // of the newest report that was passed on, or when the server was first asked, by its clock
	pending int64     // deadlocks that were counted, and of which there is no report yet
	looks   int       // for how many looks there have been such
}

// Deadlocks counts the server's deadlocks since the last call, by the databases that its reports name.
// Those whose reports do not come are a number without a database. Until a report comes, and where none
// does, a database that is in no report tells nothing. A database of Azure has no reports, and its
// counter has the deadlocks of others.
func (r *reader) Deadlocks(ctx context.Context, l *measure.Line, a *measure.Activity, at time.Time, texts bool) ([]blocking.Sample, error) {
	if r.server.azure() {
		return nil, nil
	}
	counted, now, err := r.countDeadlocks(ctx, l)
	if err != nil {
		return nil, err
	}
	d := &r.deadlocks
	if !d.known {
		r.deadlocks = deadlocks{known: true, counted: counted, last: now}
		return nil, nil
	}
	if d.pending += counted - d.counted; counted < d.counted { // the server was started again
		d.pending = counted
	}
	d.counted = counted
	var reports []report
	var refused error
	if d.pending > 0 {
		if reports, refused = r.readReports(ctx, l, now.Sub(at), texts); l.Closed() {
			return nil, refused
		}
	}
	d.pending = max(d.pending-int64(len(reports)), 0)
	lost := int64(0)
	if d.looks++; d.pending == 0 || d.looks >= dispatched || refused != nil {
		lost, d.pending, d.looks = d.pending, 0, 0
	}
	return r.tell(a, at, reports, lost, d.pending == 0 && lost == 0), refused
}

// tell puts the numbers into the samples of an Activity; whole says that there is a report of each.
func (r *reader) tell(a *measure.Activity, at time.Time, reports []report, lost int64, whole bool) (out []blocking.Sample) {
	of := make(map[string]int64)
	sides := make(map[string]report) // the newest of each database
	for _, one := range reports {
		if !slices.ContainsFunc(a.Databases, func(d measure.Database) bool { return d.Name == one.database && !d.Hidden }) {
			one.database = ""
			lost++
		} else {
			of[one.database]++
		}
		if newest, known := sides[one.database]; !known || newest.at.Before(one.at) {
			sides[one.database] = one
		}
	}
	for i := range a.Databases {
		if n := of[a.Databases[i].Name]; n > 0 || whole {
			a.Databases[i].Sample.Deadlocks = &n
		}
	}
	for _, one := range sides {
		out = append(out, blocking.Sample{At: one.at, Nodes: one.nodes, Deadlock: &blocking.Deadlock{Database: one.database, Victims: one.victims, Count: 1}})
	}
	if lost > 0 {
		out = append(out, blocking.Sample{At: at, Deadlock: &blocking.Deadlock{Count: int(min(lost, blocking.MaxDeadlocks))}})
	}
	return out
}

// countDeadlocks reads the server's counter, and what time it is there.
func (r *reader) countDeadlocks(ctx context.Context, l *measure.Line) (counted int64, now time.Time, err error) {
	row, err := servers.Row(ctx, l, 2, query("deadlocks"))
	if err != nil {
		return 0, now, err
	}
	counted, err1 := strconv.ParseInt(row[0], 10, 64)
	micros, err2 := strconv.ParseInt(row[1], 10, 64)
	if errors.Join(err1, err2) != nil || counted < 0 {
		return 0, now, measure.ErrNonsense
	}
	return counted, time.UnixMicro(micros).UTC(), nil
}

// report is what the server says of a deadlock.
type report struct {
	at       time.Time // by our clock
	database string    // of the victim
	victims  []string
	nodes    []blocking.Node
}

// readReports returns the reports since the last ones. ahead is how far the server's clock is ahead of ours.
func (r *reader) readReports(ctx context.Context, l *measure.Line, ahead time.Duration, texts bool) (reports []report, err error) {
	newest := r.deadlocks.last
	err = l.Each(ctx, servers.Statement{Columns: 1, Text: query("deadlock_reports")}, func(row [][]byte) error {
		for _, e := range eventsOf(row[0]) {
			written, err := time.Parse(time.RFC3339, e.At)
			if err != nil || !written.After(r.deadlocks.last) {
				continue
			}
			if written.After(newest) {
				newest = written
			}
			for _, d := range e.Deadlocks {
				reports = append(reports, r.reportOf(d, written.Add(-ahead), texts))
			}
		}
		return nil
	})
	if err == nil {
		r.deadlocks.last = newest
	}
	return reports, err
}

// The part of a report that is read. Its format is described with trace flag 1222:
// relational-databases/sql-server-deadlocks-guide.
type (
	event struct {
		At        string     `xml:"timestamp,attr"`
		Deadlocks []deadlock `xml:"data>value>deadlock"`
	}
	deadlock struct {
		Victims   []named   `xml:"victim-list>victimProcess"`
		Processes []process `xml:"process-list>process"`
		Resources struct {
			All []resource `xml:",any"`
		} `xml:"resource-list"`
	}
	named struct {
		ID   string `xml:"id,attr"`
		Mode string `xml:"mode,attr"`
	}
	process struct {
		ID           string   `xml:"id,attr"`
		Session      string   `xml:"spid,attr"`
		WaitResource string   `xml:"waitresource,attr"`
		WaitTime     string   `xml:"waittime,attr"`
		Status       string   `xml:"status,attr"`
		Application  string   `xml:"clientapp,attr"`
		Client       string   `xml:"hostname,attr"`
		User         string   `xml:"loginname,attr"`
		Database     string   `xml:"currentdb,attr"`
		Frames       []string `xml:"executionStack>frame"`
		Input        string   `xml:"inputbuf"`
	}
	resource struct {
		XMLName xml.Name
		Object  string  `xml:"objectname,attr"`
		Owners  []named `xml:"owner-list>owner"`
		Waiters []named `xml:"waiter-list>waiter"`
	}
)

// eventsOf are the reports of deadlocks in the text of a ring buffer, which may be cut off.
func eventsOf(text []byte) (all []event) {
	const begins = `<event name="xml_deadlock_report"`
	for {
		at := bytes.Index(text, []byte(begins))
		if at < 0 {
			return all
		}
		text = text[at:]
		var e event
		if xml.NewDecoder(bytes.NewReader(text)).Decode(&e) == nil {
			all = append(all, e)
		}
		text = text[len(begins):]
	}
}

// reportOf reads a report. The processes of a parallel request are one session.
func (r *reader) reportOf(d deadlock, at time.Time, texts bool) report {
	out := report{at: at}
	sessions := make(map[string]string, len(d.Processes)) // of processes
	for _, p := range d.Processes {
		if sessions[p.ID] = p.Session; slices.ContainsFunc(out.nodes, func(n blocking.Node) bool { return n.Session == p.Session }) {
			continue
		}
		out.nodes = append(out.nodes, r.sideOf(p, at, texts))
	}
	for _, v := range d.Victims {
		if session := sessions[v.ID]; session != "" && !slices.Contains(out.victims, session) {
			out.victims = append(out.victims, session)
		}
	}
	for _, of := range d.Resources.All {
		for _, waiter := range of.Waiters {
			if i := slices.IndexFunc(out.nodes, func(n blocking.Node) bool { return n.Session == sessions[waiter.ID] }); i >= 0 {
				waitsFor(&out.nodes[i], of, waiter.Mode, sessions)
			}
		}
	}
	for _, n := range out.nodes {
		if len(out.victims) > 0 && n.Session == out.victims[0] {
			out.database = n.Database
		}
	}
	return out
}

// waitsFor adds to a side for whom it waits.
func waitsFor(n *blocking.Node, of resource, mode string, sessions map[string]string) {
	for _, owner := range of.Owners {
		if holder := sessions[owner.ID]; holder != "" && holder != n.Session && !slices.Contains(n.For, holder) {
			n.For = append(n.For, holder)
		}
	}
	n.Lock, n.Mode = of.XMLName.Local, mode
	if of.Object != "" {
		n.Object = of.Object
	}
}

func (r *reader) sideOf(p process, at time.Time, texts bool) blocking.Node {
	n := blocking.Node{
		Session: p.Session, Kind: blocking.Client, User: p.User, Application: p.Application, Client: strings.TrimSpace(p.Client),
		State: p.Status, Object: strings.TrimSpace(p.WaitResource),
	}
	if i := slices.IndexFunc(r.databases, func(d database) bool { return strconv.FormatUint(uint64(d.id), 10) == p.Database }); i >= 0 {
		n.Database = r.databases[i].name
	}
	if waited, err := strconv.ParseInt(p.WaitTime, 10, 64); err == nil {
		n.Waits = before(at, waited)
	}
	if texts {
		n.Statement = sqltext.Normalize(sqlserver.Engine.Dialect, executed(p))
	}
	return n
}

// executed is what a process did: the statement of the innermost procedure, or what its client sent.
func executed(p process) string {
	if len(p.Frames) > 0 {
		if text := strings.TrimSpace(p.Frames[0]); text != "" && text != "unknown" {
			return text
		}
	}
	return strings.TrimSpace(p.Input)
}
