package reports

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/google/uuid"

	"muster/domain/report"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/internal/mail/sent"
	"muster/projections/history"
)

func (s *ReportRoutes) ListReportMails(ctx context.Context, r api.ListReportMailsRequestObject) (api.ListReportMailsResponseObject, error) {
	row, err := s.mailed(ctx, r.ReportId)
	if err != nil {
		return nil, err
	}
	kept, err := sent.About(ctx, s.DB, row.OrganizationID, row.ID)
	if err != nil {
		return nil, err
	}
	entries, err := s.mailEntries(ctx, kept)
	return api.ListReportMails200JSONResponse{Items: entries}, err
}

func (s *ReportRoutes) GetReportMail(ctx context.Context, r api.GetReportMailRequestObject) (api.GetReportMailResponseObject, error) {
	row, err := s.mailed(ctx, r.ReportId)
	if err != nil {
		return nil, err
	}
	kept, ok, err := sent.To(ctx, s.DB, row.OrganizationID, row.ID, r.MemberId)
	if err := wire.Found(ok, err, "mail"); err != nil {
		return nil, err
	}
	entries, err := s.mailEntries(ctx, []sent.Mail{kept})
	if err != nil {
		return nil, err
	}
	e := entries[0]
	return api.GetReportMail200JSONResponse{
		Member: e.Member, To: e.To, Subject: e.Subject, SentAt: e.SentAt, SizeBytes: e.SizeBytes, Sha256: e.Sha256, Raw: string(kept.Message),
	}, nil
}

// mailed is a report that is still offered, and so are the mails about it. Whether it is,
// is judged by the clock: that they are deleted is a job's.
func (s *ReportRoutes) mailed(ctx context.Context, id uuid.UUID) (history.ReportRow, error) {
	row, err := s.report(ctx, id)
	if err == nil && row.Status == report.StatusExpired {
		err = over("expired")
	}
	return row, err
}

// mailEntries are mails by the name of who got them.
func (s *ReportRoutes) mailEntries(ctx context.Context, kept []sent.Mail) ([]api.ReportMailEntry, error) {
	names, err := wire.MemberNames(ctx, s.Accounts, wire.List(kept, func(m sent.Mail) uuid.UUID { return m.MemberID }))
	if err != nil {
		return nil, err
	}
	entries := wire.List(kept, func(m sent.Mail) api.ReportMailEntry {
		return api.ReportMailEntry{
			Member: api.Person{Id: m.MemberID, Name: names[m.MemberID]}, To: m.To, Subject: m.Subject, SentAt: m.SentAt.UTC(),
			SizeBytes: m.SizeBytes, Sha256: m.SHA256,
		}
	})
	slices.SortFunc(entries, func(a, b api.ReportMailEntry) int {
		return cmp.Or(strings.Compare(strings.ToLower(a.Member.Name), strings.ToLower(b.Member.Name)), strings.Compare(a.Member.Id.String(), b.Member.Id.String()))
	})
	return entries, nil
}
