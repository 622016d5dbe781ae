package pdf

import (
	"maps"
	"slices"
	"strings"

	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

// mostReadTables is for how many tables the readers are printed, those of the highest risk:
// inventory.csv has all.
const mostReadTables = 200

// mostWays is how many readers of a table are printed.
const mostWays = 6

// readTable is a sensitive table and who can read it.
type readTable struct {
	risk    analysis.TableRisk
	readers analysis.TableReaders
}

// readers prints who can read the sensitive tables, by role path.
func (b *builder) readers() {
	b.sub("Who can read them")
	in := map[[16]byte]*snapshot.Instance{}
	for i := range b.doc.Instances {
		in[b.doc.Instances[i].ID] = &b.doc.Instances[i]
	}
	var rows []readTable
	unknown, sent := map[string]int{}, false
	for _, r := range b.risks {
		readers := analysis.ReadersOf(in[r.InstanceID], r.Table)
		if readers.Unknown != "" {
			unknown[readers.Unknown]++
			continue
		}
		rows, sent = append(rows, readTable{r, readers}), sent || readers.Sent
	}
	if len(rows) == 0 {
		b.state(stateNotAssessed, "Not assessed: the readers are not known for any table ("+unknownReaders(unknown)+").")
		return
	}
	b.para("Based on the rights of roles when the database was classified. “a → b”: a is a member of b and has its rights. “SET ROLE b”: it can become b. " +
		"Not followed: from where a role may sign in, and what views, functions and programs pass on.")
	printed := rows[:min(len(rows), mostReadTables)]
	table(b, []typeset.Column{
		{Title: "Instance, database", Max: 100}, {Title: "Table", Flex: 1}, {Title: "Readers", Max: 96}, {Title: "Access path", Flex: 2},
	}, printed, func(_ int, r readTable) []typeset.Cell {
		return []typeset.Cell{
			{Text: r.risk.InstanceName, Style: cellStrong, Sub: r.risk.Database, SubStyle: cellStyle}, code(tableName(r.risk.Table)), readerCount(r), waysOf(r.readers),
		}
	})
	var notes []string
	if rest := len(rows) - len(printed); rest > 0 {
		notes = append(notes, "inventory.csv lists the readers of "+count(rest, "further table", "further tables")+" of lower risk.")
	}
	if len(unknown) > 0 {
		notes = append(notes, "Not known: "+unknownReaders(unknown)+".")
	}
	if sent {
		notes = append(notes, "‡ Reported by a feed. Members of a reader and superusers are added; grants that the sender did not read are missing.")
	}
	if len(notes) > 0 {
		b.small(strings.Join(notes, " "))
	}
}

// unknownReaders counts the tables with unknown readers, by reason.
func unknownReaders(unknown map[string]int) string {
	var parts []string
	for _, why := range slices.Sorted(maps.Keys(unknown)) {
		parts = append(parts, count(unknown[why], "table", "tables")+", since "+why)
	}
	return strings.Join(parts, "; ")
}

// readerCount says how many can read a table.
func readerCount(r readTable) typeset.Cell {
	all := len(r.readers.Readers) + r.readers.Unlisted
	login, past := 0, 0
	for _, reader := range r.readers.Readers {
		if reader.Role == snapshot.Public {
			return typeset.Cell{Text: "every role" + marked(r), Style: cellStrong, Mark: severityColor[analysis.High], Sub: rowsHidden(r, past), SubStyle: cellMuted}
		}
		if reader.Login {
			login++
		}
		if reader.PastPolicies {
			past++
		}
	}
	cell := typeset.Cell{Text: count(all, "role", "roles") + marked(r), Style: cellStrong}
	if !r.readers.Sent && r.readers.Unlisted == 0 {
		cell.Sub, cell.SubStyle = number(login)+" can sign in", cellMuted
	}
	if hidden := rowsHidden(r, past); hidden != "" {
		cell.Sub, cell.SubStyle = cell.Sub+after(cell.Sub, "\n")+hidden, cellMuted
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
	return "row security, not for " + number(past)
}

// waysOf lists the ways of the first readers, a line each.
func waysOf(r analysis.TableReaders) typeset.Cell {
	switch {
	case len(r.Readers) == 0 && r.Unlisted > 0:
		return faint("not kept: Muster keeps the access paths of a database’s first tables")
	case len(r.Readers) == 0:
		return text("nobody")
	}
	var lines []string
	for _, reader := range r.Readers[:min(len(r.Readers), mostWays)] {
		line := shorten(reader.Path, 160)
		if len(reader.Columns) > 0 {
			line += " (" + list(reader.Columns, 4) + ")"
		}
		lines = append(lines, line)
	}
	if rest := len(r.Readers) + r.Unlisted - len(lines); rest > 0 {
		lines = append(lines, "and "+number(rest)+" more")
	}
	return typeset.Cell{Text: lines[0], Style: codeStyle, Sub: strings.Join(lines[1:], "\n"), SubStyle: codeStyle}
}
