package evidence

import (
	"fmt"

	"muster/internal/report/control"
	"muster/internal/report/pdf/typeset"
	words "muster/internal/report/snapshot/day"
)

// What the paper says of the control of backups.
const (
	ofBackups = "The servers that were known and active at any time in the period, also those that were removed since. A day (UTC) passed if no database's newest backup was older than the " +
		"objective that its server had when this was made. A day is not assessed if an earlier backup of a database is not known. Databases that were removed since do not count. " +
		"Shares and gaps are of the time in which a server was known."
	fromBackups = "It was made from the ends of backups that servers, agents and senders reported, and from the logs as far as these heads. The logs say when servers joined and left, and have no backups: " +
		"a person who can change the database can change these days."
)

// Words say on how many days the backups were within their objective.
func (b *BackupDays) Words() string {
	days := b.Kept + b.Late
	rpo := words.Objective(b.RPOSeconds)
	if days == 0 {
		return "Not known on any of " + plural(b.Unknown, "day", "days") + "; the objective is " + rpo + "."
	}
	text := fmt.Sprintf("On %d of %s no backup was older than %s.", b.Kept, plural(days+b.Unknown, "day", "days"), rpo)
	if b.Late > 0 {
		text += " On " + plural(b.Late, "day", "days") + " one was."
	}
	if b.Unknown > 0 {
		text += " On " + plural(b.Unknown, "day", "days") + " that is not known."
	}
	return text
}

// backups is a row of each server of the control of backups.
func (p *sheet) backups() {
	if p.d.Check.ID != control.Backups || len(p.d.Items) == 0 {
		return
	}
	p.section("Days", 60)
	p.Table(typeset.Table{
		Look: look, Rows: len(p.d.Items), Rest: "The signed JSON has all of them.",
		Columns: []typeset.Column{{Title: "Server", Max: 110}, {Title: "Newest backups", Flex: 1}},
		Row: func(i int) []typeset.Cell {
			cells := []typeset.Cell{{Text: p.d.Items[i].Instance.Name, Style: cellStrong}, {}}
			if b := p.d.Items[i].BackupDays; b != nil {
				cells[1].Text = b.Words()
			}
			return cells
		},
	})
}
