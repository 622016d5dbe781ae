package commands_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands"
	"muster/domain/fleet"
	"muster/domain/organization"
	"muster/domain/report"
	"muster/domain/schedule"
	"muster/domain/team"
)

// group makes a team of servers by a tag, with members who may only see them.
func (h *house) group(name, tag string, members ...uuid.UUID) uuid.UUID {
	h.Helper()
	t := commands.Team{Name: name, Terms: team.Terms{Selector: team.Selector{Tags: fleet.TagFilter{"team": {tag}}}}}
	for _, id := range members {
		t.Members = append(t.Members, team.Member{ID: id, Role: organization.Viewer})
	}
	id, _, err := h.CreateTeam(h.Context(), h.actor, t)
	if err != nil {
		h.Fatal(err)
	}
	return id
}

// regroup changes who belongs to a team.
func (h *house) regroup(id uuid.UUID, members ...uuid.UUID) {
	h.Helper()
	all := []team.Member{}
	for _, m := range members {
		all = append(all, team.Member{ID: m, Role: organization.Viewer})
	}
	if _, err := h.ChangeTeam(h.Context(), h.actor, id, commands.ChangeTeam{Members: &all}); err != nil {
		h.Fatal(err)
	}
}

// TestAReportOfTags: the servers that have the tags when the request is accepted, however many.
func TestAReportOfTags(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	var prod []uuid.UUID
	for i := range 120 {
		id, _ := h.known.addInstance(h.org.ID, "server-"+string(rune('a'+i%26)))
		if i%2 == 0 {
			h.known.tag(id, "env", "prod")
			prod = append(prod, id)
		}
	}
	for range 60 { // with these more than an explicit list may name
		id, _ := h.known.addInstance(h.org.ID, "more")
		h.known.tag(id, "env", "prod")
		prod = append(prod, id)
	}
	others, _ := h.known.addInstance(uuid.New(), "theirs")
	h.known.tag(others, "env", "prod")
	bob, eve := h.member("bob@example.org"), h.member("eve@example.org")
	payments := h.group("Payments", "payments", bob.ID, eve.ID)
	got, err := h.RequestReport(t.Context(), h.actor, commands.RequestReport{Kind: report.Security, Tags: fleet.TagFilter{"env": {"prod"}}, TeamIDs: []uuid.UUID{payments}})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(prod, func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) })
	if !slices.Equal(got.Queued.Scope.InstanceIDs, prod) || strings.Join(got.Queued.Scope.Tags.Words(), " ") != "env:prod" || got.Queued.ScopeLabel != "env:prod (120 instances)" {
		t.Errorf("%d servers, %v, %q", len(got.Queued.Scope.InstanceIDs), got.Queued.Scope.Tags, got.Queued.ScopeLabel)
	}
	if want := []uuid.UUID{h.ana.ID, bob.ID, eve.ID}; !slices.Equal(got.Queued.RecipientIDs, want) {
		t.Errorf("recipients are %v, want %v", got.Queued.RecipientIDs, want)
	}
	many := h.group("Many", "many")
	var crowd []uuid.UUID
	for i := range 20 {
		crowd = append(crowd, h.member("m"+string(rune('a'+i))+"@example.org").ID)
	}
	h.regroup(many, crowd...)
	for name, c := range map[string]struct {
		request commands.RequestReport
		want    string
	}{
		"nothing matches":       {commands.RequestReport{Tags: fleet.TagFilter{"env": {"dev"}}}, "#/scope/tags instance_not_in_organization"},
		"together with ids":     {commands.RequestReport{Tags: fleet.TagFilter{"env": {"prod"}}, InstanceIDs: prod[:1]}, "#/scope/tags conflicting_parameters"},
		"a key that is none":    {commands.RequestReport{Tags: fleet.TagFilter{"Env": {"prod"}}}, "#/scope/tags/Env invalid_name"},
		"a foreign team":        {commands.RequestReport{TeamIDs: []uuid.UUID{uuid.New()}}, "#/teamIds/0 unknown_team"},
		"a team of too many":    {commands.RequestReport{TeamIDs: []uuid.UUID{many}}, "#/recipientIds too_many_recipients"},
		"a scorecard of many":   {commands.RequestReport{Kind: report.InstanceScorecard, Tags: fleet.TagFilter{"env": {"prod"}}}, "#/scope/from range_required, #/scope/instanceIds scorecard_needs_one_instance, #/scope/to range_required"},
		"a schedule's kind too": {commands.RequestReport{Kind: report.DataInventory, Tags: fleet.TagFilter{"env": {"dev"}}}, "#/scope/tags instance_not_in_organization"},
	} {
		if c.request.Kind == "" {
			c.request.Kind = report.Security
		}
		if _, err := h.RequestReport(t.Context(), h.actor, c.request); broken(err) != c.want {
			t.Errorf("%s: %q (%v), want %q", name, broken(err), err, c.want)
		}
	}
}

// TestMondayReportsOfTeams runs one schedule over a month in which people join and leave, a team
// loses its servers and another one is removed: each report is about the team's servers of that day
// and goes to its members of that day, and to nobody else.
func TestMondayReportsOfTeams(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	people := map[string]uuid.UUID{}
	for _, name := range []string{"ana", "bob", "cem", "dora", "eve"} {
		people[name] = h.member(name + "@teams.example").ID
	}
	servers := map[string]uuid.UUID{}
	for _, name := range []string{"pay-1", "pay-2", "plat-1", "data-1", "web-1", "ops-1"} {
		servers[name], _ = h.known.addInstance(h.org.ID, name)
		owner, _, _ := strings.Cut(name, "-")
		h.known.tag(servers[name], "team", owner)
	}
	teams := map[uuid.UUID]string{}
	ids := map[string]uuid.UUID{}
	for _, of := range []struct {
		name    string
		members []uuid.UUID
	}{{"pay", []uuid.UUID{people["ana"], people["bob"]}}, {"plat", []uuid.UUID{people["bob"]}}, {"data", nil}, {"web", []uuid.UUID{people["cem"], people["dora"]}}, {"ops", []uuid.UUID{people["eve"]}}} {
		ids[of.name] = h.group(of.name, of.name, of.members...)
		teams[ids[of.name]] = of.name
	}
	id := h.schedule(daily(func(x *schedule.Terms) { x.Every, x.Weekday, x.PerTeam = schedule.Week, "monday", true }))
	weeks := []struct {
		before func()
		want   string // "team: servers > members; …"
	}{
		{func() {}, "pay: pay-1 pay-2 > ana bob; plat: plat-1 > bob; data: The team has no member who can receive a report.; web: web-1 > cem dora; ops: ops-1 > eve"},
		{func() {
			h.regroup(ids["pay"], people["ana"])
			h.regroup(ids["data"], people["bob"], people["eve"])
		}, "pay: pay-1 pay-2 > ana; plat: plat-1 > bob; data: data-1 > bob eve; web: web-1 > cem dora; ops: ops-1 > eve"},
		{func() {
			h.known.tag(servers["pay-2"], "team", "plat")
			h.known.tag(servers["web-1"], "team", "nobody's")
		}, "pay: pay-1 > ana; plat: pay-2 plat-1 > bob; data: data-1 > bob eve; web: It has no active server.; ops: ops-1 > eve"},
		{func() {
			if _, err := h.RemoveTeam(t.Context(), h.actor, ids["ops"]); err != nil {
				t.Fatal(err)
			}
		}, "pay: pay-1 > ana; plat: pay-2 plat-1 > bob; data: data-1 > bob eve; web: It has no active server."},
	}
	h.Limits = commands.Limits{BuildingAtOnce: 2, CreatesPerHour: 1} // fewer than there are teams
	requested := 0
	for week, w := range weeks {
		w.before()
		h.clock.Advance(time.Date(2026, 11, 23+7*week, 7, 30, 0, 0, time.UTC).Sub(h.clock.Now()))
		h.run(id)
		if got := h.requestedOf(id, teams, servers, people); got != w.want {
			t.Errorf("week %d:\n%s\nwant\n%s", week, got, w.want)
		}
		requested += strings.Count(w.want, ">")
		if n := h.count(`events WHERE type = 'report.queued'`); n != requested {
			t.Errorf("week %d: %d reports so far, want %d", week, n, requested)
		}
		if _, err := h.db.Exec(`DELETE FROM report_claims`); err != nil { // they are built meanwhile
			t.Fatal(err)
		}
	}
}

// run has a schedule request what is due.
func (h *house) run(id uuid.UUID) {
	h.Helper()
	run, err := h.PlanRun(h.Context(), h.org.ID, id, h.clock.Now())
	if err != nil {
		h.Fatal(err)
	}
	h.tx(func(tx *sqlx.Tx) error {
		_, err := h.RunSchedule(context.Background(), tx, run, func(time.Time) string { return schedule.ReasonAway }, func(time.Time) error { return nil })
		return err
	})
}

// TestASchedulePointsAtADeletedTeam: the team is left out, as somebody is who has left. A schedule per team of
// deleted teams alone requests nothing and says why, and not a report of all servers.
func TestASchedulePointsAtADeletedTeam(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	bob, eve, kim := h.member("bob@teams.example").ID, h.member("eve@teams.example").ID, h.member("kim@teams.example").ID
	for _, name := range []string{"gone", "stays"} {
		server, _ := h.known.addInstance(h.org.ID, name)
		h.known.tag(server, "team", name)
	}
	gone, stays := h.group("Gone", "gone", bob), h.group("Stays", "stays", eve)
	of := func(perTeam bool, teams ...uuid.UUID) uuid.UUID {
		return h.schedule(daily(func(x *schedule.Terms) { x.PerTeam, x.TeamIDs, x.RecipientIDs = perTeam, teams, []uuid.UUID{kim} }))
	}
	mixed, none, each, eachOfNone := of(false, gone, stays), of(false, gone), of(true, gone, stays), of(true, gone)
	if _, err := h.RemoveTeam(t.Context(), h.actor, gone); err != nil {
		t.Fatal(err)
	}
	h.clock.Advance(24 * time.Hour)
	for _, id := range []uuid.UUID{mixed, none, each, eachOfNone} {
		h.run(id)
		if _, err := h.db.Exec(`DELETE FROM report_claims`); err != nil {
			t.Fatal(err)
		}
	}
	recipients := func(id uuid.UUID) []uuid.UUID {
		var queued report.Queued
		h.last(id, &queued)
		return queued.RecipientIDs
	}
	for id, want := range map[uuid.UUID][]uuid.UUID{mixed: {h.ana.ID, kim, eve}, none: {h.ana.ID, kim}} {
		var requested schedule.Requested
		if h.last(id, &requested); !slices.Equal(recipients(requested.ReportID), want) {
			t.Errorf("recipients are %v, want %v", recipients(requested.ReportID), want)
		}
	}
	var requested schedule.Requested
	if h.last(each, &requested); len(requested.Teams) != 1 || requested.Teams[0].TeamID != stays || requested.Teams[0].ReportID == nil {
		t.Errorf("per team: %+v", requested.Teams)
	}
	var missed schedule.Missed
	if h.last(eachOfNone, &missed); missed.Reason != schedule.ReasonRefused || missed.Detail != "No team has both active servers and somebody who can receive a report." {
		t.Errorf("per team, of deleted ones alone: %+v", missed)
	}
}

// requestedOf is what the last run of a schedule asked for, by team.
func (h *house) requestedOf(id uuid.UUID, teams map[uuid.UUID]string, servers, people map[string]uuid.UUID) string {
	h.Helper()
	called := func(names map[string]uuid.UUID, ids []uuid.UUID) string {
		var words []string
		for name, id := range names {
			if slices.Contains(ids, id) {
				words = append(words, name)
			}
		}
		if slices.Sort(words); len(words) != len(ids) {
			words = append(words, "and somebody else")
		}
		return strings.Join(words, " ")
	}
	var last schedule.Requested
	h.last(id, &last)
	var all []string
	for _, of := range last.Teams {
		if of.ReportID == nil {
			all = append(all, teams[of.TeamID]+": "+of.Why)
			continue
		}
		var queued report.Queued
		h.last(*of.ReportID, &queued)
		all = append(all, teams[of.TeamID]+": "+called(servers, queued.Scope.InstanceIDs)+" > "+called(people, queued.RecipientIDs))
		if queued.Scope.TeamID == nil || *queued.Scope.TeamID != of.TeamID || queued.Schedule == nil {
			h.Errorf("the report of %s is of the team %v", teams[of.TeamID], queued.Scope.TeamID)
		}
	}
	return strings.Join(all, "; ")
}

// TestARequestInAWorldNamesAtMostAHundred servers. Without a scope it is about all on which its member
// may act, however many.
func TestARequestInAWorldNamesAtMostAHundred(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	world, ids := team.World{}, []uuid.UUID{}
	for range 101 {
		id, _ := h.known.addInstance(h.org.ID, "server")
		world[id], ids = true, append(ids, id)
	}
	actor := h.actor
	actor.World = world
	ask := func(ids ...uuid.UUID) (commands.RequestedReport, error) {
		return h.RequestReport(t.Context(), actor, commands.RequestReport{Kind: report.Security, InstanceIDs: ids})
	}
	if _, err := ask(ids...); broken(err) != "#/scope/instanceIds too_many_instances" {
		t.Errorf("101 that are named: %v", err)
	}
	if got, err := ask(ids[:100]...); err != nil || len(got.Queued.Scope.InstanceIDs) != 100 {
		t.Errorf("100 that are named: %d, %v", len(got.Queued.Scope.InstanceIDs), err)
	}
	if got, err := ask(); err != nil || len(got.Queued.Scope.InstanceIDs) != 101 {
		t.Errorf("none is named: %d, %v", len(got.Queued.Scope.InstanceIDs), err)
	}
}

// TestANonMemberSeesNothing: neither a stranger nor a former member sees an organization.
func TestANonMemberSeesNothing(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	if world, err := h.WorldOf(t.Context(), h.org.ID, h.ana.ID); world != nil || err != nil {
		t.Errorf("an administrator sees %v, %v", world, err)
	}
	_, eve := h.organization("Other")
	for _, nobody := range []uuid.UUID{uuid.New(), eve.ID} {
		if world, err := h.WorldOf(t.Context(), h.org.ID, nobody); world == nil || len(world) > 0 || err != nil {
			t.Errorf("%s sees %v, %v", nobody, world, err)
		}
	}
}
