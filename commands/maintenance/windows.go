package maintenance

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/usecase"
	"muster/domain/fleet"
	"muster/domain/instant"
	domain "muster/domain/maintenance"
	"muster/domain/organization"
	"muster/domain/rule"
	"muster/eventstore"
	"muster/internal/accounts"
	"muster/internal/postgres/statement"
)

// Instances answers what windows must know of the fleet; *fleet.Reader of projections does.
type Instances interface {
	// InstanceNames returns the names of those ids that exist and are not removed.
	InstanceNames(ctx context.Context, organization uuid.UUID, ids []uuid.UUID) (map[uuid.UUID]string, error)
	// TagsOf are the tags of those instances that exist in the organization.
	TagsOf(ctx context.Context, organization uuid.UUID, ids []uuid.UUID) (map[uuid.UUID]fleet.Tags, error)
}

// Windows are the use cases of maintenance windows.
type Windows struct {
	base      *usecase.Base
	instances Instances
}

// New returns the use cases over a base.
func New(base *usecase.Base, instances Instances) *Windows { return &Windows{base, instances} }

// Window is what a window is called, and its terms.
type Window struct {
	Name string
	domain.Terms
}

// CreateWindow announces a window. Errors: *usecase.RuleError with every broken rule, or forbidden.
func (w *Windows) CreateWindow(ctx context.Context, actor usecase.Actor, is Window) (uuid.UUID, usecase.Mark, error) {
	id := usecase.NewID()
	mark, err := w.base.Transact(ctx, func(tx *sqlx.Tx) (usecase.Mark, error) {
		if err := usecase.LockStream(ctx, tx, actor.OrganizationID); err != nil {
			return usecase.Mark{}, err
		}
		now := w.base.Clock()
		if err := room(ctx, tx, actor.OrganizationID, now); err != nil {
			return usecase.Mark{}, err
		}
		will, err := w.check(ctx, tx, actor, is, domain.Terms{}, now)
		if err != nil {
			return usecase.Mark{}, err
		}
		row := Row{ID: id, Name: will.Name, Terms: termsColumn{will.Terms}, CreatedAt: now, Holds: now}
		if err := save(ctx, tx, actor.OrganizationID, row); err != nil {
			return usecase.Mark{}, err
		}
		return usecase.AppendAll(ctx, w.base, tx, actor, place(id), usecase.Stream{Version: eventstore.NoStream}, now, []domain.Event{domain.Created{Terms: will.Terms}})
	})
	return id, mark, err
}

// room refuses one window more than an organization may have. Windows that are over do not count.
func room(ctx context.Context, tx *sqlx.Tx, organization uuid.UUID, now time.Time) error {
	n, err := statement.One[int](ctx, tx, "count maintenance windows", `SELECT count(*) FROM maintenance_windows
		WHERE organization_id = $1 AND holds_until IS NULL AND coalesce((terms->>'to')::timestamptz > $2, true)`, organization, now)
	if err == nil && n >= domain.MaxWindows {
		err = &usecase.RuleError{Code: "too_many_items", Detail: fmt.Sprintf("An organization has at most %d windows that are not over.", domain.MaxWindows)}
	}
	return err
}

// check holds a window against every rule at once, and returns it as it is kept. Servers that the window
// selected before may stay, whether or not they are there still.
func (w *Windows) check(ctx context.Context, tx *sqlx.Tx, actor usecase.Actor, is Window, was domain.Terms, now time.Time) (Window, error) {
	is.Name = strings.TrimSpace(is.Name)
	var broken []rule.Broken
	if e := usecase.CheckName("#/name", is.Name); e != nil {
		broken = append(broken, *e)
	}
	terms := is.Broken(now)
	broken = append(broken, terms...)
	if _, err := usecase.Zone(zoneOf(is.Terms)); err != nil {
		broken = append(broken, rule.Broken{Pointer: "#/timeZone", Code: "unknown_time_zone", Detail: usecase.UnknownZone})
	}
	if len(terms) > 0 { // of so many ids none is looked up
		return is, usecase.FieldErrors(broken)
	}
	names, err := w.instances.InstanceNames(ctx, actor.OrganizationID, is.Selector.InstanceIDs)
	if err != nil {
		return is, fmt.Errorf("look up instances: %w", err)
	}
	for i, id := range is.Selector.InstanceIDs {
		if _, there := names[id]; (!there || !actor.World.Sees(id)) && !slices.Contains(was.Selector.InstanceIDs, id) {
			broken = append(broken, rule.Broken{Pointer: fmt.Sprintf("#/selector/instanceIds/%d", i), Code: "instance_not_in_organization", Detail: "unknown instance"})
		}
	}
	if err := usecase.FieldErrors(broken); err != nil {
		return is, err
	}
	is.Selector, is.From, is.To = is.Selector.Normal(), cut(is.From), cut(is.To)
	return is, mayAct(ctx, tx, actor, is.Terms)
}

// cut is a time as PostgreSQL keeps it.
func cut(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	at := instant.Cut(*t).UTC()
	return &at
}

func zoneOf(t domain.Terms) string {
	if t.Recurrence != nil {
		return t.Recurrence.TimeZone
	}
	return t.TimeZone
}

// mayAct refuses windows of somebody with the role team that would reach others' servers.
func mayAct(ctx context.Context, tx *sqlx.Tx, actor usecase.Actor, terms domain.Terms) error {
	if actor.World == nil {
		return nil
	}
	teams, err := accounts.TeamsOf(ctx, tx, actor.OrganizationID)
	if err != nil {
		return err
	}
	_, acting := accounts.Belongs(teams, actor.MemberID)
	if domain.Within(terms.Selector, accounts.Selectors(acting), actor.World.Acts) {
		return nil
	}
	return &usecase.RuleError{Code: "forbidden", Detail: "With the role team, a window selects servers by the tags by which one of your teams selects them, or by id, and the team has to let you change them."}
}

// ChangeWindow changes what it names; nil stays.
type ChangeWindow struct {
	Name *string
	// Terms makes the new terms of the old ones.
	Terms func(domain.Terms) domain.Terms
	// Seen are the digests of the states that the change was made from, one of which must be the
	// window's; nil: any.
	Seen []string
}

// ChangeWindow records it. Errors: *usecase.NotFoundError, *usecase.RuleError, also with forbidden and
// precondition_failed.
func (w *Windows) ChangeWindow(ctx context.Context, actor usecase.Actor, id uuid.UUID, c ChangeWindow) (usecase.Mark, error) {
	return w.decide(ctx, actor, id, func(tx *sqlx.Tx, was Row, now time.Time) ([]domain.Event, error) {
		if c.Seen != nil && !slices.Contains(c.Seen, was.Digest()) {
			return nil, &usecase.RuleError{Code: "precondition_failed", Detail: "The window has changed since you read it. Read it again and repeat your change."}
		}
		is := was
		usecase.Set(&is.Name, c.Name)
		is.Name = strings.TrimSpace(is.Name)
		is.Terms.Terms = c.Terms(was.Terms.Terms)
		if organization.Digest(is.Terms.Terms) == organization.Digest(was.Terms.Terms) {
			return w.rename(ctx, tx, actor, was, is.Name)
		}
		will, err := w.check(ctx, tx, actor, Window{is.Name, is.Terms.Terms}, was.Terms.Terms, now)
		if err != nil {
			return nil, err
		}
		is.Name, is.Terms.Terms, is.Holds = will.Name, will.Terms, now
		return []domain.Event{domain.Changed{NameChanged: is.Name != was.Name, Terms: will.Terms}}, replace(ctx, tx, actor.OrganizationID, is, now)
	})
}

// rename changes the name alone: terms that hold go on, and so does a time that somebody ended.
func (w *Windows) rename(ctx context.Context, tx *sqlx.Tx, actor usecase.Actor, was Row, name string) ([]domain.Event, error) {
	if name == was.Name {
		return nil, nil
	}
	if e := usecase.CheckName("#/name", name); e != nil {
		return nil, usecase.FieldErrors([]rule.Broken{*e})
	}
	return []domain.Event{domain.Changed{NameChanged: true, Terms: was.Terms.Terms}}, statement.Exec(ctx, tx, "rename a maintenance window",
		`UPDATE maintenance_windows SET name = $3 WHERE organization_id = $1 AND id = $2 AND holds_until IS NULL`, actor.OrganizationID, was.ID, name)
}

// EndWindow ends the time that is running. Errors: *usecase.NotFoundError, *usecase.RuleError with forbidden, or
// with invalid_state where none is running.
func (w *Windows) EndWindow(ctx context.Context, actor usecase.Actor, id uuid.UUID) (usecase.Mark, error) {
	return w.decide(ctx, actor, id, func(tx *sqlx.Tx, was Row, now time.Time) ([]domain.Event, error) {
		running, ok := was.Version().Running(now)
		if !ok {
			return nil, usecase.InvalidState("The window is not running now.")
		}
		is := was
		is.Holds = running.To
		return []domain.Event{domain.Ended{NotBefore: running.To.UTC()}}, replace(ctx, tx, actor.OrganizationID, is, now)
	})
}

// RemoveWindow takes a window away, and with it a time that is running. Errors: *usecase.NotFoundError,
// *usecase.RuleError with forbidden.
func (w *Windows) RemoveWindow(ctx context.Context, actor usecase.Actor, id uuid.UUID) (usecase.Mark, error) {
	return w.decide(ctx, actor, id, func(tx *sqlx.Tx, was Row, now time.Time) ([]domain.Event, error) {
		return []domain.Event{domain.Removed{}}, closeRow(ctx, tx, actor.OrganizationID, id, now)
	})
}

// decide decides about a window under the lock of the organization's stream.
func (w *Windows) decide(ctx context.Context, actor usecase.Actor, id uuid.UUID, choose func(tx *sqlx.Tx, was Row, now time.Time) ([]domain.Event, error)) (usecase.Mark, error) {
	return w.base.Transact(ctx, func(tx *sqlx.Tx) (usecase.Mark, error) {
		if err := usecase.LockStream(ctx, tx, actor.OrganizationID); err != nil {
			return usecase.Mark{}, err
		}
		was, ok, err := Find(ctx, tx, actor.OrganizationID, id)
		switch {
		case err != nil:
			return usecase.Mark{}, err
		case !ok:
			return usecase.Mark{}, &usecase.NotFoundError{What: "maintenance window"}
		}
		if err := mayAct(ctx, tx, actor, was.Terms.Terms); err != nil {
			return usecase.Mark{}, err
		}
		return usecase.Decide(ctx, w.base, tx, actor, place(id), func(any, time.Time) {}, func(now time.Time) ([]domain.Event, error) { return choose(tx, was, now) }, nil)
	})
}

func save(ctx context.Context, tx *sqlx.Tx, organization uuid.UUID, r Row) error {
	terms, err := json.Marshal(r.Terms.Terms)
	if err != nil {
		return err
	}
	return statement.Exec(ctx, tx, "keep a maintenance window", `INSERT INTO maintenance_windows (id, organization_id, name, terms, created_at, holds_from)
		VALUES ($1, $2, $3, $4, $5, $6)`, r.ID, organization, r.Name, string(terms), r.CreatedAt, r.Holds)
}

// replace closes the row that holds, and opens the next one.
func replace(ctx context.Context, tx *sqlx.Tx, organization uuid.UUID, is Row, now time.Time) error {
	if err := closeRow(ctx, tx, organization, is.ID, now); err != nil {
		return err
	}
	return save(ctx, tx, organization, is)
}

// closeRow closes the row of a window that holds. One that did not hold yet leaves nothing.
func closeRow(ctx context.Context, tx *sqlx.Tx, organization, id uuid.UUID, now time.Time) error {
	if err := statement.Exec(ctx, tx, "drop terms that never held", `DELETE FROM maintenance_windows
		WHERE organization_id = $1 AND id = $2 AND holds_until IS NULL AND holds_from >= $3`, organization, id, now); err != nil {
		return err
	}
	return statement.Exec(ctx, tx, "end the terms of a maintenance window", `UPDATE maintenance_windows SET holds_until = $3
		WHERE organization_id = $1 AND id = $2 AND holds_until IS NULL`, organization, id, now)
}

func place(id uuid.UUID) usecase.StreamPlace {
	return usecase.StreamPlace{Log: eventstore.Organization, StreamType: domain.Stream, ID: id}
}
