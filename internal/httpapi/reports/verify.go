package reports

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"

	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/internal/proof"
	"muster/projections/history"
)

// VerifyReport hashes the body as it passes and keeps nothing of it.
func (s *ReportRoutes) VerifyReport(ctx context.Context, r api.VerifyReportRequestObject) (api.VerifyReportResponseObject, error) {
	digest := sha256.New()
	if _, err := io.Copy(digest, r.Body); err != nil {
		return nil, wire.BodyProblem(err, wire.CallOf(ctx).BodyLimit)
	}
	prover := &proof.Prover{Events: s.Events, Reports: s.History, DB: s.DB}
	found, ok, err := prover.Of(ctx, wire.Caller(ctx).Organization.ID, hex.EncodeToString(digest.Sum(nil)), s.Now())
	if err != nil {
		return nil, err
	}
	if !ok {
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
		s.Log.ErrorContext(ctx, "a PDF of ours does not fit the log", "report", found.Row.ID, "fault", found.Fault)
	}
	file := found.Row.File
	return api.VerifyReport200JSONResponse{
		Known: true, Report: &shown[0], InputsSha256: &file.InputsSHA256, Chain: &chain,
		Witness: &api.Witness{Log: file.Witness.Log, Position: file.Witness.Position, Hash: file.Witness.Hash},
	}, nil
}

const (
	chainOK     = "ok"
	chainBroken = "broken"
)
