package inventory

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

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
// None is the color of a severity, which would say something else.
var categoryColors = []typeset.Color{0x1D4E79, 0x3E7C6B, 0x6B5B95, 0x2F8F9D, 0x8C5A7D, 0x5C6B2F, 0x7A6652, 0x8A96A3, 0x4A4A4A}

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

// runs lists the databases whose last classification is not complete, and Muster's own.
func runs(b *blocks.Builder) {
	type row struct {
		in snapshot.Instance
		db snapshot.Database
	}
	var rows []row
	whole := 0
	var last time.Time
	eachDatabase(b, func(in snapshot.Instance, db snapshot.Database) {
		c := db.Classification
		if c != nil && c.Status == snapshot.ClassificationCompleted && c.Failure == nil && !c.Own {
			whole++
			if c.FinishedAt.After(last) {
				last = c.FinishedAt
			}
			return
		}
		rows = append(rows, row{in, db})
	})
	b.Sub("Databases that are not completely classified")
	if whole > 0 {
		b.Para(blocks.Count(whole, "database was", "databases were") + " classified completely, last at " + blocks.Minute(last) + ". inventory.csv has the time and mode of each.")
	}
	if len(rows) == 0 {
		return
	}
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
	b.Para("Values are never printed or stored: a column is named with the kind of data it holds and how sure that is. inventory.csv has every column, and who can read it by which way.")
	sensitiveTables(b)
	readers(b)
	ownTables(b)
}

// mostTablesListed is how many tables are printed, those of the highest risk: inventory.csv has all.
const mostTablesListed = 150

// sensitiveTables prints each table once, with its columns by category.
func sensitiveTables(b *blocks.Builder) {
	in := map[[16]byte]*snapshot.Instance{}
	for i := range b.Doc.Instances {
		in[b.Doc.Instances[i].ID] = &b.Doc.Instances[i]
	}
	shown := b.Risks[:min(len(b.Risks), mostTablesListed)]
	blocks.Table(b, []typeset.Column{
		{Title: "Risk"}, {Title: "Table", Max: 148}, {Title: "Rows (est.)", Align: typeset.Right},
		{Title: "Sensitive columns by category", Flex: 1}, {Title: "Readers", Max: 58}, {Title: "At rest"},
	}, shown, func(_ int, r analysis.TableRisk) []typeset.Cell {
		return []typeset.Cell{
			riskCell(r), {Text: tableName(r.Table), Style: blocks.CodeStyle, Sub: r.InstanceName + " / " + r.Database, SubStyle: blocks.CellMuted}, rowsCell(r.Table),
			{Text: columnsByCategory(r.Table)}, readersCell(r.Table, analysis.ReadersOf(in[r.InstanceID], r.Table)), encryptionCell(r),
		}
	})
	words := "Confidence: L low, M medium, H high, C certain."
	if rest := len(b.Risks) - len(shown); rest > 0 {
		words = blocks.Count(rest, "further table", "further tables") + " of lower risk: see inventory.csv. " + words
	}
	b.Small(words)
}

// columnsByCategory names the columns of a table, the heaviest category first.
func columnsByCategory(t snapshot.ClassifiedTable) string {
	var parts []string
	for _, category := range categoryOrder([]analysis.TableRisk{{Table: t}}) {
		parts = append(parts, blocks.OrDash(category)+": "+columnsOf(t, category))
	}
	return strings.Join(parts, ". ")
}

// readersCell counts who can read a table.
func readersCell(t snapshot.ClassifiedTable, r analysis.TableReaders) typeset.Cell {
	switch {
	case t.PublicAccess:
		return typeset.Cell{Text: "PUBLIC", Style: blocks.CellStrong, Mark: blocks.SeverityColor[analysis.High]}
	case r.Unknown != "":
		return blocks.Faint("unknown")
	}
	n := len(r.Readers) + r.Unlisted
	return blocks.Text(blocks.Count(n, "role", "roles"))
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

// rowsCell is the estimated number of rows, or that they were not counted.
func rowsCell(t snapshot.ClassifiedTable) typeset.Cell {
	rows, known := t.Rows()
	if !known {
		return blocks.Faint("unknown")
	}
	return blocks.Text(typeset.Thousands(rows))
}

// mostColumns is how many columns of a category are named.
const mostColumns = 6

// confidenceMark is the first letter of how sure a match is.
func confidenceMark(c snapshot.ClassifiedColumn) string {
	if c.Confidence == "" {
		return ""
	}
	return " " + c.Confidence[:1]
}

func columnsOf(t snapshot.ClassifiedTable, category string) string {
	var parts []string
	for _, c := range t.Columns {
		if c.Category == category {
			parts = append(parts, blocks.Shorten(c.Name, 40)+confidenceMark(c))
		}
	}
	return blocks.List(parts, mostColumns)
}

// tableName is a table with its schema, where its engine has those.
func tableName(t snapshot.ClassifiedTable) string {
	if t.Schema == "" {
		return t.Name
	}
	return t.Schema + "." + t.Name
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
