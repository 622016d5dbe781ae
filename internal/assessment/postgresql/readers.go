package postgresql

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"muster/internal/report/snapshot"
	"muster/internal/servers"
)

// access to a table, as its ACL and that of its schema say; "" is PUBLIC. Superusers and
// members of pg_read_all_data need neither.
type tableAccess struct {
	Owner   string         `json:"owner"`
	Forced  bool           `json:"forced"`  // row security holds for the owner, too
	Select  []string       `json:"select"`  // who was granted SELECT
	Columns []columnAccess `json:"columns"` // and of single columns
	Usage   []string       `json:"usage"`   // of the schema
}

type columnAccess struct {
	Role   string `json:"role"`
	Column string `json:"column"`
}

// account is a role as far as reading goes.
type account struct {
	Name      string `json:"name"`
	Login     bool   `json:"login"`
	Superuser bool   `json:"superuser"`
	Bypass    bool   `json:"bypass"` // BYPASSRLS
}

// accountsSQL leaves out PostgreSQL's own roles: nobody signs in as one. They are on the paths
// of others.
const accountsSQL = `
	select json_build_object('name', rolname, 'login', rolcanlogin, 'superuser', rolsuper, 'bypass', rolbypassrls)
	from pg_roles order by rolname collate "C"`

// edgesSQL has of each membership whether its rights are had at once, and whether SET ROLE
// is allowed. Since 16 the membership says both; before, the member's INHERIT says the
// first, and the second is always allowed.
const edgesSQL = `
	select m.rolname, g.rolname,
	       bool_or(coalesce((to_jsonb(am) ->> 'inherit_option')::boolean, m.rolinherit)),
	       bool_or(coalesce((to_jsonb(am) ->> 'set_option')::boolean, true))
	from pg_auth_members am join pg_roles g on g.oid = am.roleid join pg_roles m on m.oid = am.member
	group by m.rolname, g.rolname order by m.rolname collate "C", g.rolname collate "C"`

// readAllData is the role that reads every table of every schema, since 14.
const readAllData = "pg_read_all_data"

// circle knows the roles of a server and what each can become.
type circle struct {
	accounts []account
	byName   map[string]account
	inherits map[string][]string // whose rights a role has at once
	becomes  map[string][]string // what it can SET ROLE to
	reach    map[string][]steps  // by inheriting, from each role that was asked for
	known    map[string]readership
	kept     int // readers, of all tables
}

// steps is a way through memberships, the role itself first.
type steps []string

func (s steps) last() string { return s[len(s)-1] }

// readership is who can read tables of the same access.
type readership struct {
	readers  []snapshot.Reader
	unlisted int
}

// readCircle reads the roles and memberships.
func readCircle(ctx context.Context, s servers.Session) (*circle, error) {
	accounts, err := readJSON[account](ctx, s, accountsSQL)
	if err != nil {
		return nil, err
	}
	edges, err := servers.Query(ctx, s, 4, edgesSQL)
	if err != nil {
		return nil, err
	}
	c := &circle{accounts: accounts, byName: map[string]account{}, inherits: map[string][]string{}, becomes: map[string][]string{},
		reach: map[string][]steps{}, known: map[string]readership{}}
	for _, a := range accounts {
		c.byName[a.Name] = a
	}
	for _, e := range edges {
		if e[2] == "t" {
			c.inherits[e[0]] = append(c.inherits[e[0]], e[1])
		}
		if e[3] == "t" {
			c.becomes[e[0]] = append(c.becomes[e[0]], e[1])
		}
	}
	return c, nil
}

// ways are the shortest ones from a role to itself and each that it reaches, nearest first.
func ways(from string, edges map[string][]string) []steps {
	out, seen := []steps{{from}}, map[string]bool{from: true}
	for i := 0; i < len(out); i++ {
		for _, next := range edges[out[i].last()] {
			if !seen[next] {
				seen[next] = true
				out = append(out, append(slices.Clone(out[i]), next))
			}
		}
	}
	return out
}

func (c *circle) inherited(role string) []steps {
	if _, ok := c.reach[role]; !ok {
		c.reach[role] = ways(role, c.inherits)
	}
	return c.reach[role]
}

// mostReaders is how many roles are kept of a table, and mostKept of all of a database:
// more are counted, so that the inputs of a report over 26,000 tables stay some megabytes.
const (
	mostReaders = 40
	mostKept    = 20_000
)

// keep says of a table who can read it, as long as there is room.
func (c *circle) keep(t *snapshot.ClassifiedTable, a tableAccess) {
	r := c.readersOf(a)
	if c.kept += len(r.readers); c.kept > mostKept {
		t.ReadersUnlisted = len(r.readers) + r.unlisted
		return
	}
	t.ReaderPaths, t.ReadersUnlisted = r.readers, r.unlisted
}

// readersOf are the roles that can read a table, PUBLIC for all of them, each with the
// shortest of its ways: by its own rights and those it inherits, or else after a SET ROLE.
// What it has as a member whose rights it neither inherits nor can take on, it has not.
func (c *circle) readersOf(a tableAccess) readership {
	key := fmt.Sprintf("%q %t %q %q %q", a.Owner, a.Forced, a.Select, a.Columns, a.Usage)
	if r, ok := c.known[key]; ok {
		return r
	}
	var found []snapshot.Reader
	if slices.Contains(a.Usage, "") {
		if slices.Contains(a.Select, "") {
			found = append(found, snapshot.Reader{Role: snapshot.Public, Path: snapshot.Public + " → SELECT"})
		} else if columns := a.columnsOf([]steps{{""}}); len(columns) > 0 {
			found = append(found, snapshot.Reader{Role: snapshot.Public, Path: snapshot.Public + " → SELECT on columns", Columns: columns})
		}
	}
	everybody := len(found) > 0 && found[0].Columns == nil
	for _, role := range c.accounts {
		if strings.HasPrefix(role.Name, "pg_") {
			continue
		}
		if r, ok := c.readerOf(role, a, everybody); ok {
			found = append(found, r)
		}
	}
	slices.SortStableFunc(found, func(x, y snapshot.Reader) int { return x.Rank() - y.Rank() })
	r := readership{readers: found[:min(len(found), mostReaders)], unlisted: max(0, len(found)-mostReaders)}
	c.known[key] = r
	return r
}

// readerOf is the access path of one role; ok is false if it has none, or, for a table that
// everybody can read, no other.
func (c *circle) readerOf(role account, a tableAccess, everybody bool) (r snapshot.Reader, ok bool) {
	r = snapshot.Reader{Role: role.Name, Login: role.Login}
	past := false // by any of its ways
	for _, way := range ways(role.Name, c.becomes) {
		as := c.byName[way.last()]
		right, path, columns := c.rightOf(as, a, everybody)
		if right == "" {
			continue
		}
		if len(way) > 1 {
			path = append(append(slices.Clone(way[:len(way)-1]), "SET ROLE "+way.last()), path[1:]...)
		}
		past = past || c.pastPolicies(as, a)
		if !ok || r.Columns != nil && (columns == nil || len(columns) > len(r.Columns)) { // of ways to as much, the shortest
			r.Path, r.Columns, ok = strings.Join(append(slices.Clone(path), right), " → "), columns, true
		}
	}
	r.PastPolicies = past
	return r, ok
}

// pastPolicies says whether row security does not hold for a role as itself.
func (c *circle) pastPolicies(as account, a tableAccess) bool {
	return as.Superuser || as.Bypass || !a.Forced && slices.ContainsFunc(c.inherited(as.Name), func(s steps) bool { return s.last() == a.Owner })
}

// rightOf is by which right a role reads a table as itself, and the way to who holds it.
func (c *circle) rightOf(as account, a tableAccess, everybody bool) (right string, path steps, columns []string) {
	reach := c.inherited(as.Name)
	holds := func(grantees []string) steps {
		for _, way := range reach {
			if slices.Contains(grantees, way.last()) {
				return way
			}
		}
		return nil
	}
	if as.Superuser {
		return "superuser", steps{as.Name}, nil
	}
	if way := holds([]string{readAllData}); way != nil {
		return "every table", way, nil
	}
	if holds(a.Usage) == nil && !slices.Contains(a.Usage, "") {
		return "", nil, nil
	}
	if way := holds(a.Select); way != nil {
		if way.last() == a.Owner {
			return "SELECT as owner", way, nil
		}
		return "SELECT", way, nil
	}
	if slices.Contains(a.Select, "") && (!everybody || as.Bypass) {
		return "SELECT of PUBLIC", steps{as.Name}, nil
	}
	if columns := a.columnsOf(append(slices.Clone(reach), steps{""})); len(columns) > 0 && !everybody {
		var grantees []string
		for _, one := range a.Columns {
			grantees = append(grantees, one.Role)
		}
		if way := holds(grantees); way != nil {
			return "SELECT on columns", way, columns
		}
		return "SELECT on columns of PUBLIC", steps{as.Name}, columns
	}
	return "", nil, nil
}

// columnsOf are those that any of some roles may read.
func (a tableAccess) columnsOf(roles []steps) []string {
	var out []string
	for _, one := range a.Columns {
		if slices.ContainsFunc(roles, func(s steps) bool { return s.last() == one.Role }) {
			out = append(out, one.Column)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
