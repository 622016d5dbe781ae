package feed

import (
	"slices"
	"strings"
	"testing"
	"time"

	"muster/domain/fleet"
	"muster/internal/report/snapshot"
)

func recordOf(engine fleet.Engine, id string, modified time.Time, affected ...string) Record {
	return Record{
		Engine: engine, ID: id, CVSS: 7.5, Vector: "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:H", Title: "a flaw", Affected: affected,
		Published: modified, Modified: modified, Source: "test",
	}
}

// A known record with the same range and score is no change. An older one that differs is
// refused, unless it is forced.
func TestPlan(t *testing.T) {
	t.Parallel()
	f := feedOf(t)
	old, later := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	same := recordOf(fleet.PostgreSQL, "CVE-2026-6473", old, "14.23", "15.18", "16.14", "17.10", "18.4")
	same.CVSS, same.Vector = 8.8, "CVSS:3.1/AV:N/AC:L/PR:L/UI:N/S:U/C:H/I:H/A:H"
	other := same
	other.Affected = []string{"14.23", "15.19", "16.14", "17.10", "18.4"}
	newer := other
	newer.Modified = later
	gone := Record{Engine: fleet.MongoDB, ID: "CVE-2026-9752", Withdrawn: true, Modified: later, Published: later}
	for name, test := range map[string]struct {
		record Record
		older  bool
		kind   string // of the change; empty: none
		rule   string // that is broken; empty: none
	}{
		"the same":                {record: same},
		"otherwise and older":     {record: other, rule: "older"},
		"otherwise, and forced":   {record: other, older: true, kind: Changed},
		"otherwise and newer":     {record: newer, kind: Changed},
		"new":                     {record: recordOf(fleet.MongoDB, "CVE-2026-99999", old, "8.0.0..<8.0.40"), kind: New},
		"gone":                    {record: gone, kind: Dropped},
		"gone, and never there":   {record: Record{Engine: fleet.MySQL, ID: "CVE-2026-9752", Withdrawn: true, Modified: later}},
		"to come":                 {record: recordOf(fleet.MongoDB, "CVE-2026-99999", november.AddDate(0, 0, 2), "8.0.0..<8.0.40"), rule: "future"},
		"no CVE":                  {record: recordOf(fleet.MongoDB, "X", old, "8.0.0..<8.0.40"), rule: "id"},
		"no range":                {record: recordOf(fleet.MongoDB, "CVE-2026-99999", old), rule: "range"},
		"a range that ends first": {record: recordOf(fleet.MongoDB, "CVE-2026-99999", old, "8.0.4..<8.0.1"), rule: "range"},
		"no numbers":              {record: recordOf(fleet.MongoDB, "CVE-2026-99999", old, "8.0.x..<8.0.1"), rule: "range"},
		"two of a major":          {record: recordOf(fleet.PostgreSQL, "CVE-2026-99999", later, "15.1", "15.2"), rule: "range"},
		"no engine":               {record: recordOf("db2", "CVE-2026-99999", old, "8.0.0..<8.0.1"), rule: "engine"},
	} {
		changes, problems := f.Plan([]Record{test.record}, november, test.older)
		kind, rule := "", ""
		if len(changes) == 1 {
			kind = changes[0].Kind
		}
		if len(problems) == 1 {
			rule = problems[0].Rule
			if problems[0].Record != test.record.ID || problems[0].Words == "" {
				t.Errorf("%s: %+v", name, problems[0])
			}
		}
		if kind != test.kind || rule != test.rule || len(changes)+len(problems) > 1 {
			t.Errorf("%s: %+v, %v", name, changes, problems)
		}
	}
	if _, problems := f.Plan([]Record{other, recordOf(fleet.MongoDB, "X", old)}, november, false); len(problems) != 2 {
		t.Errorf("of two that are wrong: %v", problems)
	}
}

// A feed with updates judges by them, and says so by its digest and dates.
func TestUpdatesAreJudgedBy(t *testing.T) {
	t.Parallel()
	f := feedOf(t)
	later := time.Date(2026, 11, 22, 5, 0, 0, 0, time.UTC)
	updates := Merge(nil, []Change{
		{Record: recordOf(fleet.MongoDB, "CVE-2026-99999", later, "8.0.0..<8.0.40")},
		{Record: recordOf(fleet.PostgreSQL, "CVE-2026-99998", later, "15.21", "18.8")},
		{Record: recordOf(fleet.PostgreSQL, "CVE-2026-6471", later, "14.24", "15.30", "16.15", "17.11", "18.6")}, // needs REPLICATION
		{Record: Record{Engine: fleet.MongoDB, ID: "CVE-2026-9752", Withdrawn: true, Modified: later}},
		{Record: recordOf(fleet.MySQL, "CVE-2025-53069", later.AddDate(-1, 0, 0), "8.0.0..8.0.50")}, // the tables know it more newly
	})
	with, err := f.With(updates)
	if err != nil {
		t.Fatal(err)
	}
	again, err := f.With(Merge(updates, nil))
	if err != nil || with.Identity() != again.Identity() || with.Identity().Digest == f.Identity().Digest || !with.Identity().Date.After(f.Identity().Date) {
		t.Errorf("%+v, %+v, %v", with.Identity(), again.Identity(), err)
	}
	for _, test := range []struct {
		engine             fleet.Engine
		version, cve, want string
	}{
		{fleet.MongoDB, "8.0.39", "CVE-2026-99999", snapshot.CVEOpen},
		{fleet.MongoDB, "8.0.40", "CVE-2026-99999", "absent"},
		{fleet.MongoDB, "7.0.34", "CVE-2026-9752", "absent"},
		{fleet.MySQL, "8.0.46", "CVE-2025-53069", "absent"},
	} {
		r, concerns := with.Judge(test.engine, test.version, nil, november)
		if got := applies(concerns, test.cve); got != test.want {
			t.Errorf("%s on %s: %s, want %s", test.cve, test.version, got, test.want)
		}
		if test.version == "8.0.39" && (r.Latest != "8.0.40" || r.Target != "8.0.40") {
			t.Errorf("%+v", r)
		}
		if !strings.Contains(strings.Join(with.Gaps(), " "), "As of 2026-11-22: of MongoDB's") {
			t.Error(with.Gaps())
		}
	}
	v := Version{Major: "15", Minor: 20}
	concerns := with.Concerns(v, nil)
	if applies(concerns, "CVE-2026-99998") != snapshot.CVEOpen || with.Release(v, concerns, november).Target != "15.30" {
		t.Errorf("%+v", with.Release(v, concerns, november))
	}
	i := slices.IndexFunc(concerns, func(c snapshot.InstanceCVE) bool { return c.ID == "CVE-2026-6471" })
	if i < 0 || !strings.Contains(concerns[i].Precondition, "REPLICATION") {
		t.Errorf("its precondition is forgotten: %+v", concerns)
	}
	if got := applies(f.Concerns(v, nil), "CVE-2026-99998"); got != "absent" {
		t.Errorf("the tables themselves have become other: %s", got)
	}
	// What the tables have is as old as it was, whatever has come since.
	between := recordOf(fleet.MongoDB, "CVE-2026-9753", time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC), "7.0.0..<7.0.36")
	if changes, problems := with.Plan([]Record{between}, november, false); len(changes) != 1 || len(problems) > 0 {
		t.Errorf("%v %v", changes, problems)
	}
	if changes, problems := with.Plan(updates[:1], november, false); len(changes)+len(problems) > 0 {
		t.Errorf("what is there is planned again: %v %v", changes, problems)
	}
}

func TestContradict(t *testing.T) {
	t.Parallel()
	for pair, want := range map[[2]string]bool{
		{"15.3", "15.18"}: true, {"15", "15.18"}: false, {"15.18 (Debian)", "15.18"}: false, {"16.0.4135.4", "15.0.2000.5"}: true, {"2022 CU14", "16.0.4135.4"}: false,
		{"19c", "19.24.0.0.0"}: false, {"19.24", "19.24.0.0.0"}: false, {"", "8.0.36"}: false, {"8.0", "8.0.36"}: false, {"8.4.1", "8.0.36"}: true,
	} {
		if Contradict(pair[0], pair[1]) != want || Contradict(pair[1], pair[0]) != want {
			t.Errorf("%v: not %t", pair, want)
		}
	}
}
