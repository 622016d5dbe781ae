package history

import (
	"context"
	_ "embed" // the schema and the queries
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/report"
	"muster/eventstore"
	"muster/internal/postgres/statement"
	"muster/projections"
)

// Name of the projection, and the version of its tables. The queries name the
// version's schema, report_history_v2.
const (
	Name    = "report_history"
	Version = 2
)

var (
	//go:embed sql/schema.sql
	schema string
	//go:embed sql/load_reports.sql
	loadReports string
	//go:embed sql/load_recipients.sql
	loadRecipients string
	//go:embed sql/write_reports.sql
	writeReports string
	//go:embed sql/write_recipients.sql
	writeRecipients string
	//go:embed sql/write_counts.sql
	writeCounts string
)

// Projection returns the projection that Reader reads.
func Projection(decode projections.Decode) projections.Projection {
	return projections.Projection{
		Name: Name, Version: Version, Logs: []eventstore.Log{eventstore.Reports}, Schema: schema,
		Decode: func(e eventstore.Event) (any, error) { return fact(decode, e) }, Apply: apply,
	}
}

// apply folds a page in memory and writes every touched report once.
func apply(ctx context.Context, tx *sqlx.Tx, events []projections.Event) error {
	ids := make(map[uuid.UUID]bool)
	for _, e := range events {
		ids[e.Stream] = true
	}
	reports, err := load(ctx, tx, statement.IDs(slices.Collect(maps.Keys(ids))))
	if err != nil {
		return err
	}
	before := projections.Tally(reports, (*folded).counter)
	for _, e := range events {
		r := reports[e.Stream]
		if r == nil {
			r = &folded{}
			reports[e.Stream] = r
		}
		if err := r.apply(e.Event, e.Fact.(report.Event)); err != nil {
			return err
		}
	}
	if err := write(ctx, tx, reports); err != nil {
		return err
	}
	return projections.Count(ctx, tx, "count reports", writeCounts, forgetCounts, before, projections.Tally(reports, (*folded).counter))
}

// counter is a row of counts but for the number, in the order of write_counts.sql.
type counter struct {
	Organization uuid.UUID
	Kind         report.Kind
	Status       report.Status
}

func (f *folded) counter() counter { return counter{f.OrganizationID, f.Kind, f.Status} }

const forgetCounts = `DELETE FROM counts
WHERE organization_id = ANY ($1) AND kind = ANY ($2) AND status = ANY ($3) AND reports = 0`

func load(ctx context.Context, tx *sqlx.Tx, ids [][16]byte) (map[uuid.UUID]*folded, error) {
	reports := make(map[uuid.UUID]*folded, len(ids))
	rows, err := tx.QueryContext(ctx, loadReports, ids)
	if err != nil {
		return nil, fmt.Errorf("load reports: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		f := &folded{stored: true}
		if err := f.scan(rows, &f.readyPosition); err != nil {
			return nil, fmt.Errorf("load reports: %w", err)
		}
		reports[f.ID] = f
	}
	if err := rows.Err(); err != nil || len(reports) == 0 {
		return reports, err
	}
	return reports, loadRecipientsOf(ctx, tx, reports)
}

func loadRecipientsOf(ctx context.Context, tx *sqlx.Tx, reports map[uuid.UUID]*folded) error {
	ids := statement.IDs(projections.SortedIDs(reports))
	rows, err := statement.All[struct {
		Report uuid.UUID `db:"report_id"`
		Recipient
		Ordinal *int `db:"ordinal"` // nil: of a member who does not receive it
	}](ctx, tx, "load recipients", loadRecipients, ids)
	for _, row := range rows {
		f := reports[row.Report]
		if row.receives = row.Ordinal != nil; row.receives {
			f.RecipientIDs = append(f.RecipientIDs, row.MemberID)
		}
		f.recipients = append(f.recipients, row.Recipient)
	}
	return err
}

// write stores every report and its recipients.
func write(ctx context.Context, tx *sqlx.Tx, reports map[uuid.UUID]*folded) error {
	var added, changed []reportRow
	var addedRecipients, changedRecipients []recipientRow
	for _, id := range projections.SortedIDs(reports) {
		f := reports[id]
		row, err := f.row()
		if err != nil {
			return err
		}
		if f.stored {
			changed, changedRecipients = append(changed, row), append(changedRecipients, f.recipientRows()...)
		} else {
			added, addedRecipients = append(added, row), append(addedRecipients, f.recipientRows()...)
		}
	}
	if err := projections.Write(ctx, tx, "reports", writeReports, added, changed); err != nil {
		return err
	}
	return projections.Write(ctx, tx, "recipients", writeRecipients, addedRecipients, changedRecipients)
}

// reportRow is a row of reports, in the order of write_reports.sql.
type reportRow struct {
	ID            uuid.UUID     `db:"id"`
	Organization  uuid.UUID     `db:"organization_id"`
	Kind          report.Kind   `db:"kind"`
	Status        report.Status `db:"status"`
	Scope         string        `db:"scope"` // JSON
	Label         string        `db:"scope_label"`
	Requester     uuid.UUID     `db:"requester_id"`
	Created       time.Time     `db:"created_at"`
	Started       *time.Time    `db:"started_at"`
	Finished      *time.Time    `db:"finished_at"`
	Expires       *time.Time    `db:"expires_at"`
	File          *string       `db:"file"` // JSON
	Digest        *string       `db:"pdf_sha256"`
	Code          string        `db:"error_code"`
	Message       string        `db:"error_message"`
	Erased        *time.Time    `db:"inputs_erased_at"`
	Rule          string        `db:"inputs_rule"`
	Version       int64         `db:"version"`
	ReadyPosition int64         `db:"ready_position"`
}

func (f *folded) row() (reportRow, error) {
	scope, err := json.Marshal(f.Scope)
	if err != nil {
		return reportRow{}, err
	}
	row := reportRow{
		ID: f.ID, Organization: f.OrganizationID, Kind: f.Kind, Status: f.Status,
		Scope: string(scope), Label: f.ScopeLabel, Requester: f.RequesterID, Created: f.CreatedAt,
		Started: f.StartedAt, Finished: f.FinishedAt, Expires: f.ExpiresAt, Code: f.ErrorCode, Message: f.ErrorMessage,
		Erased: f.InputsErasedAt, Rule: f.InputsRule, Version: f.Version, ReadyPosition: f.readyPosition,
	}
	if f.File != nil {
		document, err := json.Marshal(f.File)
		if err != nil {
			return reportRow{}, err
		}
		text := string(document)
		row.File, row.Digest = &text, &f.File.SHA256
	}
	return row, nil
}

// recipientRow is a row of recipients, in the order of write_recipients.sql.
type recipientRow struct {
	Report        uuid.UUID     `db:"report_id"`
	Member        uuid.UUID     `db:"member_id"`
	Organization  uuid.UUID     `db:"organization_id"`
	Ordinal       *int32        `db:"ordinal"`
	Delivery      string        `db:"delivery"`
	Code          int32         `db:"smtp_code"`
	Message       string        `db:"message_id"`
	Delivered     *time.Time    `db:"delivered_at"`
	Created       time.Time     `db:"created_at"`
	Status        report.Status `db:"status"`
	Expires       *time.Time    `db:"expires_at"`
	ReadyPosition int64         `db:"ready_position"`
}

func (f *folded) recipientRows() []recipientRow {
	rows := make([]recipientRow, len(f.recipients))
	for i, r := range f.recipients {
		rows[i] = recipientRow{
			Report: f.ID, Member: r.MemberID, Organization: f.OrganizationID,
			Delivery: r.Delivery, Code: int32(r.SMTPCode), Message: r.MessageID, Delivered: r.At,
			Created: f.CreatedAt, Status: f.Status, Expires: f.ExpiresAt, ReadyPosition: f.readyPosition,
		}
		if r.receives {
			n := int32(slices.Index(f.RecipientIDs, r.MemberID))
			rows[i].Ordinal = &n
		}
	}
	return rows
}
