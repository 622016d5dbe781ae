package commands_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/commands/inventory"
	"muster/commands/usecase"
	"muster/domain/fleet"
	"muster/internal/testing/longtest"
)

func item(externalID string, databases ...string) inventory.Item {
	version, host := "15.18", "db01"
	i := inventory.Item{
		ExternalID: externalID, Name: externalID, Engine: fleet.PostgreSQL, Version: &version, Host: &host, CreatedAt: start.Add(-time.Hour),
	}
	for _, d := range databases {
		i.Databases = append(i.Databases, inventory.Database{ExternalID: d, Name: d, CreatedAt: start.Add(-time.Hour)})
	}
	return i
}

func (h *house) fleet(items ...inventory.Item) []inventory.IDs {
	h.Helper()
	ids, _, err := h.RecordFleet(h.Context(), h.actor, items)
	if err != nil {
		h.Fatal(err)
	}
	return ids
}

func TestLongABatchOfTenThousandTwice(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	h := newHouse(t)
	items := make([]inventory.Item, 10_000)
	for i := range items {
		items[i] = item(fmt.Sprintf("pg-%05d", i), "app")
	}
	first := h.fleet(items...)
	events := h.count("events WHERE log = 'fleet'")
	if events != 20_000 {
		t.Errorf("%d events of 10,000 instances and databases", events)
	}
	slices.Reverse(items)
	second := h.fleet(items...)
	slices.Reverse(second)
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("ids moved (-first +second):\n%.500s", diff)
	}
	if n := h.count("events WHERE log = 'fleet'"); n != events {
		t.Errorf("the second time appended %d events", n-events)
	}
	if _, _, err := h.RecordFleet(t.Context(), h.actor, append(items, item("one-more"))); err == nil {
		t.Error("10,001 items were accepted")
	}
}

func TestRecordFleetChanges(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ids := h.fleet(item("pg-1", "sales", "crm"))
	id, sales, crm := ids[0].ID, ids[0].Databases[0].ID, ids[0].Databases[1].ID
	off, moved := false, "db02"
	for _, step := range []struct {
		name string
		item inventory.Item
		want []string // events of the instance so far
	}{
		{"the same again", item("pg-1", "sales", "crm"), []string{"instance.registered"}},
		{"what is left out stays", inventory.Item{ExternalID: "pg-1", Name: "pg-1", Engine: fleet.PostgreSQL}, []string{"instance.registered"}},
		{"another host, nothing else said", inventory.Item{ExternalID: "pg-1", Name: "pg-1", Engine: fleet.PostgreSQL, Host: &moved},
			[]string{"instance.registered", "instance.changed"}},
		{"said again", inventory.Item{ExternalID: "pg-1", Name: "pg-1", Engine: fleet.PostgreSQL, Host: &moved},
			[]string{"instance.registered", "instance.changed"}},
		{"deactivated", inventory.Item{ExternalID: "pg-1", Name: "pg-1", Engine: fleet.PostgreSQL, Active: &off},
			[]string{"instance.registered", "instance.changed", "instance.deactivated"}},
	} {
		if got := h.fleet(step.item); got[0].ID != id {
			t.Errorf("%s: another id", step.name)
		}
		if diff := cmp.Diff(step.want, h.types(id)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.name, diff)
		}
	}
	var changed fleet.InstanceChanged
	h.event(id, "instance.changed", &changed)
	if changed.Version != "15.18" || changed.Host != "db02" || !changed.CreatedAt.Equal(start.Add(-time.Hour)) {
		t.Errorf("a change forgot what nobody mentioned: %+v", changed)
	}
	// One database goes, one is renamed.
	h.fleet(inventory.Item{ExternalID: "pg-1", Name: "pg-1", Engine: fleet.PostgreSQL, Databases: []inventory.Database{
		{ExternalID: "sales", Removed: true}, {ExternalID: "crm", Name: "crm2"}, {ExternalID: "never", Removed: true},
	}})
	if diff := cmp.Diff([]string{"database.registered", "database.removed"}, h.types(sales)); diff != "" {
		t.Errorf("sales (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"database.registered", "database.changed"}, h.types(crm)); diff != "" {
		t.Errorf("crm (-want +got):\n%s", diff)
	}
	if again := h.fleet(item("pg-1", "sales")); again[0].Databases[0].ID == sales {
		t.Error("a database that was removed came back under its old id")
	}
}

func (h *house) event(stream uuid.UUID, name string, into any) {
	h.Helper()
	for e, err := range h.Events.Load(h.Context(), h.db, h.org.ID, stream) {
		if err != nil {
			h.Fatal(err)
		}
		if e.Type != name {
			continue
		}
		h.decode(e.Data, into)
		return
	}
	h.Fatalf("no %s", name)
}

func TestRemovedInstancesComeBackAsNewOnes(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	first := h.fleet(item("pg-1", "sales"))[0]
	gone := inventory.Item{ExternalID: "pg-1", Removed: true}
	for range 2 {
		if got := h.fleet(gone)[0].ID; got != first.ID {
			t.Errorf("removed %s, which is %s", got, first.ID)
		}
	}
	if diff := cmp.Diff([]string{"instance.registered", "instance.removed"}, h.types(first.ID)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	second := h.fleet(item("pg-1", "sales"))[0]
	if second.ID == first.ID || second.Databases[0].ID == first.Databases[0].ID {
		t.Error("registered again it kept an old id")
	}
	if got := h.fleet(inventory.Item{ExternalID: "never", Removed: true})[0].ID; got != uuid.Nil {
		t.Errorf("removing what never was has id %s", got)
	}
}

func TestRecordFleetIsAllOrNothing(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	future, nul := start.Add(6*time.Minute), "a\x00b"
	items := []inventory.Item{
		item("good"),
		{ExternalID: "late", Name: "late", Engine: fleet.PostgreSQL, CreatedAt: future},
		item("good"),
		{ExternalID: "db", Engine: "dbase", Host: &nul, Databases: []inventory.Database{
			{ExternalID: "x", Name: "x", CreatedAt: future}, {ExternalID: "x", Name: "x"}, {Name: "y"},
		}},
	}
	_, _, err := h.RecordFleet(t.Context(), h.actor, items)
	var rule *usecase.RuleError
	if !errors.As(err, &rule) {
		t.Fatal(err)
	}
	want := []string{
		"time_in_future",
		"#/instances/1/createdAt time_in_future",
		"#/instances/2/externalId duplicate_external_id",
		"#/instances/3/name out_of_range",
		"#/instances/3/host out_of_range",
		"#/instances/3/engine invalid_parameter",
		"#/instances/3/databases/0/createdAt time_in_future",
		"#/instances/3/databases/1/externalId duplicate_external_id",
		"#/instances/3/databases/2/externalId out_of_range",
	}
	if diff := cmp.Diff(want, codes(rule)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if n := h.count("events WHERE log = 'fleet'"); n != 0 {
		t.Errorf("%d events", n)
	}
	if _, _, err := h.RecordFleet(t.Context(), h.actor, []inventory.Item{{ExternalID: "ok", Name: "ok", Engine: fleet.Oracle, CreatedAt: start.Add(5 * time.Minute)}}); err != nil {
		t.Errorf("five minutes ahead is allowed: %v", err)
	}
}

func TestAnIngestTokenKeepsToItsInstances(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ids := h.fleet(item("mine"), item("theirs"))
	actor := usecase.Actor{OrganizationID: h.org.ID, Component: "ingest", Limit: []uuid.UUID{ids[0].ID}}
	if _, _, err := h.RecordFleet(t.Context(), actor, []inventory.Item{item("mine", "new")}); err != nil {
		t.Error(err)
	}
	for _, beyond := range []string{"theirs", "new"} {
		_, _, err := h.RecordFleet(t.Context(), actor, []inventory.Item{item("mine"), item(beyond)})
		var rule *usecase.RuleError
		if !errors.As(err, &rule) || rule.Code != "outside_token" {
			t.Errorf("%s: %v", beyond, err)
		}
	}
}

// TestConcurrentOverlappingBatchesGetTheSameIDs: each writer sends the same servers in another order.
func TestConcurrentOverlappingBatchesGetTheSameIDs(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	const writers, servers = 8, 50
	got := make([]map[string]uuid.UUID, writers)
	together(writers, func(w int) error {
		var items []inventory.Item
		for i := range servers {
			items = append(items, item(fmt.Sprintf("pg-%d", (i*7+w*13)%servers), "a", "b"))
		}
		if w%2 == 1 {
			slices.Reverse(items)
		}
		ids, _, err := h.RecordFleet(t.Context(), h.actor, items)
		got[w] = make(map[string]uuid.UUID)
		for _, i := range ids {
			got[w][i.ExternalID] = i.ID
		}
		return err
	}, t)
	for _, ids := range got {
		if diff := cmp.Diff(got[0], ids); diff != "" {
			t.Errorf("two writers, two ids:\n%s", diff)
		}
	}
	if n := h.count("events WHERE log = 'fleet'"); n != servers*3 {
		t.Errorf("%d events, want one for each of %d things", n, servers*3)
	}
}

func TestOneInstance(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := t.Context()
	id, mark, err := h.RegisterInstance(ctx, h.actor, inventory.Registration{Name: "orders", Engine: fleet.PostgreSQL, Active: true})
	if err != nil || mark.Position != 1 {
		t.Fatal(mark, err)
	}
	if got := h.fleet(inventory.Item{ExternalID: id.String(), Name: "orders", Engine: fleet.PostgreSQL})[0].ID; got != id {
		t.Errorf("by its own id as external id it is %s", got)
	}
	name, host, off := "billing", "db02", false
	for _, c := range []inventory.Change{{Name: &name}, {Name: &name}, {Active: &off}, {Host: &host}} {
		if _, err := h.ChangeInstance(ctx, h.actor, id, c); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"instance.registered", "instance.changed", "instance.deactivated", "instance.changed"}, h.types(id)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// The feed that sends it unchanged finds the digest of the change.
	h.fleet(inventory.Item{ExternalID: id.String(), Name: "billing", Engine: fleet.PostgreSQL, Active: &off, Host: &host})
	if n := len(h.types(id)); n != 4 {
		t.Errorf("%d events after a feed that says the same", n)
	}
	_, eve := h.organization("Other")
	var missing *usecase.NotFoundError
	if _, err := h.ChangeInstance(ctx, h.as(eve), id, inventory.Change{Name: &name}); !errors.As(err, &missing) {
		t.Errorf("a foreign instance: %v", err)
	}
	if _, err := h.RemoveInstance(ctx, h.actor, id); err != nil {
		t.Fatal(err)
	}
	if _, err := h.RemoveInstance(ctx, h.actor, id); !errors.As(err, &missing) {
		t.Errorf("removed twice: %v", err)
	}
	empty, misleading := "", "db\n02"
	var rule *usecase.RuleError
	if _, err := h.ChangeInstance(ctx, h.actor, id, inventory.Change{Name: &empty, Host: &misleading}); !errors.As(err, &rule) ||
		len(rule.Fields) != 2 || rule.Fields[0].Pointer != "#/name" || rule.Fields[1].Pointer != "#/host" {
		t.Errorf("an empty name, a host of two lines: %v", err)
	}
}

// TestRulesOfOneInstanceAreCheckedBeforeAWrite: a caller may ask for the broken rules before anything is
// written.
func TestRulesOfOneInstanceAreCheckedBeforeAWrite(t *testing.T) {
	t.Parallel()
	right := inventory.Registration{ExternalID: "pg-1", Name: "orders", Engine: fleet.PostgreSQL}
	if err := right.Check(start); err != nil {
		t.Error(err)
	}
	wrong := inventory.Registration{ExternalID: "pg\n1", Host: "a\nb", CreatedAt: start.Add(time.Hour)}
	var rule *usecase.RuleError
	if !errors.As(wrong.Check(start), &rule) {
		t.Fatal("it is taken")
	}
	var pointers []string
	for _, f := range rule.Fields {
		pointers = append(pointers, f.Pointer)
	}
	if diff := cmp.Diff([]string{"#/externalId", "#/name", "#/engine", "#/host", "#/createdAt"}, pointers); diff != "" {
		t.Error(diff)
	}
}

func TestRegisterUnderAKnownKey(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.fleet(item("pg-1"))
	_, _, err := h.RegisterInstance(t.Context(), h.actor, inventory.Registration{ExternalID: "pg-1", Name: "x", Engine: fleet.PostgreSQL})
	var rule *usecase.RuleError
	if !errors.As(err, &rule) || rule.Code != "duplicate_external_id" {
		t.Errorf("error %v", err)
	}
}

func TestRecordDatabases(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := t.Context()
	id, _, err := h.RegisterInstance(ctx, h.actor, inventory.Registration{Name: "orders", Engine: fleet.PostgreSQL, Active: true})
	if err != nil {
		t.Fatal(err)
	}
	system := usecase.Actor{OrganizationID: h.org.ID, Component: "collector"}
	for _, step := range []struct {
		names []string
		want  int // events so far
	}{
		{[]string{"sales", "crm"}, 3}, {[]string{"crm", "sales"}, 3}, {[]string{"crm"}, 4}, {[]string{"crm", "sales"}, 5}, {nil, 7}, {[]string{"crm", "crm"}, 8},
	} {
		if _, err := h.RecordDatabases(ctx, system, id, step.names); err != nil {
			t.Fatal(err)
		}
		if n := h.count("events WHERE log = 'fleet'"); n != step.want {
			t.Errorf("after %v: %d events, want %d", step.names, n, step.want)
		}
		ids, err := h.DatabasesOf(ctx, h.org.ID, id)
		if err != nil {
			t.Fatal(err)
		}
		listed := make(map[string]bool)
		for _, name := range step.names {
			listed[name] = true
			if ids[name] == uuid.Nil {
				t.Errorf("after %v: %s is not among %v", step.names, name, ids)
			}
		}
		if len(ids) != len(listed) {
			t.Errorf("after %v: %v", step.names, ids)
		}
		if foreign, err := h.DatabasesOf(ctx, uuid.New(), id); err != nil || len(foreign) > 0 {
			t.Errorf("a foreign instance: %v, %v", foreign, err)
		}
	}
	for range 2 { // a server's owner may call a database what they like; it is one all the same
		if _, err := h.RecordDatabases(ctx, system, id, []string{"crm", "a\u202eb"}); err != nil {
			t.Fatal(err)
		}
		if n := h.count(`events WHERE log = 'fleet' AND convert_from(data, 'UTF8')::jsonb ->> 'name' = $1`, "a\ufffdb"); n != 1 {
			t.Errorf("a name that misleads is in %d events, cleaned", n)
		}
	}
	if _, err := h.RemoveInstance(ctx, h.actor, id); err != nil {
		t.Fatal(err)
	}
	var missing *usecase.NotFoundError
	if _, err := h.RecordDatabases(ctx, system, id, []string{"late"}); !errors.As(err, &missing) {
		t.Errorf("a collector that comes late: %v", err)
	}
}
