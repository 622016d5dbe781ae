package pdf

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"muster/internal/engine"
	"muster/internal/engine/trait"
	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot"
)

// accounts prints the privileged accounts of all assessed instances: power
// descending, reachable from afar first, then instance and name.
func (b *builder) accounts() {
	type row struct {
		instance string
		role     snapshot.DatabaseRole
	}
	var rows []row
	for _, in := range b.assessedInstances() {
		for _, role := range in.Assessment.Roles {
			rows = append(rows, row{in.Name, role})
		}
	}
	slices.SortStableFunc(rows, func(x, y row) int {
		return cmp.Or(cmp.Compare(y.role.Power(), x.role.Power()), cmp.Compare(y.role.Remote(), x.role.Remote()),
			strings.Compare(x.instance, y.instance), strings.Compare(x.role.Name, y.role.Name))
	})
	switch {
	case b.assessed.Assessed == 0:
		b.state(stateNotAssessed, "Not assessed: no instance could be checked, so its accounts are not known.")
		return
	case len(rows) == 0:
		b.clean(b.assessed.Assessed == b.assessed.Total, "No privileged account was found on "+count(b.assessed.Assessed, "assessed instance", "assessed instances")+b.unlooked()+".")
	default:
		b.para(count(len(rows), "account has", "accounts have") + " more than ordinary rights on " + count(b.assessed.Assessed, "assessed instance", "assessed instances") +
			". Most powerful first, those that can sign in remotely before others.")
		table(b, []typeset.Column{
			{Title: "Account, instance", Max: 150}, {Title: "Login", Align: typeset.Center}, {Title: "Super", Align: typeset.Center}, {Title: "Attributes and memberships", Flex: 1},
			{Title: "Password"}, {Title: "Valid until"}, {Title: "Last seen"}, {Title: "Remote", Align: typeset.Center},
		}, rows, func(_ int, of row) []typeset.Cell {
			r := of.role
			return []typeset.Cell{
				{Text: r.Name, Style: codeStyle, Sub: of.instance, SubStyle: cellMuted}, text(yesNo(r.Login)), boldYes(r.Superuser),
				rights(r),
				text(orDash(r.PasswordKind)), date(r.ValidUntil), date(r.LastSeen), boldYesWord(r.RemoteLogin),
			}
		})
		note := "Last seen: in the sessions at the time of the assessment."
		unruled := func(e *trait.Engine) bool { return e.Connected != nil && !e.Connected.HostRules }
		others := slices.ContainsFunc(b.assessedInstances(), looked(unruled))
		if !others || slices.ContainsFunc(b.assessedInstances(), looked(func(e *trait.Engine) bool { return e.Connected != nil && e.Connected.HostRules })) {
			note += " Remote: the HBA rules let the account in from another host; unknown where they are not readable."
		}
		if others {
			note += " Remote on " + allOf(engine.Titles(unruled)) + ": the account can sign in at all, since their accounts are let in from every host or from none."
		}
		if b.sent() > 0 {
			note += " Of instances that a feed assesses: last seen is the last sign-in that was sent, and Password and Remote are not known."
		}
		b.small(note)
	}
	var gaps []gap
	for _, in := range b.assessedInstances() {
		if in.Assessment.RolesNote != "" {
			gaps = append(gaps, gap{state: stateNotAssessed, places: []string{shorten(in.Name, 80)}, reason: lowerFirst(clause(in.Assessment.RolesNote))})
		}
	}
	b.sayGaps(gaps)
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
		return typeset.Cell{Text: r.MemberOf[0], Style: codeMuted, Sub: strings.Join(r.MemberOf[1:], "\n"), SubStyle: codeMuted}
	}
	return typeset.Cell{Text: orDash(strings.Join(r.Attributes, ", ")), Sub: strings.Join(r.MemberOf, "\n"), SubStyle: codeMuted}
}

func boldYes(yes bool) typeset.Cell { return boldYesWord(yesNo(yes)) }

func boldYesWord(word string) typeset.Cell {
	if word == "yes" {
		return strong(word)
	}
	return faint(cmp.Or(word, "unknown"))
}

func date(t *time.Time) typeset.Cell {
	if t == nil {
		return faint("–")
	}
	return text(day(*t))
}
