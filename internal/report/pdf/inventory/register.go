package inventory

import (
	"cmp"
	"slices"
	"strings"

	"muster/internal/engine"
	"muster/internal/engine/trait"
	"muster/internal/report/pdf/blocks"
	"muster/internal/report/pdf/sections"
	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

// ownerWidth is how wide a column of owners is at most: less than in a plan, beside columns of text.
const ownerWidth = 56

// Encryption says what can be seen of encryption, engine by engine.
func Encryption(b *blocks.Builder) {
	if len(b.Doc.Instances) == 0 {
		b.NoInstance()
		return
	}
	tls(b)
	atRest(b)
	plainTables(b)
}

// atRest prints of each database whether its files are encrypted, as far as a feed told.
func atRest(b *blocks.Builder) {
	b.Sub("At rest, by database")
	type row struct {
		in snapshot.Instance
		db snapshot.Database
	}
	var rows []row
	var gaps []sections.Gap
	encrypted := 0
	for _, in := range b.Doc.Instances {
		known := 0
		for _, db := range in.Databases {
			if db.Encrypted != nil {
				known++
				if *db.Encrypted {
					encrypted++
					continue
				}
				rows = append(rows, row{in, db})
			}
		}
		if !engine.Described(in.Engine).VolumesOnly {
			gaps = append(gaps, encryptionGaps(in, known)...)
		}
	}
	blind := engine.Titles(func(e *trait.Engine) bool {
		return e.VolumesOnly && slices.ContainsFunc(b.Doc.Instances, func(in snapshot.Instance) bool { return in.Engine == string(e.Name) })
	})
	for _, title := range blind {
		b.Para(title + " has no built-in transparent data encryption; encryption of the volume is not visible over SQL. It is known where a feed reported it.")
	}
	if encrypted > 0 {
		b.Para(blocks.Count(encrypted, "database is", "databases are") + " encrypted at rest.")
	}
	if len(rows) == 0 && len(gaps) == 0 && encrypted == 0 {
		b.State(blocks.StateNotApplicable, "Not applicable: every instance in scope runs "+blocks.OneOf(blind)+", and no feed reported its volumes.")
		return
	}
	if len(rows) > 0 {
		blocks.Table(b, []typeset.Column{
			{Title: "Instance", Flex: 1}, {Title: "Engine"}, {Title: "Database", Flex: 1}, {Title: "At rest"}, {Title: "Sensitive tables", Align: typeset.Right}, {Title: "As of"},
		}, rows, func(_ int, r row) []typeset.Cell {
			sensitive, asOf := blocks.Faint("not classified"), blocks.Faint("–")
			if c := r.db.Classification; c != nil {
				sensitive = sections.ZeroFaint(len(c.Tables))
			}
			if a := r.in.Assessment; a != nil {
				asOf = blocks.Text(blocks.Minute(a.FinishedAt))
			}
			state := typeset.Cell{Text: "not encrypted", Style: blocks.CellStrong, Mark: blocks.SeverityColor[analysis.High]}
			return []typeset.Cell{blocks.Strong(r.in.Name), blocks.Text(analysis.EngineName(r.in.Engine)), blocks.Text(r.db.Name), state, sensitive, asOf}
		})
	}
	sections.SayGaps(b, gaps)
}

// volumesOnly are what people call the engines that encrypt no file themselves.
func volumesOnly() []string {
	return engine.Titles(func(e *trait.Engine) bool { return e.VolumesOnly })
}

// encryptionGaps lists the databases of an instance whose encryption is unknown; known is the
// number of the others.
func encryptionGaps(in snapshot.Instance, known int) (gaps []sections.Gap) {
	why := "it could not be read whether their files are encrypted"
	if in.Assessment != nil && in.Assessment.Sent {
		why = "the feed that assesses it did not say"
	}
	if known == 0 {
		return []sections.Gap{{State: blocks.StateNotAssessed, Places: []string{blocks.Shorten(in.Name, 80)}, Reason: cmp.Or(analysis.WhyNotAssessed(&in), why)}}
	}
	for _, db := range in.Databases {
		if db.Encrypted == nil {
			gaps = append(gaps, sections.Gap{State: blocks.StateNotAssessed, Places: []string{blocks.Shorten(in.Name, 80) + " / " + blocks.Shorten(db.Name, 80)}, Reason: why, Database: true})
		}
	}
	return gaps
}

// tls prints how many sessions are encrypted on their way, of the engines that tell it.
func tls(b *blocks.Builder) {
	b.Sub("In transit")
	connected := func(e *trait.Engine) bool { return e.Connected != nil }
	tells := func(in snapshot.Instance) bool { return connected(engine.Described(in.Engine)) }
	var rows []snapshot.Instance
	var unsent []string
	for _, in := range sections.AssessedInstances(b) {
		if !tells(in) {
			continue
		}
		if in.Assessment.Sent && in.Assessment.ClientSessions == nil {
			unsent = append(unsent, blocks.Shorten(in.Name, 80))
			continue
		}
		rows = append(rows, in)
	}
	if !slices.ContainsFunc(b.Doc.Instances, tells) {
		b.State(blocks.StateNotApplicable, "Not applicable: no instance in scope is of "+blocks.OneOf(engine.Titles(connected))+".")
		return
	}
	b.Para("The share of client sessions that were encrypted when the instance was assessed: by TLS, of Oracle by its own encryption, too.")
	if len(rows)+len(unsent) == 0 {
		b.State(blocks.StateNotAssessed, "Not assessed: no instance in scope that tells it could be reached.")
		return
	}
	if len(unsent) > 0 {
		b.State(blocks.StateNotAssessed, "Not assessed on "+blocks.List(unsent, 12)+": the feed did not send the sessions.")
	}
	if len(rows) == 0 {
		return
	}
	blocks.Table(b, []typeset.Column{
		{Title: "Instance", Flex: 1}, {Title: "Engine"}, {Title: "Client sessions", Align: typeset.Right}, {Title: "Encrypted", Align: typeset.Right}, {Title: "Share", Align: typeset.Right}, {Title: "Seen"},
	}, rows, func(_ int, in snapshot.Instance) []typeset.Cell {
		a := in.Assessment
		cells := []typeset.Cell{blocks.Strong(in.Name), blocks.Text(analysis.EngineName(in.Engine))}
		switch {
		case a.ClientSessions == nil || a.TLSSessions == nil:
			cells = append(cells, blocks.Faint("not readable"), blocks.Faint("–"), blocks.Faint("–"))
		case *a.ClientSessions == 0:
			cells = append(cells, blocks.Text("0"), blocks.Text("0"), blocks.Faint("no session"))
		default:
			cells = append(cells, blocks.Text(blocks.Number(*a.ClientSessions)), blocks.Text(blocks.Number(*a.TLSSessions)), blocks.Strong(blocks.Percent(float64(*a.TLSSessions)/float64(*a.ClientSessions))))
		}
		return append(cells, blocks.Text(blocks.Minute(a.StartedAt)))
	})
}

// mostTasks is how many items of the worklist are printed.
const mostTasks = 10

// Worklist lists what a person has to decide.
func Worklist(b *blocks.Builder) {
	tasks := tasks(b)
	switch c := analysis.ClassificationCoverage(b.Doc); {
	case len(tasks) > 0:
	case c.Databases == 0:
		b.State(blocks.StateNotApplicable, "Not applicable: no database is in scope of this report.")
		return
	case c.Completed < c.Databases: // engines that have no classification
		b.State(blocks.StateNotAssessed, "Nothing is open in the "+blocks.Count(c.Completed, "database that is", "databases that are")+" classified"+neverLooked(c)+"; “Coverage and methodology” says why.")
		return
	default:
		b.State(blocks.StateClean, "Nothing is open: every database in scope is classified, every match is sure, and no exception lapses within 30 days.")
		return
	}
	b.Para(blocks.Count(len(tasks), "item needs", "items need") + " a decision.")
	blocks.Table(b, []typeset.Column{
		{Title: "Item", Max: 80}, {Title: "Where", Flex: 1}, {Title: "Why", Flex: 1.4}, {Title: "Since"}, {Title: "Suggested decision", Max: 90}, {Title: "Owner", Max: ownerWidth},
	}, tasks[:min(len(tasks), mostTasks)], func(_ int, t sections.Task) []typeset.Cell {
		return []typeset.Cell{blocks.Strong(t.Item), taskPlace(t), blocks.Text(t.Why), blocks.Text(t.Since), blocks.Text(t.Decision), sections.Owner(t.Owner, 14)}
	})
	if rest := len(tasks) - mostTasks; rest > 0 {
		b.Small(blocks.Count(rest, "further item", "further items") + ", the least urgent ones: see the page Data.")
	}
}

// taskPlace is the database, under its table if the item is about one.
func taskPlace(t sections.Task) typeset.Cell {
	if t.Table == "" {
		return blocks.Text(t.Where)
	}
	return typeset.Cell{Text: t.Table, Style: blocks.CodeStyle, Sub: t.Where, SubStyle: blocks.CellMuted}
}

func tasks(b *blocks.Builder) []sections.Task {
	tasks := sections.LapsingTasks(b)
	eachDatabase(b, func(in snapshot.Instance, db snapshot.Database) {
		for _, t := range databaseTasks(in, db) {
			t.Owner = analysis.OwnerOf(&in)
			tasks = append(tasks, t)
		}
	})
	slices.SortStableFunc(tasks, func(x, y sections.Task) int {
		return cmp.Or(cmp.Compare(x.Rank, y.Rank), strings.Compare(x.Where, y.Where), strings.Compare(x.Table, y.Table), strings.Compare(x.Item, y.Item))
	})
	return tasks
}

func databaseTasks(in snapshot.Instance, db snapshot.Database) []sections.Task {
	place := blocks.Shorten(in.Name, 60) + " / " + blocks.Shorten(db.Name, 60)
	c := db.Classification
	switch {
	case c == nil:
		return []sections.Task{{Rank: 2, Item: "Never classified", Where: place, Table: "", Why: "no run is on record", Since: blocks.Day(in.CreatedAt), Decision: "Run a classification, or switch it off with a reason"}}
	case c.Status == snapshot.ClassificationFailed:
		return []sections.Task{{Rank: 0, Item: "Failed scan", Where: place, Table: "", Why: blocks.Shorten(blocks.OrDash(c.Reason), 200), Since: blocks.Day(c.FinishedAt), Decision: "Repair the access and run it again"}}
	case c.Status == snapshot.ClassificationOff:
		return []sections.Task{{Rank: 3, Item: "Classification off", Where: place, Table: "", Why: blocks.Shorten(blocks.OrDash(c.Reason), 200), Since: blocks.Day(c.StartedAt), Decision: "Confirm that it stays off"}}
	}
	var tasks []sections.Task
	if f := c.Failure; f != nil {
		tasks = append(tasks, sections.Task{Rank: 0, Item: "Failed scan", Where: place, Table: "", Why: blocks.Shorten(blocks.OrDash(f.Reason), 200), Since: blocks.Day(f.At), Decision: "Run it again: what is printed is of " + blocks.Day(c.FinishedAt)})
	}
	for _, u := range c.UnreadColumns {
		tasks = append(tasks, sections.Task{Rank: 1, Item: "Columns not read", Where: place, Table: u.Schema + "." + u.Table, Why: blocks.Shorten(strings.Join(u.Columns, ", ")+": "+u.Reason, 200),
			Since: blocks.Day(c.FinishedAt), Decision: "Look at them, or accept the gap"})
	}
	for _, f := range c.FailedTables {
		tasks = append(tasks, sections.Task{Rank: 0, Item: "Table not classified", Where: place, Table: f.Schema + "." + f.Name, Why: blocks.Shorten(blocks.OrDash(f.Reason), 200), Since: blocks.Day(c.FinishedAt), Decision: "Grant SELECT, or accept the gap"})
	}
	for _, t := range c.Tables {
		if c.Own { // what its columns hold is known
			break
		}
		for part := range slices.Chunk(unsure(t), matchesARow) {
			tasks = append(tasks, sections.Task{Rank: 4, Item: "Confirm " + blocks.Count(len(part), "match", "matches"), Where: place, Table: tableName(t), Why: strings.Join(part, "; "),
				Since: blocks.Day(c.FinishedAt), Decision: "Confirm or reject each"})
		}
	}
	return tasks
}

// matchesARow is how many columns a row of the worklist names.
const matchesARow = 8

// unsure names the columns of a table that a person has to confirm.
func unsure(t snapshot.ClassifiedTable) []string {
	var out []string
	for _, c := range t.Columns {
		if c.Confidence == "Low" || c.Confidence == "Medium" {
			out = append(out, c.Name+" ("+c.InfoType+", "+strings.ToLower(c.Confidence)+" confidence)")
		}
	}
	return out
}

// mostRisks is how many tables the register prints: inventory.csv has all.
const mostRisks = 20

// RiskRegister prints the tables with sensitive data, riskiest first.
func RiskRegister(b *blocks.Builder) {
	c := analysis.ClassificationCoverage(b.Doc)
	if unclassified(b, c) {
		return
	}
	if len(b.Risks) == 0 {
		b.Clean(c.Completed == c.Databases, "No risk to register: no sensitive table was found"+neverLooked(c)+".")
		return
	}
	b.Para(riskSentence(b))
	blocks.Table(b, []typeset.Column{
		{Title: "Risk, since"}, {Title: "Data, regulation", Flex: 1}, {Title: "Who can read it, drivers", Flex: 1.5}, {Title: "Score"},
		{Title: "Decision", Flex: 1.5}, {Title: "Owner, retention", Max: ownerWidth},
	}, b.Risks[:min(len(b.Risks), mostRisks)], func(_ int, r analysis.TableRisk) []typeset.Cell {
		return []typeset.Cell{
			{Text: r.ID, Style: blocks.CodeStyle, Sub: riskSince(r), SubStyle: blocks.CellMuted},
			{Text: tableName(r.Table), Style: blocks.CodeStyle, Sub: r.InstanceName + " / " + r.Database + sections.Before("\n", strings.Join(r.Regulations(), ", ")), SubStyle: blocks.CellMuted},
			{Text: whoReads(r), Sub: drivers(r), SubStyle: blocks.CellMuted}, registerRisk(r), decision(b, r), ownerAndRetention(b, r),
		}
	})
	note := ""
	if rest := len(b.Risks) - mostRisks; rest > 0 {
		note = blocks.Count(rest, "further table", "further tables") + " of lower risk: inventory.csv has the id, the risk, the drivers and the decision of each. "
	}
	note += "Risk = likelihood (L, 1–5) × impact (I, 1–5): High from 15, Medium from 8. Likelihood: 1, + 2 readable by PUBLIC, + 1 weak or unencrypted sign-in, + 0.5 remote superuser, + 0.5 not encrypted at rest, + 1 open CVE of CVSS 7.0 or more (1.5 from 9.0, 2 if one is known to be exploited), + 1 out of support (0.5 beside CVEs). " +
		"Impact: half the heaviest column's weight, + 0.5 each over 100,000, 10 million and 100 million rows, + 0.5 special category or credentials. Both rounded up, at most 5. Muster accepts no risk: people do, with a name and an end, by an exception for the risk’s id. Until then a risk is undecided, with the two proposals that take away most, due like a finding of that severity since the risk was first seen. The id of a risk stays with its table. Retention is the server’s tag retention."
	if riskUnsure(b) {
		note += " † Something that raises the likelihood, or the number of rows, could not be read, so the risk may be higher."
	}
	b.Small(note)
}

// proposals is how many treatments of a risk are printed.
const proposals = 2

// treatment is the proposal against a risk. Nothing is accepted by default: that is for people to decide. A risk
// without a known driver needs a look at the unknown parts.
func treatment(r analysis.TableRisk) string {
	if len(r.Treatments) == 0 {
		return "its owner decides: what is the data needed for?"
	}
	return strings.Join(r.Treatments[:min(len(r.Treatments), proposals)], "; ")
}

// Coverage says which databases the inventory stands on.
func Coverage(b *blocks.Builder) {
	c := analysis.ClassificationCoverage(b.Doc)
	b.Para(databasesSentence(c))
	sections.SayGaps(b, classificationGaps(b))
	b.Sub("Methodology")
	sections.Fact(b, "Rules", ruleVersions(b))
	sections.Fact(b, "Confidence", "Low, Medium, High, Certain: from the column's name alone in mode names; from sampled values as well in mode values. Sampled values are compared in memory, and never stored or printed.")
	sections.Fact(b, "Coverage", "tables and columns classified, of those that the monitoring role saw. Databases without a run are in no percentage.")
	sections.Fact(b, "Clock", "All times are UTC. The facts are as of "+blocks.Instant(b.Doc.AsOf)+".")
	sections.Identity(b)
	sections.MissingGrants(b)
}

// databasesSentence says how many databases there are and what became of them.
func databasesSentence(c analysis.Classified) string {
	if c.Databases == 0 {
		return "No database is in scope."
	}
	return blocks.Count(c.Databases, "database is", "databases are") + " in scope: " + blocks.Shares([]blocks.Share{
		{N: c.Completed, Words: "classified completely"}, {N: c.Partial, Words: "in part"}, {N: c.Failed, Words: "with a failed run"}, {N: c.Off, Words: "switched off"}, {N: c.Never, Words: "never classified"},
	}) + "."
}

// classificationGaps are the databases, and instances without one, that the inventory does not
// know completely.
func classificationGaps(b *blocks.Builder) []sections.Gap {
	var gaps []sections.Gap
	eachDatabase(b, func(in snapshot.Instance, db snapshot.Database) {
		run := db.Classification
		g := sections.Gap{State: blocks.StateNotAssessed, Places: []string{blocks.Shorten(in.Name, 80) + " / " + blocks.Shorten(db.Name, 80)}, Database: true}
		switch {
		case run == nil:
			g.Reason = "no classification is on record"
		case run.Status != snapshot.ClassificationCompleted || run.Failure != nil:
			g.Reason = incompleteRun(*run)
		default:
			return
		}
		gaps = append(gaps, g)
	})
	for _, in := range b.Doc.Instances {
		if len(in.Databases) > 0 {
			continue
		}
		gaps = append(gaps, sections.Gap{State: blocks.StateNotAssessed, Places: []string{blocks.Shorten(in.Name, 80)}, Reason: inventoryGap(in)})
	}
	return gaps
}

// incompleteRun says why a classification is not complete.
func incompleteRun(run snapshot.Classification) string {
	why := sections.Clause(blocks.Shorten(run.Reason, 300))
	if f := run.Failure; f != nil {
		return "the last classification failed on " + blocks.Day(f.At) + sections.Before(": ", sections.Clause(blocks.Shorten(f.Reason, 300))) + "; this report uses the one of " + blocks.Day(run.FinishedAt)
	}
	switch run.Status {
	case snapshot.ClassificationPartial:
		return "classified in part only" + sections.Before(": ", why)
	case snapshot.ClassificationOff:
		return cmp.Or(why, "classification is switched off")
	default:
		return "the classification failed" + sections.Before(": ", why)
	}
}

func inventoryGap(in snapshot.Instance) string {
	if why := analysis.WhyNotAssessed(&in); why != "" {
		return why
	}
	return "no database of it is registered"
}

// ruleVersions names the rule sets that the runs used.
func ruleVersions(b *blocks.Builder) string {
	var versions []string
	samples := 0
	eachDatabase(b, func(_ snapshot.Instance, db snapshot.Database) {
		if db.Classification != nil && db.Classification.RulesVersion != "" {
			versions = append(versions, db.Classification.RulesVersion)
			samples = max(samples, db.Classification.SampleRows)
		}
	})
	slices.Sort(versions)
	versions = slices.Compact(versions)
	sent := 0
	eachDatabase(b, func(in snapshot.Instance, db snapshot.Database) {
		if db.Classification != nil && in.Assessment != nil && in.Assessment.Sent {
			sent++
		}
	})
	switch others := blocks.Count(sent, "database", "databases") + " classified by another tool with its own rules"; {
	case len(versions) == 0 && sent > 0:
		return others + "."
	case len(versions) == 0:
		return "no classification has run."
	case sent > 0:
		versions[len(versions)-1] += " (" + others + ")"
	}
	words := "rule set " + strings.Join(versions, ", ")
	if samples > 0 {
		return words + "; at most " + blocks.Count(samples, "row", "rows") + " sampled of a table."
	}
	if readsValues(b) {
		return words + "; values were sampled, the number of rows was not said."
	}
	return words + "; column names only, no values sampled."
}

// readsValues says whether a classification sampled values.
func readsValues(b *blocks.Builder) (reads bool) {
	eachDatabase(b, func(_ snapshot.Instance, db snapshot.Database) {
		reads = reads || db.Classification != nil && db.Classification.Mode == "values"
	})
	return reads
}
