package reports

import (
	"context"
	"net/http"
	"time"

	"github.com/google/uuid"

	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/projections/history"
)

// provenAfter is when it is worth asking for a proof again.
const provenAfter = 2 * time.Second

func (s *ReportRoutes) GetReportProof(ctx context.Context, r api.GetReportProofRequestObject) (api.GetReportProofResponseObject, error) {
	row, err := s.received(ctx, r.ReportId)
	if err != nil {
		return nil, err
	}
	if err := built(row); err != nil {
		return nil, err
	}
	return s.proof(ctx, row)
}

// proof answers with a report's proof.
func (s *ReportRoutes) proof(ctx context.Context, row history.ReportRow) (proofDocument, error) {
	document, ok, err := s.proven(ctx, row)
	if err == nil && !ok {
		err = s.unproven(ctx, row.OrganizationID, row.ID)
	}
	return document, err
}

// proven is the proof as it is now.
func (s *ReportRoutes) proven(ctx context.Context, row history.ReportRow) (document proofDocument, ok bool, err error) {
	kept, ok, err := s.Proofs.Kept(ctx, row.OrganizationID, row.ID)
	if err != nil || !ok {
		return nil, false, err
	}
	document, err = kept.Encode()
	return document, true, err
}

// unproven says whether a proof is on its way, or never will be.
func (s *ReportRoutes) unproven(ctx context.Context, organization, id uuid.UUID) error {
	waits, err := s.Jobs.Signs(ctx, organization, id)
	if err == nil && waits {
		err = &wire.Problem{Code: "proof_not_ready", Detail: "The report is being proven, which takes seconds.", RetryAfter: provenAfter}
	}
	if err == nil {
		err = &wire.Problem{Code: "not_found", Detail: "This report was built before there were proofs; request it again."}
	}
	return err
}

// proofDocument is sent as it is: its bytes are what people keep.
type proofDocument []byte

func (d proofDocument) VisitGetReportProofResponse(w http.ResponseWriter) error { return d.write(w) }

func (d proofDocument) VisitGetReportFileResponse(w http.ResponseWriter) error { return d.write(w) }

func (d proofDocument) write(w http.ResponseWriter) error {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "private, no-store")
	w.WriteHeader(http.StatusOK)
	_, err := w.Write(d)
	return err
}
