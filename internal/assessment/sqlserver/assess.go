package sqlserver

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
	"muster/internal/engine/sqlserver"
	"muster/internal/report/snapshot"
	"muster/internal/servers"
)

// Open opens a session on a server's database; servers.Target's is one.
type Open func(ctx context.Context, target servers.Target, database string) (servers.Session, error)

// Inspector assesses SQL Servers. It keeps no state between servers.
type Inspector struct {
	catalogue *catalogue.Catalogue
	feed      feed.Source
	pii       *pii.Rules
	now       func() time.Time
	open      Open
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

// JudgeBy has the Inspector judge builds by a feed; by what is embedded until then.
func (c *Inspector) JudgeBy(source feed.Source) { c.feed = source }

// Assess assesses one server: instance checks once, database checks in every database. It also
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
	a.Role, a.RoleIsSuperuser, a.VersionText, a.Edition = who.login, who.sysadmin, who.version, who.edition
	databases, err := readDatabases(ctx, s, who.azure)
	if err != nil {
		return state, err
	}
	granted, err := lookUp(ctx, s, who)
	if err != nil {
		return state, err
	}
	readEncryption(ctx, s, databases)
	readActivity(ctx, s, a)
	for _, d := range databases {
		a.Databases = append(a.Databases, d.fact)
	}
	options, err := readOptions(ctx, s)
	if err != nil {
		options = nil
	}
	accounts := c.readAccounts(ctx, s, who, granted, a)
	state = likeness(who, options, accounts)
	if server, err := target.Identify(ctx, s); err == nil {
		state.Answered(server)
	}

	judged, err := c.feed.Current(ctx)
	if err != nil {
		judged = nil // the check that needs it has no answer, and says so
	}
	look := inspection.Look{
		Session: s, Server: granted, Account: who.login, Settings: options,
		Rules: map[string]inspection.Rule{
			catalogue.BuildBehind: inspection.Behind(judged, fleet.SQLServer, who.version, a, a.StartedAt),
		},
	}
	results, grants := look.Run(ctx, c.checks(catalogue.ScopeInstance))
	if !granted.rights[viewAnyDatabase] {
		grants = append(grants, snapshot.MissingGrant{Object: viewAnyDatabase, Statement: granted.statement(viewAnyDatabase)})
	}
	more, moreGrants := c.visitDatabases(ctx, target, who, databases)
	a.Results = slices.Concat(results, more)
	inspection.Finish(a, append(grants, moreGrants...))
	return state, nil
}

const (
	viewAnyDatabase   = "VIEW ANY DATABASE"
	viewAnyDefinition = "VIEW ANY DEFINITION"
)

func (c *Inspector) checks(scope string) []catalogue.Check {
	return slices.DeleteFunc(c.catalogue.Of(fleet.SQLServer), func(check catalogue.Check) bool { return check.Scope != scope })
}

// readAccounts fills in the privileged logins; nil where they could not be read whole.
func (c *Inspector) readAccounts(ctx context.Context, s servers.Session, who identity, granted access, a *snapshot.Assessment) *principals {
	switch {
	case who.azure:
		a.RolesNote = "Logins are those of the logical server, which a session of a database does not see."
		return nil
	case !granted.rights[viewAnyDefinition]:
		a.RolesNote = "Which logins are privileged is unknown: " + viewAnyDefinition + " is not granted."
		return nil
	}
	accounts, err := readPrincipals(ctx, s)
	if err != nil {
		_, sentence := inspection.Reason(err)
		a.RolesNote = "Which logins are privileged is unknown: " + sentence + "."
		return nil
	}
	a.Roles = accounts.privileged(readSeen(ctx, s), a.StartedAt)
	return &accounts
}

// Databases lists the names of a server's databases, as Assess does, as of now.
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
	databases, err := readDatabases(ctx, s, who.azure)
	var names []string
	for _, d := range databases {
		names = append(names, d.fact.Name)
	}
	return names, err
}

// visitDatabases runs the database checks, a few databases at a time. master and msdb are
// built as some of them forbid others to be (guests, owners), and are passed over.
func (c *Inspector) visitDatabases(ctx context.Context, target servers.Target, who identity, databases []database) ([]snapshot.CheckResult, []snapshot.MissingGrant) {
	checks := c.checks(catalogue.ScopeDatabase)
	return inspection.VisitEach(len(databases), func(i int) ([]snapshot.CheckResult, []snapshot.MissingGrant) {
		if databases[i].own {
			return nil, nil
		}
		return c.visit(ctx, target, who, databases[i], checks)
	})
}

func (c *Inspector) visit(ctx context.Context, target servers.Target, who identity, d database, checks []catalogue.Check) ([]snapshot.CheckResult, []snapshot.MissingGrant) {
	name := d.fact.Name
	unread := func(reason string) []snapshot.CheckResult { return inspection.Unread(ctx, checks, name, reason) }
	if d.state != online {
		return inspection.Skip(checks, name, snapshot.ReasonDatabaseUnreachable, fmt.Sprintf("Database %s is %s.", name, d.state)), nil
	}
	s, err := c.open(ctx, target, name)
	if err != nil {
		refused, _ := errors.AsType[*servers.ConnectionError](err)
		if !d.accessible && !d.replicated && refused.Class == servers.ClassDatabase {
			grant := snapshot.MissingGrant{Object: "database " + name, Statement: access{login: who.login}.statement(sqlserver.ConnectAnyDatabase)}
			return unread(refused.Sentence), []snapshot.MissingGrant{grant}
		}
		return unread(refused.Sentence), nil
	}
	defer s.Close(ctx)
	granted, err := lookUp(ctx, s, who)
	if err != nil {
		_, sentence := inspection.Reason(err)
		return unread("Database " + name + " could not be read: " + sentence + "."), nil
	}
	return inspection.Look{Session: s, Server: granted, Account: who.login, Database: name}.Run(ctx, checks)
}
