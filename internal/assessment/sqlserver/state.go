package sqlserver

import (
	"slices"
	"strings"

	"muster/domain/fleet"
	"muster/internal/assessment/changes"
)

// likeness is the state of a server, for the comparison with the previous assessment. nil
// options and principals could not be read.
func likeness(who identity, options map[string]string, accounts *principals) (state changes.State) {
	state.See(fleet.ChangedVersion, []changes.Item{{Name: "SQL Server", Value: who.version}}, true)
	if !who.azure { // whose options are Microsoft's
		state.See(fleet.ChangedSetting, settings(options), options != nil)
	}
	var roles, grants []changes.Item
	if accounts != nil {
		roles, grants = accounts.roles(), accounts.grants()
	}
	if !who.azure {
		state.See(fleet.ChangedRole, roles, accounts != nil)
		state.See(fleet.ChangedGrant, grants, accounts != nil)
	}
	return state
}

func settings(options map[string]string) (out []changes.Item) {
	for name, value := range options {
		out = append(out, changes.Item{Name: name, Value: value, Secret: changes.SecretSetting(name)})
	}
	return out
}

// kinds of principals in words, as type_desc has them.
var kinds = map[string]string{
	"S": "SQL login", "U": "Windows login", "G": "Windows group", "R": "server role", "C": "login by certificate", "K": "login by asymmetric key",
	"E": "Microsoft Entra login", "X": "Microsoft Entra group",
}

func (p principals) roles() (out []changes.Item) {
	for name, of := range p.byName {
		value := kinds[of.kind]
		if value == "" {
			value = "type " + of.kind
		}
		if of.disabled {
			value += ", disabled"
		}
		out = append(out, changes.Item{Name: name, Value: value})
	}
	return out
}

func (p principals) grants() (out []changes.Item) {
	for member, roles := range p.members {
		for _, role := range roles {
			out = append(out, changes.Item{Name: member + " in " + role, Value: "member"})
		}
	}
	for name, permissions := range p.granted {
		out = append(out, changes.Item{Name: name + " on the server", Value: strings.Join(slices.Sorted(slices.Values(permissions)), ", ")})
	}
	for name, permissions := range p.denied {
		out = append(out, changes.Item{Name: name + " on the server, denied", Value: strings.Join(slices.Sorted(slices.Values(permissions)), ", ")})
	}
	return out
}
