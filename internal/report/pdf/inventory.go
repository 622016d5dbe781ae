package pdf

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"muster/internal/engine"
	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

func (b *builder) inventoryFront() front {
	c := analysis.ClassificationCoverage(b.doc)
	high := b.highRisk()
	classified := c.Completed + c.Partial
	missing := c.Databases - c.Completed
	missingNote := "all completely"
	if missing > 0 {
		missingNote = databasesMissing(c)
	}
	riskColor := accent
	if high > 0 {
		riskColor = severityColor[analysis.High]
	}
	f := front{
		gaps: "Coverage and methodology",
		figures: []figure{
			{dagger(number(c.SensitiveTables), missing > 0), verb(c.SensitiveTables, "TABLE WITH PII", "TABLES WITH PII"), "in " + count(classified, "database", "databases"), accent},
			{dagger(number(high), missing > 0 || b.riskUnsure()), verb(high, "HIGH-RISK TABLE", "HIGH-RISK TABLES"), "risk score 15 or more", riskColor},
			b.plainFigure(missing > 0),
			{number(classified) + " / " + number(c.Databases), verb(c.Databases, "DATABASE CLASSIFIED", "DATABASES CLASSIFIED"), missingNote, accent},
		},
	}
	if len(b.risks) > 0 {
		f.below, f.dense = b.firstTables, true
	}
	return f
}

// plainFigure counts the sensitive tables whose files are known not to be encrypted.
func (b *builder) plainFigure(partial bool) figure {
	c := analysis.EncryptionOf(b.risks)
	if c.Encrypted+c.Plain == 0 {
		return figure{"–", "NOT ENCRYPTED AT REST", "not known for any table", muted}
	}
	color := accent
	if c.Plain > 0 {
		color = severityColor[analysis.High]
	}
	note := count(c.Encrypted, "table is", "tables are") + " encrypted"
	if c.Unknown > 0 {
		note = number(c.Encrypted) + " encrypted, " + number(c.Unknown) + " not known"
	}
	return figure{dagger(number(c.Plain), partial || c.Unknown > 0), "NOT ENCRYPTED AT REST", note, color}
}

// databasesMissing counts the databases that were not looked at, or in part only.
func databasesMissing(c analysis.Classified) string {
	return shares([]share{{c.Databases - c.Completed - c.Partial, "not looked at"}, {c.Partial, "in part only"}})
}

// riskUnsure says whether the risk of some table may be higher than it is printed.
func (b *builder) riskUnsure() bool {
	return slices.ContainsFunc(b.risks, func(r analysis.TableRisk) bool { return r.Partial })
}

func (b *builder) highRisk() int {
	n := 0
	for _, r := range b.risks {
		if r.Level() == analysis.High {
			n++
		}
	}
	return n
}

// eachDatabase calls f for every database in scope, in the document's order.
func (b *builder) eachDatabase(f func(in snapshot.Instance, db snapshot.Database)) {
	for _, in := range b.doc.Instances {
		for _, db := range in.Databases {
			f(in, db)
		}
	}
}

func (b *builder) inventorySummary() {
	c := analysis.ClassificationCoverage(b.doc)
	if c.Databases == 0 {
		b.state(stateNotApplicable, "Not applicable: no database is in scope of this report.")
		return
	}
	tables, okTables := c.Tables()
	columns, okColumns := c.Columns()
	coverage := "unknown, since no table was seen"
	if okTables {
		coverage = percent(tables) + " of " + count(c.TablesSeen, "table", "tables")
		if okColumns {
			coverage += " and " + percent(columns) + " of " + count(c.ColumnsSeen, "column", "columns")
		}
	}
	b.para(count(c.SensitiveTables, "table has", "tables have") + " at least one sensitive column; " + highRiskWords(b.highRisk(), b.riskUnsure()) + ". Classification coverage: " + coverage + ", in " +
		number(c.Completed+c.Partial) + " of " + count(c.Databases, "database", "databases") + b.neverLooked(c) + ".")
	b.para("Unencrypted tables: " + b.unencrypted() + " “Encryption coverage” shows what is visible.")
	if c.SensitiveTables > 0 {
		b.categoryChart()
	} else if c.Completed+c.Partial > 0 {
		b.clean(c.Completed == c.Databases, "No sensitive column was found: "+count(c.ColumnsDone, "column was", "columns were")+" classified"+b.neverLooked(c)+".")
	}
	b.runs()
}

// neverLooked says how many databases a sentence does not stand on.
func (b *builder) neverLooked(c analysis.Classified) string {
	return before("; ", databasesMissing(c))
}

func highRiskWords(n int, unsure bool) string {
	switch {
	case n == 0 && unsure:
		return "none carries a high risk as far as it is known"
	case n == 0:
		return "none carries a high risk"
	}
	return number(n) + " of them " + verb(n, "carries", "carry") + " a high risk"
}

// categoryOrder is how severe a category is at most, then its name.
func categoryOrder(risks []analysis.TableRisk) []string {
	weight := map[string]int{}
	for _, r := range risks {
		for _, col := range r.Table.Columns {
			weight[col.Category] = max(weight[col.Category], col.Weight)
		}
	}
	return slices.SortedFunc(maps.Keys(weight), func(a, b string) int { return cmp.Or(cmp.Compare(weight[b], weight[a]), strings.Compare(a, b)) })
}

// categoryColors tell categories apart; each also has its label in the legend.
var categoryColors = []typeset.Color{0x9B1B30, 0xCC5A1B, 0xC79A1E, 0x3E7C6B, 0x1D4E79, 0x5B86B0, 0x6B5B95, 0x8A96A3, 0x4A4A4A}

// mainCategory is the category of a table's heaviest column.
func mainCategory(t snapshot.ClassifiedTable) string {
	best := snapshot.ClassifiedColumn{Weight: -1}
	for _, c := range t.Columns {
		if c.Weight > best.Weight || c.Weight == best.Weight && c.Category < best.Category {
			best = c
		}
	}
	return best.Category
}

func (b *builder) categoryChart() {
	order := categoryOrder(b.risks)
	if len(order) > len(categoryColors) {
		order = order[:len(categoryColors)]
	}
	legend := make([]legendEntry, len(order))
	for i, c := range order {
		legend[i] = legendEntry{orDash(c), categoryColors[i]}
	}
	var bars []bar
	at := map[[16]byte]int{}
	for _, r := range b.risks {
		i, ok := at[r.InstanceID]
		if !ok {
			i = len(bars)
			at[r.InstanceID] = i
			bars = append(bars, bar{label: r.InstanceName, parts: make([]int, len(order))})
		}
		if c := slices.Index(order, mainCategory(r.Table)); c >= 0 {
			bars[i].parts[c]++
		} else {
			bars[i].parts[len(order)-1]++
		}
	}
	slices.SortStableFunc(bars, func(x, y bar) int {
		return cmp.Or(cmp.Compare(sum(y.parts), sum(x.parts)), strings.Compare(x.label, y.label))
	})
	b.sub("Sensitive tables by instance")
	b.stacked(legend, fold(bars))
	b.small("A table counts once, under the category of its most sensitive column.")
}

// runs lists the last classification of every database.
func (b *builder) runs() {
	type row struct {
		in snapshot.Instance
		db snapshot.Database
	}
	var rows []row
	b.eachDatabase(func(in snapshot.Instance, db snapshot.Database) { rows = append(rows, row{in, db}) })
	b.sub("Last classification of each database")
	table(b, []typeset.Column{
		{Title: "Instance", Flex: 1}, {Title: "Database", Flex: 1}, {Title: "Status"}, {Title: "Finished"}, {Title: "Mode"}, {Title: "Tables", Align: typeset.Right}, {Title: "Columns", Align: typeset.Right}, {Title: "Sensitive", Align: typeset.Right},
	}, rows, func(_ int, r row) []typeset.Cell {
		c := r.db.Classification
		if c == nil {
			return []typeset.Cell{strong(r.in.Name), text(r.db.Name), classStatus(nil), faint("–"), faint("–"), faint("–"), faint("–"), faint("–")}
		}
		return []typeset.Cell{
			strong(r.in.Name), ownName(r.db), classStatus(c), text(minute(c.FinishedAt)), text(orDash(c.Mode)),
			text(number(c.TablesClassified) + " / " + number(c.TablesSeen)), text(number(c.ColumnsClassified) + " / " + number(c.ColumnsSeen)), zeroFaint(len(c.Tables)),
		}
	})
}

func classStatus(c *snapshot.Classification) typeset.Cell {
	switch {
	case c == nil:
		return typeset.Cell{Text: "never", Mark: caution}
	case c.Failure != nil:
		return typeset.Cell{Text: "failed since", Style: cellStrong, Mark: severityColor[analysis.Critical]}
	case c.Status == snapshot.ClassificationCompleted:
		return typeset.Cell{Text: "completed", Mark: good}
	case c.Status == snapshot.ClassificationPartial:
		return typeset.Cell{Text: "partial", Mark: caution}
	case c.Status == snapshot.ClassificationOff:
		return typeset.Cell{Text: "off", Style: cellMuted, Mark: muted}
	default:
		return typeset.Cell{Text: "failed", Style: cellStrong, Mark: severityColor[analysis.Critical]}
	}
}

// sensitiveTables prints, by category, the tables that have a column of it.
func (b *builder) sensitiveTables() {
	c := analysis.ClassificationCoverage(b.doc)
	if b.unclassified(c) {
		return
	}
	if len(b.risks) == 0 {
		defer b.ownTables()
		b.clean(c.Completed == c.Databases, "No sensitive table. "+count(c.TablesDone, "table was", "tables were")+" classified in "+count(c.Completed+c.Partial, "database", "databases")+b.neverLooked(c)+".")
		return
	}
	b.para("Values are never printed or stored: a column is named with the kind of data it holds and how sure that is. A table with columns of several categories is listed under each.")
	for _, category := range categoryOrder(b.risks) {
		b.category(category, b.risks)
	}
	b.readers()
	b.ownTables()
}

// unclassified says so if there is no classification to report.
func (b *builder) unclassified(c analysis.Classified) bool {
	switch {
	case c.Databases == 0:
		b.state(stateNotApplicable, "Not applicable: no database is in scope of this report.")
	case c.Completed+c.Partial == 0:
		b.state(stateNotAssessed, "Not assessed: no database in scope has a completed classification.")
	default:
		return false
	}
	return true
}

func (b *builder) category(category string, risks []analysis.TableRisk) {
	var rows []analysis.TableRisk
	for _, r := range risks {
		if slices.ContainsFunc(r.Table.Columns, func(c snapshot.ClassifiedColumn) bool { return c.Category == category }) {
			rows = append(rows, r)
		}
	}
	b.sub(orDash(category) + " – " + count(len(rows), "table", "tables"))
	table(b, []typeset.Column{
		{Title: "Risk"}, {Title: "Instance, database", Max: 96}, {Title: "Table", Flex: 1}, {Title: "Rows (est.)", Align: typeset.Right},
		{Title: "Sensitive columns", Flex: 1.5}, {Title: "PUBLIC", Align: typeset.Center}, {Title: "Encryption"},
	}, rows, func(_ int, r analysis.TableRisk) []typeset.Cell {
		return []typeset.Cell{
			riskCell(r), {Text: r.InstanceName, Style: cellStrong, Sub: r.Database, SubStyle: cellStyle},
			{Text: tableName(r.Table), Style: codeStyle, Sub: readersOf(r.Table), SubStyle: cellMuted}, rowsCell(r.Table),
			{Text: columnsOf(r.Table, category)}, publicCell(r.Table), encryptionCell(r),
		}
	})
}

// rowsCell is the estimated number of rows, or that they were not counted.
func rowsCell(t snapshot.ClassifiedTable) typeset.Cell {
	rows, known := t.Rows()
	if !known {
		return faint("unknown")
	}
	return text(typeset.Thousands(rows))
}

func columnsOf(t snapshot.ClassifiedTable, category string) string {
	var parts []string
	for _, c := range t.Columns {
		if c.Category == category {
			parts = append(parts, c.Name+" ("+c.InfoType+", "+strings.ToLower(c.Confidence)+")")
		}
	}
	return strings.Join(parts, "; ")
}

// tableName is a table with its schema, where its engine has those.
func tableName(t snapshot.ClassifiedTable) string {
	if t.Schema == "" {
		return t.Name
	}
	return t.Schema + "." + t.Name
}

// mostReaders is how many readers of a table are named.
const mostReaders = 6

// readersOf names who may read a table, as far as a feed told.
func readersOf(t snapshot.ClassifiedTable) string {
	if len(t.Readers) == 0 {
		return ""
	}
	return "read by " + list(t.Readers, mostReaders)
}

func publicCell(t snapshot.ClassifiedTable) typeset.Cell {
	if t.AccessUnknown {
		return faint("unknown")
	}
	return boldYes(t.PublicAccess)
}

func encryptionCell(r analysis.TableRisk) typeset.Cell {
	switch {
	case r.Encrypted != nil && *r.Encrypted:
		return text("at rest")
	case r.Encrypted != nil:
		return strong("none")
	case engine.Described(r.Engine).VolumesOnly:
		return faint("not visible")
	}
	return faint("not assessed")
}

// unencrypted says how many sensitive tables are known to lie in unencrypted files, and for how
// many this is unknown.
func (b *builder) unencrypted() string {
	c := analysis.EncryptionOf(b.risks)
	why := whyUnknown(b.risks)
	if c.Encrypted+c.Plain == 0 {
		return why + ", so none is counted."
	}
	words := number(c.Plain) + " of " + count(c.Encrypted+c.Plain+c.Unknown, "sensitive table", "sensitive tables") + " " + verb(c.Plain, "is", "are") + " known not to be encrypted at rest, " +
		number(c.Encrypted) + " " + verb(c.Encrypted, "is", "are") + " encrypted"
	if c.Unknown > 0 {
		words += ", and of " + number(c.Unknown) + " it is not known: " + why
	}
	return words + "."
}

// whyUnknown says why it is not known of tables whether they are encrypted at rest.
func whyUnknown(risks []analysis.TableRisk) string {
	of, others := 0, 0
	for _, r := range risks {
		switch {
		case r.Encrypted != nil:
		case engine.Described(r.Engine).VolumesOnly:
			of++
		default:
			others++
		}
	}
	blind := volumesOnly()
	invisible := allOf(blind) + " " + verb(len(blind), "has", "have") + " no built-in encryption at rest, and that of a volume is not visible over SQL"
	switch {
	case others == 0:
		return invisible
	case of == 0:
		return "the encryption of files could not be read or was not sent"
	}
	return invisible + "; of " + number(others) + " it could not be read, or was not sent"
}

func riskCell(r analysis.TableRisk) typeset.Cell {
	color := map[string]typeset.Color{analysis.High: severityColor[analysis.High], analysis.Medium: severityColor[analysis.Medium], analysis.Low: severityColor[analysis.Low]}[r.Level()]
	return typeset.Cell{Text: dagger(number(r.Score), r.Partial) + " " + r.Level(), Style: cellStrong, Mark: color}
}
