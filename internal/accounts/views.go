package accounts

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jmoiron/sqlx"

	"muster/domain/organization"
	"muster/internal/postgres/statement"
	"muster/internal/postgres/transact"
)

const (
	// MaxViews is how many views a member keeps at most.
	MaxViews = 200
	// listedViews bounds a list of views: those of the reader come first.
	listedViews = 1000
)

//go:embed sql/views.sql
var listViews string

//go:embed sql/lock_view.sql
var lockView string

// View is a page that a member keeps under a name, with its filters. Views are conveniences: nobody argues later
// about one, so they are rows and no events.
type View struct {
	ID         uuid.UUID     `db:"id"`
	MemberID   uuid.NullUUID `db:"member_id"`   // the author; null: they were erased
	MemberName string        `db:"member_name"` // empty where MemberID is null
	Name       string        `db:"name"`        // unique among those of the author
	Query      string        `db:"query"`       // the address of the page: a path and a search
	Shared     bool          `db:"shared"`      // all members of the organization see it
	CreatedAt  time.Time     `db:"created_at"`
}

// ChangeView is what is to become of a view; nil: it stays.
type ChangeView struct {
	Name, Query *string
	Shared      *bool
}

// Views returns the views of a member, and after them those that others of their organization share.
func (s *Store) Views(ctx context.Context, p Principal) ([]View, error) {
	return statement.All[View](ctx, s.db, "list views", listViews, p.Organization.ID, p.Member.ID, listedViews)
}

// AddView keeps a view of a member. Errors: *Refusal invalid_name where they have one of that name,
// too_many_views, unauthenticated where they were disabled or erased meanwhile.
func (s *Store) AddView(ctx context.Context, p Principal, v View) (View, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return View{}, err
	}
	v.ID, v.MemberID, v.MemberName, v.CreatedAt = id, orNull(p.Member.ID), p.Member.Name, s.clock()
	err = transact.Once(ctx, s.db, nil, func(tx *sqlx.Tx) error {
		if err := s.roomForView(ctx, tx, p); err != nil {
			return err
		}
		return nameTaken(statement.Exec(ctx, tx, "store a view", `INSERT INTO views (id, organization_id, member_id, name, query, shared, created_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7)`, v.ID, p.Organization.ID, v.MemberID, v.Name, v.Query, v.Shared, v.CreatedAt))
	})
	return v, err
}

// roomForView refuses one view more than a member may keep. It holds the member's row, so that two requests do not
// pass the bound together, and an erasure waits and then finds the view.
func (s *Store) roomForView(ctx context.Context, tx *sqlx.Tx, p Principal) error {
	status, _, err := statement.Find[string](ctx, tx, "lock a member", `SELECT status FROM members
		WHERE organization_id = $1 AND id = $2 FOR NO KEY UPDATE`, p.Organization.ID, p.Member.ID)
	if err != nil {
		return err
	}
	if status != organization.Active {
		return &Refusal{Code: CodeUnauthenticated, Detail: "sign in first"}
	}
	n, err := statement.One[int](ctx, tx, "count the views of a member", `SELECT count(*) FROM views
		WHERE organization_id = $1 AND member_id = $2`, p.Organization.ID, p.Member.ID)
	if err != nil || n < MaxViews {
		return err
	}
	return &Refusal{Code: CodeTooManyViews, Detail: fmt.Sprintf("a member keeps at most %d views; delete one that is not needed", MaxViews)}
}

// ChangeView changes a view of the member, or as an administrator one that another member shares; ok is false where
// the member sees no view of that id. Errors: *Refusal forbidden for a shared view of another member, invalid_name
// where its author has one of the new name, invalid_state where nobody would see it any more.
func (s *Store) ChangeView(ctx context.Context, p Principal, id uuid.UUID, c ChangeView) (v View, ok bool, err error) {
	err = transact.Once(ctx, s.db, nil, func(tx *sqlx.Tx) error {
		if v, ok, err = s.ownView(ctx, tx, p, id); err != nil || !ok {
			return err
		}
		v = c.of(v)
		if !v.Shared && !v.MemberID.Valid {
			return &Refusal{Code: CodeNobodysView, Detail: "its author has left, so nobody would see it. Delete it instead"}
		}
		return nameTaken(statement.Exec(ctx, tx, "change a view", `UPDATE views SET name = $3, query = $4, shared = $5
			WHERE organization_id = $1 AND id = $2`, p.Organization.ID, id, v.Name, v.Query, v.Shared))
	})
	return v, ok, err
}

func (c ChangeView) of(v View) View {
	if c.Name != nil {
		v.Name = *c.Name
	}
	if c.Query != nil {
		v.Query = *c.Query
	}
	if c.Shared != nil {
		v.Shared = *c.Shared
	}
	return v
}

// RemoveView deletes a view that the member may change; ok is false where they see none of that id. Errors: *Refusal
// forbidden.
func (s *Store) RemoveView(ctx context.Context, p Principal, id uuid.UUID) (ok bool, err error) {
	err = transact.Once(ctx, s.db, nil, func(tx *sqlx.Tx) error {
		if _, ok, err = s.ownView(ctx, tx, p, id); err != nil || !ok {
			return err
		}
		return statement.Exec(ctx, tx, "delete a view", `DELETE FROM views WHERE organization_id = $1 AND id = $2`, p.Organization.ID, id)
	})
	return ok, err
}

// ownView locks a view that the member may change.
func (s *Store) ownView(ctx context.Context, tx *sqlx.Tx, p Principal, id uuid.UUID) (View, bool, error) {
	v, ok, err := statement.Find[View](ctx, tx, "lock a view", lockView, p.Organization.ID, p.Member.ID, id)
	if err != nil || !ok || v.MemberID == orNull(p.Member.ID) || p.Can(organization.ScopeAdmin) {
		return v, ok, err
	}
	return v, ok, &Refusal{Code: CodeNotYourView, Detail: "only its author and administrators change a shared view"}
}

// nameTaken is a refusal where a view's name is another one's of its author.
func nameTaken(err error) error {
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.ConstraintName == "views_name_of_member" {
		return &Refusal{Code: CodeNameTaken, Detail: "is the name of another view already"}
	}
	return err
}
