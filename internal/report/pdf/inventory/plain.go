package inventory

import (
	"slices"
	"strings"

	"muster/internal/engine"
	"muster/internal/report/pdf/blocks"
	"muster/internal/report/pdf/sections"
	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot/analysis"
)

// mostPlain is how many unencrypted tables are printed.
const mostPlain = 10

// plainTables lists the sensitive tables that are known not to be encrypted at rest: those
// that page 1 counts.
func plainTables(b *blocks.Builder) {
	if len(b.Risks) == 0 {
		return
	}
	b.Sub("Sensitive tables that are not encrypted at rest")
	c := analysis.EncryptionOf(b.Risks)
	var rows []analysis.TableRisk
	invisible := 0
	for _, r := range b.Risks {
		switch {
		case r.Encrypted != nil && !*r.Encrypted:
			rows = append(rows, r)
		case r.Encrypted == nil && engine.Described(r.Engine).VolumesOnly:
			invisible++
		}
	}
	unknown := blocks.Shares([]blocks.Share{{N: invisible, Words: "of " + blocks.OneOf(volumesOnly()) + ", whose volumes are not visible over SQL"}, {N: c.Unknown - invisible, Words: "of which it could not be read, or was not sent"}})
	switch {
	case c.Encrypted+c.Plain == 0:
		b.State(blocks.StateNotAssessed, "Not assessed: of none of "+blocks.Count(c.Unknown, "sensitive table", "sensitive tables")+" it is known ("+unknown+").")
		return
	case len(rows) == 0:
		b.Clean(c.Unknown == 0, "None: "+blocks.Count(c.Encrypted, "sensitive table is", "sensitive tables are")+" encrypted at rest"+sections.Before("; not known: ", unknown)+".")
		return
	}
	blocks.Table(b, []typeset.Column{
		{Title: "Risk"}, {Title: "Instance, database", Max: 130}, {Title: "Table", Flex: 1}, {Title: "Rows (est.)", Align: typeset.Right}, {Title: "Holds", Flex: 1.2},
	}, rows[:min(len(rows), mostPlain)], func(_ int, r analysis.TableRisk) []typeset.Cell {
		return []typeset.Cell{
			riskCell(r), {Text: r.InstanceName, Style: blocks.CellStrong, Sub: r.Database, SubStyle: blocks.CellStyle}, blocks.Code(tableName(r.Table)), rowsCell(r.Table), blocks.Text(holds(r)),
		}
	})
	more := ""
	if rest := len(rows) - mostPlain; rest > 0 {
		more = blocks.Count(rest, "further table", "further tables") + " of lower risk: see inventory.csv. "
	}
	b.Small(more + blocks.Number(len(rows)) + " of " + blocks.Count(len(b.Risks), "sensitive table", "sensitive tables") + "; " + blocks.Number(c.Encrypted) + " " + blocks.Verb(c.Encrypted, "is", "are") + " encrypted" +
		sections.Before("; not known: ", unknown) + ".")
}

// holds names the categories of what a table holds, the heaviest first.
func holds(r analysis.TableRisk) string {
	var names []string
	for _, category := range categoryOrder([]analysis.TableRisk{r}) {
		if !slices.Contains(names, category) {
			names = append(names, blocks.OrDash(category))
		}
	}
	return strings.Join(names, ", ")
}
