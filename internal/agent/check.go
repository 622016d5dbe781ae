package agent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"time"

	"muster/domain/fleet"
	"muster/internal/agent/rehearsal"
	"muster/internal/assessment/inspection"
	"muster/internal/intake/measure"
	"muster/internal/report/snapshot"
	"muster/internal/servers"
)

// Checked is what came of trying a server.
type Checked struct {
	Server Server
	Target string // where it is
	Parts  []Part
	// Missing are grants that the account lacks: those that measuring needs, and then those
	// of checks.
	Missing   []snapshot.MissingGrant
	measuring int          // of them
	Shown     ServerReport // the same without names
}

// Part is one thing that the agent would do.
type Part struct {
	Name   string
	OK     bool
	Detail string
}

// OK says whether the server can be measured and assessed. Some checks may lack a grant that
// the operator does not want to give.
func (c Checked) OK() bool {
	return c.measuring == 0 && !slices.ContainsFunc(c.Parts, func(p Part) bool { return !p.OK })
}

// Report is the result of a check about servers that Muster has not met before, for Muster's
// developers: it has no name, no text, no address and no value of theirs.
type Report struct {
	Format  string         `json:"format"` // muster-agent-report-1
	Version string         `json:"version"`
	System  string         `json:"system"`
	At      time.Time      `json:"at"`
	Servers []ServerReport `json:"servers"`
}

// ServerReport is a server in it.
type ServerReport struct {
	Engine     string         `json:"engine"`
	Version    string         `json:"version"` // as the server tells it
	Edition    string         `json:"edition"`
	Error      string         `json:"error"` // the class of what kept us out; empty: we were in
	Stage      string         `json:"stage"` // how far the connection came (servers.Stage…)
	Code       string         `json:"code"`  // the number that the server refused it with
	Cause      string         `json:"cause"` // why TLS failed, from a closed list
	Databases  int            `json:"databases"`
	Statements int            `json:"statements"`
	Missing    int            `json:"missingGrants"`
	Queries    []QueryReport  `json:"queries"`
	Checks     []CheckOutcome `json:"checks"`
	// Rehearsed is what the agent's own loop measured; nil: that was not asked for.
	Rehearsed *rehearsal.Result `json:"rehearsed"`
}

// CheckOutcome is what came of a check, how often.
type CheckOutcome struct {
	ID     string `json:"id"`
	Status string `json:"status"`
	Reason string `json:"reason"` // its code
	Times  int    `json:"times"`
}

// Check tries everything that an agent would do with the servers of a configuration, once, and
// writes nothing anywhere. Each result is reported as it comes.
func Check(ctx context.Context, o Options, told func(Checked)) Report {
	report := Report{
		Format: "muster-agent-report-1", Version: o.Version, System: runtime.GOOS + "/" + runtime.GOARCH, At: time.Now().UTC(), Servers: []ServerReport{},
	}
	all := o.Engines(time.Now)
	for _, s := range o.Config.Servers {
		c := checker{rehearse: o.Rehearse, config: o.Config, engine: all[s.Engine], inspector: o.Inspectors[s.Engine], out: Checked{Server: s}}
		c.check(ctx)
		report.Servers = append(report.Servers, c.out.Shown)
		told(c.out)
	}
	return report
}

var errNoStatements = errors.New("the server keeps none, or the account may not read them")

// checker tries one server.
type checker struct {
	rehearse  time.Duration
	config    *Config
	engine    measure.Engine
	inspector inspection.Inspector
	out       Checked
	seen      recorder
}

func (c *checker) part(name string, err error, detail string) {
	p := Part{Name: name, OK: err == nil, Detail: detail}
	if refused, ok := errors.AsType[*servers.ConnectionError](err); ok {
		p.Detail = refused.Sentence
	} else if err != nil {
		p.Detail = err.Error() // a *servers.Refusal is a number
	}
	c.out.Parts = append(c.out.Parts, p)
}

func (c *checker) check(ctx context.Context) {
	c.out.Shown = ServerReport{Engine: string(c.out.Server.Engine), Queries: []QueryReport{}, Checks: []CheckOutcome{}}
	target, err := c.config.target(c.out.Server)
	if err != nil {
		c.part("connection string", err, "")
		c.out.Shown.Error = "connection string"
		return
	}
	c.out.Target = target.Address()
	if warning := target.Warning(); warning != "" {
		c.part("note", nil, warning)
	}
	target = target.Seen(c.seen.session)
	began := time.Now()
	session, err := target.Open(ctx, target.Database, measure.StatementTimeout)
	took := fmt.Sprintf("in %d ms", time.Since(began).Milliseconds())
	if err == nil {
		who, _ := target.Identify(ctx, session) // where it breaks, what is read next says so
		if words := who.Pooling.Words(); words != "" {
			took += ". " + words
		}
	}
	c.part("connect", err, took)
	if err != nil {
		refused, _ := errors.AsType[*servers.ConnectionError](err)
		c.out.Shown.Error, c.out.Shown.Stage, c.out.Shown.Code, c.out.Shown.Cause = refused.Class, refused.Stage(), refused.Code, refused.Cause
		return
	}
	line := measure.NewLine(session, func(ctx context.Context, database string) (servers.Session, error) {
		return target.Open(ctx, database, measure.StatementTimeout)
	})
	c.measure(ctx, line)
	line.Close(ctx)
	if c.rehearse > 0 {
		got := rehearsal.Run(ctx, c.engine, target, c.rehearse)
		c.out.Shown.Rehearsed = &got
		c.part("loop", failedIn(got), fmt.Sprintf("%d samples of sessions, and %s executed %d times, in %s", got.Sessions, plural(got.Statements, "statement"), got.Calls, c.rehearse))
	}
	if c.inspector != nil {
		c.assess(ctx, target)
	}
	c.out.Shown.Missing, c.out.Shown.Queries = len(c.out.Missing), c.seen.report()
}

// failedIn says which parts failed in a rehearsal.
func failedIn(r rehearsal.Result) error {
	if len(r.Failed) == 0 {
		return nil
	}
	var parts []string
	for _, part := range slices.Sorted(maps.Keys(r.Failed)) {
		parts = append(parts, part+" ("+r.Failed[part]+")")
	}
	return errors.New("failed: " + strings.Join(parts, ", "))
}

// measure reads once what is read again and again.
func (c *checker) measure(ctx context.Context, line *measure.Line) {
	reader := c.engine.NewReader()
	activity, err := reader.Activity(ctx, line)
	if err == nil {
		c.out.Shown.Databases, err = len(activity.Databases), activity.Trouble
	}
	sees := err == nil
	c.part("sessions", err, fmt.Sprintf("%s; every %d s", plural(c.out.Shown.Databases, "database"), int(c.engine.SessionsEvery.Seconds())))
	if noter, notes := reader.(measure.Noter); notes && activity != nil {
		said, err := noter.Notes(ctx, line)
		for _, one := range said {
			c.part("note", nil, one)
		}
		if err != nil {
			c.part("notes", err, "")
		}
	}
	if sees { // else nothing is known of who waits
		_, err = reader.Signs(ctx, line)
		c.part("locks", err, "every 60 s")
	}
	list, err := reader.Statements(ctx, line)
	if err == nil && list != nil { // the second list asks what is new since the first
		list, err = reader.Statements(ctx, line)
	}
	detail := ""
	if err == nil && list == nil {
		err = errNoStatements
	}
	if list != nil {
		c.out.Shown.Statements = len(list.Entries)
		detail = fmt.Sprintf("%d in %s; every %d s", len(list.Entries), plural(c.out.Shown.Databases, "database"), int(c.engine.StatementsEvery.Seconds()))
	}
	c.part("statements", err, detail)
	if err == nil {
		c.texts(ctx, reader, line, list)
	}
	if missing, known := reader.Missing(); known {
		c.out.Missing, c.out.measuring = append(c.out.Missing, missing...), len(missing)
	}
}

// someTexts is of how many statements the check reads the texts. It keeps none.
const someTexts = 5

// texts reads the texts of some statements, which the agent does only for those that were executed.
func (c *checker) texts(ctx context.Context, reader measure.Reader, line *measure.Line, list *measure.List) {
	var of []measure.Ref
	for _, e := range list.Entries[:min(len(list.Entries), someTexts)] {
		of = append(of, measure.Ref{Database: e.Database, Statement: e.Statement})
	}
	if len(of) == 0 {
		return
	}
	found, err := reader.Texts(ctx, line, of)
	c.part("texts", err, fmt.Sprintf("%d of %s", len(found), plural(len(of), "statement")))
}

// assess runs the checks once, and classifies one database.
func (c *checker) assess(ctx context.Context, target servers.Target) {
	found, _ := c.inspector.Assess(ctx, target)
	if found.Outcome == snapshot.OutcomeUnreachable {
		c.part("checks", errors.New(found.ErrorClass), "")
		return
	}
	c.out.Shown.Version, c.out.Shown.Edition = found.VersionText, found.Edition
	times := map[CheckOutcome]int{}
	unanswered := map[string]bool{}
	for _, r := range found.Results {
		times[CheckOutcome{ID: r.CheckID, Status: r.Status, Reason: r.ReasonCode}]++
		if r.Status == snapshot.StatusNotAssessed {
			unanswered[r.CheckID] = true
		}
	}
	for one, n := range times {
		one.Times = n
		c.out.Shown.Checks = append(c.out.Shown.Checks, one)
	}
	slices.SortFunc(c.out.Shown.Checks, func(a, b CheckOutcome) int {
		return strings.Compare(a.ID+a.Status+a.Reason, b.ID+b.Status+b.Reason)
	})
	ids := make([]string, 0, len(unanswered))
	for id := range unanswered {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	all := map[string]bool{}
	for _, r := range found.Results {
		all[r.CheckID] = true
	}
	detail := fmt.Sprintf("%d of %d answered", len(all)-len(ids), len(all))
	if len(ids) > 0 {
		detail += "; not: " + strings.Join(ids, " ")
	}
	if newer := fleet.NewerThanTried(c.out.Server.Engine, found.VersionText); newer != "" {
		c.part("version", nil, found.VersionText+" is "+newer)
	}
	c.part("checks", nil, detail)
	for _, g := range found.MissingGrants {
		if !slices.ContainsFunc(c.out.Missing, func(m snapshot.MissingGrant) bool { return m.Statement == g.Statement && m.Object == g.Object }) {
			c.out.Missing = append(c.out.Missing, g)
		}
	}
	if c.out.Server.Classify == "off" {
		return
	}
	open := slices.DeleteFunc(found.Databases, func(d snapshot.DatabaseFact) bool { return !d.AllowsConn })
	if len(open) == 0 {
		return
	}
	at := max(slices.IndexFunc(open, func(d snapshot.DatabaseFact) bool { return d.Name == target.Database }), 0) // a pooler need not offer the others
	run := c.inspector.Classify(ctx, target, open[at].Name, c.out.Server.Classify)
	var err error
	if run.Status == snapshot.ClassificationFailed {
		err = errors.New(run.Reason)
	}
	c.part("classification", err, fmt.Sprintf("%s of one database", plural(run.ColumnsSeen, "column")))
}

func plural(n int, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return fmt.Sprintf("%d %ss", n, of)
}
