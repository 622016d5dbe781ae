package report_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/domain/report"
)

var (
	orders  = uuid.MustParse("00000000-0000-7000-8000-000000000001")
	billing = uuid.MustParse("00000000-0000-7000-8000-000000000002")
	now     = time.Date(2026, 11, 20, 11, 37, 42, 500, time.UTC)
)

func at(text string) *time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return &t
}

func instances(n int) []uuid.UUID {
	ids := make([]uuid.UUID, n)
	for i := range ids {
		ids[i] = uuid.UUID{14: byte(i >> 8), 15: byte(i)}
	}
	return ids
}

func TestValidate(t *testing.T) {
	t.Parallel()
	card := func(from, to string) report.Scope {
		return report.Scope{InstanceIDs: []uuid.UUID{orders}, From: at(from), To: at(to)}
	}
	for _, c := range []struct {
		name   string
		kind   report.Kind
		scope  report.Scope
		broken []string // rule, pointer, code
	}{
		{"security without anything", report.Security, report.Scope{}, nil},
		{"security over 100 instances", report.Security, report.Scope{InstanceIDs: instances(100)}, nil},
		{"security over 101", report.Security, report.Scope{InstanceIDs: instances(101)}, []string{"too_many_instances #/scope/instanceIds too_many_instances"}},
		{"100 instances, one of them twice", report.DataInventory, report.Scope{InstanceIDs: append(instances(100), instances(1)...)}, nil},
		{"inventory with all that it cannot have, at once", report.DataInventory,
			report.Scope{InstanceIDs: instances(101), DatabaseID: &billing, From: at("2026-11-01T00:00:00Z"), To: at("2026-11-02T00:00:00Z")},
			[]string{
				"too_many_instances #/scope/instanceIds too_many_instances",
				"database_not_allowed #/scope/databaseId database_not_allowed",
				"range_not_allowed #/scope/from range_not_allowed",
				"range_not_allowed #/scope/to range_not_allowed",
			}},
		{"scorecard without anything", report.InstanceScorecard, report.Scope{}, []string{
			"scorecard_needs_one_instance #/scope/instanceIds scorecard_needs_one_instance",
			"range_required #/scope/from range_required",
			"range_required #/scope/to range_required",
		}},
		{"scorecard of two", report.InstanceScorecard,
			report.Scope{InstanceIDs: []uuid.UUID{orders, billing}, From: at("2026-11-01T00:00:00Z"), To: at("2026-11-02T00:00:00Z")},
			[]string{"scorecard_needs_one_instance #/scope/instanceIds scorecard_needs_one_instance"}},
		{"exactly 31 days", report.InstanceScorecard, card("2026-10-01T08:00:30Z", "2026-11-01T08:00:30Z"), nil},
		{"31 days and a minute", report.InstanceScorecard, card("2026-10-01T08:00:30Z", "2026-11-01T08:01:30Z"),
			[]string{"report_range_too_wide #/scope/to range_too_wide"}},
		{"from equals to", report.InstanceScorecard, card("2026-11-01T08:00:00Z", "2026-11-01T08:00:00Z"), []string{"invalid_window #/scope/to invalid_window"}},
		{"within one minute", report.InstanceScorecard, card("2026-11-01T08:00:10Z", "2026-11-01T08:00:50Z"), []string{"invalid_window #/scope/to invalid_window"}},
		{"backwards", report.InstanceScorecard, card("2026-11-02T00:00:00Z", "2026-11-01T00:00:00Z"), []string{"invalid_window #/scope/to invalid_window"}},
		{"to five minutes ahead", report.InstanceScorecard, card("2026-11-19T00:00:00Z", "2026-11-20T11:42:42Z"), nil},
		{"to more than five minutes ahead", report.InstanceScorecard, card("2026-11-19T00:00:00Z", "2026-11-20T11:42:43Z"),
			[]string{"window_in_future #/scope/to window_in_future"}},
		{"all of it ahead", report.InstanceScorecard, card("2026-11-21T00:00:00Z", "2026-11-22T00:00:00Z"),
			[]string{"window_in_future #/scope/from window_in_future", "window_in_future #/scope/to window_in_future"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, violations := report.Validate(c.kind, c.scope, now)
			var got []string
			for _, v := range violations {
				rule := v.Whole
				if rule == "" {
					rule = v.Code
				}
				got = append(got, rule+" "+v.Pointer+" "+v.Code)
			}
			if diff := cmp.Diff(c.broken, got); diff != "" {
				t.Errorf("violations (-want +got):\n%s", diff)
			}
		})
	}
}

func TestValidateMakesTheScopeCanonical(t *testing.T) {
	t.Parallel()
	scope, broken := report.Validate(report.InstanceScorecard, report.Scope{
		InstanceIDs: []uuid.UUID{orders, orders}, From: at("2026-11-19T09:05:59+01:00"), To: at("2026-11-20T11:40:00Z"),
	}, now)
	if broken != nil {
		t.Fatal(broken)
	}
	want := report.Scope{InstanceIDs: []uuid.UUID{orders}, From: at("2026-11-19T08:05:00Z"), To: at("2026-11-20T11:37:00Z")}
	if diff := cmp.Diff(want, scope); diff != "" {
		t.Errorf("scope (-want +got):\n%s", diff)
	}
	all, _ := report.Validate(report.Security, report.Scope{}, now)
	if all.InstanceIDs == nil {
		t.Error("an empty filter must be [] on the wire, not null")
	}
}

func TestFingerprint(t *testing.T) {
	t.Parallel()
	org, other := uuid.UUID{1}, uuid.UUID{2}
	one := report.Scope{InstanceIDs: []uuid.UUID{orders}, From: at("2026-11-01T00:00:00Z"), To: at("2026-11-02T00:00:00Z")}
	two := one
	two.DatabaseID = &billing
	three := one
	three.To = at("2026-11-02T00:01:00Z")
	prints := []string{
		report.Fingerprint(org, report.InstanceScorecard, one),
		report.Fingerprint(other, report.InstanceScorecard, one),
		report.Fingerprint(org, report.InstanceScorecard, two),
		report.Fingerprint(org, report.InstanceScorecard, three),
		report.Fingerprint(org, report.Security, report.Scope{}),
		report.Fingerprint(org, report.DataInventory, report.Scope{}),
		report.Fingerprint(org, report.Security, report.Scope{InstanceIDs: []uuid.UUID{orders}}),
		report.Fingerprint(org, report.Security, report.Scope{InstanceIDs: []uuid.UUID{orders, billing}}),
	}
	slices.Sort(prints)
	if n := len(slices.Compact(prints)); n != 8 {
		t.Errorf("8 different requests have %d fingerprints", n)
	}
	a, _ := report.Validate(report.Security, report.Scope{InstanceIDs: []uuid.UUID{billing, orders, billing}}, now)
	b, _ := report.Validate(report.Security, report.Scope{InstanceIDs: []uuid.UUID{orders, billing}}, now)
	if report.Fingerprint(org, report.Security, a) != report.Fingerprint(org, report.Security, b) {
		t.Error("the order of instances, or one twice, makes another request of it")
	}
}

func TestRecipients(t *testing.T) {
	t.Parallel()
	all, broken := report.Recipients(ana, []uuid.UUID{ben, ana, ben, cleo})
	if diff := cmp.Diff([]uuid.UUID{ana, ben, cleo}, all); diff != "" || broken != nil {
		t.Errorf("recipients (-want +got):\n%s%v", diff, broken)
	}
	if _, broken := report.Recipients(ana, instances(19)); broken != nil {
		t.Errorf("20 with the requester are allowed, got %v", broken)
	}
	if _, broken := report.Recipients(ana, instances(20)); len(broken) != 1 || broken[0].Code != "too_many_recipients" {
		t.Errorf("21 with the requester are too many, got %v", broken)
	}
}

func ExampleLabel() {
	window := report.Scope{From: at("2026-10-21T11:37:00Z"), To: at("2026-11-20T11:37:00Z")}
	fmt.Println(report.Label(report.InstanceScorecard, window, []string{"demo-pg-orders-01"}, ""))
	fmt.Println(report.Label(report.InstanceScorecard, window, []string{"demo-pg-orders-01"}, "sales"))
	fmt.Println(report.Label(report.Security, report.Scope{}, nil, ""))
	fmt.Println(report.Label(report.DataInventory, report.Scope{}, nil, ""))
	fmt.Println(report.Label(report.Security, report.Scope{}, []string{"orders", "Crm", "billing"}, ""))
	fmt.Println(report.Label(report.Security, report.Scope{}, []string{"e", "d", "c", "b", "a"}, ""))
	// Output:
	// demo-pg-orders-01 · 21 Oct – 20 Nov 2026 (UTC)
	// demo-pg-orders-01 / sales · 21 Oct – 20 Nov 2026 (UTC)
	// All active instances
	// Whole organization
	// 3 instances: billing, Crm, orders
	// 5 instances: a, b, c and 2 more
}

func TestLabelOfAWindow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ from, to, want string }{
		{"2026-11-13T00:00:00Z", "2026-11-20T00:00:00Z", "x · 13 Nov – 19 Nov 2026 (UTC)"}, // the end is exclusive
		{"2025-12-21T10:00:00Z", "2026-01-20T10:00:00Z", "x · 21 Dec 2025 – 20 Jan 2026 (UTC)"},
		{"2026-11-20T08:00:00Z", "2026-11-20T10:30:00Z", "x · 20 Nov 2026 08:00 – 10:30 (UTC)"},
		{"2026-11-19T08:00:00Z", "2026-11-20T00:00:00Z", "x · 19 Nov 2026 08:00 – 24:00 (UTC)"},
	} {
		got := report.Label(report.InstanceScorecard, report.Scope{From: at(c.from), To: at(c.to)}, []string{"x"}, "")
		if got != c.want {
			t.Errorf("%s to %s: %q, want %q", c.from, c.to, got, c.want)
		}
	}
}

func TestFileName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind      report.Kind
		instances []string
		database  string
		want      string
	}{
		{report.InstanceScorecard, []string{"demo-pg-orders-01"}, "", "scorecard-demo-pg-orders-01-2026-11-20.pdf"},
		{report.InstanceScorecard, []string{"demo-pg-orders-01"}, "Sales DB", "scorecard-demo-pg-orders-01-sales-db-2026-11-20.pdf"},
		{report.Security, nil, "", "security-2026-11-20.pdf"},
		{report.Security, []string{"a", "b"}, "", "security-2026-11-20.pdf"},
		{report.DataInventory, nil, "", "data-inventory-2026-11-20.pdf"},
		{report.InstanceScorecard, []string{"../../etc/passwd\r\nX: y"}, "", "scorecard-etc-passwd-x-y-2026-11-20.pdf"},
		{report.InstanceScorecard, []string{"größe"}, "", "scorecard-größe-2026-11-20.pdf"},
		{report.InstanceScorecard, []string{"///"}, "", "scorecard-2026-11-20.pdf"},
	} {
		if got := report.FileName(c.kind, c.instances, c.database, now); got != c.want {
			t.Errorf("%s %v %q: %q, want %q", c.kind, c.instances, c.database, got, c.want)
		}
	}
}
