package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/organization"
	"muster/internal/accounts"
	"muster/internal/notify/channel"
	"muster/internal/postgres/statement"
	"muster/internal/postgres/transact"
)

// noteOwners records in the events of a delivery the teams that own their servers now. Of a kind
// that leads to the owners, it leaves out the events that nobody owns, and those whose owners have
// no member who can be mailed.
func (s *Sender) noteOwners(ctx context.Context, tx *sqlx.Tx, delivery uuid.UUID, by through, kind channel.Kind) error {
	organization := by.OrganizationID
	rows, err := statement.All[struct {
		ID     uuid.UUID `db:"event_id"`
		Notice []byte    `db:"notice"`
	}](ctx, tx, "read the events of a delivery", `SELECT event_id, notice FROM delivery_events WHERE delivery_id = $1 AND organization_id = $2 AND dropped = ''`, delivery, organization)
	if err != nil {
		return err
	}
	notices, servers := make([]channel.Notice, len(rows)), ids{}
	for i, row := range rows {
		n := &notices[i]
		if err := json.Unmarshal(row.Notice, n); err != nil {
			return fmt.Errorf("read a notice: %w", err)
		}
		if n.Instance != nil {
			servers[n.Instance.ID] = organization
		}
		for _, other := range n.OtherInstances {
			servers[other.ID] = organization
		}
	}
	now, err := s.ownersNow(ctx, tx, delivery, by, servers, kind)
	if err != nil {
		return err
	}
	reachable, err := reachableTeams(ctx, tx, organization, now.teams[organization], kind)
	if err != nil {
		return err
	}
	noted := make([]ownedEvent, len(rows))
	for i, n := range notices {
		if n.Instance != nil {
			n.Owner = now.owner(n.Instance.ID)
		}
		for j, other := range n.OtherInstances {
			n.OtherInstances[j].Owner = now.owner(other.ID)
		}
		text, err := json.Marshal(n)
		if err != nil {
			return fmt.Errorf("encode a notice: %w", err)
		}
		noted[i] = ownedEvent{rows[i].ID, string(text), ""}
		if kind.ToOwners {
			noted[i].Dropped = dropReason(n.Owners(), reachable)
		}
	}
	return statement.Exec(ctx, tx, "note the owners of a delivery", `UPDATE delivery_events e SET notice = n.notice::jsonb, dropped = n.dropped
		FROM unnest($3::uuid[], $4::text[], $5::text[]) AS n (event, notice, dropped) WHERE e.delivery_id = $1 AND e.organization_id = $2 AND e.event_id = n.event`,
		append([]any{delivery, organization}, statement.Columns(noted)...)...)
}

// ownersNow reads who owns servers now. A kind that leads to the owners waits until they can be read, and so does a
// channel that names somebody with the role team. For any other they are a side figure: it sends without them.
func (s *Sender) ownersNow(ctx context.Context, tx *sqlx.Tx, delivery uuid.UUID, by through, servers ids, kind channel.Kind) (now past, err error) {
	err = transact.Within(ctx, tx, func() error {
		if teams, err := accounts.TeamsOf(ctx, tx, by.OrganizationID); err != nil || len(teams) == 0 {
			return err
		}
		now, err = history{registry: s.Registry}.names(ctx, tx, servers)
		return err
	})
	if err == nil || kind.ToOwners {
		return now, err
	}
	if named, wrong := s.Accounts.Addresses(ctx, by.OrganizationID, by.MemberIDs); wrong != nil || slices.ContainsFunc(
		slices.Collect(maps.Values(named)), func(to accounts.Address) bool { return to.Role == organization.Team }) {
		return now, errors.Join(err, wrong)
	}
	s.Log.WarnContext(ctx, "the owners of servers cannot be read, sending without them", "delivery", delivery, "error", err)
	return past{}, nil
}

// ownedEvent is an event of a delivery with its owners, and why it is left out.
type ownedEvent struct {
	Event   uuid.UUID
	Notice  string
	Dropped string
}

// reachableTeams are the teams with a member who can be mailed. A kind that does not lead to the
// owners needs none.
func reachableTeams(ctx context.Context, tx *sqlx.Tx, organization uuid.UUID, teams []accounts.Team, kind channel.Kind) (map[uuid.UUID]bool, error) {
	reachable := map[uuid.UUID]bool{}
	if !kind.ToOwners {
		return reachable, nil
	}
	addresses, err := accounts.ConfirmedAddresses(ctx, tx, organization, accounts.MembersOf(teams))
	for _, t := range teams {
		for _, m := range t.Terms.Members {
			if _, confirmed := addresses[m.ID]; confirmed {
				reachable[t.ID] = true
			}
		}
	}
	return reachable, err
}

// dropReason is why an event with these owners reaches nobody; empty: it reaches somebody.
func dropReason(owners []channel.Reference, reachable map[uuid.UUID]bool) string {
	if len(owners) == 0 {
		return reasonNoOwner
	}
	for _, o := range owners {
		if reachable[o.ID] {
			return ""
		}
	}
	return reasonNobody
}
