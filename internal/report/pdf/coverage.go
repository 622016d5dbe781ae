package pdf

import (
	"fmt"
	"strings"

	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

// coverage says what the report stands on, and how to check it.
func (b *builder) coverage() {
	b.scoped(b.instancesCovered)()
	b.method()
	b.identity()
	b.missingGrants()
}

// instancesCovered is the matrix of instances and groups of checks.
func (b *builder) instancesCovered() {
	b.sub("Instances and groups of checks")
	scopeOf := map[string]string{}
	for _, c := range b.doc.Checks {
		scopeOf[c.ID] = c.Scope
	}
	table(b, []typeset.Column{
		{Title: "Instance", Flex: 1.2}, {Title: "Outcome"}, {Title: "Assessed"}, {Title: "Monitoring role", Max: 90},
		{Title: "Instance-wide checks", Flex: 1}, {Title: "Database checks", Flex: 1},
	}, b.doc.Instances, func(_ int, in snapshot.Instance) []typeset.Cell {
		if in.Assessment == nil || !in.Active {
			return []typeset.Cell{entry(in.Name), b.outcome(&in), faint("–"), faint("–"), faint("–"), faint("–")}
		}
		a := in.Assessment
		role := typeset.Cell{Text: orDash(a.Role), Style: codeStyle}
		if a.Sent {
			role = faint("sent by a feed")
		}
		if a.RoleIsSuperuser {
			role.Sub, role.SubStyle = analysis.Superuser(in.Engine), cellMuted
		}
		when := typeset.Cell{Text: minute(a.StartedAt), Sub: age(a.StartedAt, b.doc.AsOf) + " old", SubStyle: cellMuted}
		return []typeset.Cell{
			entry(in.Name), b.outcome(&in), when, role, b.matrixCell(&in, "instance", scopeOf), b.matrixCell(&in, "database", scopeOf),
		}
	})
	b.small("The figures count answers: one for each check on the instance, or on one of its databases. Denied: the monitoring role may not read what the check needs.")
	b.sayGaps(b.instanceGaps())
}

func (b *builder) outcome(in *snapshot.Instance) typeset.Cell {
	switch {
	case !in.Active:
		return typeset.Cell{Text: "inactive", Mark: muted}
	case in.Assessment == nil:
		return typeset.Cell{Text: "not assessed", Mark: caution}
	case in.Assessment.Outcome == snapshot.OutcomeUnreachable:
		return typeset.Cell{Text: "unreachable", Mark: severityColor[analysis.High]}
	case analysis.WhyNotChecked(in) != "":
		return typeset.Cell{Text: "no checks", Mark: caution}
	case analysis.Outcome(b.doc, in) == snapshot.OutcomePartial:
		return typeset.Cell{Text: "partial", Mark: caution}
	default:
		return typeset.Cell{Text: "complete", Mark: good}
	}
}

// tally is one cell of the matrix.
type tally struct{ answered, denied, failed, notApplicable int }

func (b *builder) matrixCell(in *snapshot.Instance, group string, scopeOf map[string]string) typeset.Cell {
	if in.Assessment.Outcome == snapshot.OutcomeUnreachable {
		return faint("–")
	}
	var t tally
	for _, r := range analysis.Results(b.doc, in) {
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
		return faint("no check")
	}
	cell := typeset.Cell{
		Text: number(t.answered) + " assessed", Mark: good, SubStyle: cellMuted,
		Sub: shares([]share{{t.denied, "denied"}, {t.failed, "no answer"}, {t.notApplicable, "n.a."}}),
	}
	if t.denied+t.failed > 0 {
		cell.Mark = caution
	}
	return cell
}

// method says how the figures come about.
func (b *builder) method() {
	b.sub("Methodology")
	b.fact("Catalogue", "version "+orDash(b.doc.Catalogue.Version)+", "+b.catalogueSize()+", SHA-256 "+orDash(b.doc.Catalogue.Digest))
	b.fact("Feed", orDash(b.doc.Feed.Name)+" of "+day(b.doc.Feed.Date)+", SHA-256 "+orDash(b.doc.Feed.Digest))
	b.fact("Severity", "Critical, High, Medium, Low, as the catalogue sets them. CVEs by CVSS 3.1 base score: Critical from 9.0, High from 7.0, Medium from 4.0, Low below.")
	b.fact("Finding", "one object that breaks one check on one database or instance. Order everywhere: severity, affected instances, check id, instance name.")
	b.fact("Exceptions", "a finding that an exception in force covers counts in no figure, plan or score, and is listed under “Accepted exceptions”. CVEs are not covered by exceptions.")
	b.fact("Weights", fmt.Sprintf("Critical %.0f, High %.0f, Medium %.0f, Low %.0f for a failed check, half of it fixed and half by the share of objects that fail. The weights are Muster's own.",
		analysis.Weight(analysis.Critical), analysis.Weight(analysis.High), analysis.Weight(analysis.Medium), analysis.Weight(analysis.Low)))
	clock := "all times are UTC. The report shows what was known at " + instant(b.doc.AsOf) + "; facts older than 24 hours were gathered again."
	if b.sent() > 0 {
		clock += " Facts from feeds are as old as the feeds say."
	}
	b.fact("Clock", clock)
	b.fact("Rights", b.rights())
}

// catalogueSize counts the catalogue's checks, and those that the report is about.
func (b *builder) catalogueSize() string {
	all, about := len(b.doc.Checks), len(analysis.Checks(b.doc))
	if about == all {
		return count(all, "check", "checks")
	}
	return count(all, "check", "checks") + ", of which the " + number(about) + " of the domain Security are the subject of this report"
}

// rights sums up with which privileges the servers were looked at.
func (b *builder) rights() string {
	super, limited := 0, 0
	for _, in := range b.assessedInstances() {
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
	if n := b.sent(); n > 0 {
		others = " " + count(n, "instance was", "instances were") + " assessed by another tool, which sent its results; checks without a result are not assessed."
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
		return "the monitoring role is a superuser on " + number(super) + " of " + number(super+limited) + " assessed instances. On the others " + limits + others
	}
}

// sent is how many of the assessed instances a feed told of.
func (b *builder) sent() (n int) {
	for _, in := range b.assessedInstances() {
		if in.Assessment.Sent {
			n++
		}
	}
	return n
}

// fact writes one line of the methodology.
func (b *builder) fact(label, words string) {
	b.d.Need(28)
	b.label(label, mutedStyle, bodyStyle.Size, leading)
	b.d.Paragraph(70, leading, typeset.Span{Text: words, Style: bodyStyle})
	b.d.Settle()
	b.d.Y += 3
}

// identity says which record this report belongs to.
func (b *builder) identity() {
	b.sub("Annex A: identity of this report")
	b.fact("Request", b.doc.ReportID.String()+" of "+b.doc.Organization.Name)
	b.hex("Inputs", "SHA-256 of the inputs document", b.inputs)
	b.fact("Renderer", "Muster "+b.r.build.Version+", commit "+b.r.build.Commit)
	b.fact("Witness", "at the foot of every page: the head of the log of "+shorten(b.doc.Witness.Log, 20)+" when the inputs were gathered, as log:position:hash. The last page explains how to verify this file.")
}

func (b *builder) hex(label, words, value string) {
	b.d.Need(40)
	b.label(label, mutedStyle, bodyStyle.Size, leading)
	b.d.Paragraph(70, leading, typeset.Span{Text: words, Style: bodyStyle})
	b.d.Paragraph(70, leading, typeset.Span{Text: orDash(value), Style: codeStyle})
	b.d.Y += 3
}

// missingGrants lists what the monitoring role lacks, with the statement that
// gives it.
func (b *builder) missingGrants() {
	b.sub("Annex B: missing grants")
	type row struct {
		instance string
		grant    analysis.Grant
	}
	var rows []row
	for _, in := range b.assessedInstances() {
		for _, g := range analysis.MissingGrants(b.doc, &in) {
			rows = append(rows, row{in.Name, g})
		}
	}
	if len(rows) == 0 {
		switch n := len(b.assessedInstances()); {
		case n == 0:
			b.state(stateNotApplicable, "Not applicable: no instance was assessed.")
		case n == b.sent():
			b.state(stateNotApplicable, "Not applicable: no monitoring role signed in; feeds reported "+count(n, "assessed instance", "assessed instances")+".")
		case b.sent() > 0:
			b.clean(b.assessed.Assessed == b.assessed.Total, "Where the monitoring role signed in, it may read everything that the checks of this report need.")
		default:
			b.clean(b.assessed.Assessed == b.assessed.Total, "On every assessed instance, the monitoring role may read everything that the checks of this report need.")
		}
		return
	}
	table(b, []typeset.Column{
		{Title: "Instance", Max: 110}, {Title: "Cannot read", Flex: 1}, {Title: "Statement that grants it", Flex: 1.6}, {Title: "Checks", Flex: 0.6},
	}, rows, func(_ int, of row) []typeset.Cell {
		g := of.grant
		return []typeset.Cell{strong(of.instance), code(orDash(strings.TrimPrefix(g.Object(), "SELECT on "))), code(orDash(g.Statement)), faint(list(g.Checks, 10))}
	})
}
