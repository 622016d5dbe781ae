package oracle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/internal/assessment/catalogue"
	"muster/internal/engine/oracle"
	"muster/internal/report/snapshot"
	"muster/internal/servers"
)

// identity is where we are on a server, and who.
type identity struct {
	container string
	pluggable bool // in one of several containers, and not the root
	account   string
	dba       bool // as SYSDBA
	standby   bool
	version   string
	product   string
	// autonomous: Oracle runs it, as an Autonomous Database.
	autonomous bool
}

func readIdentity(ctx context.Context, s servers.Session) (identity, error) {
	row, err := servers.Row(ctx, s, 5, selfSQL)
	if err != nil {
		return identity{}, err
	}
	number, err := strconv.Atoi(row[0])
	if err != nil {
		return identity{}, errors.New("CON_ID is no number")
	}
	who := identity{container: row[1], pluggable: number > 1, account: row[2], dba: row[3] == "TRUE", standby: strings.HasSuffix(row[4], "STANDBY")}
	row, err = servers.Row(ctx, s, 2, version18SQL)
	switch {
	case servers.ReasonOf(err) == servers.Absent:
		row, err = servers.Row(ctx, s, 2, versionSQL)
	case err == nil:
		who.autonomous, err = isAutonomous(ctx, s)
	}
	if err != nil {
		return identity{}, err
	}
	who.version, who.product = row[0], row[1]
	return who, nil
}

// isAutonomous says whether Oracle runs the database. A server that refuses the question has no such service.
func isAutonomous(ctx context.Context, s servers.Session) (bool, error) {
	row, err := servers.Row(ctx, s, 1, autonomousSQL)
	if _, refused := errors.AsType[*servers.Refusal](err); refused {
		return false, nil
	}
	return err == nil && row[0] != "", err
}

// beyond says of which databases a check of the server says nothing: from the root of containers, DBA_ views and those
// of audit policies show what the root has. That each pluggable database has accounts, privileges, profiles and policies
// of its own is in Oracle's Multitenant Administrator's Guide.
func (who identity) beyond(containers []container) func(catalogue.Check) string {
	if who.pluggable || who.container != "CDB$ROOT" {
		return nil
	}
	var names []string
	for _, c := range containers {
		if c.fact.Name != who.container {
			names = append(names, c.fact.Name)
		}
	}
	slices.Sort(names)
	of := "the pluggable databases"
	if len(names) > 0 {
		const listed = 20
		of = strings.Join(names[:min(len(names), listed)], ", ")
		if len(names) > listed {
			of += fmt.Sprintf(" and %d more", len(names)-listed)
		}
	}
	return func(check catalogue.Check) string {
		own := func(r catalogue.Read) bool {
			name := strings.ToUpper(r.Name)
			return !r.Setting() && (strings.HasPrefix(name, "DBA_") || strings.HasPrefix(name, "AUDIT_"))
		}
		if !slices.ContainsFunc(check.Reads, own) {
			return ""
		}
		return "Not known: the same of " + of + ", which the root does not show. Register each pluggable database as a server of its own."
	}
}

// container is one as the server lists it.
type container struct {
	fact snapshot.DatabaseFact
	mode string // READ WRITE, READ ONLY, MOUNTED, …
}

// readContainers lists the containers by name. Without V$CONTAINERS it is the one of the
// session.
func readContainers(ctx context.Context, s servers.Session, who identity) ([]container, error) {
	rows, err := servers.Query(ctx, s, 4, containersSQL)
	if servers.ReasonOf(err) == servers.Denied {
		return []container{{fact: snapshot.DatabaseFact{Name: who.container, AllowsConn: true}, mode: "READ WRITE"}}, err
	}
	if err != nil {
		return nil, err
	}
	var out []container
	for _, row := range rows {
		c := container{fact: snapshot.DatabaseFact{Name: row[1], AllowsConn: strings.HasPrefix(row[2], "READ ")}, mode: row[2]}
		if c.fact.Name == who.container { // which may be open by no word of its own, where there are no containers
			c.fact.AllowsConn = true
		}
		if size, err := strconv.ParseInt(row[3], 10, 64); err == nil && size > 0 {
			c.fact.SizeBytes = &size
		}
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b container) int { return cmp.Compare(a.fact.Name, b.fact.Name) })
	return out, nil
}

// readActivity fills in when the instance started, its edition and its sessions over TCP.
func readActivity(ctx context.Context, s servers.Session, who identity, a *snapshot.Assessment) {
	if row, err := servers.Row(ctx, s, 2, startedSQL); err == nil {
		a.Edition = row[1]
		if seconds, err := strconv.ParseInt(row[0], 10, 64); err == nil {
			started := a.StartedAt.Add(-time.Duration(seconds) * time.Second).Truncate(time.Second)
			a.ServerStartedAt = &started
		}
	}
	if who.autonomous {
		a.Edition = oracle.Autonomous
	}
	row, err := servers.Row(ctx, s, 2, sessionsSQL)
	if err != nil {
		return
	}
	all, err := strconv.Atoi(row[0])
	secured, err2 := strconv.Atoi(row[1])
	if err == nil && err2 == nil {
		a.ClientSessions, a.TLSSessions = &all, &secured
	}
}

// encryption says whether all tablespaces with users' data are encrypted; nil where that
// cannot be read, or there are none.
func encryption(ctx context.Context, s servers.Session) *bool {
	row, err := servers.Row(ctx, s, 2, tablespacesSQL)
	if err != nil || row[0] == "0" {
		return nil
	}
	whole := row[0] == row[1]
	return &whole
}
