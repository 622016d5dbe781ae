package reports

import (
	"context"
	"encoding/hex"
	"net/http"
	"slices"

	"github.com/google/uuid"

	"muster/commands"
	"muster/commands/usecase"
	"muster/domain/organization"
	"muster/domain/report"
	"muster/handlers/jobs"
	"muster/internal/accounts"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/projections/history"
)

const reportsPath = "/api/v1/reports/"

// pollAfter is when a page should look again at a report in progress (seconds).
const pollAfter = 5

func (s *ReportRoutes) CreateReport(ctx context.Context, r api.CreateReportRequestObject) (api.CreateReportResponseObject, error) {
	who := wire.Actor(ctx)
	in := requestIn(r.Body)
	in.ID = wire.CallOf(ctx).Made
	requested, err := s.Commands.RequestReport(ctx, who, in)
	if err != nil {
		return nil, err
	}
	wire.Settle(ctx, s.Waiter, requested.Mark)
	row, err := s.asLeft(ctx, who, requested)
	if err != nil {
		return nil, err
	}
	shown, err := s.show(ctx, []history.ReportRow{row})
	if err != nil {
		return nil, err
	}
	location := reportsPath + requested.ReportID.String()
	body := api.RequestedReport{Reused: requested.Reused, RecipientsNotAdded: wire.NeverNull(requested.RecipientsNotAdded), Report: shown[0]}
	if requested.Reused {
		return api.CreateReport200JSONResponse{Body: body, Headers: api.CreateReport200ResponseHeaders{ContentLocation: location}}, nil
	}
	return api.CreateReport202JSONResponse{Body: body, Headers: api.CreateReport202ResponseHeaders{Location: location, RetryAfter: pollAfter}}, nil
}

// asLeft is the report as the request left it: a worker may have it ready before the answer is
// written, and Location says what happened since. What the request made is told from its decision;
// when a report that is reused was asked for and started, its history knows.
func (s *ReportRoutes) asLeft(ctx context.Context, who usecase.Actor, requested commands.RequestedReport) (history.ReportRow, error) {
	if !requested.Reused {
		return queuedRow(who, requested), nil
	}
	row, ok, err := s.History.Get(ctx, who.OrganizationID, requested.ReportID, s.Now())
	if err == nil && !ok { // its projection lags: what was asked is all that is known
		return queuedRow(who, requested), nil
	}
	return asJoined(row, requested.Status), err
}

func queuedRow(who usecase.Actor, requested commands.RequestedReport) history.ReportRow {
	q := requested.Queued
	return history.ReportRow{
		ID: requested.ReportID, OrganizationID: who.OrganizationID, Kind: q.Kind, Status: requested.Status,
		Scope: q.Scope, ScopeLabel: q.ScopeLabel, RequesterID: q.RequesterID, RecipientIDs: q.RecipientIDs, CreatedAt: requested.QueuedAt,
	}
}

// asJoined is a row of a report that was in a state, Queued or Building, when a request joined it.
func asJoined(row history.ReportRow, then report.Status) history.ReportRow {
	if then == report.StatusQueued {
		row.StartedAt = nil
	}
	row.Status = then
	row.FinishedAt, row.ExpiresAt, row.File, row.ErrorCode, row.ErrorMessage = nil, nil, nil, "", ""
	return row
}

func (s *ReportRoutes) ListReports(ctx context.Context, r api.ListReportsRequestObject) (api.ListReportsResponseObject, error) {
	q := history.Query{
		Organization: wire.Caller(ctx).Organization.ID, Within: wire.Caller(ctx).World,
		Page: wire.Or(r.Params.Page, 1), Size: wire.Or(r.Params.PageSize, 20),
		Kinds: wire.Words[report.Kind](r.Params.Kind), Statuses: wire.Words[report.Status](wire.Value(r.Params.Status)),
	}
	var err error
	if q.Instances, err = wire.FilteredIDs(ctx, s.Fleet, wire.Filter{IDs: r.Params.InstanceId, Tags: r.Params.Tag}); err != nil {
		return nil, err
	}
	rows, total, err := s.History.Page(ctx, q, s.Now())
	if err != nil {
		return nil, err
	}
	items, err := s.show(ctx, rows)
	if err != nil {
		return nil, err
	}
	answer, err := wire.NewTagged(ctx, api.ReportPage{Items: items, Page: wire.Paged(ctx, q.Page, q.Size, total)}, nil)
	return taggedList{answer}, err
}

// taggedList is a list with an ETag over exactly what this caller sees.
type taggedList struct{ wire.Tagged }

func (t taggedList) VisitListReportsResponse(w http.ResponseWriter) error { return t.Write(w) }

func (s *ReportRoutes) GetReport(ctx context.Context, r api.GetReportRequestObject) (api.GetReportResponseObject, error) {
	row, err := s.report(ctx, r.ReportId)
	if err != nil {
		return nil, err
	}
	shown, err := s.show(ctx, []history.ReportRow{row})
	if err != nil {
		return nil, err
	}
	recipients, err := s.recipients(ctx, row)
	if err != nil {
		return nil, err
	}
	shown[0].Recipients = &recipients
	return api.GetReport200JSONResponse(shown[0]), nil
}

// report is one that the caller sees: somebody with the role team sees those about their servers alone.
func (s *ReportRoutes) report(ctx context.Context, id uuid.UUID) (history.ReportRow, error) {
	row, ok, err := s.History.Get(ctx, wire.Caller(ctx).Organization.ID, id, s.Now())
	return row, wire.Found(ok && wire.Caller(ctx).World.Holds(row.Scope.InstanceIDs), err, "report")
}

func (s *ReportRoutes) recipients(ctx context.Context, row history.ReportRow) ([]api.Recipient, error) {
	who := wire.Caller(ctx)
	found, err := s.History.Recipients(ctx, who.Organization.ID, row.ID)
	if err != nil {
		return nil, err
	}
	addresses, err := s.Accounts.Addresses(ctx, who.Organization.ID, row.RecipientIDs)
	if err != nil {
		return nil, err
	}
	names, err := s.Accounts.Names(ctx, who.Organization.ID, row.RecipientIDs)
	if err != nil {
		return nil, err
	}
	out := make([]api.Recipient, 0, len(found))
	for _, f := range found {
		recipient := api.Recipient{Id: f.MemberID, Name: names[f.MemberID], Delivery: api.RecipientDelivery(f.Delivery)}
		if email := addresses[f.MemberID].Email; email != "" && who.SeesAddresses() {
			recipient.Email = &email
		}
		if f.SMTPCode != 0 {
			recipient.SmtpCode = &f.SMTPCode
		}
		if f.Delivery == "sent" {
			recipient.SentAt = wire.UTC(f.At)
		}
		out = append(out, recipient)
	}
	return out, nil
}

// show makes rows into what the caller may see of them.
func (s *ReportRoutes) show(ctx context.Context, rows []history.ReportRow) ([]api.Report, error) {
	who := wire.Caller(ctx)
	var requesters, building []uuid.UUID
	for _, row := range rows {
		requesters = append(requesters, row.RequesterID)
		if row.Status == report.StatusBuilding {
			building = append(building, row.ID)
		}
	}
	names, err := wire.MemberNames(ctx, s.Accounts, requesters)
	if err != nil {
		return nil, err
	}
	var side wire.Side
	progress := map[uuid.UUID]jobs.Row{}
	if len(building) > 0 {
		if progress, err = s.Jobs.Progress(ctx, who.Organization.ID, building); side.Lacks(ctx, err, "progress") {
			progress = nil
		}
	}
	return wire.List(rows, func(row history.ReportRow) api.Report {
		shown := showReport(row, who, names, progress)
		shown.Unavailable = side.Unavailable()
		return shown
	}), nil
}

func showReport(row history.ReportRow, who accounts.Principal, names map[uuid.UUID]string, progress map[uuid.UUID]jobs.Row) api.Report {
	r := api.Report{
		Id: row.ID, Kind: string(row.Kind), Status: string(row.Status), ScopeLabel: row.ScopeLabel,
		Scope: api.ReportScope{
			InstanceIds: wire.NeverNull(row.Scope.InstanceIDs), Tags: wire.Tags(row.Scope.Tags), DatabaseId: row.Scope.DatabaseID,
			From: wire.UTC(row.Scope.From), To: wire.UTC(row.Scope.To),
		},
		Requester:      api.Person{Id: row.RequesterID, Name: names[row.RequesterID]},
		RecipientCount: len(row.RecipientIDs),
		CreatedAt:      row.CreatedAt.UTC(), StartedAt: wire.UTC(row.StartedAt), FinishedAt: wire.UTC(row.FinishedAt), ExpiresAt: wire.UTC(row.ExpiresAt),
	}
	switch row.Status {
	case report.StatusReady:
		if row.File != nil {
			pdf := pdfOf(row)
			r.File = &api.ReportFile{
				Name: row.File.Name, SizeBytes: pdf.SizeBytes, Sha256: pdf.Sha256, BaseSha256: row.File.SHA256, Signed: row.File.Signed != nil,
				Pages: row.File.Pages, Companions: []string{},
			}
			for _, f := range row.File.Companions {
				r.File.Companions = append(r.File.Companions, f.Name)
			}
		}
		if mayDownload(who, row) {
			url := reportsPath + row.ID.String() + "/download"
			r.DownloadUrl = &url
			r.Capabilities.CanDownload = who.Can(organization.ScopeReportsDownload)
		}
	case report.StatusFailed:
		r.Error = &api.ReportError{Code: row.ErrorCode, Message: row.ErrorMessage}
	case report.StatusBuilding:
		if job, ok := progress[row.ID]; ok && job.TotalSteps > 0 {
			r.Progress = &api.ReportProgress{Step: job.Step, TotalSteps: job.TotalSteps, Label: job.Label}
		}
	case report.StatusQueued, report.StatusExpired:
	}
	return r
}

// mayDownload: whoever receives the report; a viewer nothing else.
func mayDownload(who accounts.Principal, row history.ReportRow) bool {
	return who.Member.Role.DownloadsAll() || slices.Contains(row.RecipientIDs, who.Member.ID)
}

func (s *ReportRoutes) ListExports(ctx context.Context, r api.ListExportsRequestObject) (api.ListExportsResponseObject, error) {
	before := uuid.Nil
	place, err := wire.CursorPlace(r.Params.Cursor, "export")
	if err != nil {
		return nil, err
	}
	if place != "" {
		if before, err = uuid.Parse(place); err != nil {
			return nil, wire.BadCursor()
		}
	}
	who, limit := wire.Caller(ctx), wire.Or(r.Params.Limit, 20)
	rows, unseen, err := s.History.Exports(ctx, history.Tray{Organization: who.Organization.ID, Member: who.Member.ID, Within: who.World, Before: before, Limit: limit + 1}, s.Now())
	if err != nil {
		return nil, err
	}
	answer := api.ListExports200JSONResponse{UnseenCount: unseen}
	if len(rows) > limit {
		rows = rows[:limit]
		answer.NextCursor = wire.Cursor("export", rows[limit-1].ID.String())
	}
	if answer.Items, err = s.show(ctx, rows); err != nil {
		return nil, err
	}
	return answer, nil
}

func (s *ReportRoutes) MarkExportsSeen(ctx context.Context, r api.MarkExportsSeenRequestObject) (api.MarkExportsSeenResponseObject, error) {
	who := wire.Caller(ctx)
	if who.World != nil {
		if _, err := s.report(ctx, r.Body.UpTo); err != nil {
			return nil, err
		}
	}
	ok, err := s.History.MarkSeen(ctx, who.Organization.ID, who.Member.ID, r.Body.UpTo)
	return api.MarkExportsSeen204Response{}, wire.Found(ok, err, "report")
}

// evidenceAtMost is how large a file is looked into, which may be evidence (bytes).
const evidenceAtMost = 16 << 20

// head keeps the beginning of what is written to it, up to its capacity.
type head struct{ kept []byte }

func (h *head) Write(p []byte) (int, error) {
	h.kept = append(h.kept, p[:min(len(p), evidenceAtMost+1-len(h.kept))]...)
	return len(p), nil
}

// VerifyReport hashes the body as it passes. It looks into a file that is no report's, which
// may be evidence, and keeps nothing of either.
func (s *ReportRoutes) VerifyReport(ctx context.Context, r api.VerifyReportRequestObject) (api.VerifyReportResponseObject, error) {
	body := &head{}
	digest, err := hashed(body, r.Body)
	if err != nil {
		return nil, wire.BodyProblem(err, wire.CallOf(ctx).BodyLimit)
	}
	found, ok, err := s.Proofs.Find(ctx, wire.Caller(ctx).Organization.ID, digest, s.Now())
	if err != nil {
		return nil, err
	}
	if !ok {
		return s.verifyEvidence(ctx, body.kept)
	}
	if !wire.Caller(ctx).World.Holds(found.Row.Scope.InstanceIDs) {
		return api.VerifyReport200JSONResponse{Known: false}, nil
	}
	shown, err := s.show(ctx, []history.ReportRow{found.Row})
	if err != nil {
		return nil, err
	}
	// As `muster verify` does: the report's own events and the head that the PDF
	// carries. The whole chain is `muster events verify`'s.
	chain := chainOK
	if found.Fault != "" {
		chain = chainBroken
		s.Log.ErrorContext(ctx, "a file of ours does not fit the log", "report", found.Row.ID, "fault", found.Fault)
	}
	file := found.Row.File
	return api.VerifyReport200JSONResponse{
		Known: true, Report: &shown[0], File: &found.File, InputsSha256: &file.InputsSHA256, Chain: &chain,
		Witness: &api.Witness{Log: file.Witness.Log, Position: file.Witness.Position, Hash: file.Witness.Hash},
	}, nil
}

func (s *ReportRoutes) verifyEvidence(ctx context.Context, file []byte) (api.VerifyReportResponseObject, error) {
	who := wire.Caller(ctx).Organization.ID
	if len(file) > evidenceAtMost {
		return api.VerifyReport200JSONResponse{Known: false}, nil
	}
	found, ok, err := s.Evidence.Find(ctx, who, file)
	if err != nil {
		return nil, err
	}
	if !ok || !wire.Caller(ctx).World.Holds(found.Document.InstanceIDs) {
		return api.VerifyReport200JSONResponse{Known: false}, nil
	}
	d, e := found.Document, found.Event
	fault, err := s.Proofs.Misfit(ctx, who, d.ID, e.Log)
	if err != nil {
		return nil, err
	}
	chain := chainOK
	if fault != "" {
		chain = chainBroken
		s.Log.ErrorContext(ctx, "a file of ours does not fit the log", "evidence", d.ID, "fault", fault)
	}
	return api.VerifyReport200JSONResponse{
		Known: true, Chain: &chain, Witness: &api.Witness{Log: string(e.Log), Position: e.Position, Hash: hex.EncodeToString(e.Hash)},
		Evidence: &api.RecordedEvidence{Id: d.ID, CheckId: d.Check.ID, CheckTitle: d.Check.Title, From: d.From, To: d.To, MadeAt: e.RecordedAt},
	}, nil
}

const (
	chainOK     = "ok"
	chainBroken = "broken"
)
