package reports

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"muster/domain/organization"
	"muster/domain/report"
	"muster/internal/accounts"
	"muster/internal/files/blobs"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/projections/history"
)

// file is one of a report's, as the list has it.
type file struct {
	api.FileOfReport
	key string // name in the store
}

// pdfOf is what a download gives: the signed PDF once there is one.
func pdfOf(row history.ReportRow) file {
	if signed := row.File.Signed; signed != nil {
		return file{api.FileOfReport{Name: report.PDFFile, MediaType: "application/pdf", SizeBytes: signed.SizeBytes, Sha256: signed.SHA256}, signed.Key}
	}
	return baseOf(row)
}

// baseOf is the PDF as it was built.
func baseOf(row history.ReportRow) file {
	f := row.File
	return file{api.FileOfReport{Name: report.PDFFile, MediaType: "application/pdf", SizeBytes: f.SizeBytes, Sha256: f.SHA256}, f.Key}
}

// companionOf is a table that was made with the PDF.
func companionOf(f report.File) file {
	return file{api.FileOfReport{Name: f.Name, MediaType: report.MediaTypeOf(f.Name), SizeBytes: f.SizeBytes, Sha256: f.SHA256}, f.Key}
}

func inputsOf(row history.ReportRow) file {
	f := row.File
	return file{api.FileOfReport{Name: report.InputsFile, MediaType: "application/json", SizeBytes: f.InputsSizeBytes, Sha256: f.InputsSHA256}, f.InputsKey}
}

func (f file) contentType() string {
	if f.MediaType == report.MediaTypeCSV {
		return f.MediaType + "; charset=utf-8; header=present"
	}
	return f.MediaType
}

// mayReadInputs: all that a report was made from holds more than its pages say.
func mayReadInputs(who accounts.Principal) bool {
	return who.Member.Role == organization.Auditor || who.Member.Role == organization.Admin
}

// inputsErased is judged by the clock, too: their erasure is a job's.
func (s *ReportRoutes) inputsErased(row history.ReportRow) bool {
	due := row.File.InputsErasedOn
	return row.InputsErasedAt != nil || due != nil && !s.Now().Before(*due)
}

func (s *ReportRoutes) ListReportFiles(ctx context.Context, r api.ListReportFilesRequestObject) (api.ListReportFilesResponseObject, error) {
	row, err := s.received(ctx, r.ReportId)
	if err != nil {
		return nil, err
	}
	var side wire.Side
	list := api.ListReportFiles200JSONResponse{Items: []api.FileOfReport{}, Unavailable: []api.UnavailableFigure{}}
	if row.Status == report.StatusReady {
		list.Items = append(list.Items, baseOf(row).FileOfReport)
		for _, f := range row.File.Companions {
			list.Items = append(list.Items, companionOf(f).FileOfReport)
		}
	}
	if row.File == nil {
		return list, nil
	}
	if mayReadInputs(wire.Caller(ctx)) && !s.inputsErased(row) {
		limited, cancel := side.Limited(ctx)
		inputs, there, err := s.sizedInputs(limited, row)
		cancel()
		if !side.Lacks(ctx, err, report.InputsFile) && there {
			list.Items = append(list.Items, inputs.FileOfReport)
		}
	}
	proven, there, err := s.proven(ctx, row)
	if !side.Lacks(ctx, err, report.ProofFile) && there {
		sum := sha256.Sum256(proven)
		list.Items = append(list.Items, api.FileOfReport{
			Name: report.ProofFile, MediaType: "application/json", SizeBytes: int64(len(proven)), Sha256: hex.EncodeToString(sum[:]),
		})
	}
	list.Unavailable = side.Unavailable()
	return list, nil
}

// sizedInputs are the inputs with their size, which reports of before there were
// companions did not record; !there: they are not, whatever the reason is.
func (s *ReportRoutes) sizedInputs(ctx context.Context, row history.ReportRow) (f file, there bool, err error) {
	if f = inputsOf(row); f.SizeBytes > 0 {
		return f, true, nil
	}
	document, _, err := s.Blobs.ReadInputs(ctx, f.key)
	var gone *blobs.MissingFileError
	var damaged *blobs.DamagedFileError
	if errors.As(err, &gone) || errors.As(err, &damaged) { // whoever asks for them is told
		return f, false, nil
	}
	if err != nil {
		return f, false, fmt.Errorf("measure the inputs of report %s: %w", row.ID, err)
	}
	f.SizeBytes = int64(len(document))
	return f, true, nil
}

func (s *ReportRoutes) GetReportFile(ctx context.Context, r api.GetReportFileRequestObject) (api.GetReportFileResponseObject, error) {
	row, err := s.received(ctx, r.ReportId)
	if err != nil {
		return nil, err
	}
	if err := wire.Found(r.FileName == report.PDFFile || r.FileName == report.InputsFile || r.FileName == report.ProofFile || slices.Contains(report.Companions(row.Kind), r.FileName), nil, "file"); err != nil {
		return nil, err
	}
	if r.FileName == report.InputsFile && !mayReadInputs(wire.Caller(ctx)) {
		return nil, &wire.Problem{Code: "forbidden", Detail: "Auditors and administrators fetch the inputs of a report."}
	}
	if err := built(row); err != nil {
		return nil, err
	}
	if r.FileName == report.ProofFile { // nothing that a download records: it holds less than the trail
		return s.proof(ctx, row)
	}
	f, err := s.kept(row, r.FileName)
	if err != nil {
		return nil, err
	}
	return s.send(ctx, row, f, "expired")
}

// kept is a file of a report that was built, unless its time is over.
func (s *ReportRoutes) kept(row history.ReportRow, name string) (file, error) {
	if name == report.InputsFile {
		if s.inputsErased(row) {
			return file{}, &wire.Problem{Code: "inputs_erased", Detail: "The inputs of this report were erased: their retention has ended, or they named a person who was erased."}
		}
		return inputsOf(row), nil
	}
	f := baseOf(row)
	if name != report.PDFFile {
		i := slices.IndexFunc(row.File.Companions, func(f report.File) bool { return f.Name == name })
		if i < 0 {
			return file{}, &wire.Problem{Code: "not_found", Detail: "This report was built before there were such files; request it again."}
		}
		f = companionOf(row.File.Companions[i])
	}
	if row.Status == report.StatusExpired {
		return file{}, over("expired")
	}
	return f, nil
}
