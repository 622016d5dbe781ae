package inventory

import (
	"strings"

	"muster/internal/report/pdf/blocks"
	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

// ownTables lists what Muster's own database holds of persons, apart from the
// organization's data.
func ownTables(b *blocks.Builder) {
	own := analysis.OwnTables(b.Doc)
	if len(own) == 0 {
		return
	}
	b.Sub("Muster’s own tables")
	b.Para("This installation watches the server that it keeps its own data on. These tables hold the members of its organizations: names, e-mail addresses, and where they signed in from. " +
		"They count in no other figure of this report. The database is known by its cluster and its number in it, whatever its name is.")
	blocks.Table(b, []typeset.Column{
		{Title: "Instance, database", Max: 130}, {Title: "Table", Flex: 1}, {Title: "Rows (est.)", Align: typeset.Right}, {Title: "Sensitive columns", Flex: 2},
	}, own, func(_ int, r analysis.TableRisk) []typeset.Cell {
		var columns []string
		for _, c := range r.Table.Columns {
			columns = append(columns, c.Name+" ("+c.InfoType+")")
		}
		return []typeset.Cell{{Text: r.InstanceName, Style: blocks.CellStrong, Sub: r.Database, SubStyle: blocks.CellStyle}, blocks.Code(tableName(r.Table)), rowsCell(r.Table), blocks.Text(strings.Join(columns, "; "))}
	})
}

// ownName is a database's name, with a note if it belongs to Muster.
func ownName(db snapshot.Database) typeset.Cell {
	if db.Classification != nil && db.Classification.Own {
		return typeset.Cell{Text: db.Name, Sub: "Muster’s own", SubStyle: blocks.CellMuted}
	}
	return blocks.Text(db.Name)
}
