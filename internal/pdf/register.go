package pdf

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"muster/internal/pdf/typeset"
	"muster/internal/snapshot"
	"muster/internal/snapshot/analysis"
)

// encryption says what can be seen of encryption, engine by engine.
func (b *builder) encryption() {
	if len(b.doc.Instances) == 0 {
		b.state(stateNotApplicable, "Not applicable: no instance is in scope of this report.")
		return
	}
	b.tls()
	engines := map[string][]string{}
	var order []string
	for _, in := range b.doc.Instances {
		if in.Engine == "postgresql" {
			continue
		}
		if engines[in.Engine] == nil {
			order = append(order, in.Engine)
		}
		engines[in.Engine] = append(engines[in.Engine], shorten(in.Name, 80))
	}
	slices.Sort(order)
	b.sub("Transparent data encryption", 30)
	if !slices.Contains(order, "sqlserver") {
		b.state(stateNotApplicable, "Not applicable: no SQL Server is in scope.")
	}
	for _, engine := range order {
		on := list(engines[engine], 8)
		if engine == "sqlserver" {
			b.state(stateNotAssessed, "Not assessed on "+on+": the TDE state of SQL Server databases has not been read.")
			continue
		}
		b.state(stateNotApplicable, "Not applicable to "+on+": the encryption status of "+analysis.EngineName(engine)+" is not part of this report.")
	}
}

// tls prints what PostgreSQL shows: encryption of sessions, not at rest.
func (b *builder) tls() {
	b.sub("PostgreSQL", 60)
	var rows []snapshot.Instance
	for _, in := range b.assessedInstances() {
		if in.Engine == "postgresql" {
			rows = append(rows, in)
		}
	}
	any := slices.ContainsFunc(b.doc.Instances, func(in snapshot.Instance) bool { return in.Engine == "postgresql" })
	if !any {
		b.state(stateNotApplicable, "Not applicable: no PostgreSQL instance is in scope.")
		return
	}
	b.para("At rest: PostgreSQL has no built-in transparent data encryption; encryption of the volume is not visible over SQL. In transit: the share of client sessions that used TLS when the instance was assessed.")
	if len(rows) == 0 {
		b.state(stateNotAssessed, "Not assessed: no PostgreSQL instance in scope could be reached.")
		return
	}
	b.table(typeset.Table{
		Columns: []typeset.Column{
			{Title: "Instance", Flex: 1}, {Title: "At rest"}, {Title: "Client sessions", Align: typeset.Right}, {Title: "With TLS", Align: typeset.Right}, {Title: "Share", Align: typeset.Right}, {Title: "Seen"},
		},
		Rows: len(rows),
		Row: func(i int) []typeset.Cell {
			in := rows[i]
			a := in.Assessment
			cells := []typeset.Cell{strong(in.Name), faint("not visible over SQL")}
			switch {
			case a.ClientSessions == nil || a.TLSSessions == nil:
				cells = append(cells, faint("not readable"), faint("–"), faint("–"))
			case *a.ClientSessions == 0:
				cells = append(cells, text("0"), text("0"), faint("no session"))
			default:
				cells = append(cells, text(number(*a.ClientSessions)), text(number(*a.TLSSessions)), strong(percent(float64(*a.TLSSessions)/float64(*a.ClientSessions))))
			}
			return append(cells, text(minute(a.StartedAt)))
		},
	})
}

// task is one open item that needs a person.
type task struct {
	rank                              int
	item, where, why, since, decision string
}

// worklist lists what a person has to decide.
func (b *builder) worklist() {
	c := analysis.ClassificationCoverage(b.doc)
	if c.Databases == 0 {
		b.state(stateNotApplicable, "Not applicable: no database is in scope of this report.")
		return
	}
	tasks := b.tasks()
	if len(tasks) == 0 {
		b.state(stateClean, "Nothing is open: every database in scope is classified, and every match is sure.")
		return
	}
	b.para(count(len(tasks), "item needs", "items need") + " a decision.")
	b.table(typeset.Table{
		Columns: []typeset.Column{
			{Title: "Item", Flex: 1}, {Title: "Where", Flex: 1.3}, {Title: "Why", Flex: 1.3}, {Title: "Since"}, {Title: "Suggested decision", Flex: 1.2}, {Title: "Owner"},
		},
		Rows: len(tasks),
		Row: func(i int) []typeset.Cell {
			t := tasks[i]
			return []typeset.Cell{strong(t.item), {Text: t.where, Style: codeStyle}, text(t.why), text(t.since), text(t.decision), faint("              ")}
		},
	})
}

func (b *builder) tasks() []task {
	var tasks []task
	b.eachDatabase(func(in snapshot.Instance, db snapshot.Database) {
		tasks = append(tasks, databaseTasks(in, db)...)
	})
	slices.SortStableFunc(tasks, func(x, y task) int {
		return cmp.Or(cmp.Compare(x.rank, y.rank), strings.Compare(x.where, y.where), strings.Compare(x.item, y.item))
	})
	return tasks
}

func databaseTasks(in snapshot.Instance, db snapshot.Database) []task {
	place := shorten(in.Name, 60) + " / " + shorten(db.Name, 60)
	c := db.Classification
	switch {
	case c == nil && !classifiable(in.Engine):
		return nil
	case c == nil:
		return []task{{1, "Never classified", place, "no run is on record", day(in.CreatedAt), "Run a classification, or switch it off with a reason"}}
	case c.Status == snapshot.ClassificationFailed:
		return []task{{0, "Failed scan", place, shorten(orDash(c.Reason), 200), day(c.FinishedAt), "Repair the access and run it again"}}
	case c.Status == snapshot.ClassificationOff:
		return []task{{2, "Classification off", place, shorten(orDash(c.Reason), 200), day(c.StartedAt), "Confirm that it stays off"}}
	}
	var tasks []task
	for _, f := range c.FailedTables {
		tasks = append(tasks, task{0, "Table not classified", place + " / " + f.Schema + "." + f.Name, shorten(orDash(f.Reason), 200), day(c.FinishedAt), "Grant SELECT, or accept the gap"})
	}
	for _, t := range c.Tables {
		for _, col := range t.Columns {
			if col.Confidence != "Low" && col.Confidence != "Medium" {
				continue
			}
			tasks = append(tasks, task{3, "Confirm a match", place + " / " + t.Schema + "." + t.Name + "." + col.Name,
				strings.ToLower(col.Confidence) + " confidence: " + col.InfoType, day(c.FinishedAt), "Confirm or reject"})
		}
	}
	return tasks
}

// riskRegister prints every table with sensitive data, riskiest first.
func (b *builder) riskRegister() {
	risks := analysis.Risks(b.doc)
	c := analysis.ClassificationCoverage(b.doc)
	switch {
	case c.Databases == 0:
		b.state(stateNotApplicable, "Not applicable: no database is in scope of this report.")
		return
	case c.Completed+c.Partial == 0:
		b.state(stateNotAssessed, "Not assessed: no database in scope has a completed classification.")
		return
	case len(risks) == 0:
		b.state(stateClean, "No risk to register: no sensitive table was found.")
		return
	}
	partial := slices.ContainsFunc(risks, func(r analysis.TableRisk) bool { return r.Partial })
	b.table(typeset.Table{
		Columns: []typeset.Column{
			{Title: "Id"}, {Title: "Table", Max: 130}, {Title: "Risk, L × I"}, {Title: "Drivers", Flex: 1.3}, {Title: "Existing controls", Flex: 1},
			{Title: "Treatment, due"}, {Title: "Owner"},
		},
		Rows: len(risks),
		Row: func(i int) []typeset.Cell {
			r := risks[i]
			return []typeset.Cell{
				faint(fmt.Sprintf("R-%03d", i+1)), {Text: r.Table.Schema + "." + r.Table.Name, Style: codeStyle, Sub: r.InstanceName + " / " + r.Database, SubStyle: cellMuted},
				b.registerRisk(r), text(orDash(strings.Join(r.Drivers, "; "))), faint(orDash(strings.Join(r.Controls, "; "))),
				{Text: treatment(r), Sub: b.riskDue(r), SubStyle: cellMuted}, faint("             "),
			}
		},
	})
	note := "Risk = likelihood (L, 1–5) × impact (I, 1–5): High from 15, Medium from 8. Likelihood: 1, + 2 readable by PUBLIC, + 1 weak or unencrypted sign-in, + 0.5 remote superuser, + 1 open CVE of CVSS 7.0 or more. " +
		"Impact: half the heaviest column's weight, + 0.5 over 100,000 rows, + 0.5 special category or credentials. Both rounded up, at most 5. Treatment is a suggestion."
	if partial {
		note += " † Something that raises the likelihood could not be read, so the risk may be higher."
	}
	b.small(note)
}

// registerRisk is a risk with the two factors under it.
func (b *builder) registerRisk(r analysis.TableRisk) typeset.Cell {
	cell := riskCell(r)
	cell.Sub, cell.SubStyle = number(r.Likelihood)+" × "+number(r.Impact), cellMuted
	return cell
}

func treatment(r analysis.TableRisk) string {
	if r.Level() == analysis.Low {
		return "accept"
	}
	return "mitigate"
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
	b.para("Databases in scope: " + number(c.Databases) + ", of which " + number(c.Completed) + " with a completed, " + number(c.Partial) + " with a partial, " +
		number(c.Failed) + " with a failed classification, " + number(c.Off) + " switched off and " + number(c.Never) + " never classified.")
	b.eachDatabase(func(in snapshot.Instance, db snapshot.Database) {
		run, place := db.Classification, shorten(in.Name, 80)+" / "+shorten(db.Name, 80)
		switch {
		case run == nil && !classifiable(in.Engine):
			b.state(stateNotApplicable, "Not applicable to "+place+": "+analysis.EngineName(in.Engine)+" has no table classification.")
		case run == nil:
			b.state(stateNotAssessed, "Not assessed on "+place+": no classification is on record.")
		case run.Status != snapshot.ClassificationCompleted:
			b.state(stateNotAssessed, "Not assessed completely on "+place+" ("+run.Status+"): "+sentence(orDash(shorten(run.Reason, 300))))
		}
	})
	for _, in := range b.doc.Instances {
		switch {
		case len(in.Databases) > 0:
		case !classifiable(in.Engine):
			b.state(stateNotApplicable, "Not applicable to "+shorten(in.Name, 80)+": "+analysis.EngineName(in.Engine)+" has no table classification.")
		default:
			b.state(stateNotAssessed, "Not assessed on "+shorten(in.Name, 80)+": "+inventoryGap(in)+".")
		}
	}
	b.sub("Methodology", 90)
	b.fact("Rules", b.ruleVersions())
	b.fact("Confidence", "Low, Medium, High, Certain: from the column's name alone in mode names; from sampled values as well in mode values. Samples are read on the server's side of the collector and are never stored.")
	b.fact("Coverage", "tables and columns classified, of those that the monitoring role saw. Databases without a run are in no percentage.")
	b.fact("Clock", "all times are UTC. What was known counts as of "+instant(b.doc.AsOf)+".")
	b.proof("Annex A: how to verify this report")
	b.missingGrants()
}

func inventoryGap(in snapshot.Instance) string {
	if why := notAssessedWhy(in); why != "" {
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
	if len(versions) == 0 {
		return "no classification has run."
	}
	words := "rule set " + strings.Join(versions, ", ")
	if samples > 0 {
		return words + "; at most " + count(samples, "row", "rows") + " sampled of a table."
	}
	return words + "; column names only, no values sampled."
}
