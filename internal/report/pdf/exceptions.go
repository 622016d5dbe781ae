package pdf

import (
	"strings"
	"time"

	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

// acceptedExceptions prints a block for each exception in force with what it
// covers: out of the figures, and never out of sight.
func (b *builder) acceptedExceptions() {
	b.sub("Accepted exceptions")
	all := analysis.Acceptances(b.doc)
	if len(all) == 0 {
		b.para("No exception is in force for this scope.")
		return
	}
	total := b.accepted.Total()
	words := count(len(all), "exception is", "exceptions are") + " in force for this scope"
	switch total {
	case 0:
		words += " and " + verb(len(all), "covers", "cover") + " no current finding."
	default:
		words += " and " + verb(len(all), "covers", "cover") + " " + count(total, "finding", "findings") +
			", which " + verb(total, "counts", "count") + " in no other figure of this report until the exception lapses or is revoked."
	}
	b.para(words)
	for _, a := range all {
		b.acceptance(a)
	}
}

func (b *builder) acceptance(a analysis.Acceptance) {
	d, x := b.d, a.Exception
	d.Need(90)
	d.Skip(8)
	d.Keep()
	color := severityColor[a.Check.Severity]
	b.striped(2.5, color,
		typeset.Span{Text: a.Check.Severity, Style: typeset.Style{Face: typeset.Bold, Size: 8.5, Color: color}},
		typeset.Span{Text: "   " + a.Check.ID + "   ", Style: typeset.Style{Face: typeset.Mono, Size: 8, Color: muted}},
		typeset.Span{Text: a.Check.Title, Style: strongStyle})
	d.Y += 3
	b.advice("Holds for", b.holdsFor(x))
	b.advice("Until", minute(x.Until)+", "+daysLeft(x.Until, b.doc.AsOf))
	b.advice("Requested by", shorten(x.RequestedBy.Shown(), 120)+", granted by "+shorten(x.GrantedBy.Shown(), 120)+" on "+day(x.GrantedAt))
	b.advice("Why", sentence(x.Reason))
	d.Y += 3
	if a.Total() == 0 {
		b.small("No current finding is covered by this exception alone.")
		return
	}
	table(b, []typeset.Column{
		{Title: "Severity"}, {Title: "Instance", Max: 120}, {Title: "Database", Max: 90}, {Title: "Object", Max: 170}, {Title: "Evidence", Flex: 1},
	}, a.Findings, func(_ int, f analysis.Finding) []typeset.Cell {
		return []typeset.Cell{severity(f.Severity), strong(f.InstanceName), where(f.Database), code(orDash(f.Object)), code(orDash(shorten(f.Evidence, 200)))}
	})
	if a.Unlisted > 0 {
		b.small(count(a.Unlisted, "further finding", "further findings") + " that it covers. " + keptObjects)
	}
}

// holdsFor says in words what an exception is about.
func (b *builder) holdsFor(x snapshot.Exception) string {
	parts := []string{b.instanceName(x)}
	if x.Database != nil {
		parts = append(parts, "database "+shorten(x.Database.Name, 80))
	}
	if x.Object != "" {
		return strings.Join(append(parts, "object "+shorten(x.Object, 200)), ", ")
	}
	return strings.Join(append(parts, "every object"), ", ")
}

// instanceName is what the instance of an exception is called.
func (b *builder) instanceName(x snapshot.Exception) string {
	if x.InstanceID == nil {
		return "every instance"
	}
	for _, in := range b.doc.Instances {
		if in.ID == *x.InstanceID {
			return shorten(in.Name, 80)
		}
	}
	return x.InstanceID.String()
}

// daysLeft says how long something still holds.
func daysLeft(until, asOf time.Time) string {
	if days := int(until.Sub(asOf).Hours() / 24); days > 0 {
		return "in " + count(days, "day", "days")
	}
	return "within a day"
}

// soon is how long before it lapses an exception becomes a task.
const soon = 30 * 24 * time.Hour

// lapsingTasks are the exceptions whose successors need a decision.
func (b *builder) lapsingTasks() []task {
	var tasks []task
	for _, a := range analysis.Acceptances(b.doc) {
		x := a.Exception
		if x.Until.Sub(b.doc.AsOf) > soon {
			continue
		}
		place := b.instanceName(x)
		if x.Database != nil {
			place += " / " + shorten(x.Database.Name, 60)
		}
		tasks = append(tasks, task{
			rank: 1, item: "Exception lapses " + day(x.Until), where: place, table: shorten(x.Object, 80),
			why:   a.Check.ID + " " + a.Check.Title + ", accepted by " + shorten(x.GrantedBy.Shown(), 60) + ": " + shorten(x.Reason, 200),
			since: day(x.GrantedAt), decision: "Renew the exception or fix the finding",
		})
	}
	return tasks
}
