package commands_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands"
	"muster/commands/usecase"
	"muster/domain/exception"
	"muster/domain/organization"
	"muster/eventstore"
)

// oneCheck is a catalogue of one.
type oneCheck string

func (c oneCheck) Has(id string) bool { return id == string(c) }

func newExceptionHouse(t *testing.T) *house {
	t.Helper()
	h := newHouse(t)
	h.Checks = oneCheck("PG-S01")
	return h
}

func (h *house) wanted() commands.RequestException {
	return commands.RequestException{
		Subject: exception.Subject{CheckID: "PG-S01"}, Reason: "Behind a firewall until the move.", Until: start.AddDate(0, 1, 0),
	}
}

func (h *house) exception() uuid.UUID {
	h.Helper()
	id, _, err := h.RequestException(h.Context(), h.actor, h.wanted())
	if err != nil {
		h.Fatal(err)
	}
	return id
}

func TestRequestException(t *testing.T) {
	t.Parallel()
	h := newExceptionHouse(t)
	instance, databases := h.known.addInstance(h.org.ID, "orders", "sales")
	r := h.wanted()
	r.InstanceID, r.DatabaseID, r.ObjectRef, r.Reason = &instance, &databases[0], "public.t", "  because  \n"
	r.Until = r.Until.In(time.FixedZone("", 3600)).Add(1)
	id, mark, err := h.RequestException(t.Context(), h.actor, r)
	if err != nil || mark.Log != eventstore.Organization || mark.Position == 0 {
		t.Fatalf("%+v %v", mark, err)
	}
	var recorded exception.Requested
	h.last(id, &recorded)
	want := exception.Requested{
		Subject: r.Subject, Reason: "because", Until: start.AddDate(0, 1, 0), // UTC, to the microsecond
	}
	if diff := cmp.Diff(want, recorded); diff != "" {
		t.Errorf("recorded (-want +got):\n%s", diff)
	}
	var metadata []byte
	if err := h.db.Get(&metadata, `SELECT metadata FROM events WHERE stream_id = $1`, id); err != nil {
		t.Fatal(err)
	}
	var who eventstore.Metadata
	if err := json.Unmarshal(metadata, &who); err != nil || who.ActorID != h.ana.ID.String() || who.RequestID != "r-1" {
		t.Errorf("asked by %+v, %v", who, err)
	}
	if _, _, err := h.RequestException(t.Context(), usecase.Actor{OrganizationID: h.org.ID, Component: "cli"}, h.wanted()); err == nil {
		t.Error("nobody asked, and it was recorded")
	}
}

func TestRequestExceptionNamesEveryBrokenRule(t *testing.T) {
	t.Parallel()
	h := newExceptionHouse(t)
	mine, databases := h.known.addInstance(h.org.ID, "mine", "sales")
	other, _ := h.known.addInstance(h.org.ID, "other")
	foreign, theirs := h.known.addInstance(uuid.New(), "foreign", "x")
	unknown := uuid.New()
	for _, c := range []struct {
		name   string
		change func(r *commands.RequestException)
		want   []string
	}{
		{"as it should be", func(*commands.RequestException) {}, nil},
		{"as far ahead as can be", func(r *commands.RequestException) { r.Until = start.Add(366 * 24 * time.Hour) }, nil},
		{"the whole instance", func(r *commands.RequestException) { r.InstanceID = &mine }, nil},
		{"an object everywhere", func(r *commands.RequestException) { r.ObjectRef = strings.Repeat("ü", 500) }, nil},
		{"the longest reason", func(r *commands.RequestException) { r.Reason = strings.Repeat("ü", 2000) }, nil},

		{"no such check", func(r *commands.RequestException) { r.CheckID = "CVE-2024-7348" }, []string{"unknown_check", "#/checkId unknown_check"}},
		{"an unknown instance", func(r *commands.RequestException) { r.InstanceID = &unknown },
			[]string{"instance_not_in_organization", "#/instanceId instance_not_in_organization"}},
		{"a foreign instance", func(r *commands.RequestException) { r.InstanceID, r.DatabaseID = &foreign, &theirs[0] },
			[]string{"instance_not_in_organization", "#/instanceId instance_not_in_organization"}},
		{"a database of another instance", func(r *commands.RequestException) { r.InstanceID, r.DatabaseID = &other, &databases[0] },
			[]string{"database_not_on_instance", "#/databaseId database_not_on_instance"}},
		{"a foreign database", func(r *commands.RequestException) { r.InstanceID, r.DatabaseID = &mine, &theirs[0] },
			[]string{"database_not_on_instance", "#/databaseId database_not_on_instance"}},
		{"a database without its instance", func(r *commands.RequestException) { r.DatabaseID = &databases[0] },
			[]string{"database_not_on_instance", "#/databaseId database_not_on_instance"}},
		{"over at once", func(r *commands.RequestException) { r.Until = start }, []string{"out_of_range", "#/until out_of_range"}},
		{"too far ahead", func(r *commands.RequestException) { r.Until = start.Add(366*24*time.Hour + time.Microsecond) },
			[]string{"out_of_range", "#/until out_of_range"}},
		{"no reason", func(r *commands.RequestException) { r.Reason = " \n\t" }, []string{"out_of_range", "#/reason out_of_range"}},
		{"too long", func(r *commands.RequestException) {
			r.Reason, r.ObjectRef = strings.Repeat("x", 2001), strings.Repeat("x", 501)
		},
			[]string{"out_of_range", "#/objectRef out_of_range", "#/reason out_of_range"}},
		{"U+0000", func(r *commands.RequestException) { r.Reason, r.ObjectRef = "a\x00b", "a\x00b" },
			[]string{"out_of_range", "#/objectRef out_of_range", "#/reason out_of_range"}},
		{"everything", func(r *commands.RequestException) {
			*r = commands.RequestException{Subject: exception.Subject{CheckID: "x", InstanceID: &unknown, ObjectRef: "\x00"}, Until: start.AddDate(-1, 0, 0)}
		}, []string{"unknown_check", "#/checkId unknown_check", "#/objectRef out_of_range", "#/instanceId instance_not_in_organization",
			"#/reason out_of_range", "#/until out_of_range"}},
	} {
		r := h.wanted()
		c.change(&r)
		_, _, err := h.RequestException(t.Context(), h.actor, r)
		var rule *usecase.RuleError
		var got []string
		if errors.As(err, &rule) {
			got = codes(rule)
		} else if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestGrantAndRevokeException(t *testing.T) {
	t.Parallel()
	h := newExceptionHouse(t)
	refused := func(what string, err error) {
		t.Helper()
		var rule *usecase.RuleError
		if !errors.As(err, &rule) || rule.Code != "invalid_state" || rule.Detail == "" {
			t.Errorf("%s: %v, want invalid_state", what, err)
		}
	}
	grant := func(id uuid.UUID) error { _, err := h.GrantException(t.Context(), h.actor, id); return err }
	revoke := func(id uuid.UUID) error { _, err := h.RevokeException(t.Context(), h.actor, id); return err }

	granted := h.exception()
	if err := grant(granted); err != nil {
		t.Fatal(err)
	}
	refused("granting twice", grant(granted))
	if err := revoke(granted); err != nil {
		t.Fatal(err)
	}
	refused("taking it back twice", revoke(granted))
	refused("granting what was taken back", grant(granted))
	if got := h.types(granted); !slices.Equal(got, []string{"exception.requested", "exception.granted", "exception.revoked"}) {
		t.Errorf("events %v", got)
	}

	late, lapsing := h.exception(), h.exception()
	if err := grant(lapsing); err != nil {
		t.Fatal(err)
	}
	h.clock.Advance(31 * 24 * time.Hour)
	refused("granting what is over", grant(late))
	refused("taking back what has lapsed", revoke(lapsing))
	if err := revoke(late); err != nil {
		t.Errorf("refusing what was never granted: %v", err)
	}
}

// TestFourEyes: if the organization requires it, no administrator grants their own request. A
// change of the setting waits for a grant that is in progress.
func TestFourEyes(t *testing.T) {
	t.Parallel()
	h := newExceptionHouse(t)
	ben := h.as(h.joined("Ben", organization.Admin))
	approval := func(who string) {
		t.Helper()
		if _, _, err := h.ChangeOrganization(t.Context(), h.actor, commands.ChangeOrganization{
			ChangeSettings: organization.ChangeSettings{ExceptionApproval: &who},
		}); err != nil {
			t.Fatal(err)
		}
	}
	before := h.exception()
	if _, err := h.GrantException(t.Context(), h.actor, before); err != nil {
		t.Fatalf("without four eyes: %v", err)
	}

	approval(organization.ApprovalAnother)
	id := h.exception()
	var rule *usecase.RuleError
	if _, err := h.GrantException(t.Context(), h.actor, id); !errors.As(err, &rule) || rule.Code != "own_request" || rule.Detail == "" {
		t.Errorf("who requested it grants it: %v", err)
	}
	if got := h.types(id); !slices.Equal(got, []string{"exception.requested"}) {
		t.Errorf("events %v", got)
	}
	if _, err := h.GrantException(t.Context(), ben, id); err != nil {
		t.Errorf("another administrator: %v", err)
	}
	refused := h.exception()
	if _, err := h.RevokeException(t.Context(), h.actor, refused); err != nil {
		t.Errorf("to take a request back needs nobody else: %v", err)
	}
	if _, err := h.RevokeException(t.Context(), h.actor, before); err != nil {
		t.Errorf("to end what was granted needs nobody else: %v", err)
	}

	h.tx(func(tx *sqlx.Tx) error {
		if _, err := h.Accounts.HoldsApproval(t.Context(), tx, h.org.ID); err != nil {
			t.Fatal(err)
		}
		any, brief := organization.ApprovalAny, time.Millisecond*100
		ctx, cancel := context.WithTimeout(t.Context(), brief)
		defer cancel()
		if _, _, err := h.ChangeOrganization(ctx, h.actor, commands.ChangeOrganization{
			ChangeSettings: organization.ChangeSettings{ExceptionApproval: &any},
		}); err == nil {
			t.Error("the setting changed amid a grant")
		}
		return nil
	})
}

// TestForeignExceptionIsUnknown: so is the id of anything else.
func TestForeignExceptionIsUnknown(t *testing.T) {
	t.Parallel()
	h := newExceptionHouse(t)
	id := h.exception()
	_, eve := h.organization("Foreign")
	for name, c := range map[string]struct {
		actor usecase.Actor
		id    uuid.UUID
	}{
		"foreign": {h.as(eve), id}, "unknown": {h.actor, uuid.New()}, "an organization's": {h.actor, h.org.ID},
		"a report's": {h.actor, h.request(h.actor).ReportID},
	} {
		for what, act := range map[string]func(context.Context, usecase.Actor, uuid.UUID) (usecase.Mark, error){
			"grant": h.GrantException, "revoke": h.RevokeException,
		} {
			var missing *usecase.NotFoundError
			if _, err := act(t.Context(), c.actor, c.id); !errors.As(err, &missing) || missing.What != "exception" {
				t.Errorf("%s %s: %v, want no such exception", what, name, err)
			}
		}
	}
	if got := h.types(id); len(got) != 1 {
		t.Errorf("a stranger left %v", got)
	}
}

// TestConcurrentDecisionsOnAnExceptionAreMadeOnce: several administrators decide about one exception at the
// same time, and a refusal is not overruled.
func TestConcurrentDecisionsOnAnExceptionAreMadeOnce(t *testing.T) {
	t.Parallel()
	h := newExceptionHouse(t)
	for _, c := range []struct {
		name            string
		grants, revokes int
		want            [][]string // the events that may follow the request
	}{
		{"granting", 6, 0, [][]string{{"exception.granted"}}},
		{"refusing", 0, 6, [][]string{{"exception.revoked"}}},
		{"granting and refusing", 3, 3, [][]string{{"exception.revoked"}, {"exception.granted", "exception.revoked"}}},
	} {
		id := h.exception()
		var all sync.WaitGroup
		var mu sync.Mutex
		done := 0
		act := func(do func(context.Context, usecase.Actor, uuid.UUID) (usecase.Mark, error)) {
			_, err := do(t.Context(), h.actor, id)
			var rule *usecase.RuleError
			switch {
			case err == nil:
				mu.Lock()
				defer mu.Unlock()
				done++
			case !errors.As(err, &rule) || rule.Code != "invalid_state":
				t.Errorf("%s: %v", c.name, err)
			}
		}
		for range c.grants {
			all.Go(func() { act(h.GrantException) })
		}
		for range c.revokes {
			all.Go(func() { act(h.RevokeException) })
		}
		all.Wait()
		got := h.types(id)[1:]
		if !slices.ContainsFunc(c.want, func(w []string) bool { return slices.Equal(w, got) }) || done != len(got) {
			t.Errorf("%s: %d say that they decided, recorded %v", c.name, done, got)
		}
	}
}
