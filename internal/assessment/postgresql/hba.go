package postgresql

import (
	"context"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"muster/internal/servers"
)

// hbaRule is one line of pg_hba.conf as the server understood it.
type hbaRule struct {
	Line      string   `json:"line"`
	Type      string   `json:"type"`
	Databases []string `json:"databases"`
	Users     []string `json:"users"`
	Address   string   `json:"address"`
	Netmask   string   `json:"netmask"`
	Method    string   `json:"method"`
}

// readHBA returns the rules in the order the server tries them. rule_number
// exists since 16, where included files make line numbers repeat.
func readHBA(ctx context.Context, s servers.Session) ([]hbaRule, error) {
	return readJSON[hbaRule](ctx, s, `
		select json_build_object('line', 'line ' || line_number, 'type', type, 'databases', database, 'users', user_name,
			'address', coalesce(address, ''), 'netmask', coalesce(netmask, ''), 'method', auth_method)
		from pg_hba_file_rules h
		where error is null
		order by (to_jsonb(h) ->> 'rule_number')::int nulls last, line_number`)
}

// hbaJudge answers for which roles a remote login is possible. It tries the
// rules in order for points that stand for every different case: an address
// just inside and just outside each network that a rule names, with and
// without TLS, to each database that a rule tells apart.
type hbaJudge struct {
	rules     []hbaRule
	networks  []netip.Prefix // by rule; invalid where it names no network
	points    []hbaPoint
	databases []string
	members   membership
}

// hbaPoint is where a client comes from.
type hbaPoint struct {
	addr netip.Addr
	name string // a host name or samenet, which only the rule that says so (or all) matches
	tls  bool
}

func newHBAJudge(rules []hbaRule, databases []string, tlsOn bool, members membership) *hbaJudge {
	j := &hbaJudge{rules: rules, members: members, databases: distinctDatabases(rules, databases)}
	addresses := []netip.Addr{netip.MustParseAddr("203.0.113.77"), netip.MustParseAddr("2001:db8::77")}
	var names []string
	for _, rule := range rules {
		network := rule.network()
		j.networks = append(j.networks, network)
		switch {
		case network.IsValid():
			first, last := network.Addr(), lastOf(network)
			addresses = append(addresses, first, last, first.Prev(), last.Next())
		case rule.Address != "" && rule.Address != "all" && rule.Address != "samehost" && rule.Address != "localhost":
			names = append(names, rule.Address)
		}
	}
	slices.SortFunc(addresses, netip.Addr.Compare)
	for _, tls := range []bool{true, false} {
		if tls && !tlsOn {
			continue
		}
		for _, addr := range slices.Compact(addresses) {
			if addr.IsValid() && !addr.IsLoopback() && !addr.IsUnspecified() {
				j.points = append(j.points, hbaPoint{addr: addr, tls: tls})
			}
		}
		for _, name := range names {
			j.points = append(j.points, hbaPoint{name: name, tls: tls})
		}
	}
	return j
}

// distinctDatabases keeps the databases that some rule names and one of the
// others, which all fare alike; with patterns nobody can tell, so all stay.
func distinctDatabases(rules []hbaRule, databases []string) []string {
	named := make(map[string]bool)
	for _, rule := range rules {
		for _, d := range rule.Databases {
			if strings.HasPrefix(d, "/") || d == "sameuser" || d == "samerole" || d == "samegroup" {
				return databases
			}
			named[d] = true
		}
	}
	var out []string
	other := false
	for _, d := range databases {
		if named[d] || !other {
			out = append(out, d)
			other = other || !named[d]
		}
	}
	return out
}

// remoteLogin returns the first rule that lets the role in from another machine.
func (j *hbaJudge) remoteLogin(r roleFact) (rule hbaRule, possible bool) {
	for _, point := range j.points {
		for _, database := range j.databases {
			if i := j.first(r, point, database, false); i >= 0 && j.rules[i].Method != "reject" {
				return j.rules[i], true
			}
		}
		if r.Superuser || slices.Contains(r.Attributes, "REPLICATION") {
			if i := j.first(r, point, "", true); i >= 0 && j.rules[i].Method != "reject" {
				return j.rules[i], true
			}
		}
	}
	return hbaRule{}, false
}

// first is the index of the rule that decides, -1 for none.
func (j *hbaJudge) first(r roleFact, p hbaPoint, database string, replication bool) int {
	for i, rule := range j.rules {
		if rule.coversTransport(p.tls) && j.coversAddress(i, p) && j.coversDatabase(rule, r.Name, database, replication) && j.coversUser(rule, r.Name) {
			return i
		}
	}
	return -1
}

func (r hbaRule) coversTransport(tls bool) bool {
	switch r.Type {
	case "host", "hostnogssenc":
		return true
	case "hostssl":
		return tls
	case "hostnossl":
		return !tls
	default: // local; hostgssenc needs a Kerberos realm, which is not looked at
		return false
	}
}

func (j *hbaJudge) coversAddress(i int, p hbaPoint) bool {
	if j.rules[i].Address == "all" {
		return true
	}
	network := j.networks[i]
	if p.name != "" {
		return p.name == j.rules[i].Address || network.IsValid() && network.Bits() == 0
	}
	return network.IsValid() && network.Contains(p.addr)
}

func (j *hbaJudge) coversDatabase(rule hbaRule, role, database string, replication bool) bool {
	for _, d := range rule.Databases {
		switch {
		case d == "replication":
			if replication {
				return true
			}
		case replication:
		case d == "all", d == database, d == "sameuser" && role == database, matchesPattern(d, database),
			(d == "samerole" || d == "samegroup") && (role == database || j.members.reaches(role, database)):
			return true
		}
	}
	return false
}

func (j *hbaJudge) coversUser(rule hbaRule, role string) bool {
	for _, u := range rule.Users {
		group, isGroup := strings.CutPrefix(u, "+")
		if u == "all" || u == role || isGroup && (group == role || j.members.reaches(role, group)) || matchesPattern(u, role) {
			return true
		}
	}
	return false
}

// matchesPattern reads "/expression" as a regular expression (16 and later). One that Go does
// not understand matches nothing.
func matchesPattern(pattern, name string) bool {
	expression, ok := strings.CutPrefix(pattern, "/")
	if !ok || expression == "" {
		return false
	}
	compiled, err := regexp.Compile(expression)
	return err == nil && compiled.MatchString(name)
}

// network is the rule's address and mask as a prefix, invalid where the rule
// names no network. The mask decides: 127.0.0.1 with mask 0.0.0.0 is everybody.
func (r hbaRule) network() netip.Prefix {
	addr, err := netip.ParseAddr(r.Address)
	if err != nil {
		return netip.Prefix{}
	}
	mask, err := netip.ParseAddr(r.Netmask)
	if err != nil || mask.BitLen() != addr.BitLen() {
		return netip.Prefix{}
	}
	bits := 0
	for _, b := range mask.AsSlice() {
		for ; b&0x80 != 0; b <<= 1 {
			bits++
		}
	}
	return netip.PrefixFrom(addr, bits).Masked()
}

func lastOf(p netip.Prefix) netip.Addr {
	bytes := p.Addr().AsSlice()
	for i := p.Bits(); i < p.Addr().BitLen(); i++ {
		bytes[i/8] |= 0x80 >> (i % 8)
	}
	last, _ := netip.AddrFromSlice(bytes)
	return last
}
