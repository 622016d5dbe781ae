package inventory

import (
	"maps"
	"slices"
	"strings"

	"muster/internal/report/pdf/blocks"
	"muster/internal/report/pdf/sections"
	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

// mostReadTables is for how many tables the readers are printed, those of the highest risk:
// inventory.csv has all.
const mostReadTables = 8

// mostWays is how many readers of a table are printed.
const mostWays = 4

// readTable is a sensitive table and who can read it.
type readTable struct {
	risk    analysis.TableRisk
	readers analysis.TableReaders
}

// readers prints who can read the sensitive tables, by role path.
func readers(b *blocks.Builder) {
	b.Sub("Readers")
	in := map[[16]byte]*snapshot.Instance{}
	for i := range b.Doc.Instances {
		in[b.Doc.Instances[i].ID] = &b.Doc.Instances[i]
	}
	var rows []readTable
	unknown, sent := map[string]int{}, false
	for _, r := range b.Risks {
		readers := analysis.ReadersOf(in[r.InstanceID], r.Table)
		if readers.Unknown != "" {
			unknown[readers.Unknown]++
			continue
		}
		rows, sent = append(rows, readTable{r, readers}), sent || readers.Sent
	}
	if len(rows) == 0 {
		b.State(blocks.StateNotAssessed, "Not assessed: the readers are not known for any table ("+unknownReaders(unknown)+").")
		return
	}
	b.Para("Based on the rights of roles when the database was classified. “a → b”: a is a member of b and has its rights. “SET ROLE b”: it can become b. " +
		"Not followed: from where a role may sign in, and what views, functions and programs pass on.")
	printed := rows[:min(len(rows), mostReadTables)]
	blocks.Table(b, []typeset.Column{
		{Title: "Instance, database", Max: 100}, {Title: "Table", Flex: 1}, {Title: "Readers", Max: 96}, {Title: "Access path", Flex: 2},
	}, printed, func(_ int, r readTable) []typeset.Cell {
		return []typeset.Cell{
			{Text: r.risk.InstanceName, Style: blocks.CellStrong, Sub: r.risk.Database, SubStyle: blocks.CellStyle}, blocks.Code(tableName(r.risk.Table)), readerCount(r), waysOf(r.readers),
		}
	})
	var notes []string
	if rest := len(rows) - len(printed); rest > 0 {
		notes = append(notes, "inventory.csv lists the readers of "+blocks.Count(rest, "further table", "further tables")+" of lower risk.")
	}
	if len(unknown) > 0 {
		notes = append(notes, "Not known: "+unknownReaders(unknown)+".")
	}
	if sent {
		notes = append(notes, "‡ Reported by a feed. Members of a reader and superusers are added; grants that the sender did not read are missing.")
	}
	if len(notes) > 0 {
		b.Small(strings.Join(notes, " "))
	}
}

// unknownReaders counts the tables with unknown readers, by reason.
func unknownReaders(unknown map[string]int) string {
	var parts []string
	for _, why := range slices.Sorted(maps.Keys(unknown)) {
		parts = append(parts, blocks.Count(unknown[why], "table", "tables")+", since "+why)
	}
	return strings.Join(parts, "; ")
}

// readerCount says how many can read a table.
func readerCount(r readTable) typeset.Cell {
	all := len(r.readers.Readers) + r.readers.Unlisted
	login, past := 0, 0
	for _, reader := range r.readers.Readers {
		if reader.Role == snapshot.Public {
			return typeset.Cell{Text: "every role" + marked(r), Style: blocks.CellStrong, Mark: blocks.SeverityColor[analysis.High], Sub: rowsHidden(r, past), SubStyle: blocks.CellMuted}
		}
		if reader.Login {
			login++
		}
		if reader.PastPolicies {
			past++
		}
	}
	cell := typeset.Cell{Text: blocks.Count(all, "role", "roles") + marked(r), Style: blocks.CellStrong}
	if !r.readers.Sent && r.readers.Unlisted == 0 {
		cell.Sub, cell.SubStyle = blocks.Number(login)+" can sign in", blocks.CellMuted
	}
	if hidden := rowsHidden(r, past); hidden != "" {
		cell.Sub, cell.SubStyle = cell.Sub+sections.After(cell.Sub, "\n")+hidden, blocks.CellMuted
	}
	return cell
}

func marked(r readTable) string {
	if r.readers.Sent {
		return "‡"
	}
	return ""
}

// rowsHidden says what row security makes of it.
func rowsHidden(r readTable, past int) string {
	if !r.risk.Table.RowSecurity {
		return ""
	}
	return "row security, not for " + blocks.Number(past)
}

// waysOf lists the ways of the first readers, a line each.
func waysOf(r analysis.TableReaders) typeset.Cell {
	switch {
	case len(r.Readers) == 0 && r.Unlisted > 0:
		return blocks.Faint("not kept: Muster keeps the access paths of a database’s first tables")
	case len(r.Readers) == 0:
		return blocks.Text("nobody")
	}
	var lines []string
	for _, reader := range r.Readers[:min(len(r.Readers), mostWays)] {
		line := blocks.Shorten(reader.Path, 160)
		if len(reader.Columns) > 0 {
			line += " (" + blocks.List(reader.Columns, 4) + ")"
		}
		lines = append(lines, line)
	}
	if rest := len(r.Readers) + r.Unlisted - len(lines); rest > 0 {
		lines = append(lines, "and "+blocks.Number(rest)+" more")
	}
	return typeset.Cell{Text: lines[0], Style: blocks.CodeStyle, Sub: strings.Join(lines[1:], "\n"), SubStyle: blocks.CodeStyle}
}
