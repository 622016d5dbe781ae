package httpapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"

	"muster/domain/report"
	"muster/eventstore"
	"muster/internal/httpapi/api"
	"muster/projections/history"
)

// VerifyReport hashes the body as it passes and keeps nothing of it.
func (s *server) VerifyReport(ctx context.Context, r api.VerifyReportRequestObject) (api.VerifyReportResponseObject, error) {
	digest := sha256.New()
	if _, err := io.Copy(digest, r.Body); err != nil {
		return nil, bodyProblem(err, s.contract.limitOf("verifyReport"))
	}
	row, ok, err := s.History.FindPDF(ctx, caller(ctx).Organization.ID, hex.EncodeToString(digest.Sum(nil)), s.Now())
	if err != nil {
		return nil, err
	}
	if !ok || row.File == nil {
		return api.VerifyReport200JSONResponse{Known: false}, nil
	}
	shown, err := s.show(ctx, []history.Row{row})
	if err != nil {
		return nil, err
	}
	chain, err := s.chain(ctx, row.File.Witness)
	if err != nil {
		return nil, err
	}
	return api.VerifyReport200JSONResponse{
		Known: true, Report: &shown[0], InputsSha256: &row.File.InputsSHA256, Chain: &chain,
		Witness: &api.Witness{Log: row.File.Witness.Log, Position: row.File.Witness.Position, Hash: row.File.Witness.Hash},
	}, nil
}

// chain holds the head that the PDF carries in its footer against the log:
// whoever changed, removed or reordered an event before the report also
// changed every hash behind it. The whole chain is `muster events verify`'s.
func (s *server) chain(ctx context.Context, w report.Witness) (string, error) {
	if w.Position == 0 { // nothing was recorded yet
		return chainOK, nil
	}
	for e, err := range s.Events.Read(ctx, eventstore.Log(w.Log), eventstore.Filter{After: w.Position - 1, UpTo: w.Position}) {
		if err != nil {
			return "", fmt.Errorf("read %s %d: %w", w.Log, w.Position, err)
		}
		if hex.EncodeToString(e.Hash) == w.Hash {
			return chainOK, nil
		}
	}
	return chainBroken, nil
}

const (
	chainOK     = "ok"
	chainBroken = "broken"
)
