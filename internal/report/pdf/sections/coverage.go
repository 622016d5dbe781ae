package sections

import (
	"fmt"
	"strings"
	"time"

	"muster/internal/report/pdf/blocks"
	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

// Coverage says what the report stands on, and how to check it.
func Coverage(b *blocks.Builder) {
	b.Scoped(func() { instancesCovered(b) })()
	method(b)
	controls(b)
	Identity(b)
	MissingGrants(b)
}

// oldAfter is the age from which an assessment says how old it is.
const oldAfter = 24 * time.Hour

// instancesCovered is the matrix of instances and groups of checks.
func instancesCovered(b *blocks.Builder) {
	b.Sub("Instances and groups of checks")
	scopeOf := map[string]string{}
	for _, c := range b.Doc.Checks {
		scopeOf[c.ID] = c.Scope
	}
	blocks.Table(b, []typeset.Column{
		{Title: "Instance", Flex: 1.2}, {Title: "Outcome"}, {Title: "Assessed"}, {Title: "Monitoring role", Max: 90},
		{Title: "Instance-wide checks", Flex: 1}, {Title: "Database checks", Flex: 1},
	}, b.Doc.Instances, func(_ int, in snapshot.Instance) []typeset.Cell {
		if in.Assessment == nil || !in.Active {
			return []typeset.Cell{blocks.Entry(in.Name), outcome(b, &in), blocks.Faint("–"), blocks.Faint("–"), blocks.Faint("–"), blocks.Faint("–")}
		}
		a := in.Assessment
		role := typeset.Cell{Text: blocks.OrDash(a.Role), Style: blocks.CodeStyle}
		if a.Sent {
			role = blocks.Faint("sent by a feed")
		}
		if a.RoleIsSuperuser {
			role.Sub, role.SubStyle = analysis.Superuser(in.Engine), blocks.CellMuted
		}
		when := blocks.Text(blocks.Minute(a.StartedAt))
		if b.Doc.AsOf.Sub(a.StartedAt) >= oldAfter {
			when.Sub, when.SubStyle = blocks.Age(a.StartedAt, b.Doc.AsOf)+" old", blocks.CellMuted
		}
		return []typeset.Cell{
			blocks.Entry(in.Name), outcome(b, &in), when, role, matrixCell(b, &in, "instance", scopeOf), matrixCell(b, &in, "database", scopeOf),
		}
	})
	b.Small("The figures count answers: one for each check on the instance, or on one of its databases. Denied: the monitoring role may not read what the check needs.")
}

func outcome(b *blocks.Builder, in *snapshot.Instance) typeset.Cell {
	switch {
	case !in.Active:
		return typeset.Cell{Text: "inactive", Mark: blocks.Muted}
	case in.Assessment == nil:
		return typeset.Cell{Text: "not assessed", Mark: blocks.Caution}
	case in.Assessment.Outcome == snapshot.OutcomeUnreachable:
		return typeset.Cell{Text: "unreachable", Mark: blocks.SeverityColor[analysis.High]}
	case analysis.WhyNotChecked(in) != "":
		return typeset.Cell{Text: "no checks", Mark: blocks.Caution}
	case analysis.Outcome(b.Doc, in) == snapshot.OutcomePartial:
		return typeset.Cell{Text: "partial", Mark: blocks.Caution}
	default:
		return typeset.Cell{Text: "complete", Mark: blocks.Good}
	}
}

// tally is one cell of the matrix.
type tally struct{ answered, denied, failed, notApplicable int }

func matrixCell(b *blocks.Builder, in *snapshot.Instance, group string, scopeOf map[string]string) typeset.Cell {
	if in.Assessment.Outcome == snapshot.OutcomeUnreachable {
		return blocks.Faint("–")
	}
	var t tally
	for _, r := range analysis.Results(b.Doc, in) {
		if scopeOf[r.CheckID] != group {
			continue
		}
		switch {
		case r.Status == snapshot.StatusNotApplicable:
			t.notApplicable++
		case r.Status != snapshot.StatusNotAssessed:
			t.answered++
		case r.ReasonCode == snapshot.ReasonPermissionDenied:
			t.denied++
		default:
			t.failed++
		}
	}
	if t == (tally{}) {
		return blocks.Faint("no check")
	}
	cell := typeset.Cell{
		Text: blocks.Number(t.answered) + " assessed", Mark: blocks.Good, SubStyle: blocks.CellMuted,
		Sub: blocks.Shares([]blocks.Share{{N: t.denied, Words: "denied"}, {N: t.failed, Words: "no answer"}, {N: t.notApplicable, Words: "n.a."}}),
	}
	if t.denied+t.failed > 0 {
		cell.Mark = blocks.Caution
	}
	return cell
}

// method says how the figures come about.
func method(b *blocks.Builder) {
	b.Sub("Methodology")
	Fact(b, "Catalogue", "version "+blocks.OrDash(b.Doc.Catalogue.Version)+", "+catalogueSize(b)+", SHA-256 "+blocks.OrDash(b.Doc.Catalogue.Digest))
	Fact(b, "Feed", blocks.OrDash(b.Doc.Feed.Name)+" of "+blocks.Day(b.Doc.Feed.Date)+", SHA-256 "+blocks.OrDash(b.Doc.Feed.Digest))
	Fact(b, "Severity", "Critical, High, Medium, Low, as the catalogue sets them. CVEs by their CVSS base score, by the version that their vector names (3.1 if it names none): Critical from 9.0, High from 7.0, Medium from 4.0, Low below. Sources score the same CVE differently; the appendix says whose score it is. Exploited: on CISA’s list of known exploited vulnerabilities, which the feed has until "+blocks.Day(exploitedUntil(b))+".")
	Fact(b, "Finding", "one object that breaks one check on one database or instance. Order everywhere: severity, affected instances, check id, instance name.")
	Fact(b, "Exceptions", "a finding that an exception in force covers counts in no figure, plan or score, and is listed under “Accepted exceptions”. CVEs are not covered by exceptions.")
	Fact(b, "Weights", Weights()+" for a failed check, half of it fixed and half by the share of objects that fail. The weights are Muster's own.")
	clock := "all times are UTC. The report shows what was known at " + blocks.Instant(b.Doc.AsOf) + "; facts older than 24 hours were gathered again."
	if sent(b) > 0 {
		clock += " Facts from feeds are as old as the feeds say."
	}
	Fact(b, "Clock", clock)
	Fact(b, "Rights", sayRights(b))
}

// Weights are those of the severities.
func Weights() string {
	return fmt.Sprintf("Critical %.0f, High %.0f, Medium %.0f, Low %.0f",
		analysis.Weight(analysis.Critical), analysis.Weight(analysis.High), analysis.Weight(analysis.Medium), analysis.Weight(analysis.Low))
}

// catalogueSize counts the catalogue's checks, and those that the report is about.
func catalogueSize(b *blocks.Builder) string {
	all, about := len(b.Doc.Checks), len(analysis.Checks(b.Doc))
	if about == all {
		return blocks.Count(all, "check", "checks")
	}
	return blocks.Count(all, "check", "checks") + ", of which the " + blocks.Number(about) + " of the domain Security are the subject of this report"
}

// sayRights sums up with which privileges the servers were looked at.
func sayRights(b *blocks.Builder) string {
	super, limited := 0, 0
	for _, in := range AssessedInstances(b) {
		switch {
		case in.Assessment.Sent:
		case in.Assessment.RoleIsSuperuser:
			super++
		default:
			limited++
		}
	}
	const limits = "what it may not read is listed as not assessed, never as passed."
	others := ""
	if n := sent(b); n > 0 {
		others = " " + blocks.Count(n, "instance was", "instances were") + " assessed by another tool, which sent its results; checks without a result are not assessed."
	}
	switch {
	case super+limited == 0:
		return "no monitoring role signed in anywhere." + others
	case super == 0:
		return "the monitoring role is nowhere a superuser; " + limits + others
	case limited == 0 && others == "":
		return "the monitoring role is a superuser on every assessed instance, so it may read everything that the checks need."
	case limited == 0:
		return "the monitoring role is a superuser where it signed in, so it may read everything that the checks need." + others
	default:
		return "the monitoring role is a superuser on " + blocks.Number(super) + " of " + blocks.Number(super+limited) + " assessed instances. On the others " + limits + others
	}
}

// sent is how many of the assessed instances a feed told of.
func sent(b *blocks.Builder) (n int) {
	for _, in := range AssessedInstances(b) {
		if in.Assessment.Sent {
			n++
		}
	}
	return n
}

// Fact writes one line of the methodology.
func Fact(b *blocks.Builder, label, words string) {
	b.Paper.Need(28)
	b.Label(label, blocks.CellMuted, blocks.CellStyle.Size, blocks.Leading)
	b.Paper.Paragraph(70, blocks.Leading, typeset.Span{Text: words, Style: blocks.CellStyle})
	b.Paper.Settle()
	b.Paper.Y += 2
}

// Identity says which record this report belongs to.
func Identity(b *blocks.Builder) {
	b.Sub("Annex A: identity of this report")
	Fact(b, "Request", b.Doc.ReportID.String()+" of "+b.Doc.Organization.Name)
	hex(b, "Inputs", "SHA-256", b.Inputs)
	Fact(b, "Renderer", "Muster "+b.Version+", commit "+b.Commit)
}

func hex(b *blocks.Builder, label, words, value string) {
	b.Paper.Need(40)
	b.Label(label, blocks.CellMuted, blocks.CellStyle.Size, blocks.Leading)
	b.Paper.Paragraph(70, blocks.Leading, typeset.Span{Text: words + " ", Style: blocks.CellStyle}, typeset.Span{Text: blocks.OrDash(value), Style: blocks.CodeStyle})
	b.Paper.Y += 2
}

// MissingGrants lists what the monitoring role lacks, with the statement that
// gives it.
func MissingGrants(b *blocks.Builder) {
	b.Sub("Annex B: missing grants")
	type row struct {
		instance string
		grant    analysis.Grant
	}
	var rows []row
	for _, in := range AssessedInstances(b) {
		for _, g := range analysis.MissingGrants(b.Doc, &in) {
			rows = append(rows, row{in.Name, g})
		}
	}
	if len(rows) == 0 {
		switch n := len(AssessedInstances(b)); {
		case n == 0:
			b.State(blocks.StateNotApplicable, "Not applicable: no instance was assessed.")
		case n == sent(b):
			b.State(blocks.StateNotApplicable, "Not applicable: no monitoring role signed in; feeds reported "+blocks.Count(n, "assessed instance", "assessed instances")+".")
		case sent(b) > 0:
			b.Clean(b.Assessed.Assessed == b.Assessed.Total, "Where the monitoring role signed in, it may read everything that the checks of this report need.")
		default:
			b.Clean(b.Assessed.Assessed == b.Assessed.Total, "On every assessed instance, the monitoring role may read everything that the checks of this report need.")
		}
		return
	}
	blocks.Table(b, []typeset.Column{
		{Title: "Instance", Max: 110}, {Title: "Cannot read", Flex: 1}, {Title: "Statement that grants it", Flex: 1.6}, {Title: "Checks", Flex: 0.9},
	}, rows, func(_ int, of row) []typeset.Cell {
		g := of.grant
		return []typeset.Cell{blocks.Strong(of.instance), blocks.Code(blocks.OrDash(strings.TrimPrefix(g.Object(), "SELECT on "))), blocks.Code(blocks.OrDash(g.Statement)), blocks.Faint(blocks.List(g.Checks, 10))}
	})
}

// exploitedUntil is the day on which the list of exploited CVEs ends.
func exploitedUntil(b *blocks.Builder) time.Time {
	if until := b.Doc.Feed.ExploitedUntil; until != nil {
		return *until
	}
	return b.Doc.Feed.Date
}
