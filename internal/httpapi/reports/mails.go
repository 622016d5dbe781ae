package reports

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/google/uuid"

	"muster/domain/report"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/internal/mail/sent"
)

func (s *ReportRoutes) ListReportMails(ctx context.Context, r api.ListReportMailsRequestObject) (api.ListReportMailsResponseObject, error) {
	entries, _, err := s.mails(ctx, r.ReportId)
	return api.ListReportMails200JSONResponse{Items: entries}, err
}

func (s *ReportRoutes) GetReportMail(ctx context.Context, r api.GetReportMailRequestObject) (api.GetReportMailResponseObject, error) {
	entries, mails, err := s.mails(ctx, r.ReportId)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(entries, func(e api.ReportMailEntry) bool { return e.Member.Id == r.MemberId })
	if i < 0 {
		return nil, wire.NotFound("mail")
	}
	e := entries[i]
	return api.GetReportMail200JSONResponse{
		Member: e.Member, To: e.To, Subject: e.Subject, SentAt: e.SentAt, SizeBytes: e.SizeBytes, Sha256: e.Sha256, Raw: string(mails[r.MemberId].Message),
	}, nil
}

// mails are what was mailed about a report that is offered, by the name of who got it.
// Whether it still is, is judged by the clock: that they are deleted is a job's.
func (s *ReportRoutes) mails(ctx context.Context, id uuid.UUID) ([]api.ReportMailEntry, map[uuid.UUID]sent.Mail, error) {
	row, err := s.report(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	if row.Status == report.StatusExpired {
		return nil, nil, over("expired")
	}
	kept, err := sent.About(ctx, s.DB, row.OrganizationID, row.ID)
	if err != nil {
		return nil, nil, err
	}
	names, err := wire.MemberNames(ctx, s.Accounts, wire.List(kept, func(m sent.Mail) uuid.UUID { return m.MemberID }))
	if err != nil {
		return nil, nil, err
	}
	mails := map[uuid.UUID]sent.Mail{}
	entries := wire.List(kept, func(m sent.Mail) api.ReportMailEntry {
		mails[m.MemberID] = m
		digest := sha256.Sum256(m.Message)
		return api.ReportMailEntry{
			Member: api.Person{Id: m.MemberID, Name: names[m.MemberID]}, To: m.To, Subject: m.Subject, SentAt: m.SentAt.UTC(),
			SizeBytes: int64(len(m.Message)), Sha256: hex.EncodeToString(digest[:]),
		}
	})
	slices.SortFunc(entries, func(a, b api.ReportMailEntry) int {
		return cmp.Or(strings.Compare(strings.ToLower(a.Member.Name), strings.ToLower(b.Member.Name)), strings.Compare(a.Member.Id.String(), b.Member.Id.String()))
	})
	return entries, mails, nil
}
