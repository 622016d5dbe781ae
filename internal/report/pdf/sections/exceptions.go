package sections

import (
	"strings"
	"time"

	"muster/internal/report/pdf/blocks"
	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

// AcceptedExceptions prints a block for each exception in force with what it
// covers: out of the figures, and never out of sight.
func AcceptedExceptions(b *blocks.Builder) {
	b.Sub("Accepted exceptions")
	all := analysis.Acceptances(b.Doc)
	if len(all) == 0 {
		b.Para("No exception is in force for this scope.")
		return
	}
	total := b.Accepted.Total()
	words := blocks.Count(len(all), "exception is", "exceptions are") + " in force for this scope"
	switch total {
	case 0:
		words += " and " + blocks.Verb(len(all), "covers", "cover") + " no current finding."
	default:
		words += " and " + blocks.Verb(len(all), "covers", "cover") + " " + blocks.Count(total, "finding", "findings") +
			", which " + blocks.Verb(total, "counts", "count") + " in no other figure of this report until the exception lapses or is revoked."
	}
	b.Para(words)
	for _, a := range all {
		acceptance(b, a)
	}
}

func acceptance(b *blocks.Builder, a analysis.Acceptance) {
	d, x := b.Paper, a.Exception
	d.Need(90)
	d.Skip(8)
	d.Keep()
	color := blocks.SeverityColor[a.Check.Severity]
	b.Striped(2.5, color,
		typeset.Span{Text: a.Check.Severity, Style: typeset.Style{Face: typeset.Bold, Size: 8.5, Color: color}},
		typeset.Span{Text: "   " + a.Check.ID + "   ", Style: typeset.Style{Face: typeset.Mono, Size: 8, Color: blocks.Muted}},
		typeset.Span{Text: a.Check.Title, Style: blocks.StrongStyle})
	d.Y += 3
	b.Advice("Holds for", holdsFor(b, x))
	b.Advice("Until", blocks.Minute(x.Until)+", "+daysLeft(x.Until, b.Doc.AsOf))
	b.Advice("Requested by", blocks.Shorten(x.RequestedBy.Shown(), 120)+", granted by "+blocks.Shorten(x.GrantedBy.Shown(), 120)+" on "+blocks.Day(x.GrantedAt))
	b.Advice("Why", blocks.Sentence(x.Reason))
	d.Y += 3
	if a.Total() == 0 {
		b.Small("No current finding is covered by this exception alone.")
		return
	}
	blocks.Table(b, []typeset.Column{
		{Title: "Severity"}, {Title: "Instance", Max: 120}, {Title: "Database", Max: 90}, {Title: "Object", Max: 170}, {Title: "Evidence", Flex: 1},
	}, a.Findings, func(_ int, f analysis.Finding) []typeset.Cell {
		return []typeset.Cell{blocks.Severity(f.Severity), blocks.Strong(f.InstanceName), blocks.Where(f.Database), blocks.Code(blocks.OrDash(f.Object)), blocks.Code(blocks.OrDash(blocks.Shorten(f.Evidence, 200)))}
	})
	if a.Unlisted > 0 {
		b.Small(blocks.Count(a.Unlisted, "further finding", "further findings") + " that it covers. " + KeptObjects)
	}
}

// holdsFor says in words what an exception is about.
func holdsFor(b *blocks.Builder, x snapshot.Exception) string {
	parts := []string{instanceName(b, x)}
	if x.Database != nil {
		parts = append(parts, "database "+blocks.Shorten(x.Database.Name, 80))
	}
	if x.Object != "" {
		return strings.Join(append(parts, "object "+blocks.Shorten(x.Object, 200)), ", ")
	}
	return strings.Join(append(parts, "every object"), ", ")
}

// instanceName is what the instance of an exception is called.
func instanceName(b *blocks.Builder, x snapshot.Exception) string {
	if x.InstanceID == nil {
		return "every instance"
	}
	if in := instanceOf(b, x); in != nil {
		return blocks.Shorten(in.Name, 80)
	}
	return x.InstanceID.String()
}

// instanceOf is the instance that an exception is about; nil: every one, or one that is not in scope.
func instanceOf(b *blocks.Builder, x snapshot.Exception) *snapshot.Instance {
	for i := range b.Doc.Instances {
		if in := &b.Doc.Instances[i]; x.InstanceID != nil && in.ID == *x.InstanceID {
			return in
		}
	}
	return nil
}

// daysLeft says how long something still holds, in days of the calendar, as everywhere.
func daysLeft(until, asOf time.Time) string {
	if days := blocks.Days(asOf, until); days > 0 {
		return "in " + blocks.Count(days, "day", "days")
	}
	return "within a day"
}

// soon is how long before it lapses an exception becomes a task.
const soon = 30 * 24 * time.Hour

// LapsingTasks are the exceptions whose successors need a decision.
func LapsingTasks(b *blocks.Builder) []Task {
	var tasks []Task
	for _, a := range analysis.Acceptances(b.Doc) {
		x := a.Exception
		if x.Until.Sub(b.Doc.AsOf) > soon {
			continue
		}
		place := instanceName(b, x)
		if x.Database != nil {
			place += " / " + blocks.Shorten(x.Database.Name, 60)
		}
		tasks = append(tasks, Task{
			Rank: 1, Item: "Exception lapses " + blocks.Day(x.Until), Where: place, Table: blocks.Shorten(x.Object, 80),
			Why:   a.Check.ID + " " + a.Check.Title + ", accepted by " + blocks.Shorten(x.GrantedBy.Shown(), 60) + ": " + blocks.Shorten(x.Reason, 200),
			Since: blocks.Day(x.GrantedAt), Decision: "Renew the exception or fix the finding", Owner: analysis.OwnerOf(instanceOf(b, x)),
		})
	}
	return tasks
}

// Task is one open item that needs a person.
type Task struct {
	Rank                                     int
	Item, Where, Table, Why, Since, Decision string
	Owner                                    string // of the server; empty: no team
}
