package oracle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"muster/domain/fleet"
	"muster/internal/assessment/catalogue"
	"muster/internal/assessment/changes"
	"muster/internal/assessment/feed"
	"muster/internal/assessment/inspection"
	"muster/internal/assessment/pii"
	"muster/internal/report/snapshot"
	"muster/internal/servers"
)

// Inspector assesses Oracle servers. It keeps no state between servers.
type Inspector struct {
	catalogue *catalogue.Catalogue
	feed      feed.Source
	pii       *pii.Rules
	now       func() time.Time
	open      func(ctx context.Context, target servers.Target, database string) (servers.Session, error)
}

// New loads the embedded catalogue, feed and rules. The error names every fault in them.
func New(now func() time.Time) (*Inspector, error) {
	c := &Inspector{now: now, open: func(ctx context.Context, target servers.Target, database string) (servers.Session, error) {
		return target.Open(ctx, database, servers.StatementTimeout)
	}}
	var err error
	c.catalogue, c.feed, c.pii, err = inspection.Load()
	return c, err
}

// JudgeBy has the Inspector judge releases by a feed; by what is embedded until then.
func (c *Inspector) JudgeBy(source feed.Source) { c.feed = source }

// Assess assesses one server: instance checks once, database checks in every container. It also
// reads the server's state for the comparison with the previous assessment. It always returns
// an assessment; one that did not reach the server says why. If ctx ended meanwhile, the
// assessment is worthless and the caller must drop it.
func (c *Inspector) Assess(ctx context.Context, target servers.Target) (snapshot.Assessment, changes.State) {
	return inspection.Assess(c.now, target, func(a *snapshot.Assessment) (changes.State, error) { return c.assess(ctx, target, a) })
}

// assess fails only where nothing at all could be learnt.
func (c *Inspector) assess(ctx context.Context, target servers.Target, a *snapshot.Assessment) (state changes.State, err error) {
	s, err := c.open(ctx, target, target.Database)
	if err != nil {
		return state, err
	}
	defer s.Close(ctx)
	who, err := readIdentity(ctx, s)
	if err != nil {
		return state, err
	}
	a.Role, a.RoleIsSuperuser, a.VersionText, a.InRecovery = who.account, who.dba, who.version, who.standby
	var grants []snapshot.MissingGrant
	granted := access{account: who.account, autonomous: who.autonomous}
	containers, err := readContainers(ctx, s, who)
	switch {
	case servers.ReasonOf(err) == servers.Denied:
		const right = "SELECT on SYS.V_$CONTAINERS"
		grants = append(grants, snapshot.MissingGrant{Object: right, Statement: granted.grant(right)})
	case err != nil:
		return state, err
	}
	readActivity(ctx, s, who, a)
	parameters, err := readParameters(ctx, s)
	if err != nil {
		parameters = nil
	}
	accounts := c.readAccounts(ctx, s, a)
	state = likeness(ctx, s, who, parameters, accounts)
	if server, err := target.Identify(ctx, s); err == nil {
		state.Answered(server)
	}

	judged, err := c.feed.Current(ctx)
	if err != nil {
		judged = nil // the check that needs it has no answer, and says so
	}
	look := inspection.Look{
		Session: s, Server: granted, Account: who.account, Settings: parameters, Beyond: who.beyond(containers),
		Rules: map[string]inspection.Rule{
			catalogue.BuildBehind: inspection.Behind(judged, fleet.Oracle, who.version, a, a.StartedAt),
		},
	}
	results, missing := look.Run(ctx, c.checks(catalogue.ScopeInstance))
	more, moreGrants := c.visitContainers(ctx, target, who, containers)
	for _, one := range containers {
		a.Databases = append(a.Databases, one.fact)
	}
	a.Results = slices.Concat(results, more)
	inspection.Finish(a, slices.Concat(grants, missing, moreGrants))
	return state, nil
}

func (c *Inspector) checks(scope string) []catalogue.Check {
	return slices.DeleteFunc(c.catalogue.Of(fleet.Oracle), func(check catalogue.Check) bool { return check.Scope != scope })
}

// readAccounts fills in the privileged accounts; nil where they could not be read.
func (c *Inspector) readAccounts(ctx context.Context, s servers.Session, a *snapshot.Assessment) *accounts {
	found, err := readAccounts(ctx, s)
	if err != nil {
		_, sentence := inspection.Reason(err)
		a.RolesNote = "Which accounts are privileged is unknown: " + sentence + "."
		return nil
	}
	if found.administrators == nil {
		a.RolesNote = "The SYSDBA accounts in the password file are unknown: V$PWFILE_USERS could not be read."
	}
	a.Roles = found.privileged(a.StartedAt)
	return &found
}

// Databases lists the names of a server's containers, as Assess does, as of now.
func (c *Inspector) Databases(ctx context.Context, target servers.Target) ([]string, error) {
	s, err := c.open(ctx, target, target.Database)
	if err != nil {
		return nil, err
	}
	defer s.Close(ctx)
	who, err := readIdentity(ctx, s)
	if err != nil {
		return nil, err
	}
	containers, err := readContainers(ctx, s, who)
	if servers.ReasonOf(err) == servers.Denied {
		err = nil
	}
	var names []string
	for _, one := range containers {
		names = append(names, one.fact.Name)
	}
	return names, err
}

// visitContainers runs the database checks, a few containers at a time, and fills in what
// each has encrypted.
func (c *Inspector) visitContainers(ctx context.Context, target servers.Target, who identity, containers []container) ([]snapshot.CheckResult, []snapshot.MissingGrant) {
	checks := c.checks(catalogue.ScopeDatabase)
	return inspection.VisitEach(len(containers), func(i int) ([]snapshot.CheckResult, []snapshot.MissingGrant) {
		return c.visit(ctx, target, who, &containers[i], checks)
	})
}

func (c *Inspector) visit(ctx context.Context, target servers.Target, who identity, one *container, checks []catalogue.Check) ([]snapshot.CheckResult, []snapshot.MissingGrant) {
	name := one.fact.Name
	if !one.fact.AllowsConn {
		return inspection.Skip(checks, name, snapshot.ReasonDatabaseUnreachable, fmt.Sprintf("Container %s is %s.", name, one.mode)), nil
	}
	s, err := c.enter(ctx, target, who, name)
	if err != nil {
		refused, _ := errors.AsType[*servers.ConnectionError](err)
		results := inspection.Unread(ctx, checks, name, refused.Sentence)
		if refused.Class != servers.ClassDatabase {
			return results, nil
		}
		grant := snapshot.MissingGrant{Object: "container " + name, Statement: access{account: who.account}.grant("SET CONTAINER")}
		return results, []snapshot.MissingGrant{grant}
	}
	defer s.Close(ctx)
	one.fact.EncryptedAtRest = encryption(ctx, s)
	return inspection.Look{Session: s, Server: access{account: who.account, autonomous: who.autonomous}, Account: who.account, Database: name}.Run(ctx, checks)
}

// enter opens a session in a container: the container of the connection string needs no right
// to change it.
func (c *Inspector) enter(ctx context.Context, target servers.Target, who identity, name string) (servers.Session, error) {
	if name == who.container {
		name = target.Database
	}
	return c.open(ctx, target, name)
}
