package commands_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/commands"
	"muster/domain/alert"
)

func TestWhereAnAlertIs(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	fleet := h.fleet(item("pg-1", "sales", "crm"), item("pg-2", "crm"))
	one, sales, crm := fleet[0].ID, fleet[0].Databases[0].ID, fleet[0].Databases[1].ID
	other, eve := h.organization("Other")
	if _, _, err := h.RecordFleet(t.Context(), h.as(eve), []commands.FleetItem{item("pg-1", "sales"), item("theirs", "hr")}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name               string
		item               commands.AlertItem
		instance, database uuid.UUID
	}{
		{"nowhere", alertItem("1"), uuid.Nil, uuid.Nil},
		{"an instance", alertItem("2", on("pg-1")), one, uuid.Nil},
		{"a database, by a name that others have too", alertItem("3", on("pg-1"), in("crm")), one, crm},
		{"a database by its name alone", alertItem("4", in("sales")), one, sales},
	} {
		var raised alert.Raised
		h.event(h.alerts(c.item)[0], "alert.raised", &raised)
		if raised.InstanceID != c.instance || raised.DatabaseID != c.database {
			t.Errorf("%s: on %s in %s", c.name, raised.InstanceID, raised.DatabaseID)
		}
	}
	for _, theirs := range []commands.AlertItem{alertItem("5", on("theirs")), alertItem("6", in("hr"))} {
		h.refused(h.actor, theirs)
	}
	if n := h.count("events WHERE stream_type = 'alert' AND organization_id = $1", other.ID); n != 0 {
		t.Errorf("%d events of the other organization", n)
	}
}

// TestAnAlertOutlivesItsPlace: what is removed and comes again is a new one, and
// an alert that is sent again moves there; one that is not stays where it was.
func TestAnAlertOutlivesItsPlace(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	first := h.fleet(item("pg-1", "sales"))[0]
	moves, stays := alertItem("moves", on("pg-1"), in("sales")), alertItem("stays", on("pg-1"), in("sales"))
	ids := h.alerts(moves, stays)

	gone := item("pg-1")
	gone.Databases = []commands.FleetDatabase{{ExternalID: "sales", Removed: true}}
	h.fleet(gone)
	if diff := cmp.Diff([]string{"unknown_database", "#/alerts/0/database unknown_database"}, h.refused(h.actor, moves)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	h.wantTypes("with its database gone", ids[1], "raised")
	if a := h.folded(ids[1]); a.InstanceID() != first.ID {
		t.Errorf("with its database gone it is on %s", a.InstanceID())
	}

	h.fleet(commands.FleetItem{ExternalID: "pg-1", Removed: true})
	h.refused(h.actor, alertItem("moves", on("pg-1")))
	h.refused(h.actor, alertItem("new", in("sales")))
	second := h.fleet(item("pg-1", "sales"))[0]
	if again := h.alerts(moves); again[0] != ids[0] {
		t.Error("on the new instance it has another id")
	}
	var changed alert.Changed
	h.last(ids[0], &changed)
	if changed.InstanceID != second.ID || changed.DatabaseID != second.Databases[0].ID {
		t.Errorf("it moved to %s, %s", changed.InstanceID, changed.DatabaseID)
	}
	h.wantTypes("not heard of again", ids[1], "raised")
}

func TestAnIngestTokenKeepsToTheAlertsOfItsInstances(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	fleet := h.fleet(item("mine", "sales"), item("theirs", "hr"))
	h.alerts(alertItem("taken", on("theirs")))
	token := commands.Actor{OrganizationID: h.org.ID, Component: "ingest", Limit: []uuid.UUID{fleet[0].ID}}
	for name, beyond := range map[string]commands.AlertItem{
		"another instance": alertItem("2", on("theirs")), "another database": alertItem("2", in("hr")), "the organization": alertItem("2"),
		"nothing that is": alertItem("2", on("nowhere")), "an alert of another instance": alertItem("taken", on("mine")),
	} {
		if got := h.refused(token, alertItem("1", on("mine")), beyond); got[0] != "outside_token" {
			t.Errorf("%s: %v", name, got)
		}
	}
	if n := h.alertEvents(); n != 1 {
		t.Errorf("%d events", n)
	}
	if _, _, err := h.RecordAlerts(t.Context(), token, []commands.AlertItem{alertItem("1", on("mine")), alertItem("2", in("sales"))}); err != nil {
		t.Error(err)
	}
}
