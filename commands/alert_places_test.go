package commands_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/commands/alerting"
	"muster/commands/inventory"
	"muster/commands/usecase"
	"muster/domain/alert"
)

func TestAnAlertIsPlacedOnItsInstanceAndDatabase(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	fleet := h.fleet(item("pg-1", "sales", "crm"), item("pg-2", "crm"))
	one, sales, crm := fleet[0].ID, fleet[0].Databases[0].ID, fleet[0].Databases[1].ID
	other, eve := h.organization("Other")
	if _, _, err := h.RecordFleet(t.Context(), h.as(eve), []inventory.Item{item("pg-1", "sales"), item("theirs", "hr")}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name               string
		item               alerting.Item
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
	for _, theirs := range []alerting.Item{alertItem("5", on("theirs")), alertItem("6", in("hr"))} {
		h.refused(h.actor, theirs)
	}
	if n := h.count("events WHERE stream_type = 'alert' AND organization_id = $1", other.ID); n != 0 {
		t.Errorf("%d events of the other organization", n)
	}
}

// TestAnAlertOutlivesItsPlace: an instance that is removed and comes again is a new one. An
// alert that is sent again is raised there, and the one before stays with the instance that
// is gone until it is closed with it.
func TestAnAlertOutlivesItsPlace(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	first := h.fleet(item("pg-1", "sales"))[0]
	again, stays := alertItem("again", on("pg-1"), in("sales")), alertItem("stays", on("pg-1"), in("sales"))
	ids := h.alerts(again, stays)

	gone := item("pg-1")
	gone.Databases = []inventory.Database{{ExternalID: "sales", Removed: true}}
	h.fleet(gone)
	if diff := cmp.Diff([]string{"unknown_database", "#/alerts/0/database unknown_database"}, h.refused(h.actor, again)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	h.wantTypes("with its database gone", ids[1], "raised")
	if a := h.folded(ids[1]); a.InstanceID() != first.ID {
		t.Errorf("with its database gone it is on %s", a.InstanceID())
	}

	h.fleet(inventory.Item{ExternalID: "pg-1", Removed: true})
	h.refused(h.actor, alertItem("again", on("pg-1")))
	h.refused(h.actor, alertItem("new", in("sales")))
	second := h.fleet(item("pg-1", "sales"))[0]
	raisedAgain := h.alerts(again)[0]
	var raised alert.Raised
	h.event(raisedAgain, "alert.raised", &raised)
	if raisedAgain == ids[0] || raised.InstanceID != second.ID || raised.DatabaseID != second.Databases[0].ID {
		t.Errorf("on the new instance it is %s, at %s, %s", raisedAgain, raised.InstanceID, raised.DatabaseID)
	}
	if closed, _, err := h.CloseVanished(t.Context(), h.org.ID, ids); err != nil || closed != 2 {
		t.Errorf("%d closed with the instance that is gone, %v", closed, err)
	}
	if got := h.alerts(again)[0]; got != raisedAgain {
		t.Error("once the one before is closed it is another alert")
	}
	h.wantTypes("not heard of again", ids[1], "raised", "auto_resolved", "noted")
	h.wantKeysTold()
}

func TestAnIngestTokenKeepsToTheAlertsOfItsInstances(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	fleet := h.fleet(item("mine", "sales", "crm"), item("theirs", "hr", "crm"))
	taken := h.alerts(alertItem("taken", on("theirs")))[0]
	token := usecase.Actor{OrganizationID: h.org.ID, Component: "ingest", Limit: []uuid.UUID{fleet[0].ID}}
	for name, beyond := range map[string]alerting.Item{
		"another instance": alertItem("2", on("theirs")), "another database": alertItem("2", in("hr")), "the organization": alertItem("2"),
		"nothing that is": alertItem("2", on("nowhere")),
	} {
		if got := h.refused(token, alertItem("1", on("mine")), beyond); got[0] != "outside_token" {
			t.Errorf("%s: %v", name, got)
		}
	}
	if n := h.alertEvents(); n != 1 {
		t.Errorf("%d events", n)
	}
	if _, _, err := h.RecordAlerts(t.Context(), token, []alerting.Item{alertItem("1", on("mine")), alertItem("2", in("sales")), alertItem("taken", on("mine")), alertItem("3", in("crm"))}); err != nil {
		t.Error(err)
	}
	h.wantTypes("an alert of another instance", taken, "raised")
}
