package postgresql

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"muster/internal/assessment/feed"
	"muster/internal/report/snapshot"
)

func line(kind, databases, users, address, netmask, method string) hbaRule {
	return hbaRule{Line: kind + " " + method, Type: kind, Databases: []string{databases}, Users: []string{users}, Address: address, Netmask: netmask, Method: method}
}

const everyone, one = "0.0.0.0", "255.255.255.255"

func TestTheFirstMatchingRuleDecides(t *testing.T) {
	t.Parallel()
	root := roleFact{Name: "root", Superuser: true, Login: true}
	open := line("host", "all", "all", everyone, everyone, "scram-sha-256")
	for name, test := range map[string]struct {
		rules []hbaRule
		tls   bool
		want  bool
	}{
		"no rule":                       {nil, true, false},
		"the socket alone":              {[]hbaRule{line("local", "all", "all", "", "", "trust")}, true, false},
		"loopback alone":                {[]hbaRule{line("host", "all", "all", "127.0.0.1", one, "trust")}, true, false},
		"samehost alone":                {[]hbaRule{line("host", "all", "all", "samehost", "", "trust")}, true, false},
		"anywhere":                      {[]hbaRule{open}, true, true},
		"a mask makes it anywhere":      {[]hbaRule{line("host", "all", "all", "127.0.0.1", everyone, "trust")}, true, true},
		"a host name":                   {[]hbaRule{line("host", "all", "all", "db.example", "", "md5")}, true, true},
		"samenet":                       {[]hbaRule{line("host", "all", "all", "samenet", "", "md5")}, true, true},
		"all addresses":                 {[]hbaRule{line("host", "all", "all", "all", "", "md5")}, true, true},
		"another user":                  {[]hbaRule{line("host", "all", "shop", everyone, everyone, "md5")}, true, false},
		"reject in front":               {[]hbaRule{line("host", "all", "root", "all", "", "reject"), open}, true, false},
		"reject behind":                 {[]hbaRule{open, line("host", "all", "root", "all", "", "reject")}, true, true},
		"reject IPv4 only in front":     {[]hbaRule{line("host", "all", "root", everyone, everyone, "reject"), line("host", "all", "all", "all", "", "md5")}, true, true},
		"reject for one database":       {[]hbaRule{line("host", "app", "root", "all", "", "reject"), open}, true, true},
		"reject for both databases":     {[]hbaRule{line("host", "app", "root", "all", "", "reject"), line("host", "postgres", "root", "all", "", "reject"), line("host", "replication", "root", "all", "", "reject"), open}, true, false},
		"reject a subnet":               {[]hbaRule{line("host", "all", "root", "10.0.0.0", "255.0.0.0", "reject"), line("host", "all", "all", "10.1.0.0", "255.255.0.0", "md5")}, true, false},
		"reject less than is admitted":  {[]hbaRule{line("host", "all", "root", "10.1.0.0", "255.255.0.0", "reject"), line("host", "all", "all", "10.0.0.0", "255.0.0.0", "md5")}, true, true},
		"reject in two halves":          {[]hbaRule{line("host", "all", "root", "0.0.0.0", "128.0.0.0", "reject"), line("host", "all", "root", "128.0.0.0", "128.0.0.0", "reject"), open}, true, false},
		"reject with TLS only":          {[]hbaRule{line("hostssl", "all", "root", "all", "", "reject"), open}, true, true},
		"reject with and without TLS":   {[]hbaRule{line("hostssl", "all", "root", "all", "", "reject"), line("hostnossl", "all", "root", "all", "", "reject"), open}, true, false},
		"hostssl on a server without":   {[]hbaRule{line("hostssl", "all", "all", "all", "", "md5")}, false, false},
		"hostssl":                       {[]hbaRule{line("hostssl", "all", "all", "all", "", "md5")}, true, true},
		"by group":                      {[]hbaRule{line("host", "all", "+admins", "all", "", "md5")}, true, true},
		"by another group":              {[]hbaRule{line("host", "all", "+shops", "all", "", "md5")}, true, false},
		"reject by group in front":      {[]hbaRule{line("host", "all", "+admins", "all", "", "reject"), open}, true, false},
		"by pattern":                    {[]hbaRule{line("host", "all", "/^ro", "all", "", "md5")}, true, true},
		"by another pattern":            {[]hbaRule{line("host", "all", "/^sh", "all", "", "md5")}, true, false},
		"replication alone":             {[]hbaRule{line("host", "replication", "root", "all", "", "md5")}, true, true},
		"its own database is not there": {[]hbaRule{line("host", "sameuser", "root", "all", "", "md5")}, true, false},
		"a database that is not there":  {[]hbaRule{line("host", "gone", "root", "all", "", "md5")}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			members := membership{"root": {"admins"}, "admins": {"staff"}}
			judge := newHBAJudge(test.rules, []string{"app", "postgres"}, test.tls, members)
			if _, got := judge.remoteLogin(root); got != test.want {
				t.Errorf("remote login is %t", got)
			}
		})
	}
}

func TestPrivilegedAccounts(t *testing.T) {
	t.Parallel()
	until := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	roles := []roleFact{
		{Name: "app", Login: true, Seen: true},
		{Name: "dba", Attributes: []string{"CREATEROLE"}},
		{Name: "ordinary", Login: true},
		{Name: "pg_write_server_files"},
		{Name: "postgres", Superuser: true, Login: true, Attributes: []string{"REPLICATION"}},
		{Name: "shadow", Login: true, ValidUntil: &until},
	}
	members := membership{"app": {"dba"}, "dba": {"pg_write_server_files", "app"}, "shadow": {"postgres"}} // a circle by mistake
	judge := newHBAJudge([]hbaRule{line("host", "all", "app", "all", "", "md5")}, []string{"app"}, true, members)
	got := privileged(roles, members, map[string]string{"app": "md5"}, judge, today)
	want := []snapshot.DatabaseRole{
		{Name: "postgres", Login: true, Superuser: true, Attributes: []string{"REPLICATION"}, MemberOf: []string{}, PasswordKind: "unknown", RemoteLogin: "no"},
		{Name: "shadow", Login: true, MemberOf: []string{"shadow → postgres"}, PasswordKind: "unknown", ValidUntil: &until, RemoteLogin: "no"},
		{Name: "app", Login: true, MemberOf: []string{"app → dba", "app → dba → pg_write_server_files"}, PasswordKind: "md5", LastSeen: &today, RemoteLogin: "yes"},
		{Name: "dba", Attributes: []string{"CREATEROLE"}, MemberOf: []string{"dba → pg_write_server_files"}, PasswordKind: "unknown", RemoteLogin: "no"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestRulesOfTheFeed(t *testing.T) {
	t.Parallel()
	f, err := feed.Load()
	if err != nil {
		t.Fatal(err)
	}
	judge := func(r rule, version int, at time.Time) (found []snapshot.Violation, measured, unknown string) {
		return r(evidence{found: &snapshot.Assessment{VersionNum: version, Outcome: snapshot.OutcomeComplete}, feed: f, at: at})
	}
	lastDay := time.Date(2026, 11, 11, 23, 59, 59, 0, time.UTC)
	for _, test := range []struct {
		name    string
		rule    rule
		version int
		at      time.Time
		fails   bool
		unknown bool
	}{
		{"14 on its last day", majorOutOfSupport, 140025, lastDay, false, false},
		{"14 the day after", majorOutOfSupport, 140025, lastDay.Add(time.Second), true, false},
		{"15", majorOutOfSupport, 150018, today, false, false},
		{"20 is unknown to the feed", majorOutOfSupport, 200000, today, false, true},
		{"15.19 lacks a fix", knownVulnerabilities, 150019, today, true, false},
		{"15.20 has all", knownVulnerabilities, 150020, today, false, false},
		{"20", knownVulnerabilities, 200000, today, false, true},
	} {
		found, measured, unknown := judge(test.rule, test.version, test.at)
		if len(found) > 0 != test.fails || unknown != "" != test.unknown || measured == "" != test.unknown {
			t.Errorf("%s: %d found, %q, %q", test.name, len(found), measured, unknown)
		}
	}
	// A CVE is as severe as its score says, wherever it is counted.
	found, _, _ := judge(knownVulnerabilities, 150019, today)
	scores := map[string]string{}
	for _, v := range found {
		scores[v.Severity] += " " + v.Evidence[:len("CVSS 8.8")]
	}
	if diff := cmp.Diff(map[string]string{"High": " CVSS 8.8 CVSS 8.8", "Medium": " CVSS 4.3"}, scores); diff != "" {
		t.Error(diff)
	}
}

func TestEvidenceNamesTheReleaseOfItsMajor(t *testing.T) {
	t.Parallel()
	for major, want := range map[string]string{
		"15": "fixed in 15.20",
		"12": "not fixed in 12, fixed in 14.25 15.20",
	} {
		if got := fixedIn([]string{"14.25", "15.20"}, major); got != want {
			t.Errorf("on %s: %q, want %q", major, got, want)
		}
	}
}
