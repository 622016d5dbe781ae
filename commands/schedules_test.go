package commands_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands"
	"muster/commands/usecase"
	"muster/domain/report"
	"muster/domain/schedule"
)

// daily is Security, at eight in Amsterdam, unless change says otherwise.
func daily(change ...func(*schedule.Terms)) schedule.Terms {
	t := schedule.Terms{
		Name: "Security", Kind: report.Security, Enabled: true,
		Recurrence: schedule.Recurrence{Every: schedule.Day, At: "08:00", TimeZone: "Europe/Amsterdam"},
	}
	for _, c := range change {
		c(&t)
	}
	return t
}

func (h *house) schedule(terms schedule.Terms) uuid.UUID {
	h.Helper()
	id, mark, err := h.CreateSchedule(h.Context(), h.actor, terms)
	if err != nil || mark.Position == 0 {
		h.Fatal(mark, err)
	}
	return id
}

// broken are the places and codes of a *usecase.RuleError: "#/at invalid_parameter, …".
func broken(err error) string {
	var rule *usecase.RuleError
	if !errors.As(err, &rule) {
		return ""
	}
	if len(rule.Fields) == 0 {
		return rule.Code
	}
	all := make([]string, len(rule.Fields))
	for i, f := range rule.Fields {
		all[i] = f.Pointer + " " + f.Code
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

func TestAScheduleIsCheckedAgainstEveryRule(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	orders, databases := h.known.addInstance(h.org.ID, "orders", "sales")
	foreign, _ := h.known.addInstance(uuid.New(), "theirs")
	bob := h.member("bob@example.org")
	for _, c := range []struct {
		name  string
		terms schedule.Terms
		want  string
	}{
		{"all in order", daily(func(x *schedule.Terms) { x.RecipientIDs = []uuid.UUID{bob.ID} }), ""},
		{"a scorecard", daily(func(x *schedule.Terms) {
			x.Kind, x.Scope = report.InstanceScorecard, schedule.Scope{InstanceIDs: []uuid.UUID{orders}, DatabaseID: &databases[0], Window: "30d"}
		}), ""},
		{"a scorecard of nothing", daily(func(x *schedule.Terms) { x.Kind = report.InstanceScorecard }),
			"#/scope/instanceIds scorecard_needs_one_instance, #/scope/window range_required"},
		{"foreign and unknown alike", daily(func(x *schedule.Terms) {
			x.Scope.InstanceIDs, x.RecipientIDs = []uuid.UUID{orders, foreign, {15: 1}}, []uuid.UUID{{15: 2}}
		}), "#/recipientIds/0 recipient_not_member, #/scope/instanceIds/1 instance_not_in_organization, #/scope/instanceIds/2 instance_not_in_organization"},
		{"everything at once", daily(func(x *schedule.Terms) {
			x.Name, x.Kind, x.OnlyIfChanged, x.Every, x.TimeZone, x.Scope.Window = " ", report.DataInventory, true, schedule.Week, "Europe/Atlantis", "7d"
			x.Scope.DatabaseID = &databases[0]
		}), "#/name out_of_range, #/onlyIfChanged not_comparable, #/scope/databaseId database_not_allowed, #/scope/window range_not_allowed, #/timeZone unknown_time_zone, #/weekday weekday_required"},
		{"the machine's own zone", daily(func(x *schedule.Terms) { x.TimeZone = "Local" }), "#/timeZone unknown_time_zone"},
		{"a file that is no zone", daily(func(x *schedule.Terms) { x.TimeZone = "../../etc/passwd" }), "#/timeZone unknown_time_zone"},
		{"a name that misleads", daily(func(x *schedule.Terms) { x.Name = "a\u202eb" }), "#/name invalid_name"},
		{"too many recipients", daily(func(x *schedule.Terms) {
			for i := range 20 {
				x.RecipientIDs = append(x.RecipientIDs, uuid.UUID{1: 1, 15: byte(i)})
			}
		}), ""},
	} {
		_, _, err := h.CreateSchedule(t.Context(), h.actor, c.terms)
		got := broken(err)
		if c.name == "too many recipients" {
			if !strings.Contains(got, "#/recipientIds too_many_recipients") {
				t.Errorf("%s: %q", c.name, got)
			}
			continue
		}
		if got != c.want || err != nil && got == "" {
			t.Errorf("%s: %q (%v), want %q", c.name, got, err, c.want)
		}
	}
	if n := h.count("jobs WHERE kind = 'run'"); n != 2 {
		t.Errorf("%d schedules are looked at, want those that were made", n)
	}
}

func TestOnlyTheOwnerOrAnAdminChangesASchedule(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.schedule(daily())
	bob := h.member("bob@example.org")
	other, stranger := h.organization("Other")
	rename := func(to string) commands.EditSchedule {
		return commands.EditSchedule{Change: func(x *schedule.Terms) { x.Name = to }}
	}
	as := func(edit commands.EditSchedule) commands.EditSchedule { edit.Admin = true; return edit }
	takeOver := commands.EditSchedule{TakeOver: true}
	for _, c := range []struct {
		name string
		who  usecase.Actor
		edit commands.EditSchedule
		want string
	}{
		{"its owner", h.actor, rename("B"), ""},
		{"its owner, to what it is", h.actor, rename("B"), ""},
		{"somebody else", h.as(bob), rename("C"), "forbidden"},
		{"somebody else who wants it", h.as(bob), takeOver, "forbidden"},
		{"an administrator", h.as(bob), as(rename("D")), ""},
		{"an administrator who breaks a rule", h.as(bob), as(commands.EditSchedule{Change: func(x *schedule.Terms) { x.TimeZone = "Mars/Olympus" }}), "#/timeZone unknown_time_zone"},
		{"an administrator who takes it over", h.as(bob), as(takeOver), ""},
		{"its former owner", h.actor, rename("E"), "forbidden"},
	} {
		_, err := h.ChangeSchedule(t.Context(), c.who, id, c.edit)
		if got := broken(err); got != c.want || err != nil && got == "" {
			t.Errorf("%s: %q (%v), want %q", c.name, got, err, c.want)
		}
	}
	var unknown *usecase.NotFoundError
	for name, try := range map[string]func() error{
		"another organization's": func() error {
			_, err := h.ChangeSchedule(t.Context(), usecase.Actor{OrganizationID: other.ID, MemberID: stranger.ID}, id, as(rename("X")))
			return err
		},
		"another organization's removal": func() error {
			_, err := h.RemoveSchedule(t.Context(), usecase.Actor{OrganizationID: other.ID, MemberID: stranger.ID}, id, true)
			return err
		},
		"unknown": func() error {
			_, err := h.ChangeSchedule(t.Context(), h.actor, uuid.New(), rename("X"))
			return err
		},
		"an organization": func() error { _, err := h.RemoveSchedule(t.Context(), h.actor, h.org.ID, true); return err },
	} {
		if err := try(); !errors.As(err, &unknown) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := h.RemoveSchedule(t.Context(), h.actor, id, false); broken(err) != "forbidden" {
		t.Errorf("removed by its former owner: %v", err)
	}
	if _, err := h.RemoveSchedule(t.Context(), h.as(bob), id, false); err != nil {
		t.Error(err)
	}
	if _, err := h.RemoveSchedule(t.Context(), h.as(bob), id, false); !errors.As(err, &unknown) {
		t.Errorf("removed twice: %v", err)
	}
	want := []string{"schedule.created", "schedule.changed", "schedule.changed", "schedule.taken_over", "schedule.removed"}
	if got := h.types(id); !slices.Equal(got, want) {
		t.Errorf("its events are %v, want %v", got, want)
	}
}

func TestAScheduleWithoutItsServersCanBeSwitchedOff(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	orders, _ := h.known.addInstance(h.org.ID, "orders")
	id := h.schedule(daily(func(x *schedule.Terms) { x.Scope.InstanceIDs = []uuid.UUID{orders} }))
	delete(h.known.instances, orders)
	set := func(on bool) error {
		_, err := h.ChangeSchedule(t.Context(), h.actor, id, commands.EditSchedule{Change: func(x *schedule.Terms) { x.Enabled = on }})
		return err
	}
	if err := set(false); err != nil {
		t.Error(err)
	}
	if err := set(true); broken(err) != "#/scope/instanceIds/0 instance_not_in_organization" {
		t.Errorf("switched on again: %v", err)
	}
}

type counted int64

func (n counted) Count(context.Context, sqlx.QueryerContext, uuid.UUID) (int64, error) {
	return int64(n), nil
}

func TestSchedulesOfAnOrganizationAreLimited(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.Schedules = counted(499)
	h.schedule(daily())
	h.Schedules = counted(500)
	if _, _, err := h.CreateSchedule(t.Context(), h.actor, daily()); broken(err) != "too_many_schedules" {
		t.Errorf("one too many: %v", err)
	}
}

func TestUpcomingDueTimesAreListed(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	dues, err := h.DueTimes(daily().Recurrence, 2)
	if err != nil || len(dues) != 2 || !dues[0].Equal(time.Date(2026, 11, 21, 7, 0, 0, 0, time.UTC)) {
		t.Errorf("%v %v", dues, err)
	}
	if _, err := h.DueTimes(schedule.Recurrence{Every: schedule.Month, At: "08:00", TimeZone: "Nowhere"}, 5); broken(err) != "#/dayOfMonth day_of_month_required, #/timeZone unknown_time_zone" {
		t.Errorf("%v", err)
	}
}

// TestSchedulesAndRequestsShareTheBuildLimit: a request by hand is refused while a schedule uses the last
// place.
func TestSchedulesAndRequestsShareTheBuildLimit(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.Limits = commands.Limits{BuildingAtOnce: 2}
	if _, err := h.db.Exec(`INSERT INTO report_claims (organization_id, fingerprint, report_id, created_at, scheduled) VALUES ($1, 'x', gen_random_uuid(), now(), true)`, h.org.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := h.RequestReport(t.Context(), h.actor, commands.RequestReport{Kind: report.Security}); err != nil {
		t.Errorf("by hand, with one place left: %v", err)
	}
	if _, err := h.RequestReport(t.Context(), h.actor, commands.RequestReport{Kind: report.DataInventory}); broken(err) != "too_many_building" {
		t.Errorf("by hand, with none: %v", err)
	}
}
