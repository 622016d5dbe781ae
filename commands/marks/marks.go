package marks

import (
	"context"
	_ "embed" // the statements
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/usecase"
	"muster/domain/instant"
	"muster/domain/mark"
	"muster/eventstore"
	"muster/internal/accounts"
	"muster/internal/postgres/statement"
)

// Row is a mark as it is kept.
type Row struct {
	ID        uuid.UUID     `db:"id"`
	At        time.Time     `db:"at"`
	Text      string        `db:"text"`
	Tags      tagsColumn    `db:"tags"` // none: the whole organization
	MemberID  uuid.NullUUID `db:"member_id"`
	TokenID   uuid.NullUUID `db:"token_id"`
	CreatedAt time.Time     `db:"created_at"`
	RemovedAt *time.Time    `db:"removed_at"` // only SetMark reads removed ones
}

// tagsColumn is a column of tags by key.
type tagsColumn map[string]string

// Scan implements sql.Scanner.
func (t *tagsColumn) Scan(src any) error { return statement.ScanJSON(src, (*map[string]string)(t)) }

const columns = `id, at, text, tags, member_id, token_id, created_at`

// Marks are the use cases of marks.
type Marks struct{ base *usecase.Base }

// New returns the use cases over a base.
func New(base *usecase.Base) *Marks { return &Marks{base: base} }

// Between are the newest marks of an organization from a time to another that pass a filter, at most limit. They are read
// in pages, because the filter asks for the tags of servers.
func Between(ctx context.Context, q sqlx.QueryerContext, organization uuid.UUID, from, to time.Time, limit int, passes func([]Row) ([]Row, error)) ([]Row, error) {
	var found []Row
	last := Row{At: to, ID: uuid.Max} // none at that time follows it
	for {
		page, err := statement.All[Row](ctx, q, "read marks", betweenQuery, organization, from, last.At, last.ID, pageSize)
		if err != nil {
			return nil, err
		}
		more := len(page) == pageSize
		if more {
			last = page[len(page)-1]
		}
		if page, err = passes(page); err != nil {
			return nil, err
		}
		if found = append(found, page...); len(found) >= limit || !more {
			return found[:min(len(found), limit)], nil
		}
	}
}

// pageSize is how many marks are read at once.
const pageSize = 2000

//go:embed sql/between.sql
var betweenQuery string

// Find is a mark of the organization; ok is false where it has none of that id.
func Find(ctx context.Context, q sqlx.QueryerContext, organization, id uuid.UUID) (m Row, ok bool, err error) {
	return statement.Find[Row](ctx, q, "look up a mark", `SELECT `+columns+` FROM chart_marks
		WHERE organization_id = $1 AND id = $2 AND removed_at IS NULL`, organization, id)
}

// SetMark records a mark, and returns it. A request that is sent again names the id that it had: the mark is found then,
// or another one is made if somebody removed it. Errors: *usecase.RuleError with every broken rule, with forbidden, or with
// too_many_marks.
func (m *Marks) SetMark(ctx context.Context, actor usecase.Actor, id uuid.UUID, set mark.Mark) (Row, usecase.Mark, error) {
	set.At, set.Text = instant.Cut(set.At), strings.TrimSpace(set.Text)
	if err := usecase.FieldErrors(set.Broken(m.base.Clock())); err != nil {
		return Row{}, usecase.Mark{}, err
	}
	var row Row
	written, err := m.base.Transact(ctx, func(tx *sqlx.Tx) (usecase.Mark, error) {
		if err := usecase.LockStream(ctx, tx, actor.OrganizationID); err != nil { // two at once count each other
			return usecase.Mark{}, err
		}
		made, known, err := statement.Find[Row](ctx, tx, "look for the mark of a request", `SELECT `+columns+`, removed_at FROM chart_marks
			WHERE organization_id = $1 AND id = $2`, actor.OrganizationID, id)
		switch {
		case err != nil:
			return usecase.Mark{}, err
		case known && made.RemovedAt == nil:
			row = made
			return usecase.Mark{}, nil
		case known:
			id = uuid.Must(uuid.NewV7())
		}
		if err := mayMark(ctx, tx, actor, set.Tags); err != nil {
			return usecase.Mark{}, err
		}
		now := m.base.Clock()
		if err := room(ctx, tx, actor.OrganizationID, now); err != nil {
			return usecase.Mark{}, err
		}
		tags, err := json.Marshal(set.Tags)
		if err != nil {
			return usecase.Mark{}, fmt.Errorf("encode the tags of a mark: %w", err)
		}
		if set.Tags == nil {
			tags = []byte(`{}`)
		}
		row, err = statement.One[Row](ctx, tx, "keep a mark", `INSERT INTO chart_marks (id, organization_id, at, text, tags, member_id, token_id, created_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING `+columns, id, actor.OrganizationID, set.At, set.Text, string(tags), orNull(actor.MemberID), orNull(actor.Token), now)
		if err != nil {
			return usecase.Mark{}, err
		}
		return usecase.AppendAll(ctx, m.base, tx, actor, place(id), usecase.Stream{Version: eventstore.NoStream}, now,
			[]mark.Event{mark.Set{At: set.At, Tags: set.Tags, TokenID: actor.Token}})
	})
	return row, written, err
}

// mayMark refuses marks of somebody with the role team that would stand at others' servers.
func mayMark(ctx context.Context, tx *sqlx.Tx, actor usecase.Actor, tags map[string]string) error {
	if actor.World == nil {
		return nil
	}
	teams, err := accounts.TeamsOf(ctx, tx, actor.OrganizationID)
	if err != nil {
		return err
	}
	_, acting := accounts.Belongs(teams, actor.MemberID)
	if mark.Within(tags, accounts.Selectors(acting)) {
		return nil
	}
	return &usecase.RuleError{Code: "forbidden", Detail: "With the role team, a mark needs the tags by which one of your teams selects its servers, and the team has to let you change them."}
}

//go:embed sql/of_a_day.sql
var ofADay string

// room refuses one mark more than an organization may set within 24 hours.
func room(ctx context.Context, tx *sqlx.Tx, organization uuid.UUID, now time.Time) error {
	since := now.Add(-24 * time.Hour)
	oldest, full, err := statement.Find[time.Time](ctx, tx, "count the marks of a day", ofADay, organization, since, mark.MaxADay-1)
	if err != nil || !full {
		return err
	}
	return &usecase.RuleError{
		Code: "too_many_marks", Detail: fmt.Sprintf("An organization sets at most %d marks within 24 hours.", mark.MaxADay),
		RetryAfter: oldest.Sub(since).Truncate(time.Second) + time.Second,
	}
}

// RemoveMark takes a mark away, and its text. Errors: *usecase.NotFoundError, *usecase.RuleError with forbidden.
func (m *Marks) RemoveMark(ctx context.Context, actor usecase.Actor, id uuid.UUID) (usecase.Mark, error) {
	return m.base.Transact(ctx, func(tx *sqlx.Tx) (usecase.Mark, error) {
		if err := usecase.LockStream(ctx, tx, actor.OrganizationID); err != nil {
			return usecase.Mark{}, err
		}
		was, ok, err := Find(ctx, tx, actor.OrganizationID, id)
		switch {
		case err != nil:
			return usecase.Mark{}, err
		case !ok:
			return usecase.Mark{}, &usecase.NotFoundError{What: "mark"}
		}
		if err := mayMark(ctx, tx, actor, was.Tags); err != nil {
			return usecase.Mark{}, err
		}
		return usecase.Decide(ctx, m.base, tx, actor, place(id), func(any, time.Time) {}, func(now time.Time) ([]mark.Event, error) {
			return []mark.Event{mark.Removed{}}, statement.Exec(ctx, tx, "remove a mark", `UPDATE chart_marks SET text = '', removed_at = $3
				WHERE organization_id = $1 AND id = $2`, actor.OrganizationID, id, now)
		}, nil)
	})
}

// Prune deletes the marks that are older than they are kept.
func Prune(ctx context.Context, q sqlx.ExecerContext, now time.Time) (int64, error) {
	return statement.Affected(ctx, q, "prune marks", `DELETE FROM chart_marks WHERE at < $1`, now.AddDate(0, 0, -mark.KeptDays))
}

func place(id uuid.UUID) usecase.StreamPlace {
	return usecase.StreamPlace{Log: eventstore.Organization, StreamType: mark.Stream, ID: id}
}

func orNull(id uuid.UUID) uuid.NullUUID { return uuid.NullUUID{UUID: id, Valid: id != uuid.Nil} }
