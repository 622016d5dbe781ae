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
	var c reportColumns
	var rc recipientColumns
	for _, id := range projections.SortedIDs(reports) {
		f := reports[id]
		if err := c.addReport(f); err != nil {
			return err
		}
		rc.addRecipients(f)
	}
	_, err := tx.ExecContext(ctx, writeReports, c.ids, c.organizations, c.kinds, c.statuses, c.scopes, c.labels,
		c.requesters, c.created, c.started, c.finished, c.expires, c.files, c.digests, c.codes, c.messages,
		c.erased, c.rules, c.versions, c.readyPositions)
	if err != nil {
		return fmt.Errorf("write reports: %w", err)
	}
	return statement.Exec(ctx, tx, "write recipients", writeRecipients, rc.reports, rc.members, rc.organizations, rc.ordinals, rc.deliveries,
		rc.codes, rc.messages, rc.delivered, rc.created, rc.statuses, rc.expires, rc.readyPositions)
}

type rawID = projections.RawID

// reportColumns holds reports column by column, as unnest takes them.
type reportColumns struct {
	ids, organizations, requesters                  []rawID
	kinds, statuses, labels, codes, messages, rules []string
	scopes                                          []string
	files, digests                                  []*string
	created                                         []time.Time
	started, finished, expires, erased              []*time.Time
	versions, readyPositions                        []int64
}

func (c *reportColumns) addReport(f *folded) error {
	scope, err := json.Marshal(f.Scope)
	if err != nil {
		return err
	}
	var file, digest *string
	if f.File != nil {
		document, err := json.Marshal(f.File)
		if err != nil {
			return err
		}
		text := string(document)
		file, digest = &text, &f.File.SHA256
	}
	c.ids, c.organizations = append(c.ids, rawID(f.ID)), append(c.organizations, rawID(f.OrganizationID))
	c.requesters = append(c.requesters, rawID(f.RequesterID))
	c.kinds, c.statuses = append(c.kinds, string(f.Kind)), append(c.statuses, string(f.Status))
	c.scopes, c.labels = append(c.scopes, string(scope)), append(c.labels, f.ScopeLabel)
	c.files, c.digests = append(c.files, file), append(c.digests, digest)
	c.codes, c.messages = append(c.codes, f.ErrorCode), append(c.messages, f.ErrorMessage)
	c.created, c.started = append(c.created, f.CreatedAt), append(c.started, f.StartedAt)
	c.finished, c.expires = append(c.finished, f.FinishedAt), append(c.expires, f.ExpiresAt)
	c.erased, c.rules = append(c.erased, f.InputsErasedAt), append(c.rules, f.InputsRule)
	c.versions, c.readyPositions = append(c.versions, f.Version), append(c.readyPositions, f.readyPosition)
	return nil
}

// recipientColumns holds recipients column by column.
type recipientColumns struct {
	reports, members, organizations []rawID
	ordinals                        []*int32
	codes                           []int32
	deliveries, messages, statuses  []string
	delivered, expires              []*time.Time
	created                         []time.Time
	readyPositions                  []int64
}

func (c *recipientColumns) addRecipients(f *folded) {
	for _, r := range f.recipients {
		var ordinal *int32
		if r.receives {
			n := int32(slices.Index(f.RecipientIDs, r.MemberID))
			ordinal = &n
		}
		c.reports, c.members = append(c.reports, rawID(f.ID)), append(c.members, rawID(r.MemberID))
		c.organizations, c.ordinals = append(c.organizations, rawID(f.OrganizationID)), append(c.ordinals, ordinal)
		c.deliveries, c.codes = append(c.deliveries, r.Delivery), append(c.codes, int32(r.SMTPCode))
		c.messages, c.delivered = append(c.messages, r.MessageID), append(c.delivered, r.At)
		c.created, c.statuses = append(c.created, f.CreatedAt), append(c.statuses, string(f.Status))
		c.expires, c.readyPositions = append(c.expires, f.ExpiresAt), append(c.readyPositions, f.readyPosition)
	}
}
