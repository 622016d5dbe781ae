package sections

import (
	"cmp"
	"slices"
	"strings"

	"muster/internal/report/pdf/blocks"
	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

// mostAccounts is how many accounts are printed: accounts.csv has all.
const mostAccounts = 12

// accountRow is an account of an instance.
type accountRow struct {
	instance string
	role     snapshot.DatabaseRole
}

// forgotten is 1 for a dormant account that can do everything.
func forgotten(b *blocks.Builder, r snapshot.DatabaseRole) int {
	if r.Superuser && analysis.Dormant(b.Doc, r) {
		return 1
	}
	return 0
}

func dormantWords(n int) string {
	if n == 0 {
		return ""
	}
	return " " + blocks.Number(n) + " of them " + blocks.Verb(n, "is", "are") + " dormant."
}

// lastSeen is when an account was last seen, and whether it is dormant.
func lastSeen(b *blocks.Builder, r snapshot.DatabaseRole) typeset.Cell {
	if r.LastSeen == nil {
		return blocks.Faint("–")
	}
	cell := blocks.Text(blocks.Day(*r.LastSeen))
	if analysis.Dormant(b.Doc, r) {
		cell.Style, cell.Sub, cell.SubStyle = blocks.OverdueStyle, "dormant", blocks.OverdueStyle
	}
	return cell
}

// Accounts prints the privileged accounts of all assessed instances: forgotten ones first, then
// by power, those reachable from afar first, then instance and name.
func Accounts(b *blocks.Builder) {
	var rows []accountRow
	dormant := 0
	for _, in := range AssessedInstances(b) {
		for _, role := range in.Assessment.Roles {
			rows = append(rows, accountRow{in.Name, role})
			if analysis.Dormant(b.Doc, role) {
				dormant++
			}
		}
	}
	slices.SortStableFunc(rows, func(x, y accountRow) int {
		return cmp.Or(cmp.Compare(forgotten(b, y.role), forgotten(b, x.role)), cmp.Compare(y.role.Power(), x.role.Power()), cmp.Compare(y.role.Remote(), x.role.Remote()),
			strings.Compare(x.instance, y.instance), strings.Compare(x.role.Name, y.role.Name))
	})
	switch {
	case b.Assessed.Assessed == 0 && len(rows) == 0:
		b.State(blocks.StateNotAssessed, "Not assessed: no instance could be checked, so its accounts are not known.")
		return
	case len(rows) == 0:
		b.Clean(b.Assessed.Assessed == b.Assessed.Total, "No privileged account was found on "+blocks.Count(b.Assessed.Assessed, "assessed instance", "assessed instances")+b.Unlooked()+".")
	default:
		on := map[string]bool{}
		for _, r := range rows {
			on[r.instance] = true
		}
		b.Para(blocks.Count(len(rows), "account has", "accounts have") + " more than ordinary rights on " + blocks.Count(len(on), "instance", "instances") +
			"." + dormantWords(dormant) + " accounts.csv has every account, with its password and remote access.")
		shown := rows[:min(len(rows), mostAccounts)]
		blocks.Table(b, []typeset.Column{
			{Title: "Account", Max: 110}, {Title: "Server", Max: 120}, {Title: "Super", Align: typeset.Center}, {Title: "Attributes and memberships", Flex: 1}, {Title: "Last seen", Max: 72},
		}, shown, func(_ int, of accountRow) []typeset.Cell {
			r := of.role
			return []typeset.Cell{
				blocks.Code(blocks.Shorten(r.Name, 60)), blocks.Text(blocks.Shorten(of.instance, 60)), BoldYes(r.Superuser), rights(r), lastSeen(b, r),
			}
		})
		if rest := len(rows) - len(shown); rest > 0 {
			b.Small(blocks.Count(rest, "further account", "further accounts") + " with fewer rights: see accounts.csv.")
		}
		note := "Order: dormant accounts that can do everything, then by power. Dormant: last seen over 90 days before the snapshot. Last seen: in the sessions at the time of the assessment."
		if sent(b) > 0 {
			note += " Of instances that a feed assesses: last seen is the last sign-in that was sent, and Password and Remote are not known."
		}
		b.Small(note)
	}
	disagreements(b)
	var gaps []Gap
	for _, in := range AssessedInstances(b) {
		if in.Assessment.RolesNote != "" {
			gaps = append(gaps, Gap{State: blocks.StateNotAssessed, Places: []string{blocks.Shorten(in.Name, 80)}, Reason: lowerFirst(Clause(in.Assessment.RolesNote))})
		}
	}
	SayGaps(b, gaps)
}

// disagreements says in one paragraph which accounts do not fit the results of checks.
func disagreements(b *blocks.Builder) {
	var all []string
	for _, in := range AssessedInstances(b) {
		for _, d := range analysis.Disagreements(b.Doc, &in) {
			all = append(all, "the accounts of "+blocks.Shorten(in.Name, 80)+" disagree with "+d.Check+", which does not name "+blocks.Shorten(blocks.List(d.Accounts, 6), 200))
		}
	}
	if len(all) > 0 {
		b.State(blocks.StateNotAssessed, "Contradicted: "+strings.Join(all, "; ")+". The feed that sent both has to say which is true.")
	}
}

// rights are the attributes of an account, over the roles that it is a member of.
func rights(r snapshot.DatabaseRole) typeset.Cell {
	if len(r.Attributes) == 0 && len(r.MemberOf) > 0 {
		return typeset.Cell{Text: r.MemberOf[0], Style: blocks.CodeMuted, Sub: strings.Join(r.MemberOf[1:], "\n"), SubStyle: blocks.CodeMuted}
	}
	return typeset.Cell{Text: blocks.OrDash(strings.Join(r.Attributes, ", ")), Sub: strings.Join(r.MemberOf, "\n"), SubStyle: blocks.CodeMuted}
}

// BoldYes is a cell whose yes is in bold.
func BoldYes(yes bool) typeset.Cell { return boldYesWord(blocks.YesNo(yes)) }

func boldYesWord(word string) typeset.Cell {
	if word == "yes" {
		return blocks.Strong(word)
	}
	return blocks.Faint(cmp.Or(word, "unknown"))
}
