package accounts

import (
	"context"
	_ "embed"
	"time"

	"github.com/google/uuid"

	"muster/internal/statement"
)

var (
	//go:embed sql/security_log.sql
	listSecurity string
	//go:embed sql/security_log_by_type.sql
	listSecurityByType string
	//go:embed sql/security_log_by_member.sql
	listSecurityByMember string
)

// SecurityQuery selects entries of an organization. Empty lists and zero times
// do not narrow.
type SecurityQuery struct {
	Organization uuid.UUID
	From, To     time.Time // from inclusive, to exclusive
	Members      []uuid.UUID
	Types        []string
	Before       *SecurityPlace // nil: from the newest
	Limit        int
}

// SecurityPlace is where an entry stands in the list, which goes by time and
// then by id: the clocks of two processes may differ from the order of ids.
type SecurityPlace struct {
	At time.Time
	ID int64
}

// latest is behind every entry.
var latest = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)

// SecurityLog returns the entries that the query selects, newest first.
func (s *Store) SecurityLog(ctx context.Context, q SecurityQuery) ([]SecurityEntry, error) {
	if q.To.IsZero() {
		q.To = latest
	}
	before := SecurityPlace{At: latest}
	if q.Before != nil {
		before = *q.Before
	}
	// Each way of asking has its query and its index: one query for all of them
	// reads every entry where none is of the type.
	query, args := listSecurity, []any{q.Organization, q.From, q.To, before.At, before.ID, q.Limit}
	switch {
	case len(q.Members) > 0:
		query, args = listSecurityByMember, append(args, q.Members, q.Types)
	case len(q.Types) > 0:
		query, args = listSecurityByType, append(args, q.Types)
	}
	entries, err := statement.All[SecurityEntry](ctx, s.db, "read the security log", query, args...)
	for i := range entries {
		entries[i].At = entries[i].At.UTC()
	}
	return entries, err
}
