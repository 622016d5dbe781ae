package history

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	_ "embed" // the queries
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/report"
	"muster/domain/team"
	"muster/eventstore"
	"muster/internal/postgres/statement"
	"muster/projections"
)

// ReportRow is one report request as the history lists it.
type ReportRow struct {
	ID             uuid.UUID
	OrganizationID uuid.UUID
	Kind           report.Kind
	Status         report.Status // as of at
	Scope          report.Scope
	ScopeLabel     string
	RequesterID    uuid.UUID
	RecipientIDs   []uuid.UUID // in the order they were added
	CreatedAt      time.Time
	StartedAt      *time.Time
	FinishedAt     *time.Time
	ExpiresAt      *time.Time
	File           *ReportFile // once Ready, kept after expiry
	ErrorCode      string
	ErrorMessage   string
	InputsErasedAt *time.Time
	InputsRule     string
	Version        int64 // stream version this row reflects
}

// ReportFile is the PDF of a Ready report.
type ReportFile struct {
	Name         string          `json:"name"`
	Key          string          `json:"key"`
	SizeBytes    int64           `json:"sizeBytes"`
	SHA256       string          `json:"sha256"` // hex
	Pages        int             `json:"pages"`
	InputsSHA256 string          `json:"inputsSha256"`
	InputsKey    string          `json:"inputsKey"`
	Renderer     report.Renderer `json:"renderer"`
	Witness      report.Witness  `json:"witness"`
	// The companion files. Zero in rows from before they were recorded.
	Companions      []report.File `json:"companions,omitempty"`
	InputsSizeBytes int64         `json:"inputsSizeBytes,omitempty"`
	InputsErasedOn  *time.Time    `json:"inputsErasedOn,omitempty"`
	// Signed is the PDF with its second revision; nil: it has none yet.
	Signed *SignedFile `json:"signed,omitempty"`
}

// SignedFile is a PDF with its proof and a signature.
type SignedFile struct {
	Key       string `json:"key"`
	SizeBytes int64  `json:"sizeBytes"`
	SHA256    string `json:"sha256"` // hex
}

// Recipient is one recipient with the state of their mail.
type Recipient struct {
	MemberID  uuid.UUID  `db:"member_id"`
	Delivery  string     `db:"delivery"`  // pending, sent, failed
	SMTPCode  int        `db:"smtp_code"` // 0: none
	MessageID string     `db:"message_id"`
	At        *time.Time `db:"delivered_at"`

	receives bool // false for a member who asked when all places were taken
}

var (
	//go:embed sql/page.sql
	pageQuery string
	//go:embed sql/page_by_status.sql
	pageByStatusQuery string
	//go:embed sql/naming.sql
	namingQuery string
	//go:embed sql/totals.sql
	totalsQuery string
	//go:embed sql/exports.sql
	exportsQuery string
	//go:embed sql/unseen.sql
	unseenQuery string
	//go:embed sql/mark_seen.sql
	markSeenQuery string
	// columns are what scan reads, and the recipients in order.
	//go:embed sql/columns.sql
	columns string
)

func withColumns(query string) string { return strings.Replace(query, "{{columns}}", columns, 1) }

// Reader answers from the live generation of the history projection, as of the
// time given in at. Every query carries the organization.
type Reader struct{ db *sqlx.DB }

// NewReader returns a reader on db.
func NewReader(db *sqlx.DB) *Reader { return &Reader{db: db} }

// Query selects a page of the history of some kinds.
type Query struct {
	Organization uuid.UUID
	Kinds        []report.Kind   // none: nothing
	Statuses     []report.Status // empty: all; judged as of at
	Instances    []uuid.UUID     // not empty: only those whose scope names one of them
	Within       team.World      // only those whose scope lies within it; nil: the whole organization
	Page         int             // 1-based
	Size         int
}

// Page returns the rows newest first (created desc, id desc) and how many there are in all.
func (r *Reader) Page(ctx context.Context, q Query, at time.Time) (rows []ReportRow, total int64, err error) {
	if len(q.Instances) > 0 || q.Within != nil {
		return r.pageNaming(ctx, q, at)
	}
	total, err = r.total(ctx, q, at)
	if err != nil {
		return nil, 0, err
	}
	offset := int64(q.Page-1) * int64(q.Size)
	if offset >= total {
		return []ReportRow{}, total, nil
	}
	if len(q.Statuses) == 0 {
		rows, err = r.rows(ctx, at, withColumns(pageQuery), q.Organization, texts(q.Kinds), q.Size, offset)
	} else {
		overdue := slices.Contains(q.Statuses, report.StatusExpired)
		rows, err = r.rows(ctx, at, withColumns(pageByStatusQuery),
			q.Organization, texts(q.Kinds), at, texts(q.Statuses), overdue, q.Size, offset)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read history: %w", err)
	}
	return rows, total, nil
}

// pageNaming is Page of the reports that name instances: those of the query, else those of the world.
func (r *Reader) pageNaming(ctx context.Context, q Query, at time.Time) ([]ReportRow, int64, error) {
	named := q.Instances
	if len(named) == 0 {
		named = q.Within.Instances()
	}
	which := []any{q.Organization, texts(q.Kinds), append([]string{}, texts(q.Statuses)...), at, named, q.Within.Instances()}
	total, err := statement.One[int64](ctx, r.db, "count the history of instances", strings.Replace(namingQuery, "{{columns}}", "count(*)", 1), which...)
	offset := int64(q.Page-1) * int64(q.Size)
	if err != nil || offset >= total {
		return []ReportRow{}, total, err
	}
	rows, err := r.rows(ctx, at, withColumns(namingQuery)+"ORDER BY r.created_at DESC, r.id DESC\nLIMIT $7 OFFSET $8", append(which, q.Size, offset)...)
	if err != nil {
		return nil, 0, fmt.Errorf("read the history of instances: %w", err)
	}
	return rows, total, nil
}

// within is a world as the queries take it: the ids of its instances; NULL: the whole organization.
func within(world team.World) *string {
	if world == nil {
		return nil
	}
	ids, _ := json.Marshal(world.Instances()) // of ids: it cannot fail
	text := string(ids)
	return &text
}

// texts are some words, each once.
func texts[T ~string](words []T) []string {
	sorted := slices.Clone(words)
	slices.Sort(sorted)
	var all []string
	for _, s := range slices.Compact(sorted) {
		all = append(all, string(s))
	}
	return all
}

// total adds up the projection's counters; what the clock has moved from Ready
// to Expired is counted by its index.
func (r *Reader) total(ctx context.Context, q Query, at time.Time) (total int64, err error) {
	rows, err := statement.All[struct {
		Status  report.Status `db:"status"`
		Reports int64         `db:"reports"`
		Overdue int64         `db:"overdue"`
	}](ctx, r.db, "count history", totalsQuery, q.Organization, texts(q.Kinds), at)
	wanted := func(s report.Status) bool { return len(q.Statuses) == 0 || slices.Contains(q.Statuses, s) }
	for _, row := range rows {
		if wanted(row.Status) {
			total += row.Reports - row.Overdue
		}
		if wanted(report.StatusExpired) {
			total += row.Overdue
		}
	}
	return total, err
}

// Get returns one report; ok is false where this organization has none of that id.
func (r *Reader) Get(ctx context.Context, organization, id uuid.UUID, at time.Time) (row ReportRow, ok bool, err error) {
	return r.one(ctx, at, `WHERE r.organization_id = $1 AND r.id = $2`, organization, id)
}

// FindPDF returns the report whose PDF has this SHA-256 (hex).
func (r *Reader) FindPDF(ctx context.Context, organization uuid.UUID, sha256 string, at time.Time) (row ReportRow, ok bool, err error) {
	return r.one(ctx, at, `WHERE r.organization_id = $1 AND r.pdf_sha256 = $2 ORDER BY r.created_at DESC, r.id DESC LIMIT 1`,
		organization, strings.ToLower(sha256))
}

// FindCompanion returns the report with which a table or inputs document of this SHA-256 (hex)
// goes. It reads every report of the organization.
func (r *Reader) FindCompanion(ctx context.Context, organization uuid.UUID, sha256 string, at time.Time) (row ReportRow, ok bool, err error) {
	return r.one(ctx, at, `WHERE r.organization_id = $1 AND (r.file ->> 'inputsSha256' = $2
		OR r.file -> 'companions' @> jsonb_build_array(jsonb_build_object('sha256', $2::text))) ORDER BY r.created_at DESC, r.id DESC LIMIT 1`,
		organization, strings.ToLower(sha256))
}

func (r *Reader) one(ctx context.Context, at time.Time, where string, args ...any) (ReportRow, bool, error) {
	rows, err := r.rows(ctx, at, `SELECT `+columns+` FROM report_history_v2.reports r `+where, args...)
	if err != nil {
		return ReportRow{}, false, fmt.Errorf("read report: %w", err)
	}
	if len(rows) == 0 {
		return ReportRow{}, false, nil
	}
	return rows[0], true, nil
}

// Recipients returns the recipients of one report in the order they were added.
func (r *Reader) Recipients(ctx context.Context, organization, id uuid.UUID) ([]Recipient, error) {
	return statement.All[Recipient](ctx, r.db, "read recipients", `SELECT member_id, delivery, smtp_code, message_id, delivered_at
FROM report_history_v2.recipients WHERE organization_id = $1 AND report_id = $2 AND ordinal IS NOT NULL
ORDER BY ordinal`, organization, id)
}

// Tray selects a page of a member's export tray.
type Tray struct {
	Organization, Member uuid.UUID
	Within               team.World // as in Query
	Before               uuid.UUID  // only older ones; uuid.Nil: from the newest
	Limit                int
}

// Exports lists what the member requested or receives and is Queued, Building or
// Ready, newest first, and how many Ready ones are newer than what the member last
// marked as seen.
func (r *Reader) Exports(ctx context.Context, q Tray, at time.Time) (rows []ReportRow, unseen int64, err error) {
	var cursor *uuid.UUID
	if q.Before != uuid.Nil {
		cursor = &q.Before
	}
	rows, err = r.rows(ctx, at, withColumns(exportsQuery), q.Organization, q.Member, at, cursor, q.Limit, within(q.Within))
	if err != nil {
		return nil, 0, fmt.Errorf("read exports: %w", err)
	}
	unseen, err = statement.One[int64](ctx, r.db, "count unseen exports", unseenQuery, q.Organization, q.Member, at, within(q.Within))
	return rows, unseen, err
}

// MarkSeen remembers that member has seen every export up to and including
// upTo; ok is false where upTo is unknown to the organization.
func (r *Reader) MarkSeen(ctx context.Context, organization, member, upTo uuid.UUID) (ok bool, err error) {
	n, err := statement.Affected(ctx, r.db, "mark exports as seen", markSeenQuery, organization, member, upTo)
	return n > 0, err
}

func (r *Reader) rows(ctx context.Context, at time.Time, query string, args ...any) ([]ReportRow, error) {
	found, err := r.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = found.Close() }()
	rows := []ReportRow{}
	for found.Next() {
		var row ReportRow
		var recipients []byte
		if err := row.scan(found, &recipients); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(recipients, &row.RecipientIDs); err != nil {
			return nil, err
		}
		rows = append(rows, row.as(at))
	}
	return rows, found.Err()
}

// scan reads a report's columns and one more.
func (r *ReportRow) scan(rows *sql.Rows, last any) error {
	var scope, file []byte
	err := rows.Scan(&r.ID, &r.OrganizationID, &r.Kind, &r.Status, &scope, &r.ScopeLabel, &r.RequesterID, &r.CreatedAt,
		&r.StartedAt, &r.FinishedAt, &r.ExpiresAt, &file, &r.ErrorCode, &r.ErrorMessage, &r.InputsErasedAt,
		&r.InputsRule, &r.Version, last)
	if err != nil {
		return err
	}
	if file != nil {
		r.File = &ReportFile{}
		err = json.Unmarshal(file, r.File)
	}
	return errors.Join(err, json.Unmarshal(scope, &r.Scope))
}

// AsOf returns the history listing as the log had recorded it before at: every
// report of the kind (empty: of all kinds), newest first, folded from the
// events as the projection folds them. Unlike Page it needs no projection and
// reads the whole log of the organization.
func AsOf(ctx context.Context, store *eventstore.Store, decode projections.Decode, organization uuid.UUID, kind report.Kind, at time.Time) ([]ReportRow, error) {
	reports := make(map[uuid.UUID]*folded)
	filter := eventstore.Filter{Organization: organization, RecordedTo: at}
	for e, err := range store.Read(ctx, eventstore.Reports, filter) {
		if err != nil {
			return nil, err
		}
		f, err := fact(decode, e)
		if err != nil {
			return nil, fmt.Errorf("event %d: %w", e.Position, err)
		}
		r := reports[e.Stream]
		if r == nil {
			r = &folded{}
			reports[e.Stream] = r
		}
		if err := r.apply(e, f); err != nil {
			return nil, fmt.Errorf("event %d: %w", e.Position, err)
		}
	}
	rows := []ReportRow{}
	for _, r := range reports {
		if kind == "" || r.Kind == kind {
			rows = append(rows, r.as(at))
		}
	}
	slices.SortFunc(rows, func(a, b ReportRow) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), bytes.Compare(b.ID[:], a.ID[:]))
	})
	return rows, nil
}
