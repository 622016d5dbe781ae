package pdf

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"muster/internal/engine"
	"muster/internal/engine/trait"
	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

// encryption says what can be seen of encryption, engine by engine.
func (b *builder) encryption() {
	if len(b.doc.Instances) == 0 {
		b.noInstance()
		return
	}
	b.tls()
	b.atRest()
	b.plainTables()
}

// atRest prints of each database whether its files are encrypted, as far as a feed told.
func (b *builder) atRest() {
	b.sub("At rest, by database")
	type row struct {
		in snapshot.Instance
		db snapshot.Database
	}
	var rows []row
	var gaps []gap
	for _, in := range b.doc.Instances {
		known := 0
		for _, db := range in.Databases {
			if db.Encrypted != nil {
				known++
				rows = append(rows, row{in, db})
			}
		}
		if !engine.Described(in.Engine).VolumesOnly {
			gaps = append(gaps, encryptionGaps(in, known)...)
		}
	}
	blind := engine.Titles(func(e *trait.Engine) bool {
		return e.VolumesOnly && slices.ContainsFunc(b.doc.Instances, func(in snapshot.Instance) bool { return in.Engine == string(e.Name) })
	})
	for _, title := range blind {
		b.para(title + " has no built-in transparent data encryption; encryption of the volume is not visible over SQL.")
	}
	if len(rows) == 0 && len(gaps) == 0 {
		b.state(stateNotApplicable, "Not applicable: every instance in scope runs "+oneOf(blind)+", and no feed reported its volumes.")
		return
	}
	if len(rows) > 0 {
		table(b, []typeset.Column{
			{Title: "Instance", Flex: 1}, {Title: "Engine"}, {Title: "Database", Flex: 1}, {Title: "At rest"}, {Title: "Sensitive tables", Align: typeset.Right}, {Title: "As of"},
		}, rows, func(_ int, r row) []typeset.Cell {
			sensitive, asOf := faint("not classified"), faint("–")
			if c := r.db.Classification; c != nil {
				sensitive = zeroFaint(len(c.Tables))
			}
			if a := r.in.Assessment; a != nil {
				asOf = text(minute(a.FinishedAt))
			}
			encrypted := typeset.Cell{Text: "encrypted", Mark: good}
			if !*r.db.Encrypted {
				encrypted = typeset.Cell{Text: "not encrypted", Style: cellStrong, Mark: severityColor[analysis.High]}
			}
			return []typeset.Cell{strong(r.in.Name), text(analysis.EngineName(r.in.Engine)), text(r.db.Name), encrypted, sensitive, asOf}
		})
	}
	b.sayGaps(gaps)
}

// volumesOnly are what people call the engines that encrypt no file themselves.
func volumesOnly() []string {
	return engine.Titles(func(e *trait.Engine) bool { return e.VolumesOnly })
}

// encryptionGaps lists the databases of an instance whose encryption is unknown; known is the
// number of the others.
func encryptionGaps(in snapshot.Instance, known int) (gaps []gap) {
	why := "it could not be read whether their files are encrypted"
	if in.Assessment != nil && in.Assessment.Sent {
		why = "the feed that assesses it did not say"
	}
	if known == 0 {
		return []gap{{state: stateNotAssessed, places: []string{shorten(in.Name, 80)}, reason: cmp.Or(analysis.WhyNotAssessed(&in), why)}}
	}
	for _, db := range in.Databases {
		if db.Encrypted == nil {
			gaps = append(gaps, gap{state: stateNotAssessed, places: []string{shorten(in.Name, 80) + " / " + shorten(db.Name, 80)}, reason: why, database: true})
		}
	}
	return gaps
}

// tls prints how many sessions are encrypted on their way, of the engines that tell it.
func (b *builder) tls() {
	b.sub("In transit")
	connected := func(e *trait.Engine) bool { return e.Connected != nil }
	tells := func(in snapshot.Instance) bool { return connected(engine.Described(in.Engine)) }
	var rows []snapshot.Instance
	for _, in := range b.assessedInstances() {
		if tells(in) {
			rows = append(rows, in)
		}
	}
	if !slices.ContainsFunc(b.doc.Instances, tells) {
		b.state(stateNotApplicable, "Not applicable: no instance in scope is of "+oneOf(engine.Titles(connected))+".")
		return
	}
	b.para("The share of client sessions that were encrypted when the instance was assessed: by TLS, of Oracle by its own encryption, too.")
	if len(rows) == 0 {
		b.state(stateNotAssessed, "Not assessed: no instance in scope that tells it could be reached.")
		return
	}
	table(b, []typeset.Column{
		{Title: "Instance", Flex: 1}, {Title: "Engine"}, {Title: "Client sessions", Align: typeset.Right}, {Title: "Encrypted", Align: typeset.Right}, {Title: "Share", Align: typeset.Right}, {Title: "Seen"},
	}, rows, func(_ int, in snapshot.Instance) []typeset.Cell {
		a := in.Assessment
		cells := []typeset.Cell{strong(in.Name), text(analysis.EngineName(in.Engine))}
		switch {
		case a.Sent && a.ClientSessions == nil:
			cells = append(cells, faint("not sent"), faint("–"), faint("–"))
		case a.ClientSessions == nil || a.TLSSessions == nil:
			cells = append(cells, faint("not readable"), faint("–"), faint("–"))
		case *a.ClientSessions == 0:
			cells = append(cells, text("0"), text("0"), faint("no session"))
		default:
			cells = append(cells, text(number(*a.ClientSessions)), text(number(*a.TLSSessions)), strong(percent(float64(*a.TLSSessions)/float64(*a.ClientSessions))))
		}
		return append(cells, text(minute(a.StartedAt)))
	})
}

// task is one open item that needs a person.
type task struct {
	rank                                     int
	item, where, table, why, since, decision string
}

// worklist lists what a person has to decide.
func (b *builder) worklist() {
	tasks := b.tasks()
	switch c := analysis.ClassificationCoverage(b.doc); {
	case len(tasks) > 0:
	case c.Databases == 0:
		b.state(stateNotApplicable, "Not applicable: no database is in scope of this report.")
		return
	case c.Completed < c.Databases: // engines that have no classification
		b.state(stateNotAssessed, "Nothing is open in the "+count(c.Completed, "database that is", "databases that are")+" classified"+b.neverLooked(c)+"; “Coverage and methodology” says why.")
		return
	default:
		b.state(stateClean, "Nothing is open: every database in scope is classified, every match is sure, and no exception lapses within 30 days.")
		return
	}
	b.para(count(len(tasks), "item needs", "items need") + " a decision.")
	table(b, []typeset.Column{
		{Title: "Item", Max: 80}, {Title: "Where", Flex: 1}, {Title: "Why", Flex: 1.4}, {Title: "Since"}, {Title: "Suggested decision", Max: 90}, {Title: "Owner"},
	}, tasks, func(_ int, t task) []typeset.Cell {
		return []typeset.Cell{strong(t.item), taskPlace(t), text(t.why), text(t.since), text(t.decision), faint("              ")}
	})
}

// taskPlace is the database, under its table if the item is about one.
func taskPlace(t task) typeset.Cell {
	if t.table == "" {
		return text(t.where)
	}
	return typeset.Cell{Text: t.table, Style: codeStyle, Sub: t.where, SubStyle: cellMuted}
}

func (b *builder) tasks() []task {
	tasks := b.lapsingTasks()
	b.eachDatabase(func(in snapshot.Instance, db snapshot.Database) {
		tasks = append(tasks, databaseTasks(in, db)...)
	})
	slices.SortStableFunc(tasks, func(x, y task) int {
		return cmp.Or(cmp.Compare(x.rank, y.rank), strings.Compare(x.where, y.where), strings.Compare(x.table, y.table), strings.Compare(x.item, y.item))
	})
	return tasks
}

func databaseTasks(in snapshot.Instance, db snapshot.Database) []task {
	place := shorten(in.Name, 60) + " / " + shorten(db.Name, 60)
	c := db.Classification
	switch {
	case c == nil:
		return []task{{2, "Never classified", place, "", "no run is on record", day(in.CreatedAt), "Run a classification, or switch it off with a reason"}}
	case c.Status == snapshot.ClassificationFailed:
		return []task{{0, "Failed scan", place, "", shorten(orDash(c.Reason), 200), day(c.FinishedAt), "Repair the access and run it again"}}
	case c.Status == snapshot.ClassificationOff:
		return []task{{3, "Classification off", place, "", shorten(orDash(c.Reason), 200), day(c.StartedAt), "Confirm that it stays off"}}
	}
	var tasks []task
	if f := c.Failure; f != nil {
		tasks = append(tasks, task{0, "Failed scan", place, "", shorten(orDash(f.Reason), 200), day(f.At), "Run it again: what is printed is of " + day(c.FinishedAt)})
	}
	for _, u := range c.UnreadColumns {
		tasks = append(tasks, task{1, "Columns not read", place, u.Schema + "." + u.Table, shorten(strings.Join(u.Columns, ", ")+": "+u.Reason, 200),
			day(c.FinishedAt), "Look at them, or accept the gap"})
	}
	for _, f := range c.FailedTables {
		tasks = append(tasks, task{0, "Table not classified", place, f.Schema + "." + f.Name, shorten(orDash(f.Reason), 200), day(c.FinishedAt), "Grant SELECT, or accept the gap"})
	}
	for _, t := range c.Tables {
		if c.Own { // what its columns hold is known
			break
		}
		for part := range slices.Chunk(unsure(t), matchesARow) {
			tasks = append(tasks, task{4, "Confirm " + count(len(part), "match", "matches"), place, tableName(t), strings.Join(part, "; "),
				day(c.FinishedAt), "Confirm or reject each"})
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

// riskRegister prints every table with sensitive data, riskiest first.
func (b *builder) riskRegister() {
	c := analysis.ClassificationCoverage(b.doc)
	if b.unclassified(c) {
		return
	}
	if len(b.risks) == 0 {
		b.clean(c.Completed == c.Databases, "No risk to register: no sensitive table was found"+b.neverLooked(c)+".")
		return
	}
	table(b, []typeset.Column{
		{Title: "Id"}, {Title: "Table", Max: 130}, {Title: "Risk, L × I"}, {Title: "Drivers, and existing controls", Flex: 1.5},
		{Title: "Proposed treatment, due", Flex: 1}, {Title: "Owner"},
	}, b.risks, func(i int, r analysis.TableRisk) []typeset.Cell {
		return []typeset.Cell{
			faint(fmt.Sprintf("R-%03d", i+1)), {Text: tableName(r.Table), Style: codeStyle, Sub: r.InstanceName + " / " + r.Database, SubStyle: cellMuted},
			b.registerRisk(r), {Text: orDash(strings.Join(r.Drivers, "; ")), Sub: "Controls: " + cmp.Or(strings.Join(r.Controls, "; "), "none seen"), SubStyle: cellMuted},
			{Text: treatment(r), Sub: b.riskDue(r), SubStyle: cellMuted}, faint("           "),
		}
	})
	note := "Risk = likelihood (L, 1–5) × impact (I, 1–5): High from 15, Medium from 8. Likelihood: 1, + 2 readable by PUBLIC, + 1 weak or unencrypted sign-in, + 0.5 remote superuser, + 1 open CVE of CVSS 7.0 or more. " +
		"Impact: half the heaviest column's weight, + 0.5 over 100,000 rows, + 0.5 special category or credentials. Both rounded up, at most 5. Treatment: the two proposals that take away most; a low risk may be accepted, with a name to it."
	if b.riskUnsure() {
		note += " † Something that raises the likelihood, or the number of rows, could not be read, so the risk may be higher."
	}
	b.small(note)
}

// registerRisk is a risk with the two factors under it.
func (b *builder) registerRisk(r analysis.TableRisk) typeset.Cell {
	cell := riskCell(r)
	cell.Sub, cell.SubStyle = number(r.Likelihood)+" × "+number(r.Impact), cellMuted
	return cell
}

// proposals is how many treatments of a risk are printed.
const proposals = 2

// treatment is the proposal against a risk. A low one may be accepted; one without a known
// driver needs a look at the unknown parts.
func treatment(r analysis.TableRisk) string {
	switch {
	case r.Level() == analysis.Low:
		return "accept"
	case len(r.Treatments) == 0:
		return "ask its owner what the data is needed for"
	}
	return strings.Join(r.Treatments[:min(len(r.Treatments), proposals)], "; ")
}

func (b *builder) riskDue(r analysis.TableRisk) string {
	if r.Level() == analysis.Low {
		return "–"
	}
	return day(b.doc.AsOf.AddDate(0, 0, analysis.DueDays(r.Level())))
}

// inventoryCoverage says which databases the inventory stands on.
func (b *builder) inventoryCoverage() {
	c := analysis.ClassificationCoverage(b.doc)
	b.para(databasesSentence(c))
	b.sayGaps(b.classificationGaps())
	b.sub("Methodology")
	b.fact("Rules", b.ruleVersions())
	b.fact("Confidence", "Low, Medium, High, Certain: from the column's name alone in mode names; from sampled values as well in mode values. Sampled values are compared in memory, and never stored or printed.")
	b.fact("Coverage", "tables and columns classified, of those that the monitoring role saw. Databases without a run are in no percentage.")
	b.fact("Clock", "all times are UTC. What was known counts as of "+instant(b.doc.AsOf)+".")
	b.identity()
	b.missingGrants()
}

// databasesSentence says how many databases there are and what became of them.
func databasesSentence(c analysis.Classified) string {
	if c.Databases == 0 {
		return "No database is in scope."
	}
	return count(c.Databases, "database is", "databases are") + " in scope: " + shares([]share{
		{c.Completed, "classified completely"}, {c.Partial, "in part"}, {c.Failed, "with a failed run"}, {c.Off, "switched off"}, {c.Never, "never classified"},
	}) + "."
}

// classificationGaps are the databases, and instances without one, that the inventory does not
// know completely.
func (b *builder) classificationGaps() []gap {
	var gaps []gap
	b.eachDatabase(func(in snapshot.Instance, db snapshot.Database) {
		run := db.Classification
		g := gap{state: stateNotAssessed, places: []string{shorten(in.Name, 80) + " / " + shorten(db.Name, 80)}, database: true}
		switch {
		case run == nil:
			g.reason = "no classification is on record"
		case run.Status != snapshot.ClassificationCompleted || run.Failure != nil:
			g.reason = incompleteRun(*run)
		default:
			return
		}
		gaps = append(gaps, g)
	})
	for _, in := range b.doc.Instances {
		if len(in.Databases) > 0 {
			continue
		}
		gaps = append(gaps, gap{state: stateNotAssessed, places: []string{shorten(in.Name, 80)}, reason: inventoryGap(in)})
	}
	return gaps
}

// incompleteRun says why a classification is not complete.
func incompleteRun(run snapshot.Classification) string {
	why := clause(shorten(run.Reason, 300))
	if f := run.Failure; f != nil {
		return "the last classification failed on " + day(f.At) + before(": ", clause(shorten(f.Reason, 300))) + "; this report uses the one of " + day(run.FinishedAt)
	}
	switch run.Status {
	case snapshot.ClassificationPartial:
		return "classified in part only" + before(": ", why)
	case snapshot.ClassificationOff:
		return cmp.Or(why, "classification is switched off")
	default:
		return "the classification failed" + before(": ", why)
	}
}

func inventoryGap(in snapshot.Instance) string {
	if why := analysis.WhyNotAssessed(&in); why != "" {
		return why
	}
	return "no database of it is registered"
}

// ruleVersions names the rule sets that the runs used.
func (b *builder) ruleVersions() string {
	var versions []string
	samples := 0
	b.eachDatabase(func(_ snapshot.Instance, db snapshot.Database) {
		if db.Classification != nil && db.Classification.RulesVersion != "" {
			versions = append(versions, db.Classification.RulesVersion)
			samples = max(samples, db.Classification.SampleRows)
		}
	})
	slices.Sort(versions)
	versions = slices.Compact(versions)
	sent := 0
	b.eachDatabase(func(in snapshot.Instance, db snapshot.Database) {
		if db.Classification != nil && in.Assessment != nil && in.Assessment.Sent {
			sent++
		}
	})
	switch others := count(sent, "database", "databases") + " classified by another tool with its own rules"; {
	case len(versions) == 0 && sent > 0:
		return others + "."
	case len(versions) == 0:
		return "no classification has run."
	case sent > 0:
		versions[len(versions)-1] += " (" + others + ")"
	}
	words := "rule set " + strings.Join(versions, ", ")
	if samples > 0 {
		return words + "; at most " + count(samples, "row", "rows") + " sampled of a table."
	}
	return words + "; column names only, no values sampled."
}
