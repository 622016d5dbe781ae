package reports

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"muster/domain/report"
	"muster/internal/accounts"
	"muster/internal/blobs"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/projections/history"
)

func (s *ReportRoutes) DownloadReport(ctx context.Context, r api.DownloadReportRequestObject) (api.DownloadReportResponseObject, error) {
	row, err := s.report(ctx, r.ReportId)
	if err != nil {
		return nil, err
	}
	if !mayDownload(wire.Caller(ctx), row) {
		return nil, &wire.Problem{Code: "forbidden", Detail: "A viewer downloads the reports they receive."}
	}
	switch row.Status {
	case report.StatusReady:
	case report.StatusExpired:
		return nil, &wire.Problem{Code: "report_expired", Detail: "The retention window of this report has elapsed; request it again."}
	case report.StatusQueued, report.StatusBuilding, report.StatusFailed:
		return nil, &wire.Problem{Code: "report_not_ready", Detail: "The report is " + string(row.Status) + "."}
	}
	file, err := s.openGenuine(ctx, row)
	if err != nil {
		return nil, err
	}
	answer := download{request: wire.CallOf(ctx).Request, row: row, file: file}
	if answer.request.Method == http.MethodHead { // nobody receives anything
		return answer, nil
	}
	mark, err := s.Commands.RecordDownload(ctx, wire.Actor(ctx), row.ID)
	if err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("record the download of report %s: %w", row.ID, err)
	}
	wire.Settle(ctx, s.Waiter, mark)
	return answer, nil
}

// openGenuine opens the PDF of a report once it is known to be the recorded one. A
// file that was changed, swapped or taken away is 500 file_altered: no byte of it
// leaves, and log, audit list and figures tell of it.
func (s *ReportRoutes) openGenuine(ctx context.Context, row history.ReportRow) (*blobs.File, error) {
	file, err := s.Blobs.Open(ctx, row.File.Key)
	var gone *blobs.MissingFileError
	var found string
	switch {
	case errors.As(err, &gone):
		found = "there is no such file"
	case err != nil:
		return nil, fmt.Errorf("open the file of report %s: %w", row.ID, err)
	default:
		digest, err := digestOf(file)
		if err != nil {
			_ = file.Close()
			return nil, fmt.Errorf("read the file of report %s: %w", row.ID, err)
		}
		if digest == row.File.SHA256 {
			return file, nil
		}
		_ = file.Close()
		found = "its SHA-256 is " + digest
	}
	who := wire.Caller(ctx)
	s.Log.ErrorContext(ctx, "a stored file was changed or swapped and is not handed out; 'muster reports rebuild' makes the PDF again",
		"report", row.ID, "file", row.File.Key, "recorded", row.File.SHA256, "found", found)
	wire.NoteOnce(ctx, s.Accounts, s.Log,
		wire.Client(ctx).Entry(who.Organization.ID, who.Member.ID, accounts.FileAltered, "report "+row.ID.String()+", "+row.File.Key))
	return nil, &wire.Problem{Code: "file_altered", Detail: "The file in the store is not the one that the log recorded when the report was built, so it is not handed out. Tell the operator of Muster the report's id: the PDF can be built again from its inputs."}
}

// digestOf reads a file once, in pieces, and goes back to its beginning.
func digestOf(file io.ReadSeeker) (string, error) {
	digest := sha256.New()
	if _, err := io.Copy(digest, file); err != nil {
		return "", err
	}
	_, err := file.Seek(0, io.SeekStart)
	return hex.EncodeToString(digest.Sum(nil)), err
}

// download writes a stored PDF, whole or in ranges.
type download struct {
	request *http.Request
	row     history.ReportRow
	file    io.ReadSeekCloser
}

func (d download) VisitDownloadReportResponse(w http.ResponseWriter) error {
	defer func() { _ = d.file.Close() }()
	h := w.Header()
	h.Set("Content-Type", "application/pdf")
	h.Set("Content-Disposition", disposition(d.row.File.Name))
	if digest, err := hex.DecodeString(d.row.File.SHA256); err == nil {
		h.Set("Repr-Digest", "sha-256=:"+base64.StdEncoding.EncodeToString(digest)+":")
		h.Set("ETag", `"`+d.row.File.SHA256+`"`) // strong: a range goes on where another one ended
	}
	h.Set("Cache-Control", "private, no-store")
	modified := time.Time{}
	if d.row.FinishedAt != nil {
		modified = *d.row.FinishedAt
	}
	if strings.Contains(d.request.Header.Get("Range"), ",") {
		d.request.Header.Del("Range") // several parts in one answer are nothing that openapi.yaml knows; the whole is always right
	}
	http.ServeContent(&contentRefuser{ResponseWriter: w, download: d}, d.request, "", modified, d.file)
	return nil
}

// contentRefuser says in our words what http.ServeContent says in plain text or
// not at all: that a range lies outside the file, or that it is another one than
// the caller has part of.
type contentRefuser struct {
	http.ResponseWriter
	download download
	refused  bool
}

func (r *contentRefuser) WriteHeader(status int) {
	var p *wire.Problem
	switch status {
	case http.StatusRequestedRangeNotSatisfiable:
		p = &wire.Problem{Code: "range_not_satisfiable", Detail: fmt.Sprintf("The file has %d bytes.", r.download.row.File.SizeBytes)}
	case http.StatusPreconditionFailed:
		p = &wire.Problem{Code: "precondition_failed", Title: "The file has changed", Detail: "The file is not the version that the request asks for."}
	default:
		r.ResponseWriter.WriteHeader(status)
		return
	}
	r.refused = true
	r.Header().Del("Repr-Digest")
	p.Write(r.ResponseWriter, r.download.request)
}

func (r *contentRefuser) Write(p []byte) (int, error) {
	if r.refused {
		return len(p), nil
	}
	return r.ResponseWriter.Write(p)
}

// disposition names the file twice (RFC 6266): for clients that know nothing
// but ASCII, and as it is.
func disposition(name string) string {
	ascii := strings.Map(func(r rune) rune {
		if r < 0x20 || r > 0x7e || r == '"' || r == '\\' || r == '%' || r == '/' {
			return '_'
		}
		return r
	}, name)
	return `attachment; filename="` + ascii + `"; filename*=UTF-8''` + strings.ReplaceAll(url.QueryEscape(name), "+", "%20")
}
