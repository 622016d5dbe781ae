package commands_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/commands/alerting"
	"muster/commands/usecase"
	"muster/domain/alert"
)

// limited is a token of one instance.
func (h *house) limited(instance uuid.UUID) usecase.Actor {
	return usecase.Actor{OrganizationID: h.org.ID, Component: "ingest", Limit: []uuid.UUID{instance}}
}

// sends records items of a token and returns their ids.
func (h *house) sends(actor usecase.Actor, items ...alerting.Item) []uuid.UUID {
	h.Helper()
	sender := *h
	sender.actor = actor
	return sender.alerts(items...)
}

// fires records firings of a token, and none is dropped.
func (h *house) fires(actor usecase.Actor, firings ...alert.Firing) {
	h.Helper()
	if dropped, _, err := h.RecordFirings(h.Context(), actor, firings); err != nil || dropped > 0 {
		h.Fatal(dropped, err)
	}
}

// standing is an alert as its events say.
func (h *house) standing(id uuid.UUID) *alert.Alert {
	h.Helper()
	a := h.folded(id)
	return &a
}

// newest is the alert that was raised last.
func (h *house) newest() (id uuid.UUID) {
	h.Helper()
	if err := h.db.GetContext(h.Context(), &id, `SELECT stream_id FROM events WHERE type = 'alert.raised' ORDER BY position DESC LIMIT 1`); err != nil {
		h.Fatal(err)
	}
	return id
}

// TestExternalIDsAreKeysOfOneInstance: whatever the order and the tokens, the alert of one
// instance neither blocks nor changes that of another under the same id.
func TestExternalIDsAreKeysOfOneInstance(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	fleet := h.fleet(item("pg-x"), item("pg-a"))
	x, a := h.limited(fleet[0].ID), h.limited(fleet[1].ID)
	everything := usecase.Actor{OrganizationID: h.org.ID, Component: "ingest"}
	for name, honest := range map[string]usecase.Actor{"a limited token": a, "an unlimited token": everything} {
		id := "disk-full-orders by " + name
		forged := h.sends(x, alertItem(id, on("pg-x")))[0]
		real := h.sends(honest, alertItem(id, on("pg-a")))[0]
		if real == forged {
			t.Fatalf("%s: the alert of pg-a is that of pg-x", name)
		}
		if again := h.sends(honest, alertItem(id, on("pg-a")))[0]; again != real {
			t.Errorf("%s: sent again it has another id", name)
		}
		h.sends(x, alertItem(id, on("pg-x"), resolvedAt(start)))
		if h.standing(real).State() != alert.Open || h.standing(real).InstanceID() != fleet[1].ID {
			t.Errorf("%s: the alert of pg-a is %s at %s", name, h.standing(real).State(), h.standing(real).InstanceID())
		}
		h.sends(honest, alertItem(id, on("pg-a"), resolvedAt(start)))
		if h.standing(real).State() != alert.ResolvedState {
			t.Errorf("%s: its end did not reach the alert of pg-a", name)
		}
		if again := h.sends(x, alertItem(id, on("pg-x"), func(i *alerting.Item) { i.Title = "again" }))[0]; again == real || again == forged {
			t.Errorf("%s: under a closed alert's key comes %s", name, again)
		}
		if again := h.sends(honest, alertItem(id, on("pg-a"), resolvedAt(start)))[0]; again != real {
			t.Errorf("%s: its end sent again is another alert", name)
		}
	}
	one := h.sends(everything, alertItem("both", on("pg-x")), alertItem("both", on("pg-a")), alertItem("both"))
	if one[0] == one[1] || one[1] == one[2] || one[0] == one[2] {
		t.Errorf("one call has one alert at two places: %v", one)
	}
	if diff := cmp.Diff(one, h.sends(everything, alertItem("both", on("pg-x")), alertItem("both", on("pg-a")), alertItem("both"))); diff != "" {
		t.Errorf("sent again: %s", diff)
	}
	if diff := cmp.Diff([]string{"duplicate_external_id", "#/alerts/1/externalId duplicate_external_id"},
		h.refused(everything, alertItem("twice", on("pg-a")), alertItem("twice", on("pg-a")))); diff != "" {
		t.Errorf("one id twice at one instance: %s", diff)
	}
	h.wantKeysTold()
}

// TestAnEndWithoutItsInstance closes the alert of the only instance that has the id open,
// and is refused where several have. Alerts of limited tokens are not counted, or such a
// token could have the end of another's alert refused.
func TestAnEndWithoutItsInstance(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	fleet := h.fleet(item("pg-x"), item("pg-a"), item("pg-b"))
	x := h.limited(fleet[0].ID)
	everything := usecase.Actor{OrganizationID: h.org.ID, Component: "ingest"}
	end := func(id string) alerting.Item { return alertItem(id, resolvedAt(start)) }

	for _, first := range []bool{true, false} {
		id := map[bool]string{true: "forged first", false: "forged last"}[first]
		if first {
			h.sends(x, alertItem(id, on("pg-x")))
		}
		real := h.sends(everything, alertItem(id, on("pg-a")))[0]
		if !first {
			h.sends(x, alertItem(id, on("pg-x")))
		}
		for range 2 {
			if closed := h.sends(everything, end(id))[0]; closed != real || !h.standing(real).State().Closed() || h.standing(real).InstanceID() != fleet[1].ID {
				t.Errorf("%s: the end is of %s, and %s is %s", id, closed, real, h.standing(real).State())
			}
		}
	}

	two := h.sends(everything, alertItem("two", on("pg-a")), alertItem("two", on("pg-b")))
	if diff := cmp.Diff([]string{"instance_required", "#/alerts/1/instance instance_required"}, h.refused(everything, alertItem("other"), end("two"))); diff != "" {
		t.Errorf("two instances have it: %s", diff)
	}
	h.sends(everything, alertItem("two", on("pg-a"), resolvedAt(start)))
	if closed := h.sends(everything, end("two"))[0]; closed != two[1] {
		t.Error("the last one that is open is not closed")
	}

	h.sends(x, alertItem("import", on("pg-x")))
	imported := h.sends(everything, end("import"))[0]
	if a := h.folded(imported); a.InstanceID() != uuid.Nil || !a.State().Closed() {
		t.Errorf("a closed alert of the organization is %s at %s", a.State(), a.InstanceID())
	}
	h.sends(x, alertItem("own", on("pg-x")))
	if own := h.standing(h.sends(everything, alertItem("own"))[0]); own.InstanceID() != uuid.Nil {
		t.Error("an open alert of the organization was taken for that of pg-x")
	}
	h.wantKeysTold()
}

// TestFingerprintsOfALimitedTokenAreItsInstances: labels that mean one instance to a limited
// token may mean another to others.
func TestFingerprintsOfALimitedTokenAreItsInstances(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	fleet := h.fleet(item("pg-x"), item("pg-a"))
	at := func(instance uuid.UUID) func(*alert.Firing) { return func(f *alert.Firing) { f.InstanceID = instance } }
	x, a := h.limited(fleet[0].ID), h.limited(fleet[1].ID)
	everything := usecase.Actor{OrganizationID: h.org.ID, Component: "ingest"}
	for key, honest := range map[string]usecase.Actor{"a limited token": a, "an unlimited token": everything} {
		h.fires(x, h.firing(key, at(fleet[0].ID)))
		forged := h.newest()
		h.fires(honest, h.firing(key, at(fleet[1].ID)))
		real := h.newest()
		if real == forged || h.standing(real).InstanceID() != fleet[1].ID || h.standing(forged).InstanceID() != fleet[0].ID {
			t.Fatalf("%s: the alert of pg-a is not its own", key)
		}
		h.fires(x, h.firing(key, at(fleet[0].ID), over(h.clock.Now())))
		if h.standing(real).State() != alert.Open || !h.standing(forged).State().Closed() {
			t.Errorf("%s: the end of pg-x's alert closed that of pg-a, or not its own", key)
		}
		if honest.Limit == nil {
			h.fires(honest, h.firing(key)) // labels that lead nowhere any more
			if h.newest() != real || h.standing(real).InstanceID() != fleet[1].ID {
				t.Errorf("%s: an alert whose instance is not found any more does not stay", key)
			}
		}
		h.fires(honest, h.firing(key, at(fleet[1].ID), over(h.clock.Now())))
		if !h.standing(real).State().Closed() {
			t.Errorf("%s: its end did not reach the alert of pg-a", key)
		}
	}
	h.fires(everything, h.firing("shared", at(fleet[1].ID)))
	shared := h.newest()
	h.fires(a, h.firing("shared", at(fleet[1].ID)))
	if h.newest() != shared {
		t.Error("two tokens that may both speak of an instance raise two alerts")
	}
	h.wantKeysTold()
}

// TestAlertsOfAnEarlierReleaseAreFound under their keys, open or closed, by tokens that may write about their
// instances.
func TestAlertsOfAnEarlierReleaseAreFound(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	fleet := h.fleet(item("pg-x"), item("pg-a"))
	x, a := h.limited(fleet[0].ID), h.limited(fleet[1].ID)
	everything := usecase.Actor{OrganizationID: h.org.ID, Component: "ingest"}
	before := h.sends(everything, alertItem("open", on("pg-a")), alertItem("closed", on("pg-a"), resolvedAt(start)), alertItem("nowhere"))
	// The program before kept nothing of a token's limit, and every alert under its plain key.
	for i, id := range before {
		var raised alert.Raised
		h.event(id, "alert.raised", &raised)
		if want := "external/" + []string{"open", "closed", "nowhere"}[i]; raised.Key != want {
			t.Errorf("its key is %q, which the program before does not find as %q", raised.Key, want)
		}
	}
	for name, actor := range map[string]usecase.Actor{"a limited token": a, "an unlimited token": everything} {
		if got := h.sends(actor, alertItem("open", on("pg-a")), alertItem("closed", on("pg-a"), resolvedAt(start))); got[0] != before[0] || got[1] != before[1] {
			t.Errorf("%s raises what is there already", name)
		}
	}
	if got := h.sends(x, alertItem("closed", on("pg-x"), resolvedAt(start)), alertItem("open", on("pg-x")), alertItem("nowhere", on("pg-x"))); got[0] == before[1] || got[1] == before[0] || got[2] == before[2] {
		t.Error("an alert of the program before is another instance's")
	}
	h.clock.Advance(time.Minute)
	if got := h.sends(a, alertItem("open", on("pg-a"), resolvedAt(start.Add(time.Minute))))[0]; got != before[0] || !h.standing(got).State().Closed() {
		t.Error("an alert of the program before is not closed")
	}
	h.wantKeysTold()
}

// TestAFormerKey leads to the alert that an earlier release raised under it, and to no other
// instance's. It is never the key of a new alert.
func TestAFormerKey(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	x, a := uuid.UUID{1}, uuid.UUID{2}
	at := func(instance uuid.UUID) func(*alert.Firing) { return func(f *alert.Firing) { f.InstanceID = instance } }
	knownAs := func(f *alert.Firing) { f.FormerKey = "alertmanager/stated" }
	h.fire(h.firing("stated", at(a)))
	before := h.newest()
	h.fires(h.limited(x), h.firing("forged", at(x), knownAs), h.firing("forged", at(x), knownAs, over(h.clock.Now())))
	if forged := h.newest(); forged == before || h.standing(before).State() != alert.Open {
		t.Error("a token that states the former key of another instance's alert reaches it")
	}
	h.fires(h.limited(a), h.firing("labels", at(a), knownAs))
	h.fire(h.firing("labels", at(a), knownAs))
	if ids := h.under("labels"); len(ids) != 0 {
		t.Error("an alert of an earlier release comes twice")
	}
	h.fire(h.firing("labels", at(a), knownAs, over(h.clock.Now())))
	if !h.standing(before).State().Closed() || len(h.under("labels")) != 0 {
		t.Error("an alert of an earlier release does not end")
	}
	h.clock.Advance(time.Hour)
	h.fire(h.firing("labels", at(a), knownAs, starts(h.clock.Now())))
	if len(h.under("labels")) != 1 || len(h.under("stated")) != 1 {
		t.Error("what fires after that has not its own key")
	}
	h.wantKeysTold()
}

// TestALimitedTokenChangesNoOtherAlert: two organizations get the same messages, one of them
// those of a token that is limited to pg-x as well. What happens to alerts elsewhere, and how
// every message about them is answered, is the same.
func TestALimitedTokenChangesNoOtherAlert(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	other, eve := h.organization("Other")
	alone := *h
	alone.org.ID, alone.actor = other.ID, h.as(eve)
	houses := []*house{h, &alone}
	fleet := make([]map[string]uuid.UUID, len(houses))
	for i, h := range houses {
		fleet[i] = map[string]uuid.UUID{}
		for j, made := range h.fleet(item("pg-x"), item("pg-a"), item("pg-b")) {
			fleet[i][[]string{"pg-x", "pg-a", "pg-b"}[j]] = made.ID
		}
	}
	for seed := range uint64(12) {
		random := rand.New(rand.NewPCG(34, seed))
		told := [2][]string{}
		for step := range 8 {
			h.clock.Advance(time.Duration(random.IntN(4)) * time.Minute)
			id := fmt.Sprintf("%d-%d", seed, random.IntN(2))
			place := []string{"pg-a", "pg-a", "pg-b", ""}[random.IntN(4)]
			forged, machine, limited, ends := random.IntN(2) == 0, random.IntN(3) == 0, random.IntN(3) == 0, random.IntN(3) == 0
			if forged {
				place, limited = "pg-x", true
			} else if place == "" {
				limited = false
			}
			for i, h := range houses {
				if forged && i > 0 {
					continue
				}
				actor := usecase.Actor{OrganizationID: h.org.ID, Component: "ingest"}
				if limited {
					actor.Limit = []uuid.UUID{fleet[i][place]}
				}
				var answer string
				if machine {
					f := h.firing(id, func(f *alert.Firing) { f.InstanceID, f.Sender = fleet[i][place], fmt.Sprint(limited, place) })
					if ends {
						over(h.clock.Now())(&f)
					}
					dropped, _, err := h.RecordFirings(t.Context(), actor, []alert.Firing{f})
					answer = fmt.Sprint(dropped, err)
				} else {
					said := alertItem(id, func(i *alerting.Item) { i.LastTriggeredAt = h.clock.Now() })
					if place != "" {
						on(place)(&said)
					}
					if ends {
						resolvedAt(h.clock.Now())(&said)
					}
					_, _, err := h.RecordAlerts(t.Context(), actor, []alerting.Item{said})
					answer = fmt.Sprint(err)
				}
				if !forged {
					told[i] = append(told[i], fmt.Sprintf("%d: %s %q machine=%t ends=%t limited=%t: %s", step, id, place, machine, ends, limited, answer))
				}
			}
		}
		for i, h := range houses {
			told[i] = append(told[i], h.storyElsewhere(fleet[i], "pg-x")...)
		}
		if diff := cmp.Diff(told[1], told[0]); diff != "" {
			t.Fatalf("seed %d (-without +with the messages of pg-x's token):\n%s", seed, diff)
		}
	}
}

// storyElsewhere are the events of alerts that are not at an instance, in their order.
func (h *house) storyElsewhere(fleet map[string]uuid.UUID, but string) (story []string) {
	h.Helper()
	var alerts []uuid.UUID
	if err := h.db.SelectContext(h.Context(), &alerts, `SELECT stream_id FROM events
		WHERE type = 'alert.raised' AND organization_id = $1 ORDER BY position`, h.org.ID); err != nil {
		h.Fatal(err)
	}
	for _, id := range alerts {
		a := h.standing(id)
		if a.InstanceID() == fleet[but] {
			continue
		}
		at := ""
		for name, id := range fleet {
			if a.InstanceID() == id {
				at = name
			}
		}
		story = append(story, fmt.Sprint(at, " ", a.State(), " ", h.types(id)))
	}
	return story
}
