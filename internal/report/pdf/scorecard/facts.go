package scorecard

import (
	"math"
	"slices"
	"time"

	"muster/internal/engine/tuning"
	"muster/internal/report/pdf/blocks"
	"muster/internal/report/pdf/sections"
	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
	"muster/internal/report/snapshot/analysis/window"
	"muster/internal/report/snapshot/day"
)

// Columns of the facts: those with many words are left.
const (
	factRight = 350.0
	factLabel = 58.0
	factGap   = 8.0
)

// fact is something that is known of the server, or that is not known.
type fact struct{ label, words string }

// facts says what kind of server it is, in the left column and in the right one.
func facts(b *blocks.Builder) (left, right []fact) {
	in := sections.Subject(b)
	version, _ := analysis.Version(in)
	left = []fact{
		{"Version", analysis.EngineName(in.Engine) + sections.Before(" ", version) + sections.Before(", ", blocks.Shorten(analysis.Edition(in), 60))},
		{"Host", hostFact(b, in)},
		{"Databases", databasesFact(b, in)},
		{"Last backup", backupFact(b)},
	}
	if s := b.Doc.Server; s != nil && s.Replication != nil {
		left = append(left, fact{"Replication", replicationFact(s.Replication)})
	}
	if s := b.Doc.Server; s != nil && s.Room != nil {
		left = append(left, fact{"Room", roomFact(b, s.Room) + besideFact(s.Undated)})
	}
	return left, []fact{{"Role", roleFact(b, in)}, {"Registered", blocks.Day(in.CreatedAt)}}
}

// replicationFact names what does not follow, and who is behind.
func replicationFact(r *snapshot.Replication) string {
	who := func(name string) string {
		if name == "" {
			return "the server"
		}
		return blocks.Shorten(name, 40)
	}
	switch {
	case r.Broken == 1:
		return who(r.First) + " does not follow" + sections.Before(": ", r.Why)
	case r.Broken > 1:
		return who(r.First) + " and " + blocks.Number(r.Broken-1) + " more do not follow" + sections.Before(": ", r.Why)
	case r.LagSeconds == nil:
		return "follows, lag not known"
	case *r.LagSeconds < 1:
		return "follows, lag below 1 second"
	case *r.LagSeconds < 60:
		return who(r.Laggard) + " is " + blocks.Decimal(*r.LagSeconds) + " s behind"
	}
	return who(r.Laggard) + " is " + day.Lasting(time.Duration(*r.LagSeconds*float64(time.Second))) + " behind"
}

// roomFact says when the first volume or tablespace is full. No date stands beside a section that has none for the same
// volume, because its hours rise and fall.
func roomFact(b *blocks.Builder, f *day.Fill) string {
	words := blocks.Shorten(f.Name, 40) + " at " + blocks.Decimal(f.Percent) + "%"
	u, measured := window.Utilization(b.Doc)
	undated := measured && u.Full.Reason != "" && math.Abs(u.Full.Level-f.Percent) < 1
	if f.Days == nil || undated {
		return words + ", no date when it is full"
	}
	return words + ", full in " + day.Days(*f.Days)
}

// besideFact says what is nearly full beside it.
func besideFact(f *day.Fill) string {
	if f == nil {
		return ""
	}
	return "; " + blocks.Shorten(f.Name, 40) + " at " + blocks.Decimal(f.Percent) + "%, no date"
}

// hostFact names the host, and says how large it is if an agent reported it.
func hostFact(b *blocks.Builder, in *snapshot.Instance) string {
	words := blocks.Shorten(in.Host, 60)
	if b.Doc.Tuning == nil || len(b.Doc.Tuning.Machines) == 0 {
		return sections.After(words, words+", ") + "size not known"
	}
	m := b.Doc.Tuning.Machines[0]
	if n := len(b.Doc.Tuning.Machines); n > 1 {
		return blocks.Count(n, "host", "hosts")
	}
	words = blocks.Shorten(m.Host, 60)
	if m.MemoryBytes != nil {
		words += ", " + tuning.Size(float64(*m.MemoryBytes))
	}
	if m.CPUs != nil {
		words += ", " + blocks.Count(*m.CPUs, "CPU", "CPUs")
	}
	return words
}

// databasesFact counts the databases, with their size and how much it has grown.
func databasesFact(b *blocks.Builder, in *snapshot.Instance) string {
	total, sized := int64(0), 0
	for _, db := range in.Databases {
		if db.SizeBytes != nil {
			total, sized = total+*db.SizeBytes, sized+1
		}
	}
	words := blocks.Number(len(in.Databases))
	switch {
	case sized == 0:
		return words + ", size not known"
	case sized < len(in.Databases):
		words += ", " + blocks.Number(sized) + " with a known size:"
	default:
		words += ","
	}
	words += " " + tuning.Size(float64(total))
	if s := b.Doc.Server; s != nil && s.Before != nil {
		words += " (" + grown(s.Before.Change) + " since " + blocks.Day(s.Before.At) + ")"
	}
	return words
}

// grown is a change of a size with its sign.
func grown(bytes int64) string {
	switch {
	case bytes > 0:
		return "+" + tuning.Size(float64(bytes))
	case bytes < 0:
		return "−" + tuning.Size(float64(-bytes))
	}
	return "no change"
}

// roleFact is the role in replication.
func roleFact(b *blocks.Builder, in *snapshot.Instance) string {
	switch {
	case b.Doc.Server != nil && b.Doc.Server.Role != "":
		return b.Doc.Server.Role
	case in.Assessment != nil && in.Assessment.InRecovery:
		return "standby"
	}
	return "not known"
}

// backupFact is the time of the last backup that can be restored by itself.
func backupFact(b *blocks.Builder) string {
	if b.Doc.Server == nil || b.Doc.Server.Backup == nil {
		return "none known"
	}
	last := b.Doc.Server.Backup
	words := blocks.Minute(last.FinishedAt)
	if last.Databases > 1 {
		words += ", the oldest of " + blocks.Count(last.Databases, "database", "databases")
	}
	switch all := b.Doc.Server.Backups; {
	case all != nil && all.Late > 0:
		words += ", beyond the RPO"
	case slices.ContainsFunc(subjectScore(b).Caps, func(c analysis.Cap) bool { return c.Name == analysis.NoRecentBackup && c.State == analysis.CapApplies }):
		words += ", though the check of backups fails"
	}
	return words
}

// factsHeight is how much room the facts take on page 1, beside their rows.
const factsHeight = 18 + 2*blocks.GapAfter

// factsFit says whether page 1 has room for the facts beside everything else that it has.
func factsFit(b *blocks.Builder, s analysis.Score, toAssess []string) bool {
	left, _ := facts(b)
	need := factsHeight + blocks.StandingRow*float64(len(left)) + blocks.ContentsInline + 5*blocks.GapAfter
	if s.Known {
		need += blocks.SectionHead + blocks.StandingRow*float64(len(s.Caps))
	}
	if len(toAssess) > 0 {
		need += blocks.SectionHead + 2*blocks.StandingRow*float64(len(toAssess))
	}
	if n := min(len(b.Plan), blocks.FirstActions); n > 0 {
		need += blocks.SectionHead + blocks.ActionRow*float64(n)
	}
	return b.Paper.Y+need <= b.Paper.Bottom()
}

// factBox draws the facts in two columns.
func factBox(b *blocks.Builder) {
	d := b.Paper
	b.PartTitle("Server", "")
	left, right := facts(b)
	draw := func(f fact, x, width float64) {
		d.Page().Text(d.Left()+x, d.Y+9, blocks.RowMuted, typeset.Left, f.label)
		d.Page().Text(d.Left()+x+factLabel, d.Y+9, blocks.RowStyle, typeset.Left, b.Fit(f.words, blocks.RowStyle, width-factLabel))
	}
	d.Grouped(typeset.Grid, typeset.GridCell, func() {
		for i, f := range left {
			d.Grouped(typeset.GridRow, typeset.GridCell, func() {
				draw(f, 0, factRight-factGap)
				if i < len(right) {
					draw(right[i], factRight, d.TextWidth()-factRight)
				}
			})
			d.Y += blocks.StandingRow
		}
	})
	d.Y += 2 * blocks.GapAfter
}
