package inventory

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"muster/internal/engine"
	"muster/internal/report/pdf/blocks"
	"muster/internal/report/pdf/sections"
	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

// Front is page 1 of a report on data.
func Front(b *blocks.Builder) blocks.Front {
	c := analysis.ClassificationCoverage(b.Doc)
	high := highRisk(b)
	classified := c.Completed + c.Partial
	missing := c.Databases - c.Completed
	missingNote := "all completely"
	if missing > 0 {
		missingNote = databasesMissing(c)
	}
	riskColor := blocks.Accent
	if high > 0 {
		riskColor = blocks.SeverityColor[analysis.High]
	}
	f := blocks.Front{
		Gaps: "Coverage and methodology",
		Figures: []blocks.Figure{
			{Value: blocks.Dagger(blocks.Number(c.SensitiveTables), missing > 0), Label: blocks.Verb(c.SensitiveTables, "TABLE WITH PII", "TABLES WITH PII"), Note: "in " + blocks.Count(c.SensitiveDatabases, "database", "databases"), Color: blocks.Accent},
			{Value: blocks.Dagger(blocks.Number(high), missing > 0 || riskUnsure(b)), Label: blocks.Verb(high, "HIGH-RISK TABLE", "HIGH-RISK TABLES"), Note: "risk score 15 or more", Color: riskColor},
			plainFigure(b, missing > 0),
			{Value: blocks.Number(classified) + " / " + blocks.Number(c.Databases), Label: blocks.Verb(c.Databases, "DATABASE CLASSIFIED", "DATABASES CLASSIFIED"), Note: missingNote, Color: blocks.Accent},
		},
	}
	if len(b.Risks) > 0 {
		f.Below, f.Dense = func() { firstTables(b) }, true
	}
	return f
}

// plainFigure counts the sensitive tables whose files are known not to be encrypted.
func plainFigure(b *blocks.Builder, partial bool) blocks.Figure {
	c := analysis.EncryptionOf(b.Risks)
	if c.Encrypted+c.Plain == 0 {
		return blocks.Figure{Value: "–", Label: "NOT ENCRYPTED AT REST", Note: "not known for any table", Color: blocks.Muted}
	}
	color := blocks.Accent
	if c.Plain > 0 {
		color = blocks.SeverityColor[analysis.High]
	}
	note := blocks.Count(c.Encrypted, "table is", "tables are") + " encrypted"
	if c.Unknown > 0 {
		note = blocks.Number(c.Encrypted) + " encrypted, " + blocks.Number(c.Unknown) + " not known"
	}
	return blocks.Figure{Value: blocks.Dagger(blocks.Number(c.Plain), partial || c.Unknown > 0), Label: "NOT ENCRYPTED AT REST", Note: note, Color: color}
}

// databasesMissing counts the databases that were not looked at, or in part only.
func databasesMissing(c analysis.Classified) string {
	return blocks.Shares([]blocks.Share{{N: c.Databases - c.Completed - c.Partial, Words: "not looked at"}, {N: c.Partial, Words: "in part only"}})
}

// riskUnsure says whether the risk of some table may be higher than it is printed.
func riskUnsure(b *blocks.Builder) bool {
	return slices.ContainsFunc(b.Risks, func(r analysis.TableRisk) bool { return r.Partial })
}

func highRisk(b *blocks.Builder) int {
	n := 0
	for _, r := range b.Risks {
		if r.Level() == analysis.High {
			n++
		}
	}
	return n
}

// eachDatabase calls f for every database in scope, in the document's order.
func eachDatabase(b *blocks.Builder, f func(in snapshot.Instance, db snapshot.Database)) {
	for _, in := range b.Doc.Instances {
		for _, db := range in.Databases {
			f(in, db)
		}
	}
}

// Summary writes the section that counts tables, categories and risks.
func Summary(b *blocks.Builder) {
	c := analysis.ClassificationCoverage(b.Doc)
	if c.Databases == 0 {
		b.State(blocks.StateNotApplicable, "Not applicable: no database is in scope of this report.")
		return
	}
	tables, okTables := c.Tables()
	columns, okColumns := c.Columns()
	coverage := "unknown, since no table was seen"
	if okTables {
		coverage = blocks.Percent(tables) + " of " + blocks.Count(c.TablesSeen, "table", "tables")
		if okColumns {
			coverage += " and " + blocks.Percent(columns) + " of " + blocks.Count(c.ColumnsSeen, "column", "columns")
		}
	}
	b.Para(blocks.Count(c.SensitiveTables, "table has", "tables have") + " at least one sensitive column; " + highRiskWords(highRisk(b), riskUnsure(b)) + ". Classification coverage: " + coverage + ", in " +
		blocks.Number(c.Completed+c.Partial) + " of " + blocks.Count(c.Databases, "database", "databases") + neverLooked(c) + ".")
	b.Para("Unencrypted tables: " + unencrypted(b) + " “Encryption coverage” shows what is visible.")
	if c.SensitiveTables > 0 {
		categoryChart(b)
	} else if c.Completed+c.Partial > 0 {
		b.Clean(c.Completed == c.Databases, "No sensitive column was found: "+blocks.Count(c.ColumnsDone, "column was", "columns were")+" classified"+neverLooked(c)+".")
	}
	runs(b)
}

// neverLooked says how many databases a sentence does not stand on.
func neverLooked(c analysis.Classified) string {
	return sections.Before("; ", databasesMissing(c))
}

func highRiskWords(n int, unsure bool) string {
	switch {
	case n == 0 && unsure:
		return "none carries a high risk as far as it is known"
	case n == 0:
		return "none carries a high risk"
	}
	return blocks.Number(n) + " of them " + blocks.Verb(n, "carries", "carry") + " a high risk"
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

func categoryChart(b *blocks.Builder) {
	order := categoryOrder(b.Risks)
	if len(order) > len(categoryColors) {
		order = order[:len(categoryColors)]
	}
	legend := make([]blocks.LegendEntry, len(order))
	for i, c := range order {
		legend[i] = blocks.LegendEntry{Label: blocks.OrDash(c), Color: categoryColors[i]}
	}
	var bars []blocks.Bar
	at := map[[16]byte]int{}
	for _, r := range b.Risks {
		i, ok := at[r.InstanceID]
		if !ok {
			i = len(bars)
			at[r.InstanceID] = i
			bars = append(bars, blocks.Bar{Label: r.InstanceName, Parts: make([]int, len(order))})
		}
		if c := slices.Index(order, mainCategory(r.Table)); c >= 0 {
			bars[i].Parts[c]++
		} else {
			bars[i].Parts[len(order)-1]++
		}
	}
	slices.SortStableFunc(bars, func(x, y blocks.Bar) int {
		return cmp.Or(cmp.Compare(blocks.Sum(y.Parts), blocks.Sum(x.Parts)), strings.Compare(x.Label, y.Label))
	})
	b.Sub("Sensitive tables by instance")
	b.Stacked(legend, blocks.Fold(bars))
	b.Small("A table counts once, under the category of its most sensitive column.")
}

// runs lists the last classification of every database.
func runs(b *blocks.Builder) {
	type row struct {
		in snapshot.Instance
		db snapshot.Database
	}
	var rows []row
	eachDatabase(b, func(in snapshot.Instance, db snapshot.Database) { rows = append(rows, row{in, db}) })
	b.Sub("Last classification of each database")
	blocks.Table(b, []typeset.Column{
		{Title: "Instance", Flex: 1}, {Title: "Database", Flex: 1}, {Title: "Status"}, {Title: "Finished"}, {Title: "Mode"}, {Title: "Tables", Align: typeset.Right}, {Title: "Columns", Align: typeset.Right}, {Title: "Sensitive", Align: typeset.Right},
	}, rows, func(_ int, r row) []typeset.Cell {
		c := r.db.Classification
		if c == nil {
			return []typeset.Cell{blocks.Strong(r.in.Name), blocks.Text(r.db.Name), classStatus(nil), blocks.Faint("–"), blocks.Faint("–"), blocks.Faint("–"), blocks.Faint("–"), blocks.Faint("–")}
		}
		return []typeset.Cell{
			blocks.Strong(r.in.Name), ownName(r.db), classStatus(c), blocks.Text(blocks.Minute(c.FinishedAt)), blocks.Text(blocks.OrDash(c.Mode)),
			blocks.Text(blocks.Number(c.TablesClassified) + " / " + blocks.Number(c.TablesSeen)), blocks.Text(blocks.Number(c.ColumnsClassified) + " / " + blocks.Number(c.ColumnsSeen)), sections.ZeroFaint(len(c.Tables)),
		}
	})
}

func classStatus(c *snapshot.Classification) typeset.Cell {
	switch {
	case c == nil:
		return typeset.Cell{Text: "never", Mark: blocks.Caution}
	case c.Failure != nil:
		return typeset.Cell{Text: "failed since", Style: blocks.CellStrong, Mark: blocks.SeverityColor[analysis.Critical]}
	case c.Status == snapshot.ClassificationCompleted:
		return typeset.Cell{Text: "completed", Mark: blocks.Good}
	case c.Status == snapshot.ClassificationPartial:
		return typeset.Cell{Text: "partial", Mark: blocks.Caution}
	case c.Status == snapshot.ClassificationOff:
		return typeset.Cell{Text: "off", Style: blocks.CellMuted, Mark: blocks.Muted}
	default:
		return typeset.Cell{Text: "failed", Style: blocks.CellStrong, Mark: blocks.SeverityColor[analysis.Critical]}
	}
}

// SensitiveTables prints, by category, the tables that have a column of it.
func SensitiveTables(b *blocks.Builder) {
	c := analysis.ClassificationCoverage(b.Doc)
	if unclassified(b, c) {
		return
	}
	if len(b.Risks) == 0 {
		defer ownTables(b)
		b.Clean(c.Completed == c.Databases, "No sensitive table. "+blocks.Count(c.TablesDone, "table was", "tables were")+" classified in "+blocks.Count(c.Completed+c.Partial, "database", "databases")+neverLooked(c)+".")
		return
	}
	b.Para("Values are never printed or stored: a column is named with the kind of data it holds and how sure that is. A table with columns of several categories is listed under each.")
	for _, category := range categoryOrder(b.Risks) {
		writeCategory(b, category, b.Risks)
	}
	readers(b)
	ownTables(b)
}

// unclassified says so if there is no classification to report.
func unclassified(b *blocks.Builder, c analysis.Classified) bool {
	switch {
	case c.Databases == 0:
		b.State(blocks.StateNotApplicable, "Not applicable: no database is in scope of this report.")
	case c.Completed+c.Partial == 0:
		b.State(blocks.StateNotAssessed, "Not assessed: no database in scope has a completed classification.")
	default:
		return false
	}
	return true
}

func writeCategory(b *blocks.Builder, category string, risks []analysis.TableRisk) {
	var rows []analysis.TableRisk
	for _, r := range risks {
		if slices.ContainsFunc(r.Table.Columns, func(c snapshot.ClassifiedColumn) bool { return c.Category == category }) {
			rows = append(rows, r)
		}
	}
	b.Sub(blocks.OrDash(category) + " – " + blocks.Count(len(rows), "table", "tables"))
	blocks.Table(b, []typeset.Column{
		{Title: "Risk"}, {Title: "Instance, database", Max: 96}, {Title: "Table", Flex: 1}, {Title: "Rows (est.)", Align: typeset.Right},
		{Title: "Sensitive columns", Flex: 1.5}, {Title: "PUBLIC", Align: typeset.Center}, {Title: "Encryption"},
	}, rows, func(_ int, r analysis.TableRisk) []typeset.Cell {
		return []typeset.Cell{
			riskCell(r), {Text: r.InstanceName, Style: blocks.CellStrong, Sub: r.Database, SubStyle: blocks.CellStyle},
			{Text: tableName(r.Table), Style: blocks.CodeStyle, Sub: readersOf(r.Table), SubStyle: blocks.CellMuted}, rowsCell(r.Table),
			{Text: columnsOf(r.Table, category)}, publicCell(r.Table), encryptionCell(r),
		}
	})
}

// rowsCell is the estimated number of rows, or that they were not counted.
func rowsCell(t snapshot.ClassifiedTable) typeset.Cell {
	rows, known := t.Rows()
	if !known {
		return blocks.Faint("unknown")
	}
	return blocks.Text(typeset.Thousands(rows))
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
	return "read by " + blocks.List(t.Readers, mostReaders)
}

func publicCell(t snapshot.ClassifiedTable) typeset.Cell {
	if t.AccessUnknown {
		return blocks.Faint("unknown")
	}
	return sections.BoldYes(t.PublicAccess)
}

func encryptionCell(r analysis.TableRisk) typeset.Cell {
	switch {
	case r.Encrypted != nil && *r.Encrypted:
		return blocks.Text("at rest")
	case r.Encrypted != nil:
		return blocks.Strong("none")
	case engine.Described(r.Engine).VolumesOnly:
		return blocks.Faint("not visible")
	}
	return blocks.Faint("not assessed")
}

// unencrypted says how many sensitive tables are known to lie in unencrypted files, and for how
// many this is unknown.
func unencrypted(b *blocks.Builder) string {
	c := analysis.EncryptionOf(b.Risks)
	why := whyUnknown(b.Risks)
	if c.Encrypted+c.Plain == 0 {
		return why + ", so none is counted."
	}
	words := blocks.Number(c.Plain) + " of " + blocks.Count(c.Encrypted+c.Plain+c.Unknown, "sensitive table", "sensitive tables") + " " + blocks.Verb(c.Plain, "is", "are") + " known not to be encrypted at rest, " +
		blocks.Number(c.Encrypted) + " " + blocks.Verb(c.Encrypted, "is", "are") + " encrypted"
	if c.Unknown > 0 {
		words += ", and of " + blocks.Number(c.Unknown) + " it is not known: " + why
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
	invisible := blocks.AllOf(blind) + " " + blocks.Verb(len(blind), "has", "have") + " no built-in encryption at rest, and that of a volume is not visible over SQL"
	switch {
	case others == 0:
		return invisible
	case of == 0:
		return "the encryption of files could not be read or was not sent"
	}
	return invisible + "; of " + blocks.Number(others) + " it could not be read, or was not sent"
}

func riskCell(r analysis.TableRisk) typeset.Cell {
	color := map[string]typeset.Color{analysis.High: blocks.SeverityColor[analysis.High], analysis.Medium: blocks.SeverityColor[analysis.Medium], analysis.Low: blocks.SeverityColor[analysis.Low]}[r.Level()]
	return typeset.Cell{Text: blocks.Dagger(blocks.Number(r.Score), r.Partial) + " " + r.Level(), Style: blocks.CellStrong, Mark: color}
}
