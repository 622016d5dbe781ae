package postgresql

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/domain/fleet"
	"muster/internal/assessment/catalogue"
	"muster/internal/assessment/changes"
	"muster/internal/assessment/feed"
	"muster/internal/assessment/inspection"
	"muster/internal/assessment/pii"
	"muster/internal/assessment/quote"
	"muster/internal/report/snapshot"
	"muster/internal/servers"
)

// Inspector assesses PostgreSQL servers. It keeps no state between servers.
type Inspector struct {
	catalogue *catalogue.Catalogue
	feed      feed.Source
	pii       *pii.Rules
	now       func() time.Time
}

// New loads the embedded catalogue, feed and rules. The error names every
// fault in them; the program must not start with one.
func New(now func() time.Time) (*Inspector, error) {
	c := &Inspector{now: now}
	var err error
	if c.catalogue, c.feed, c.pii, err = inspection.Load(); err != nil {
		return nil, err
	}
	if unknown := unknownRules(c.catalogue.Of(fleet.PostgreSQL)); len(unknown) > 0 {
		return nil, fmt.Errorf("check catalogue: no such rule: %s", strings.Join(unknown, ", "))
	}
	return c, nil
}

// Catalogue is the loaded check catalogue.
func (c *Inspector) Catalogue() *catalogue.Catalogue { return c.catalogue }

// JudgeBy has the Inspector judge versions by a feed; by what is embedded until then.
func (c *Inspector) JudgeBy(source feed.Source) { c.feed = source }

// Assess assesses one server: instance checks once, database checks in every user database that
// allows connections. It also reads the server's state for the comparison with the previous
// assessment. It always returns an assessment; one that did not reach the server says why. If
// ctx ended meanwhile, the assessment is worthless and the caller must drop it.
func (c *Inspector) Assess(ctx context.Context, target servers.Target) (snapshot.Assessment, changes.State) {
	return inspection.Assess(c.now, target, func(a *snapshot.Assessment) (changes.State, error) { return c.assess(ctx, target, a) })
}

// assess fails only where nothing at all could be learnt.
func (c *Inspector) assess(ctx context.Context, target servers.Target, a *snapshot.Assessment) (state changes.State, err error) {
	s, err := target.Open(ctx, target.Database, servers.StatementTimeout)
	if err != nil {
		return state, err
	}
	defer s.Close(ctx)
	judged, err := c.feed.Current(ctx)
	if err != nil {
		judged = nil // the checks that need it have no answer, and say so
	}
	closed, err := readServer(ctx, s, a)
	if err != nil {
		return state, err
	}
	checks := c.catalogue.Of(fleet.PostgreSQL)
	instance := slices.DeleteFunc(slices.Clone(checks), func(check catalogue.Check) bool { return check.Scope != catalogue.ScopeInstance })
	perDatabase := slices.DeleteFunc(checks, func(check catalogue.Check) bool { return check.Scope != catalogue.ScopeDatabase })

	on, err := readPlatform(ctx, s, a.RoleIsSuperuser)
	if err != nil {
		return state, err
	}
	granted, err := lookUp(ctx, s, a.Role, on, instance)
	if err != nil {
		return state, err
	}
	roles, members, err := readRoles(ctx, s)
	if err != nil {
		return state, err
	}
	results, grants := runChecks(ctx, s, granted, a.VersionNum, instance, "")
	judge := c.readAccounts(ctx, s, a, granted, roles, members)
	countSessions(ctx, s, a, granted)
	a.Upstream = readUpstream(ctx, s, granted)
	state = readLikeness(ctx, s, a, granted)
	if who, err := target.Identify(ctx, s); err == nil {
		state.Answered(who)
	}

	more, moreGrants, visited := c.visitDatabases(ctx, target, a, on, closed, perDatabase)
	more, moreGrants = dropVanished(ctx, s, a, more, moreGrants)
	a.Results = slices.Concat(results, more)
	e := evidence{found: a, roles: roles, judge: judge, feed: judged, at: a.StartedAt}
	if ends, known := servers.CertificateEnd(s); known {
		e.ends = &ends
	}
	a.Results = append(a.Results, judgeRules(e, granted, instance)...)
	inspection.Finish(a, append(grants, moreGrants...))
	addExtensions(&state, a, visited)
	return state, nil
}

const serverSQL = `
	select current_user, (select rolsuper from pg_roles where rolname = current_user),
	       current_setting('server_version_num'), version(),
	       to_char(pg_postmaster_start_time() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), pg_is_in_recovery()`

// ours are the user databases: a template that accepts connections is used like any other,
// except the two that every server has.
const ours = `(not d.datistemplate or d.datallowconn and d.datname not in ('template0', 'template1'))`

const databasesSQL = `
	select d.datname, pg_get_userbyid(d.datdba), d.datallowconn, has_database_privilege(d.oid, 'CONNECT'),
	       case when has_database_privilege(d.oid, 'CONNECT')
	              or coalesce(pg_has_role((select oid from pg_roles where rolname = 'pg_read_all_stats'), 'USAGE'), false)
	            then pg_database_size(d.oid) end
	from pg_database d where ` + ours + ` order by d.datname collate "C"`

// readServer fills in what the server is and has; closed are the databases on
// which our role lacks CONNECT.
func readServer(ctx context.Context, s servers.Session, a *snapshot.Assessment) (closed map[string]bool, err error) {
	row, err := servers.Row(ctx, s, 6, serverSQL)
	if err != nil {
		return nil, err
	}
	a.Role, a.RoleIsSuperuser, a.VersionText, a.InRecovery = row[0], row[1] == "t", row[3], row[5] == "t"
	if a.VersionNum, err = strconv.Atoi(row[2]); err != nil {
		return nil, fmt.Errorf("server_version_num: %w", err)
	}
	if started, err := time.Parse(time.RFC3339, row[4]); err == nil {
		a.ServerStartedAt = &started
	}
	closed = make(map[string]bool)
	err = s.Each(ctx, servers.Statement{Columns: 5, Text: databasesSQL}, func(row [][]byte) error {
		fact := snapshot.DatabaseFact{Name: string(row[0]), Owner: strings.ToValidUTF8(string(row[1]), "\uFFFD"), AllowsConn: string(row[2]) == "t"}
		closed[fact.Name] = string(row[3]) == "f"
		if size, err := strconv.ParseInt(string(row[4]), 10, 64); err == nil {
			fact.SizeBytes = &size
		}
		a.Databases = append(a.Databases, fact)
		return nil
	})
	return closed, err
}

// databaseNames are names of databases as the server has them, which need not be UTF-8.
func databaseNames(ctx context.Context, s servers.Session, query string) (names []string, err error) {
	err = s.Each(ctx, servers.Statement{Columns: 1, Text: query}, func(row [][]byte) error {
		names = append(names, string(row[0]))
		return nil
	})
	return names, err
}

// Databases lists the names of a server's databases, as Assess does, as of now.
func (c *Inspector) Databases(ctx context.Context, target servers.Target) ([]string, error) {
	s, err := target.Open(ctx, target.Database, servers.StatementTimeout)
	if err != nil {
		return nil, err
	}
	defer s.Close(ctx)
	return databaseNames(ctx, s, "select d.datname from pg_database d where "+ours)
}

// readAccounts fills in the privileged accounts and returns the judge of
// remote logins, nil where the HBA rules cannot be read.
func (c *Inspector) readAccounts(ctx context.Context, s servers.Session, a *snapshot.Assessment, granted access, roles []roleFact, members membership) *hbaJudge {
	var notes []string
	var judge *hbaJudge
	if granted.granted(catalogue.ReadRelation, "pg_hba_file_rules") && granted.granted(catalogue.ReadFunction, "pg_hba_file_rules") {
		if rules, err := readHBA(ctx, s); err == nil {
			var names []string
			for _, d := range a.Databases {
				if d.AllowsConn {
					names = append(names, d.Name)
				}
			}
			judge = newHBAJudge(rules, names, granted.states["setting ssl()"].setting == "on", members)
		}
	}
	if judge == nil {
		notes = append(notes, "Whether a remote login is possible is unknown: pg_hba_file_rules could not be read.")
	}
	var kinds map[string]string
	if granted.granted(catalogue.ReadRelation, "pg_authid", "rolname", "rolpassword") {
		kinds, _ = passwordKinds(ctx, s)
	}
	if kinds == nil {
		notes = append(notes, "How passwords are stored is unknown: pg_authid could not be read.")
	}
	a.Roles = privileged(roles, members, kinds, judge, a.StartedAt)
	a.RolesNote = strings.Join(notes, " ")
	return judge
}

// countSessions counts client sessions over TCP, ours aside, and those of them
// with TLS; a socket needs none.
func countSessions(ctx context.Context, s servers.Session, a *snapshot.Assessment, granted access) {
	if !granted.granted(catalogue.ReadRole, "pg_read_all_stats") {
		return
	}
	row, err := servers.Row(ctx, s, 2, `select count(*), count(*) filter (where t.ssl)
		from pg_stat_activity a left join pg_stat_ssl t using (pid)
		where a.client_addr is not null and a.pid <> pg_backend_pid()`)
	if err != nil {
		return
	}
	all, err := strconv.Atoi(row[0])
	secured, err2 := strconv.Atoi(row[1])
	if err == nil && err2 == nil {
		a.ClientSessions, a.TLSSessions = &all, &secured
	}
}

// readUpstream is where a standby gets its changes from, as host:port; empty where that is
// not known, and for a primary.
func readUpstream(ctx context.Context, s servers.Session, granted access) string {
	if !granted.standby {
		return ""
	}
	row, err := servers.Row(ctx, s, 2, "select sender_host, sender_port from pg_stat_wal_receiver")
	if err != nil || row[0] == "" || strings.HasPrefix(row[0], "/") { // a socket says nothing elsewhere
		return ""
	}
	return net.JoinHostPort(row[0], row[1])
}

// visitDatabases runs the database checks, a few databases at a time; visited are those
// whose extensions could be read.
func (c *Inspector) visitDatabases(ctx context.Context, target servers.Target, a *snapshot.Assessment, on platform, closed map[string]bool, checks []catalogue.Check) (
	results []snapshot.CheckResult, grants []snapshot.MissingGrant, visited map[string]bool,
) {
	found := make([][]snapshot.Extension, len(a.Databases))
	results, grants = inspection.VisitEach(len(a.Databases), func(i int) (r []snapshot.CheckResult, g []snapshot.MissingGrant) {
		switch d := &a.Databases[i]; {
		case !d.AllowsConn:
		case closed[d.Name] && on.keeps(d.Name):
			r = keptByPlatform(d, on, checks)
		default:
			r, g, found[i] = visitDatabase(ctx, target, a.Role, a.VersionNum, on, d.Name, closed[d.Name], checks)
			if found[i] == nil && on.keeps(d.Name) { // it may be closed in pg_hba.conf
				r, g = keptByPlatform(d, on, checks), nil
			}
		}
		return r, g
	})
	visited = make(map[string]bool, len(a.Databases))
	for i, d := range a.Databases {
		a.Extensions = append(a.Extensions, found[i]...)
		visited[d.Name] = found[i] != nil
	}
	return results, grants, visited
}

// keptByPlatform is the result of the checks of a database that the platform keeps for itself:
// it accepts only the platform's connections, so it is not classified, either.
func keptByPlatform(d *snapshot.DatabaseFact, on platform, checks []catalogue.Check) (results []snapshot.CheckResult) {
	d.AllowsConn = false
	for _, check := range checks {
		result := snapshot.CheckResult{CheckID: check.ID, Database: d.Name, Threshold: check.Pass}
		on.withhold(&result, "database "+d.Name)
		results = append(results, result)
	}
	return results
}

// dropVanished forgets databases that were dropped while we looked: they are
// neither unreachable, nor would a grant open them.
func dropVanished(ctx context.Context, s servers.Session, a *snapshot.Assessment, results []snapshot.CheckResult, grants []snapshot.MissingGrant) ([]snapshot.CheckResult, []snapshot.MissingGrant) {
	if !slices.ContainsFunc(results, func(r snapshot.CheckResult) bool { return r.ReasonCode == snapshot.ReasonDatabaseUnreachable }) {
		return results, grants
	}
	names, err := databaseNames(ctx, s, "select datname from pg_database")
	if err != nil {
		return results, grants
	}
	there := make(map[string]bool, len(names))
	for _, name := range names {
		there[name] = true
	}
	for _, d := range a.Databases {
		if !there[d.Name] {
			object := connectObject(d.Name)
			grants = slices.DeleteFunc(grants, func(g snapshot.MissingGrant) bool { return g.Object == object })
		}
	}
	a.Databases = slices.DeleteFunc(a.Databases, func(d snapshot.DatabaseFact) bool { return !there[d.Name] })
	results = slices.DeleteFunc(results, func(r snapshot.CheckResult) bool { return !there[r.Database] })
	return results, grants
}

func connectObject(database string) string { return "database " + database }

func visitDatabase(ctx context.Context, target servers.Target, role string, version int, on platform, database string, closed bool, checks []catalogue.Check) (results []snapshot.CheckResult, grants []snapshot.MissingGrant, extensions []snapshot.Extension) {
	s, err := target.Open(ctx, database, servers.StatementTimeout)
	if err != nil {
		refused, _ := errors.AsType[*servers.ConnectionError](err)
		if closed && refused.Class == servers.ClassDatabase {
			grants = append(grants, snapshot.MissingGrant{
				Object:    connectObject(database),
				Statement: "GRANT CONNECT ON DATABASE " + quote.Identifier(database) + " TO " + quote.Identifier(role) + ";",
			})
		}
		return inspection.Unread(ctx, checks, database, refused.Sentence), grants, nil
	}
	defer s.Close(ctx)
	rows, err := servers.Query(ctx, s, 2, `select extname, extversion from pg_extension order by extname collate "C"`)
	var granted access
	if err == nil {
		granted, err = lookUp(ctx, s, role, on, checks)
	}
	if err != nil {
		_, sentence := inspection.Reason(err)
		return inspection.Unread(ctx, checks, database, "Database "+database+" could not be read: "+sentence+"."), nil, nil
	}
	extensions = make([]snapshot.Extension, 0, len(rows)) // nil: they could not be read
	for _, row := range rows {
		extensions = append(extensions, snapshot.Extension{Database: database, Name: row[0], Version: row[1]})
	}
	results, grants = runChecks(ctx, s, granted, version, checks, database)
	return results, grants, extensions
}

// readJSON reads what a statement says in one JSON value a row.
func readJSON[T any](ctx context.Context, s servers.Session, statement string) ([]T, error) {
	rows, err := servers.Query(ctx, s, 1, statement)
	if err != nil {
		return nil, err
	}
	out := make([]T, len(rows))
	for i, row := range rows {
		if err := json.Unmarshal([]byte(row[0]), &out[i]); err != nil {
			return nil, fmt.Errorf("read row %d: %w", i+1, err)
		}
	}
	return out, nil
}
