package handlers_test

import (
	"bytes"
	"testing"

	"github.com/google/uuid"

	"muster/commands"
	domain "muster/domain/fleet"
	"muster/domain/report"
	"muster/domain/team"
	"muster/handlers"
	"muster/internal/report/snapshot"
)

// TestTheInputsHaveTheOwners of the time at which they were gathered: a report keeps them, and is
// built again with them, when a server changes its team or a team changes its name.
func TestTheInputsHaveTheOwners(t *testing.T) {
	t.Parallel()
	e := newEstate(t)
	pay, web, bare, retired := e.register("pay", true), e.register("web", true), e.register("bare", true), e.register("retired", false)
	tag := func(id uuid.UUID, value string) {
		t.Helper()
		_, mark, err := e.commands.TagInstances(t.Context(), e.actor(), []uuid.UUID{id}, domain.ChangeTags{By: domain.ByPerson, Set: map[string]string{"team": value}})
		if err != nil {
			t.Fatal(err)
		}
		e.wait(mark)
	}
	for id, value := range map[uuid.UUID]string{pay: "payments", web: "web", retired: "payments"} {
		tag(id, value)
	}
	gather := func() (owners string, inputs []byte) {
		t.Helper()
		doc, err := e.inputs().Gather(t.Context(), e.gathering(report.Security, report.Scope{InstanceIDs: []uuid.UUID{pay, web, bare, retired, uuid.New()}}))
		if err != nil {
			t.Fatal(err)
		}
		if inputs, err = snapshot.Encode(doc); err != nil {
			t.Fatal(err)
		}
		return ownersIn(t, inputs), inputs
	}
	owners, before := gather()
	if owners != "" || bytes.Contains(before, []byte(`"owner":{`)) || bytes.Contains(before, []byte(`"owner":null`)) {
		t.Errorf("without teams: %q", owners)
	}
	var first uuid.UUID
	for _, name := range []string{"payments", "web"} {
		id, _, err := e.commands.CreateTeam(t.Context(), e.actor(), commands.Team{Name: "Team " + name, Terms: team.Terms{
			Selector: team.Selector{Tags: domain.TagFilter{"team": {name}}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		if first == uuid.Nil {
			first = id
		}
	}
	owners, _ = gather()
	if want := "pay: Team payments, retired: Team payments, web: Team web"; owners != want {
		t.Errorf("owners %q, want %q", owners, want)
	}
	kept, _ := e.ready()
	name := "Money"
	if _, err := e.commands.ChangeTeam(t.Context(), e.actor(), first, commands.ChangeTeam{Name: &name}); err != nil {
		t.Fatal(err)
	}
	tag(web, "payments")
	if owners, _ := gather(); owners != "pay: Money, retired: Money, web: Money" {
		t.Errorf("later: %q", owners)
	}
	if o := e.rebuild(kept); o.Verdict != handlers.Identical {
		t.Errorf("the report of before, built again: %s", o)
	}
}

// ownersIn are the servers of a document with their owners.
func ownersIn(t *testing.T, inputs []byte) (owners string) {
	t.Helper()
	doc, err := snapshot.Decode(inputs)
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range doc.Instances {
		if in.Owner == nil {
			continue
		}
		if owners != "" {
			owners += ", "
		}
		owners += in.Name + ": " + in.Owner.Name
	}
	return owners
}
