package inventory

import (
	"slices"
	"strings"

	"muster/internal/report/pdf/blocks"
	"muster/internal/report/pdf/sections"
	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

// riskSentence says how many risks need a decision.
func riskSentence(b *blocks.Builder) string {
	d := analysis.RiskDebtOf(b.Doc, b.Risks)
	words := "No table carries a high risk."
	switch {
	case d.High > 0 && d.Undecided == 0:
		words = blocks.Count(d.High, "table carries", "tables carry") + " a high risk, and people have decided on " + blocks.Verb(d.High, "it", "all") + "."
	case d.High > 0:
		words = blocks.Count(d.High, "table carries", "tables carry") + " a high risk; nobody has decided on " + blocks.Number(d.Undecided) + " of them."
	}
	if d.Overdue > 0 {
		words += " " + blocks.Count(d.Overdue, "treatment is", "treatments are") + " overdue, by up to " + blocks.Count(d.Longest, "day", "days") + "."
	}
	if d.New > 0 {
		words += " " + blocks.Count(d.New, "risk is", "risks are") + " new since the previous report."
	}
	return words
}

// riskSince says since when a risk is in the register, and whether it came back.
func riskSince(r analysis.TableRisk) string {
	switch s := r.Since; {
	case s == nil:
		return "not on record"
	case s.EverFirstSeenAt != nil && s.EarlierGoneAt != nil:
		return "again " + blocks.Day(s.FirstSeenAt) + "\nfirst " + blocks.Day(*s.EverFirstSeenAt) + "\ngone " + blocks.Day(*s.EarlierGoneAt)
	default:
		return blocks.Day(s.FirstSeenAt)
	}
}

// registerRisk is a risk with the two factors and its change under it.
func registerRisk(r analysis.TableRisk) typeset.Cell {
	cell := riskCell(r)
	cell.Sub, cell.SubStyle = blocks.Number(r.Likelihood)+" × "+blocks.Number(r.Impact), blocks.CellMuted
	switch r.Movement {
	case analysis.MovementUp, analysis.MovementDown:
		cell.Sub += "\n" + string(r.Movement) + " from " + blocks.Number(r.Was)
	case analysis.MovementNew, analysis.MovementSame:
		cell.Sub += "\n" + string(r.Movement)
	case analysis.MovementUnknown:
	}
	return cell
}

// namedDrivers is how many drivers of a risk the register names: inventory.csv has all.
const namedDrivers = 4

// drivers are what raises a risk besides its readers, the heaviest first, and what holds against it.
func drivers(r analysis.TableRisk) string {
	all := slices.DeleteFunc(slices.Clone(r.Drivers), func(d string) bool { return d == analysis.PublicDriver })
	words := strings.Join(all[:min(len(all), namedDrivers)], "; ")
	if rest := len(all) - namedDrivers; rest > 0 {
		words += "; and " + blocks.Number(rest) + " more"
	}
	if len(r.Controls) > 0 {
		words += sections.After(words, "\n") + "Controls: " + strings.Join(r.Controls, "; ")
	}
	return words
}

// namedReaders is how many readers of a table the register names.
const namedReaders = 2

// whoReads names the readers of a table, those most worth a look first.
func whoReads(r analysis.TableRisk) string {
	all := r.Readers
	switch {
	case r.Table.PublicAccess:
		if named := len(all.Readers) + all.Unlisted; named > 1 {
			return "every login (PUBLIC), and " + blocks.Count(named-1, "role", "roles") + " by name"
		}
		return "every login (PUBLIC)"
	case all.Unknown != "":
		return "readers not known"
	case len(all.Readers)+all.Unlisted == 0:
		return "nobody"
	}
	var names []string
	for _, reader := range all.Readers[:min(len(all.Readers), namedReaders)] {
		name := blocks.Shorten(reader.Role, 40)
		if reader.Role == snapshot.Public {
			name = "every login"
		}
		names = append(names, name)
	}
	rest := len(all.Readers) + all.Unlisted - len(names)
	switch {
	case len(names) == 0:
		return blocks.Count(rest, "role", "roles")
	case rest > 0:
		return strings.Join(names, ", ") + " and " + blocks.Number(rest) + " more"
	}
	return strings.Join(names, ", ")
}

// decision is what people decided on a risk; where they have not, the proposal and its deadline.
func decision(b *blocks.Builder, r analysis.TableRisk) typeset.Cell {
	if x := r.Decision; x != nil {
		return typeset.Cell{
			Text: "Accepted until " + blocks.Day(x.Until), Style: blocks.CellStrong,
			Sub: "by " + blocks.Shorten(x.GrantedBy.Shown(), 60) + ", " + blocks.Day(x.GrantedAt) + ": " + blocks.Shorten(x.Reason, 160), SubStyle: blocks.CellMuted,
		}
	}
	return typeset.Cell{Text: "Undecided", Style: blocks.CellStrong, Sub: "Proposal: " + treatment(r) + "\n" + riskDue(b, r), SubStyle: blocks.CellMuted}
}

// riskDue says until when a risk has to be treated.
func riskDue(b *blocks.Builder, r analysis.TableRisk) string {
	switch {
	case r.Decision != nil:
		return "accepted"
	case r.Due == nil:
		return "–"
	}
	if late := r.Due.Overdue(b.Doc.AsOf); late > 0 {
		return blocks.Count(late, "day", "days") + " overdue"
	}
	return "due " + blocks.Day(r.Due.At)
}

// ownerAndRetention names who owns the server, and how long its data is kept.
func ownerAndRetention(b *blocks.Builder, r analysis.TableRisk) typeset.Cell {
	cell := typeset.Cell{Text: r.Owner, Sub: "no retention", SubStyle: blocks.CellMuted}
	if r.Owner == "" {
		cell.Text, cell.Style = "no owner", blocks.CellMuted
		if !slices.ContainsFunc(b.Risks, func(r analysis.TableRisk) bool { return r.Owner != "" }) {
			cell.Text = "–" // the organization has no teams
		}
	}
	if r.Retention != "" {
		cell.Sub = "keeps " + blocks.Shorten(r.Retention, 40)
	}
	return cell
}
