package oracle

import (
	"context"
	"slices"
	"strings"

	"muster/domain/fleet"
	"muster/internal/assessment/changes"
	"muster/internal/servers"
)

// likeness is the state of a server, for the comparison with the previous assessment:
// parameters, limits of profiles and audit policies are its settings. nil parameters and
// accounts could not be read.
func likeness(ctx context.Context, s servers.Session, who identity, parameters map[string]string, found *accounts) (state changes.State) {
	state.See(fleet.ChangedVersion, []changes.Item{{Name: "Oracle", Value: who.version}}, true)
	limits, err := profiles(ctx, s)
	policies, err2 := auditPolicies(ctx, s)
	state.See(fleet.ChangedSetting, slices.Concat(settings(parameters), limits, policies), parameters != nil && err == nil && err2 == nil)
	var roles, grants []changes.Item
	if found != nil {
		roles, grants = found.stated()
	}
	state.See(fleet.ChangedRole, roles, found != nil)
	state.See(fleet.ChangedGrant, grants, found != nil)
	return state
}

// dispatched are parameters whose values may hold a connection string with a password.
var dispatched = []string{"log_archive_dest", "dispatchers", "fal_", "db_file_name_convert", "log_file_name_convert"}

func settings(parameters map[string]string) (out []changes.Item) {
	for name, value := range parameters {
		secret := changes.SecretSetting(name) || slices.ContainsFunc(dispatched, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
		out = append(out, changes.Item{Name: name, Value: value, Secret: secret})
	}
	return out
}

func profiles(ctx context.Context, s servers.Session) (out []changes.Item, err error) {
	rows, err := servers.Query(ctx, s, 3, profilesSQL)
	for _, row := range rows {
		out = append(out, changes.Item{Name: "profile " + row[0] + ": " + row[1], Value: row[2]})
	}
	return out, err
}

func auditPolicies(ctx context.Context, s servers.Session) (out []changes.Item, err error) {
	rows, err := servers.Query(ctx, s, 5, policiesSQL)
	for _, row := range rows {
		out = append(out, changes.Item{Name: "audit policy " + row[0] + ": " + row[1] + " " + row[2], Value: "success " + row[3] + ", failure " + row[4]})
	}
	return out, err
}

// stated are the accounts and what was granted to them. What Oracle maintains comes and
// goes with its releases.
func (a accounts) stated() (roles, grants []changes.Item) {
	for name, of := range a.byName {
		if of.maintained && of.role {
			continue
		}
		value := of.status + ", profile " + of.profile + ", " + of.authentication
		if of.role {
			value = "role"
		}
		roles = append(roles, changes.Item{Name: name, Value: value})
		if len(of.stated) > 0 {
			grants = append(grants, changes.Item{Name: name + " on the database", Value: strings.Join(slices.Sorted(slices.Values(of.stated)), ", ")})
		}
		for _, role := range a.members[name] {
			value := "granted"
			if a.administered[[2]string{name, role}] {
				value += " WITH ADMIN OPTION"
			}
			grants = append(grants, changes.Item{Name: name + " in " + role, Value: value})
		}
	}
	return roles, grants
}
