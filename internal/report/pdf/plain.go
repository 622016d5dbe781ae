package pdf

import (
	"slices"
	"strings"

	"muster/internal/engine"
	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot/analysis"
)

// plainTables lists the sensitive tables that are known not to be encrypted at rest: those
// that page 1 counts.
func (b *builder) plainTables() {
	if len(b.risks) == 0 {
		return
	}
	b.sub("Sensitive tables that are not encrypted at rest")
	c := analysis.EncryptionOf(b.risks)
	var rows []analysis.TableRisk
	invisible := 0
	for _, r := range b.risks {
		switch {
		case r.Encrypted != nil && !*r.Encrypted:
			rows = append(rows, r)
		case r.Encrypted == nil && engine.Described(r.Engine).VolumesOnly:
			invisible++
		}
	}
	unknown := shares([]share{{invisible, "of " + oneOf(volumesOnly()) + ", whose volumes are not visible over SQL"}, {c.Unknown - invisible, "of which it could not be read, or was not sent"}})
	switch {
	case c.Encrypted+c.Plain == 0:
		b.state(stateNotAssessed, "Not assessed: of none of "+count(c.Unknown, "sensitive table", "sensitive tables")+" it is known ("+unknown+").")
		return
	case len(rows) == 0:
		b.clean(c.Unknown == 0, "None: "+count(c.Encrypted, "sensitive table is", "sensitive tables are")+" encrypted at rest"+before("; not known: ", unknown)+".")
		return
	}
	table(b, []typeset.Column{
		{Title: "Risk"}, {Title: "Instance, database", Max: 130}, {Title: "Table", Flex: 1}, {Title: "Rows (est.)", Align: typeset.Right}, {Title: "Holds", Flex: 1.2},
	}, rows, func(_ int, r analysis.TableRisk) []typeset.Cell {
		return []typeset.Cell{
			riskCell(r), {Text: r.InstanceName, Style: cellStrong, Sub: r.Database, SubStyle: cellStyle}, code(tableName(r.Table)), rowsCell(r.Table), text(holds(r)),
		}
	})
	b.small(number(len(rows)) + " of " + count(len(b.risks), "sensitive table", "sensitive tables") + "; " + number(c.Encrypted) + " " + verb(c.Encrypted, "is", "are") + " encrypted" +
		before("; not known: ", unknown) + ".")
}

// holds names the categories of what a table holds, the heaviest first.
func holds(r analysis.TableRisk) string {
	var names []string
	for _, category := range categoryOrder([]analysis.TableRisk{r}) {
		if !slices.Contains(names, category) {
			names = append(names, orDash(category))
		}
	}
	return strings.Join(names, ", ")
}
