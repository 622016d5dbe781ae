package accounts

import (
	"context"
	"database/sql"
	_ "embed"
	"fmt"
	"time"

	"github.com/google/uuid"
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
	rows, err := s.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("read the security log: %w", err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err says what went wrong
	return scanSecurity(rows)
}

func scanSecurity(rows *sql.Rows) ([]SecurityEntry, error) {
	entries := []SecurityEntry{}
	for rows.Next() {
		var e SecurityEntry
		var member uuid.NullUUID
		err := rows.Scan(&e.ID, &e.At, &e.OrganizationID, &member, &e.Type, &e.IP, &e.RequestID, &e.Detail, &e.Component)
		if err != nil {
			return nil, fmt.Errorf("read the security log: %w", err)
		}
		e.At, e.MemberID = e.At.UTC(), member.UUID
		entries = append(entries, e)
	}
	return entries, rows.Err()
}
