package inspection_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"muster/domain/fleet"
	"muster/internal/assessment/catalogue"
	"muster/internal/assessment/feed"
	"muster/internal/assessment/inspection"
	"muster/internal/report/snapshot"
	"muster/internal/servers"
	"muster/internal/servers/serverstest"
)

// open is a server that shows all.
type open struct {
	excluded string
	missing  []snapshot.MissingGrant
}

func (o open) Excludes(catalogue.Check) string                 { return o.excluded }
func (o open) Missing(catalogue.Check) []snapshot.MissingGrant { return o.missing }
func (o open) Refused(check catalogue.Check, refusal *servers.Refusal) []snapshot.MissingGrant {
	if refusal.Reason != servers.Denied {
		return nil
	}
	return []snapshot.MissingGrant{{Object: "SELECT", Statement: "GRANT SELECT;", Checks: []string{check.ID}}}
}

// recorded is what a server answered to a check, and what comes of it.
type recorded struct {
	Check   string
	Rows    [][]string
	Counted []string
	Objects []string
	Fails   string
	Passes  string
	Fixes   []string
}

func load(t *testing.T) *catalogue.Catalogue {
	t.Helper()
	c, err := catalogue.Load()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// answered is a look at a server that answers the queries of a check with these rows, and
// with counted for what it counts, measures and has as settings.
func answered(check catalogue.Check, rows [][]string, counted string) inspection.Look {
	s := serverstest.New("shop")
	s.On(inspection.Query(check, inspection.Violations, check.Query), rows...)
	s.On(inspection.Query(check, inspection.Inapplicable, check.Inapplicable))
	s.On(inspection.Query(check, inspection.Unreadable, check.Unreadable))
	s.On(inspection.Query(check, inspection.Population, check.Population), []string{counted})
	s.On(inspection.Query(check, inspection.Measure, check.Measure), []string{counted})
	l := inspection.Look{Session: s, Server: open{}, Account: "muster", Settings: map[string]string{}}
	for _, r := range check.Reads {
		if r.Setting() {
			l.Settings[strings.ToLower(r.Name)] = counted
		}
	}
	if check.Scope == catalogue.ScopeDatabase {
		l.Database = "shop"
	}
	return l
}

func run(t *testing.T, l inspection.Look, check catalogue.Check) (snapshot.CheckResult, []snapshot.MissingGrant) {
	t.Helper()
	results, grants := l.Run(t.Context(), []catalogue.Check{check})
	if len(results) != 1 {
		t.Fatalf("%s: %d results", check.ID, len(results))
	}
	return results[0], grants
}

func recordedOf(t *testing.T, engine fleet.Engine) (all []recorded) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + string(engine) + ".yaml")
	if err == nil {
		err = yaml.Unmarshal(text, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestEveryCheckFailsAndPasses on what its server answers, in the words that people read,
// and with the statement that mends it.
func TestEveryCheckFailsAndPasses(t *testing.T) {
	t.Parallel()
	c := load(t)
	for _, engine := range []fleet.Engine{fleet.SQLServer, fleet.Oracle} {
		all := recordedOf(t, engine)
		for _, check := range c.Of(engine) {
			i := slices.IndexFunc(all, func(r recorded) bool { return r.Check == check.ID })
			if (i < 0) != (check.Evaluate != "") {
				t.Errorf("%s: rows are recorded of what a query judges, and of nothing else", check.ID)
			}
			if i < 0 {
				continue
			}
			t.Run(check.ID, func(t *testing.T) {
				t.Parallel()
				all[i].hold(t, check)
			})
		}
	}
}

func (r recorded) hold(t *testing.T, check catalogue.Check) {
	failed, _ := run(t, answered(check, r.Rows, r.Counted[0]), check)
	type found struct{ object, evidence, fix string }
	var want, got []found
	for i, row := range r.Rows {
		f := found{object: r.Objects[i], evidence: row[0]}
		if len(r.Fixes) > 0 {
			f.fix = r.Fixes[i]
		}
		want = append(want, f)
	}
	slices.SortFunc(want, func(a, b found) int { return strings.Compare(a.object, b.object) })
	for _, v := range failed.Violations {
		f := found{object: v.Object, evidence: v.Evidence}
		if v.Fix != nil {
			f.fix = v.Fix.Statement
			if v.Fix.Database != failed.Database {
				t.Errorf("the fix is for database %q", v.Fix.Database)
			}
		}
		got = append(got, f)
	}
	if failed.Status != snapshot.StatusFail || failed.Measured != r.Fails || failed.Total != len(r.Rows) || failed.Threshold != check.Pass {
		t.Errorf("it fails as %s, measured %q, %d; want %q", failed.Status, failed.Measured, failed.Total, r.Fails)
	}
	if !slices.Equal(got, want) {
		t.Errorf("it finds %+v, want %+v", got, want)
	}
	share := 1.0
	if all, err := strconv.Atoi(r.Counted[0]); err == nil && check.Population != "" {
		share = float64(len(r.Rows)) / float64(all)
	}
	if failed.FailFraction != share {
		t.Errorf("a share of %v fails, want %v", failed.FailFraction, share)
	}
	passed, _ := run(t, answered(check, nil, r.Counted[1]), check)
	if passed.Status != snapshot.StatusPass || passed.Measured != r.Passes || passed.FailFraction != 0 || passed.Total != 0 {
		t.Errorf("it passes as %+v, want %q", passed, r.Passes)
	}
}

// TestAnUndecidableCheckDoesNotPass, and has a reason.
func TestAnUndecidableCheckDoesNotPass(t *testing.T) {
	t.Parallel()
	c := load(t)
	login, _ := c.Check("MS-48") // has unreadable and population
	option, _ := c.Check("MS-36")
	dac, _ := c.Check("MS-22")
	hidden, _ := c.Check("OR-56")
	query := func(check catalogue.Check, what string) string { return inspection.Query(check, what, "") }
	for name, test := range map[string]struct {
		check        catalogue.Check
		change       func(l *inspection.Look, s *serverstest.Session)
		status, code string
		says         string
		grants       int
	}{
		"a right is missing": {login, func(l *inspection.Look, s *serverstest.Session) {
			l.Server = open{missing: []snapshot.MissingGrant{{Object: "VIEW ANY DEFINITION", Statement: "GRANT VIEW ANY DEFINITION TO [muster];"}}}
			s.Fail(query(login, inspection.Violations), errors.New("asked"))
		}, snapshot.StatusNotAssessed, snapshot.ReasonPermissionDenied, "The account muster lacks VIEW ANY DEFINITION. To grant it: GRANT VIEW ANY DEFINITION TO [muster];", 1},
		"refused": {login, func(_ *inspection.Look, s *serverstest.Session) {
			s.Fail(query(login, inspection.Violations), &servers.Refusal{Code: "error 229", Reason: servers.Denied})
		}, snapshot.StatusNotAssessed, snapshot.ReasonPermissionDenied, "lacks SELECT. To grant it: GRANT SELECT;", 1},
		"no such column": {login, func(_ *inspection.Look, s *serverstest.Session) {
			s.Fail(query(login, inspection.Violations), &servers.Refusal{Code: "error 207", Reason: servers.Absent})
		}, snapshot.StatusNotApplicable, snapshot.ReasonNotPresent, "error 207", 0},
		"too slow": {login, func(_ *inspection.Look, s *serverstest.Session) {
			s.Fail(query(login, inspection.Violations), &servers.Refusal{Code: "error -2", Reason: servers.TimedOut})
		}, snapshot.StatusNotAssessed, snapshot.ReasonTimeout, "did not finish it in time", 0},
		"failed": {login, func(_ *inspection.Look, s *serverstest.Session) {
			s.Fail(query(login, inspection.Violations), &servers.Refusal{Code: "error 8115", Reason: servers.Failed})
		}, snapshot.StatusNotAssessed, snapshot.ReasonQueryFailed, "failed with error 8115", 0},
		"cut in the middle of rows": {login, func(_ *inspection.Look, s *serverstest.Session) {
			s.Answers[serverstest.FirstLine(query(login, inspection.Violations))] = serverstest.Answer{
				Rows: [][]string{{"no password", "app"}}, Err: errors.New("cut"),
			}
		}, snapshot.StatusNotAssessed, snapshot.ReasonQueryFailed, "the connection broke", 0},
		"the connection is gone": {login, func(_ *inspection.Look, s *serverstest.Session) {
			s.Close(context.Background())
		}, snapshot.StatusNotAssessed, snapshot.ReasonTimeout, "The connection was lost before this check", 0},
		"something is hidden": {login, func(_ *inspection.Look, s *serverstest.Session) {
			s.On(query(login, inspection.Unreadable), []string{"the password of x"}, []string{"the password of a"})
		}, snapshot.StatusNotAssessed, snapshot.ReasonQueryFailed, "Not known: the password of a, the password of x.", 0},
		"what is hidden is not told": {login, func(_ *inspection.Look, s *serverstest.Session) {
			s.Fail(query(login, inspection.Unreadable), &servers.Refusal{Code: "error 229", Reason: servers.Denied})
		}, snapshot.StatusNotAssessed, snapshot.ReasonQueryFailed, "Muster could not find out which objects the server hides: the server denied permission for it.", 0},
		"no such option": {option, func(l *inspection.Look, _ *serverstest.Session) {
			l.Settings = map[string]string{"xp_cmdshell": "0"}
		}, snapshot.StatusNotApplicable, snapshot.ReasonNotPresent, "This server has no sys.configurations, hadoop connectivity.", 0},
		"a hidden parameter that is not set": {hidden, func(l *inspection.Look, _ *serverstest.Session) {
			l.Settings = map[string]string{"os_roles": "FALSE"}
		}, snapshot.StatusPass, "", "", 0},
		"Azure": {option, func(l *inspection.Look, _ *serverstest.Session) {
			l.Server = open{excluded: "There are no options."}
		}, snapshot.StatusNotApplicable, snapshot.ReasonNotPresent, "There are no options.", 0},
		"a cluster": {dac, func(_ *inspection.Look, s *serverstest.Session) {
			s.On(query(dac, inspection.Inapplicable), []string{"A cluster needs it."})
		}, snapshot.StatusNotApplicable, snapshot.ReasonNotPresent, "A cluster needs it.", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := answered(test.check, nil, "0")
			test.change(&l, l.Session.(*serverstest.Session))
			got, grants := run(t, l, test.check)
			if got.Status != test.status || got.ReasonCode != test.code || !strings.Contains(got.Reason, test.says) || len(grants) != test.grants || got.Total != 0 {
				t.Errorf("%+v with %d grants", got, len(grants))
			}
		})
	}
}

func TestHiddenObjectsAreListedBesideFailedOnes(t *testing.T) {
	t.Parallel()
	check, _ := load(t).Check("MS-48")
	l := answered(check, [][]string{{"no password", "app"}}, "0")
	l.Session.(*serverstest.Session).On(inspection.Query(check, inspection.Unreadable, ""), []string{"the password of x"})
	if got, _ := run(t, l, check); got.Status != snapshot.StatusFail || got.Reason != "Not known: the password of x." || got.Measured != "1 found" {
		t.Errorf("%+v", got)
	}
}

// TestAFloodOfViolationsIsBounded: those kept are the first by name, whatever the order
// they come in, and all are counted.
func TestAFloodOfViolationsIsBounded(t *testing.T) {
	t.Parallel()
	check, _ := load(t).Check("OR-18")
	var rows [][]string
	for i := range 3*snapshot.MaxViolations + 7 {
		rows = append(rows, []string{"analyzed never", "APP", "T" + strconv.Itoa(10_000-i)})
	}
	got, _ := run(t, answered(check, rows, "20000"), check)
	if got.Total != len(rows) || len(got.Violations) != snapshot.MaxViolations || got.Violations[0].Object != "APP.T10000" ||
		!slices.IsSortedFunc(got.Violations, func(a, b snapshot.Violation) int { return strings.Compare(a.Object, b.Object) }) {
		t.Errorf("%d of %d, the first is %s", len(got.Violations), got.Total, got.Violations[0].Object)
	}
	if last := got.Violations[len(got.Violations)-1].Object; last != "APP.T8992" {
		t.Errorf("the last is %s", last)
	}
}

// TestBuildsAreJudgedByTheFeed.
func TestBuildsAreJudgedByTheFeed(t *testing.T) {
	t.Parallel()
	f, err := feed.Load()
	if err != nil {
		t.Fatal(err)
	}
	c := load(t)
	at := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		check, version string
		feed           *feed.Feed
		status, says   string
	}{
		"out of support":  {"MS-19", "12.0.6449.1", f, snapshot.StatusFail, "SQL Server 12.0.6449.1, out of support since 2024-07-09"},
		"behind":          {"MS-19", "16.0.1000.6", f, snapshot.StatusFail, " behind 16.0."},
		"no such release": {"MS-19", "99.0.1.1", f, snapshot.StatusNotAssessed, "does not know SQL Server 99.0.1.1"},
		"no feed":         {"MS-19", "16.0.1000.6", nil, snapshot.StatusNotAssessed, "could not be read"},
		"Oracle behind":   {"OR-14", "19.3.0.0.0", f, snapshot.StatusFail, "Oracle"},
		"no update named": {"OR-14", "19.0.0.0.0", f, snapshot.StatusNotAssessed, "latest build"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check, _ := c.Check(test.check)
			l := inspection.Look{Session: serverstest.New(""), Server: open{}, Rules: map[string]inspection.Rule{
				catalogue.BuildBehind: inspection.Behind(test.feed, fleet.Engine(check.Engine), test.version, &snapshot.Assessment{}, at),
			}}
			got, _ := run(t, l, check)
			if got.Status != test.status || !strings.Contains(got.Measured+got.Reason, test.says) {
				t.Errorf("%+v", got)
			}
		})
	}
}
