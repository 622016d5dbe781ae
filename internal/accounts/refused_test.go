package accounts_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"muster/domain/organization"
	"muster/internal/accounts"
	"muster/internal/postgres"
	"muster/internal/testing/pgtest"
)

// said keeps every statement that a pool sends, and how long the server took for all.
type said struct {
	mu         sync.Mutex
	statements []string
	took       time.Duration
}

type sentKey struct{}

func (s *said) TraceQueryStart(ctx context.Context, _ *pgx.Conn, q pgx.TraceQueryStartData) context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.statements = append(s.statements, strings.Join(strings.Fields(q.SQL), " "))
	return context.WithValue(ctx, sentKey{}, time.Now())
}

func (s *said) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryEndData) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.took += time.Since(ctx.Value(sentKey{}).(time.Time))
}

func (s *said) taken() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.statements
	s.statements = nil
	return slices.DeleteFunc(out, func(sql string) bool { return strings.HasPrefix(sql, "SET ") || sql == ";" || sql == "-- ping" })
}

// TestARefusalDoesTheSameWork: with or without an account, the same statements are sent, and
// their writes are one transaction, so one flush to the disk; the hash without an account costs
// the same (TestAnUnknownAccountCostsAsMuchAsAKnownOne).
func TestARefusalDoesTheSameWork(t *testing.T) {
	t.Parallel()
	statements := &said{}
	db, pool, err := postgres.Connect(t.Context(), pgtest.URL(t), postgres.PoolOptions{Name: "traced", Max: 1, Tracer: statements})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	d := newDoorOn(t, db)
	d.Unthrottled = true
	d.member("known@example.org", organization.Member, "")
	d.member("disabled@example.org", organization.Member, organization.Disabled)
	d.member("invited@example.org", organization.Member, organization.Invited)
	var first []string
	for range 2 { // the second one of nobody's is in the security log already
		for _, email := range []string{"known@example.org", "nobody@example.org", "disabled@example.org", "invited@example.org"} {
			statements.taken()
			if _, _, err := d.SignIn(t.Context(), email, "wrong", here); refusal(err) != "invalid_credentials" {
				t.Fatal(err)
			}
			sent := statements.taken()
			if first == nil {
				first = sent
			}
			if diff := cmp.Diff(first, sent); diff != "" {
				t.Errorf("%s (-the first +its own):\n%s", email, diff)
			}
			var transactions int
			if err := db.Get(&transactions, `SELECT count(DISTINCT written) FROM (
				(SELECT xmin::text AS written FROM security_log ORDER BY id DESC LIMIT CASE WHEN $1 THEN 0 ELSE 1 END)
				UNION ALL SELECT xmin::text FROM sign_in_failures WHERE kind = 'ip') AS w`, email == "nobody@example.org"); err != nil || transactions != 1 {
				t.Errorf("%s: what is written is %d transactions, %v", email, transactions, err)
			}
		}
	}
	d.Store = accounts.New(db, func() time.Time { return start.Add(time.Hour) })
	var throttled []string
	for n, email := range []string{"known@example.org", "nobody@example.org", "disabled@example.org"} {
		place := from(fmt.Sprintf("198.51.100.%d", n))
		for range accounts.FailuresPerAccount + 1 {
			_, _, _ = d.SignIn(t.Context(), email, "wrong", place)
		}
		statements.taken()
		if _, _, err := d.SignIn(t.Context(), email, "wrong", place); refusal(err) != "login_throttled" {
			t.Fatal(err)
		}
		sent := statements.taken()
		if throttled == nil {
			throttled = sent
		}
		if diff := cmp.Diff(throttled, sent); diff != "" {
			t.Errorf("%s, who has to wait (-the first +its own):\n%s", email, diff)
		}
	}
	if writes := strings.Join(first, "\n"); strings.Count(writes, "begin") != 1 || !strings.Contains(writes, "INSERT INTO security_log") {
		t.Errorf("sent:\n%s", writes)
	}
}
