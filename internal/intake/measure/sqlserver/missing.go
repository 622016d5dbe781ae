package sqlserver

import (
	"fmt"
	"strings"

	"muster/internal/report/snapshot"
)

// Missing is what our login may not read, and what would let it.
func (r *reader) Missing() ([]snapshot.MissingGrant, bool) {
	if r.server.login == "" {
		return nil, false
	}
	to, state := r.server.login, r.statePermission()
	if r.server.azure() {
		to = r.server.user
	}
	var lacking []snapshot.MissingGrant
	lacks := func(object, statement string) {
		lacking = append(lacking, snapshot.MissingGrant{Object: object, Statement: statement})
	}
	if !r.server.sees {
		lacks("sessions, and statements in the plan cache", "GRANT "+state+" TO "+to+";")
	}
	var unreadable, shut, denied []string
	for _, d := range r.databases {
		switch {
		case !d.online:
		case d.secondary && !d.accessible:
			unreadable = append(unreadable, d.name)
		case d.store && !d.accessible:
			shut = append(shut, d.name)
		case r.denied[d.id]:
			denied = append(denied, d.name)
		}
	}
	if len(unreadable) > 0 {
		lacks(some("the secondary replica of", unreadable),
			"-- On the primary replica, if it is to be read: ALTER AVAILABILITY GROUP … MODIFY REPLICA ON … WITH (SECONDARY_ROLE (ALLOW_CONNECTIONS = ALL));")
	}
	if len(shut) > 0 {
		lacks(some("the query store of", shut), "GRANT CONNECT ANY DATABASE TO "+to+";")
	}
	switch {
	case len(denied) > 0 && r.server.sees && !r.server.azure(): // the server's permission would do, were it not taken back there
		lacks(some("the query store of", denied), "-- VIEW DATABASE STATE is denied to "+to+" in it: REVOKE that there.")
	case len(denied) > 0:
		lacks(some("the query store of", denied), "GRANT "+state+" TO "+to+";")
	}
	return lacking, true
}

// statePermission is the permission to see what others do.
func (r *reader) statePermission() string {
	switch {
	case r.server.azure():
		return "VIEW DATABASE STATE"
	case r.server.modern():
		return "VIEW SERVER PERFORMANCE STATE"
	}
	return "VIEW SERVER STATE"
}

// some names databases, the first of many.
func some(what string, databases []string) string {
	const named = 3
	if len(databases) <= named {
		return what + " " + strings.Join(databases, ", ")
	}
	return fmt.Sprintf("%s %s and %d more databases", what, strings.Join(databases[:named], ", "), len(databases)-named)
}
