package sections

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"muster/internal/engine"
	"muster/internal/engine/trait"
	"muster/internal/report/pdf/blocks"
	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

// Accounts prints the privileged accounts of all assessed instances: power
// descending, reachable from afar first, then instance and name.
func Accounts(b *blocks.Builder) {
	type row struct {
		instance string
		role     snapshot.DatabaseRole
	}
	var rows []row
	for _, in := range AssessedInstances(b) {
		for _, role := range in.Assessment.Roles {
			rows = append(rows, row{in.Name, role})
		}
	}
	slices.SortStableFunc(rows, func(x, y row) int {
		return cmp.Or(cmp.Compare(y.role.Power(), x.role.Power()), cmp.Compare(y.role.Remote(), x.role.Remote()),
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
			". Most powerful first, those that can sign in remotely before others.")
		blocks.Table(b, []typeset.Column{
			{Title: "Account, instance", Max: 150}, {Title: "Login", Align: typeset.Center}, {Title: "Super", Align: typeset.Center}, {Title: "Attributes and memberships", Flex: 1},
			{Title: "Password"}, {Title: "Valid until"}, {Title: "Last seen"}, {Title: "Remote", Align: typeset.Center},
		}, rows, func(_ int, of row) []typeset.Cell {
			r := of.role
			return []typeset.Cell{
				{Text: r.Name, Style: blocks.CodeStyle, Sub: of.instance, SubStyle: blocks.CellMuted}, blocks.Text(blocks.YesNo(r.Login)), BoldYes(r.Superuser),
				rights(r),
				blocks.Text(blocks.OrDash(r.PasswordKind)), date(r.ValidUntil), date(r.LastSeen), boldYesWord(r.RemoteLogin),
			}
		})
		note := "Last seen: in the sessions at the time of the assessment."
		unruled := func(e *trait.Engine) bool { return e.Connected != nil && !e.Connected.HostRules }
		others := slices.ContainsFunc(AssessedInstances(b), looked(unruled))
		if !others || slices.ContainsFunc(AssessedInstances(b), looked(func(e *trait.Engine) bool { return e.Connected != nil && e.Connected.HostRules })) {
			note += " Remote: the HBA rules let the account in from another host; unknown where they are not readable."
		}
		if others {
			note += " Remote on " + blocks.AllOf(engine.Titles(unruled)) + ": the account can sign in at all, since their accounts are let in from every host or from none."
		}
		if sent(b) > 0 {
			note += " Of instances that a feed assesses: last seen is the last sign-in that was sent, and Password and Remote are not known."
		}
		b.Small(note)
	}
	for _, in := range AssessedInstances(b) {
		for _, d := range analysis.Disagreements(b.Doc, &in) {
			b.State(blocks.StateNotAssessed, "Contradicted: the accounts of "+blocks.Shorten(in.Name, 80)+" disagree with "+d.Check+", which does not name "+
				blocks.Shorten(blocks.List(d.Accounts, 6), 200)+". The feed that sent both has to say which is true.")
		}
	}
	var gaps []Gap
	for _, in := range AssessedInstances(b) {
		if in.Assessment.RolesNote != "" {
			gaps = append(gaps, Gap{State: blocks.StateNotAssessed, Places: []string{blocks.Shorten(in.Name, 80)}, Reason: lowerFirst(Clause(in.Assessment.RolesNote))})
		}
	}
	SayGaps(b, gaps)
}

// looked says whether an instance has one of some engines and Muster itself assessed it.
func looked(of func(*trait.Engine) bool) func(snapshot.Instance) bool {
	return func(in snapshot.Instance) bool {
		return in.Assessment != nil && !in.Assessment.Sent && of(engine.Described(in.Engine))
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

func date(t *time.Time) typeset.Cell {
	if t == nil {
		return blocks.Faint("–")
	}
	return blocks.Text(blocks.Day(*t))
}
