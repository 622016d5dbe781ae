package budgets_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/internal/intake/budgets"
	"muster/internal/postgres/transact"
	"muster/internal/testing/clocktest"
	"muster/internal/testing/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var small = budgets.Limits{Bytes: 1000, Events: 100, OpenAlerts: 50, TokenShare: 10}

// house is a database with organizations, and a clock.
type house struct {
	t     *testing.T
	db    *sqlx.DB
	clock *clocktest.Clock
}

func newHouse(t *testing.T) house {
	t.Helper()
	return house{t, pgtest.DB(t), clocktest.At(time.Date(2026, 11, 20, 23, 59, 58, 0, time.UTC))}
}

// process is a Book as one process has it.
func (h house) process(limits budgets.Limits) *budgets.Book {
	return budgets.New(h.db, limits, slog.New(slog.DiscardHandler), h.clock.Now)
}

func (h house) organization() uuid.UUID {
	h.t.Helper()
	id := uuid.New()
	_, err := h.db.Exec(`INSERT INTO organizations (id, name, created_at) VALUES ($1, 'one', now())`, id)
	must(h.t, err)
	return id
}

// rows are what the table has, in words.
func (h house) rows() string {
	h.t.Helper()
	var all []string
	must(h.t, h.db.Select(&all, `SELECT day || ' ' || sum(bytes) || ' bytes ' || sum(events) || ' events' FROM budget_use GROUP BY day ORDER BY day`))
	return strings.Join(all, "; ")
}

func outcome(err error) string {
	var e *budgets.ExhaustedError
	switch {
	case err == nil:
		return "taken"
	case errors.As(err, &e) && e.OfToken:
		return fmt.Sprintf("token %d of %d %s", e.Used, e.Limit, e.Name)
	case errors.As(err, &e):
		return fmt.Sprintf("organization %d of %d %s", e.Used, e.Limit, e.Name)
	}
	return err.Error()
}

// TestABudgetIsExact: a call that just reaches a budget is accepted, one that would
// exceed it is refused and costs nothing.
func TestABudgetIsExact(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	type step struct {
		sender string // a, b: tokens of an organization; x: of another
		n      int64
		want   string
	}
	for name, c := range map[string]struct {
		limits budgets.Limits
		steps  []step
	}{
		"a token's tenth": {small, []step{
			{"a", 99, "taken"}, {"a", 2, "token 99 of 100 bytes"}, {"a", 1, "taken"}, {"a", 1, "token 100 of 100 bytes"}, {"b", 100, "taken"}, {"x", 100, "taken"},
		}},
		"the organization's, by several": {budgets.Limits{Bytes: 1000, Events: 1, OpenAlerts: 1, TokenShare: 60}, []step{
			{"a", 600, "taken"}, {"b", 401, "organization 600 of 1000 bytes"}, {"b", 400, "taken"}, {"b", 1, "organization 1000 of 1000 bytes"}, {"x", 600, "taken"},
		}},
		"more than all at once":     {small, []step{{"a", 1001, "organization 0 of 1000 bytes"}, {"a", 100, "taken"}}},
		"a share of nearly nothing": {budgets.Limits{Bytes: 5, Events: 1, OpenAlerts: 1, TokenShare: 1}, []step{{"a", 1, "taken"}, {"a", 1, "token 1 of 1 bytes"}}},
	} {
		book, ours, theirs := h.process(c.limits), uuid.New(), uuid.New()
		tokens := map[string]budgets.Sender{"a": {Organization: ours, Token: uuid.New()}, "b": {Organization: ours, Token: uuid.New()}, "x": {Organization: theirs, Token: uuid.New()}}
		for i, s := range c.steps {
			if got := outcome(book.Spend(t.Context(), tokens[s.sender], budgets.Bytes, s.n)); got != s.want {
				t.Errorf("%s, step %d: %s, want %s", name, i, got, s.want)
			}
			must(t, book.Flush(t.Context())) // which changes nothing
		}
	}
}

// TestClosingAlertsIsNeverRefused: it is counted, and others are not asked for it.
func TestClosingAlertsIsNeverRefused(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	book, organization, token := h.process(small), uuid.New(), uuid.New()
	var given []func()
	spend := func(asked, counted int64) string {
		giveBack, err := book.SpendEvents(t.Context(), organization, token, asked, counted)
		given = append(given, giveBack)
		return outcome(err)
	}
	got := []string{spend(10, 10), spend(0, 5), spend(1, 6)}
	given[0]()
	given[1]()
	got = append(got, spend(11, 11), spend(10, 10))
	if diff := cmp.Diff([]string{"taken", "taken", "token 15 of 10 events", "token 0 of 10 events", "taken"}, got); diff != "" {
		t.Error(diff)
	}
}

// TestMidnight: budgets begin anew, earlier counts belong to the previous day, and a day is
// deleted after two others.
func TestMidnight(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	book, from := h.process(small), budgets.Sender{Organization: uuid.New(), Token: uuid.New()}
	var used *budgets.ExhaustedError
	must(t, book.Spend(t.Context(), from, budgets.Bytes, 100))
	if err := book.Room(t.Context(), from, budgets.Bytes); !errors.As(err, &used) || !used.ResetAt.Equal(time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)) {
		t.Fatalf("before midnight: %v", err)
	}
	h.clock.Advance(2 * time.Second)
	must(t, book.Room(t.Context(), from, budgets.Bytes))
	must(t, book.Spend(t.Context(), from, budgets.Bytes, 7))
	must(t, book.Flush(t.Context()))
	if got, want := h.rows(), "2026-11-20 100 bytes 0 events; 2026-11-21 7 bytes 0 events"; got != want {
		t.Errorf("kept %s, want %s", got, want)
	}
	h.clock.Advance(-time.Second) // a clock that goes back finds the day before as it was
	if err := book.Spend(t.Context(), from, budgets.Bytes, 1); err == nil {
		t.Error("the day before began anew")
	}
	h.clock.Advance(48 * time.Hour)
	must(t, book.Flush(t.Context()))
	h.clock.Advance(24 * time.Hour)
	must(t, book.Flush(t.Context()))
	if got := h.rows(); got != "2026-11-21 7 bytes 0 events" {
		t.Errorf("kept %s", got)
	}
}

func spendEvents(t *testing.T, b *budgets.Book, from budgets.Sender, n int64) (giveBack func()) {
	t.Helper()
	giveBack, err := b.SpendEvents(t.Context(), from.Organization, from.Token, n, n)
	must(t, err)
	return giveBack
}

// TestEventsAreGivenBackToTheirDay: a transaction that begins before midnight and fails behind
// it gives the next day nothing.
func TestEventsAreGivenBackToTheirDay(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	book, from := h.process(small), budgets.Sender{Organization: uuid.New(), Token: uuid.New()}
	spendEvents(t, book, from, 2)
	fails := spendEvents(t, book, from, 5)
	h.clock.Advance(2 * time.Second)
	spendEvents(t, book, from, 7)
	fails()
	if _, err := book.SpendEvents(t.Context(), from.Organization, from.Token, 4, 4); outcome(err) != "token 7 of 10 events" {
		t.Errorf("behind midnight: %s", outcome(err))
	}
	must(t, book.Flush(t.Context()))
	if got, want := h.rows(), "2026-11-20 0 bytes 2 events; 2026-11-21 0 bytes 7 events"; got != want {
		t.Errorf("kept %s, want %s", got, want)
	}
}

// TestTwoProcessesShareABudget: each knows what the other wrote, from its next look on. A
// process that starts knows everything that was written, and nothing that a killed one had not
// written yet.
func TestTwoProcessesShareABudget(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	one, two, from := h.process(small), h.process(small), budgets.Sender{Organization: uuid.New(), Token: uuid.New()}
	spend := func(b *budgets.Book, n int64) string {
		return outcome(b.Spend(t.Context(), from, budgets.Bytes, n))
	}
	got := []string{spend(two, 10), spend(one, 60)}
	must(t, one.Flush(t.Context()))
	got = append(got, spend(two, 40)) // two has not looked
	must(t, two.Flush(t.Context()))
	got = append(got, spend(two, 1))
	must(t, one.Flush(t.Context()))
	got = append(got, spend(one, 1), spend(h.process(small), 1))
	want := []string{"taken", "taken", "taken", "token 110 of 100 bytes", "token 110 of 100 bytes", "token 110 of 100 bytes"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	raised := small
	raised.TokenShare = 12 // a setting that was changed
	if got := []string{spend(h.process(raised), 10), spend(h.process(raised), 11)}; got[0] != "taken" || got[1] != "token 110 of 120 bytes" {
		t.Errorf("%q: the first was killed before it wrote, so the second knows of 110", got)
	}
}

// TestUnwrittenCountsAreKept, and are written once.
func TestUnwrittenCountsAreKept(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	book, from := h.process(small), budgets.Sender{Organization: uuid.New(), Token: uuid.New()}
	must(t, book.Spend(t.Context(), from, budgets.Bytes, 60))
	away, cancel := context.WithCancel(t.Context())
	cancel()
	if book.Flush(away) == nil {
		t.Fatal("it wrote nowhere")
	}
	must(t, book.Spend(t.Context(), from, budgets.Bytes, 10))
	if got := outcome(book.Spend(t.Context(), from, budgets.Bytes, 31)); got != "token 70 of 100 bytes" {
		t.Error(got)
	}
	must(t, book.Flush(t.Context()))
	must(t, book.Flush(t.Context()))
	if got := h.rows(); got != "2026-11-20 70 bytes 0 events" {
		t.Errorf("kept %s", got)
	}
}

// TestADeletedOrganizationLeavesNothing: its counts are dropped, and those of others are not.
func TestADeletedOrganizationLeavesNothing(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	book, gone := h.process(small), budgets.Sender{Organization: h.organization(), Token: uuid.New()}
	must(t, book.Spend(t.Context(), gone, budgets.Bytes, 60))
	must(t, book.Spend(t.Context(), budgets.Sender{Organization: uuid.New(), Token: uuid.New()}, budgets.Bytes, 5))
	_, err := h.db.Exec(`INSERT INTO deleted_organizations (id, name, deleted_at) VALUES ($1, 'one', now())`, gone.Organization)
	must(t, err)
	must(t, book.Flush(t.Context()))
	if got := h.rows(); got != "2026-11-20 5 bytes 0 events" {
		t.Errorf("kept %s", got)
	}
}

// TestOpenAlertsAreBounded in the transaction that opens them: exactly, by the organization and by
// the token, and whatever leaves no more of them open than there were is taken.
func TestOpenAlertsAreBounded(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	a, b := uuid.New(), uuid.New()
	type change map[uuid.UUID]int64
	for name, c := range map[string]struct {
		limits budgets.Limits
		given  change // by Muster
		token  uuid.UUID
		when   change
		want   string
	}{
		"up to the token's edge":       {small, change{a: 4}, a, change{a: 1}, "taken"},
		"beyond it":                    {small, change{a: 4}, a, change{a: 2}, "token 4 of 5 openAlerts"},
		"another's edge":               {small, change{b: 5}, a, change{a: 5}, "taken"},
		"up to the organization's":     {small, change{b: 45}, a, change{a: 5}, "taken"},
		"beyond the organization's":    {small, change{b: 46}, a, change{a: 5}, "organization 46 of 50 openAlerts"},
		"Muster's own count":           {small, change{uuid.Nil: 50}, a, change{a: 1}, "organization 50 of 50 openAlerts"},
		"and are never refused":        {small, change{b: 50}, uuid.Nil, change{uuid.Nil: 1}, "taken"},
		"resolved at the bound":        {small, change{a: 50}, a, change{a: -1}, "taken"},
		"beyond a bound that was cut":  {small, change{a: 90}, a, change{a: -1}, "taken"},
		"as many as are raised":        {small, change{a: 50}, a, change{a: 0}, "taken"},
		"raised for another's resolve": {small, change{a: 5, b: 45}, a, change{a: 1, b: -1}, "token 5 of 5 openAlerts"},
	} {
		book, organization := h.process(c.limits), h.organization()
		count := func(token uuid.UUID, changes change) error {
			return transact.Once(t.Context(), h.db, nil, func(tx *sqlx.Tx) error {
				return book.CountOpen(t.Context(), tx, organization, token, changes)
			})
		}
		must(t, count(uuid.Nil, c.given))
		if got := outcome(count(c.token, c.when)); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		var all, want int64
		must(t, h.db.Get(&all, `SELECT open FROM open_alerts WHERE organization_id = $1 AND token_id = $2`, organization, uuid.Nil))
		for _, n := range c.given {
			want += n
		}
		for _, n := range c.when {
			if c.want == "taken" {
				want += n
			}
		}
		if all != want {
			t.Errorf("%s: %d are open, want %d", name, all, want)
		}
	}
}

// TestFewerThanNoAlertsAreNeverOpen: an alert that an earlier program opened is closed before
// it was counted.
func TestFewerThanNoAlertsAreNeverOpen(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	book, organization, token := h.process(small), h.organization(), uuid.New()
	for _, c := range []struct{ more, open int64 }{{-2, 0}, {-1, 0}, {3, 3}, {-1, 2}} {
		must(t, transact.Once(t.Context(), h.db, nil, func(tx *sqlx.Tx) error {
			return book.CountOpen(t.Context(), tx, organization, token, map[uuid.UUID]int64{token: c.more})
		}))
		list, err := book.List(t.Context(), organization)
		must(t, err)
		if got := list[2].Used; got != c.open {
			t.Errorf("after %d: %d are open, want %d", c.more, got, c.open)
		}
	}
}

// TestOpenAlertsAreCountedAnew once a day, because an earlier program did not count.
func TestOpenAlertsAreCountedAnew(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	book, organization, token, left := h.process(small), h.organization(), uuid.New(), uuid.New()
	must(t, transact.Once(t.Context(), h.db, nil, func(tx *sqlx.Tx) error {
		return book.CountOpen(t.Context(), tx, organization, uuid.Nil, map[uuid.UUID]int64{left: 3})
	}))
	counted := 0
	for range 2 {
		must(t, book.Recount(t.Context(), func(_ context.Context, _ sqlx.ExtContext, of uuid.UUID) (map[uuid.UUID]int64, error) {
			if of == organization {
				counted++
			}
			return map[uuid.UUID]int64{token: 4, uuid.Nil: 2}, nil
		}))
	}
	list, err := book.List(t.Context(), organization)
	must(t, err)
	open := list[2]
	if want := []budgets.TokenUse{{Token: token, Used: 4}}; counted != 1 || open.Used != 6 || !cmp.Equal(open.Tokens, want) {
		t.Errorf("counted %d times: %+v", counted, open)
	}
}

// TestTheListNamesTheUseOfEachToken, of one organization.
func TestTheListNamesTheUseOfEachToken(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	book, organization, a, b := h.process(small), uuid.New(), uuid.New(), uuid.New()
	must(t, book.Spend(t.Context(), budgets.Sender{Organization: organization, Token: a}, budgets.Bytes, 10))
	must(t, book.Spend(t.Context(), budgets.Sender{Organization: organization, Token: b}, budgets.Bytes, 20))
	spendEvents(t, book, budgets.Sender{Organization: organization, Token: a}, 3)
	must(t, book.Spend(t.Context(), budgets.Sender{Organization: uuid.New(), Token: uuid.New()}, budgets.Bytes, 40))
	midnight := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	want := []budgets.Use{
		{Name: budgets.Bytes, Limit: 1000, Used: 30, TokenLimit: 100, ResetAt: midnight, Tokens: []budgets.TokenUse{{Token: b, Used: 20}, {Token: a, Used: 10}}},
		{Name: budgets.Events, Limit: 100, Used: 3, TokenLimit: 10, ResetAt: midnight, Tokens: []budgets.TokenUse{{Token: a, Used: 3}}},
		{Name: budgets.OpenAlerts, Limit: 50, TokenLimit: 5, Tokens: []budgets.TokenUse{}},
	}
	got, err := book.List(t.Context(), organization)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	totals, err := book.Totals(t.Context())
	must(t, err)
	of := map[budgets.Name]budgets.Total{}
	for _, total := range totals {
		if total.Organization == organization {
			of[total.Name] = total
		}
	}
	if of[budgets.Bytes].Used != 30 || of[budgets.Bytes].UsedByToken != 20 || of[budgets.Events].Used != 3 {
		t.Errorf("%+v", totals)
	}
}
