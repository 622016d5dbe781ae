package analysis

import (
	"cmp"
	"slices"
	"strings"

	"muster/internal/engine"
	"muster/internal/engine/trait"
	"muster/internal/report/snapshot"
)

// Disagreement is a check whose result does not fit the accounts of the same assessment.
type Disagreement struct {
	Check    string
	Accounts []string // that it should name and does not
}

// Disagreements compares the accounts that a feed sent with its results. Muster's own assessments read both from the
// same rows.
func Disagreements(doc snapshot.Document, in *snapshot.Instance) (all []Disagreement) {
	if in.Assessment == nil || !in.Assessment.Sent {
		return nil
	}
	for _, check := range engine.ChecksOf(in.Engine).Accounts {
		objects, answered := objectsOf(doc, in, check.Check)
		if !answered {
			continue
		}
		d := Disagreement{Check: check.Check}
		for _, account := range in.Assessment.Roles {
			if mustName(check, account) && !names(objects, account.Name) {
				d.Accounts = append(d.Accounts, account.Name)
			}
		}
		if len(d.Accounts) > 0 {
			all = append(all, d)
		}
	}
	slices.SortFunc(all, func(a, b Disagreement) int { return cmp.Compare(a.Check, b.Check) })
	return all
}

// objectsOf are the objects that a check named, accepted ones, too; answered is false if the check has no answer, or
// named more objects than are listed.
func objectsOf(doc snapshot.Document, in *snapshot.Instance, check string) (objects []string, answered bool) {
	for _, r := range recorded(doc, in) {
		if r.CheckID != check {
			continue
		}
		if r.Status != snapshot.StatusPass && r.Status != snapshot.StatusFail || r.Total > len(r.Violations) {
			return nil, false
		}
		answered = true
		for _, v := range r.Violations {
			objects = append(objects, v.Object)
		}
	}
	return objects, answered
}

// names says whether one of the objects is an account, or the account in a role: "app in sysadmin".
func names(objects []string, account string) bool {
	return slices.ContainsFunc(objects, func(o string) bool { return o == account || strings.HasPrefix(o, account+" ") })
}

// mustName says whether a check has to name an account.
func mustName(check trait.AccountCheck, r snapshot.DatabaseRole) bool {
	left := slices.ContainsFunc(check.Except, func(name string) bool {
		return r.Name == name || len(name) > 2 && strings.HasPrefix(r.Name, name)
	})
	if left || !r.Login {
		return false
	}
	if r.Superuser {
		return check.Superuser
	}
	return slices.ContainsFunc(check.Attributes, func(a string) bool { return slices.Contains(r.Attributes, a) }) ||
		slices.ContainsFunc(check.Roles, func(role string) bool {
			return slices.ContainsFunc(r.MemberOf, func(path string) bool { return path == role || strings.HasSuffix(path, " → "+role) })
		})
}
