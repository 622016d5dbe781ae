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

	"muster/domain/report"
	"muster/eventstore"
	"muster/internal/statement"
	"muster/projections"
)

// Name of the projection, and the version of its tables. The queries name the
// version's schema, report_history_v1.
const (
	Name    = "report_history"
	Version = 1
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
	p := projection{decode: decode}
	return projections.Projection{
		Name: Name, Version: Version, Logs: []eventstore.Log{eventstore.Reports}, Schema: schema, Apply: p.apply,
	}
}

type projection struct{ decode projections.Decode }

// apply folds a page in memory and writes every touched report once.
func (p projection) apply(ctx context.Context, tx projections.Tx, events []eventstore.Event) error {
	facts, err := projections.DecodePage(events, func(e eventstore.Event) (report.Event, error) { return fact(p.decode, e) })
	if err != nil {
		return err
	}
	ids := make(map[rawID]bool)
	for _, e := range events {
		ids[rawID(e.Stream)] = true
	}
	reports, err := load(ctx, tx, slices.Collect(maps.Keys(ids)))
	if err != nil {
		return err
	}
	before := tally(reports)
	for i, e := range events {
		r := reports[e.Stream]
		if r == nil {
			r = &folded{}
			reports[e.Stream] = r
		}
		if err := r.apply(e, facts[i]); err != nil {
			return err
		}
	}
	if err := write(ctx, tx, reports); err != nil {
		return err
	}
	return count(ctx, tx, before, tally(reports))
}

// counter is one row of totals.
type counter struct {
	organization uuid.UUID
	kind         report.Kind
	status       report.Status
}

func tally(reports map[uuid.UUID]*folded) map[counter]int64 {
	counts := make(map[counter]int64)
	for _, r := range reports {
		counts[counter{r.OrganizationID, r.Kind, r.Status}]++
	}
	return counts
}

// count moves the totals by what the page changed. Rows that come to nothing
// go, so that two generations hold the same rows however their pages were cut.
func count(ctx context.Context, tx projections.Tx, before, after map[counter]int64) error {
	delta := after
	for c, n := range before {
		delta[c] -= n
	}
	var organizations []uuid.UUID
	var kinds, statuses []string
	var numbers []int64
	less := false
	for c, n := range delta {
		if n == 0 {
			continue
		}
		less = less || n < 0
		organizations, kinds = append(organizations, c.organization), append(kinds, string(c.kind))
		statuses, numbers = append(statuses, string(c.status)), append(numbers, n)
	}
	if len(numbers) == 0 {
		return nil
	}
	if _, err := tx.ExecContext(ctx, writeCounts, organizations, kinds, statuses, numbers); err != nil {
		return fmt.Errorf("count reports: %w", err)
	}
	if !less {
		return nil
	}
	_, err := tx.ExecContext(ctx, `DELETE FROM counts WHERE organization_id = ANY ($1) AND reports = 0`, organizations)
	return err
}

func load(ctx context.Context, tx projections.Tx, ids []rawID) (map[uuid.UUID]*folded, error) {
	reports := make(map[uuid.UUID]*folded, len(ids))
	rows, err := tx.QueryContext(ctx, loadReports, ids)
	if err != nil {
		return nil, fmt.Errorf("load reports: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		f := &folded{}
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

func loadRecipientsOf(ctx context.Context, tx projections.Tx, reports map[uuid.UUID]*folded) error {
	rows, err := tx.QueryContext(ctx, loadRecipients, slices.Collect(maps.Keys(reports)))
	if err != nil {
		return fmt.Errorf("load recipients: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var id uuid.UUID
		var ordinal *int
		var r Recipient
		if err := rows.Scan(&id, &r.MemberID, &ordinal, &r.Delivery, &r.SMTPCode, &r.MessageID, &r.At); err != nil {
			return fmt.Errorf("load recipients: %w", err)
		}
		f := reports[id]
		if r.receives = ordinal != nil; r.receives {
			f.RecipientIDs = append(f.RecipientIDs, r.MemberID)
		}
		f.recipients = append(f.recipients, r)
	}
	return rows.Err()
}

// write stores every report and its recipients with one statement each.
func write(ctx context.Context, tx projections.Tx, reports map[uuid.UUID]*folded) error {
	rows := make([]reportRow, 0, len(reports))
	var recipients []recipientRow
	for _, id := range projections.SortedIDs(reports) {
		row, err := reports[id].row()
		if err != nil {
			return err
		}
		rows, recipients = append(rows, row), append(recipients, reports[id].recipientRows()...)
	}
	if err := statement.Exec(ctx, tx, "write reports", writeReports, statement.Columns(rows)...); err != nil {
		return err
	}
	return statement.Exec(ctx, tx, "write recipients", writeRecipients, statement.Columns(recipients)...)
}

type rawID = projections.RawID

// reportRow is a row of reports, in the order of write_reports.sql.
type reportRow struct {
	ID, Organization           rawID
	Kind, Status, Scope, Label string
	Requester                  rawID
	Created                    time.Time
	Started, Finished, Expires *time.Time
	File, Digest               *string
	Code, Message              string
	Erased                     *time.Time
	Rule                       string
	Version, ReadyPosition     int64
}

func (f *folded) row() (reportRow, error) {
	scope, err := json.Marshal(f.Scope)
	if err != nil {
		return reportRow{}, err
	}
	row := reportRow{
		ID: rawID(f.ID), Organization: rawID(f.OrganizationID), Kind: string(f.Kind), Status: string(f.Status),
		Scope: string(scope), Label: f.ScopeLabel, Requester: rawID(f.RequesterID), Created: f.CreatedAt,
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
	Report, Member, Organization rawID
	Ordinal                      *int32
	Delivery                     string
	Code                         int32
	Message                      string
	Delivered                    *time.Time
	Created                      time.Time
	Status                       string
	Expires                      *time.Time
	ReadyPosition                int64
}

func (f *folded) recipientRows() []recipientRow {
	rows := make([]recipientRow, len(f.recipients))
	for i, r := range f.recipients {
		rows[i] = recipientRow{
			Report: rawID(f.ID), Member: rawID(r.MemberID), Organization: rawID(f.OrganizationID),
			Delivery: r.Delivery, Code: int32(r.SMTPCode), Message: r.MessageID, Delivered: r.At,
			Created: f.CreatedAt, Status: string(f.Status), Expires: f.ExpiresAt, ReadyPosition: f.readyPosition,
		}
		if r.receives {
			n := int32(slices.Index(f.RecipientIDs, r.MemberID))
			rows[i].Ordinal = &n
		}
	}
	return rows
}
