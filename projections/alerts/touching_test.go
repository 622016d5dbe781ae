package alerts_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	domain "muster/domain/alert"
	"muster/projections/alerts"
)

// TestTouching holds what a scorecard's window has to do with against alerts on
// both sides of each of its edges.
func TestTouching(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	ours, theirs := uuid.New(), uuid.New()
	here, there, sales, other := uuid.New(), uuid.New(), uuid.New(), uuid.New()
	from, to := minute(0), minute(60)
	ids := map[string]uuid.UUID{}
	raise := func(title string, change func(*domain.Details), facts ...any) {
		d := domain.Details{Title: title, Severity: domain.Warning, InstanceID: here, CreatedAt: minute(10), FirstTriggeredAt: minute(10), LastTriggeredAt: minute(10)}
		organization := ours
		if title == "foreign" {
			organization = theirs
		}
		if change != nil {
			change(&d)
		}
		ids[title] = uuid.New()
		s.happens(organization, ids[title], domain.StreamType, append([]any{domain.Raised{Key: "external/" + title, Details: d}}, facts...)...)
	}
	at := func(minutes int) func(*domain.Details) {
		return func(d *domain.Details) {
			d.CreatedAt, d.FirstTriggeredAt, d.LastTriggeredAt = minute(minutes), minute(minutes), minute(minutes)
		}
	}
	ended := func(resolved, last int) domain.AutoResolved {
		return domain.AutoResolved{ResolvedAt: minute(resolved), LastTriggeredAt: minute(last)}
	}
	raise("over before", at(-60), ended(-1, -2))
	raise("over at the start", at(-30), ended(0, -2))
	raise("fired after its end", at(-20), ended(-5, 3))
	raise("open for long", at(-10_000))
	raise("raised at the last moment", func(d *domain.Details) { at(60)(d); d.CreatedAt = to.Add(-time.Microsecond) })
	raise("raised after", at(60))
	raise("muted", func(d *domain.Details) { d.Severity = domain.Critical }, domain.Muted{})
	raise("worst", func(d *domain.Details) { d.Severity = domain.Critical; at(-5)(d) }, ended(200, 190))
	raise("of sales", func(d *domain.Details) { d.DatabaseID = sales; at(11)(d) })
	raise("of another database", func(d *domain.Details) { d.DatabaseID = other; d.Severity = domain.Info })
	raise("of another server", func(d *domain.Details) { d.InstanceID = there })
	raise("shared"+domain.TitleServers+"there, here)", func(d *domain.Details) {
		d.InstanceID, d.OtherInstanceIDs, d.Severity = there, []uuid.UUID{here}, domain.Info
		at(9)(d)
	})
	raise("of the organization", func(d *domain.Details) { d.InstanceID = uuid.Nil })
	raise("foreign", nil)
	s.seen(ours, ids["open for long"], minute(59))
	s.stage.Settle()

	touched := alerts.Touched{Organization: ours, Instance: here, From: from, To: to}
	titles := func(most int) (out []string, total int) {
		found, total, err := s.reader.Touching(t.Context(), touched, most)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range found {
			out = append(out, a.Title)
			if a.Title == "open for long" && !a.LastTriggeredAt.Equal(minute(59)) {
				t.Errorf("%s was last seen at %s", a.Title, a.LastTriggeredAt)
			}
		}
		return out, total
	}
	all := []string{
		"worst", "raised at the last moment", "of sales", "fired after its end", "over at the start", "open for long",
		"of another database", "shared", "muted",
	}
	got, total := titles(100)
	if diff := cmp.Diff(all, got); diff != "" || total != len(all) {
		t.Errorf("%d (-want +got):\n%s", total, diff)
	}
	if got, total = titles(3); !cmp.Equal(all[:3], got) || total != len(all) {
		t.Errorf("the first three of %d: %v", total, got)
	}
	touched.Database = &sales
	if got, total = titles(100); cmp.Equal(all, got) || total != len(all)-1 {
		t.Errorf("of a database, %d: %v", total, got)
	}
}
