package reports

import (
	"bytes"
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

	"github.com/google/uuid"
	"github.com/klauspost/compress/gzhttp"

	"muster/domain/report"
	"muster/internal/accounts"
	"muster/internal/files/blobs"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/projections/history"
)

func (s *ReportRoutes) DownloadReport(ctx context.Context, r api.DownloadReportRequestObject) (api.DownloadReportResponseObject, error) {
	row, err := s.received(ctx, r.ReportId)
	if err != nil {
		return nil, err
	}
	if err := built(row); err != nil {
		return nil, err
	}
	if row.Status == report.StatusExpired {
		return nil, over("report_expired")
	}
	if r.Params.Revision != nil { // base is all that there is to ask for
		return s.send(ctx, row, baseOf(row), "report_expired")
	}
	return s.send(ctx, row, pdfOf(row), "report_expired")
}

// over says that a report's files ended; the PDF's first address has a code of its own.
func over(code string) error {
	return &wire.Problem{Code: code, Detail: "The retention window of this report has elapsed; request it again."}
}

// built refuses a report that has no files, or has none yet.
func built(row history.ReportRow) error {
	switch row.Status {
	case report.StatusQueued, report.StatusBuilding, report.StatusFailed:
		return &wire.Problem{Code: "report_not_ready", Detail: "The report is " + string(row.Status) + "."}
	case report.StatusReady, report.StatusExpired:
	}
	return nil
}

// received is a report that the caller may have the files of.
func (s *ReportRoutes) received(ctx context.Context, id uuid.UUID) (history.ReportRow, error) {
	row, err := s.report(ctx, id)
	if err == nil && !mayDownload(wire.Caller(ctx), row) {
		err = &wire.Problem{Code: "forbidden", Detail: "A viewer downloads the reports they receive."}
	}
	return row, err
}

// send records the download of a file that is known to be the recorded one, and then
// answers with it. A report that ends in between is over, with that code.
func (s *ReportRoutes) send(ctx context.Context, row history.ReportRow, f file, ended string) (download, error) {
	content, err := s.openGenuine(ctx, row, f)
	if errors.Is(err, errSignatureLost) { // another one is made, and what was built is there meanwhile
		s.Log.WarnContext(ctx, "a signed PDF was lost; another one is made", "report", row.ID, "file", f.key)
		if err := s.signAgain(ctx, row); err != nil {
			return download{}, err
		}
		f = baseOf(row)
		content, err = s.openGenuine(ctx, row, f)
	}
	if err != nil {
		return download{}, err
	}
	if document, ok := content.(unpacked); ok {
		f.SizeBytes = document.Size()
	}
	answer := download{request: wire.CallOf(ctx).Request, row: row, file: f, content: content}
	if answer.request.Method == http.MethodHead { // nobody receives anything
		return answer, nil
	}
	writing, cancel := wire.Writing(ctx) // from here on: how long the file takes is the store's
	defer cancel()
	mark, err := s.Commands.RecordDownload(writing, wire.Actor(ctx), row.ID, f.Name)
	if err != nil {
		_ = content.Close()
		var late *report.TransitionError
		if errors.As(err, &late) {
			return download{}, over(ended)
		}
		return download{}, fmt.Errorf("record the download of %s of report %s: %w", f.Name, row.ID, err)
	}
	wire.Settle(ctx, s.Waiter, mark)
	return answer, nil
}

func (s *ReportRoutes) signAgain(ctx context.Context, row history.ReportRow) error {
	writing, cancel := wire.Writing(ctx)
	defer cancel()
	return s.Jobs.SignAgain(writing, row.OrganizationID, row.ID)
}

// errSignatureLost says that the signed PDF is not in the store.
var errSignatureLost = errors.New("the signed PDF is gone")

// openGenuine opens a file of a report once it is known to be the recorded one. A
// file that was changed, swapped or taken away is 500 file_altered: no byte of it
// leaves, and log, audit list and figures tell of it.
func (s *ReportRoutes) openGenuine(ctx context.Context, row history.ReportRow, f file) (io.ReadSeekCloser, error) {
	content, digest, err := s.open(ctx, f)
	var gone *blobs.MissingFileError
	var damaged *blobs.DamagedFileError
	var found string
	switch {
	case errors.As(err, &gone) && blobs.IsSigned(f.key):
		return nil, errSignatureLost
	case errors.As(err, &gone):
		found = "there is no such file"
	case errors.As(err, &damaged):
		found = damaged.Err.Error()
	case err != nil:
		return nil, fmt.Errorf("open %s of report %s: %w", f.Name, row.ID, err)
	case digest == f.Sha256:
		return content, nil
	default:
		_ = content.Close()
		found = "its SHA-256 is " + digest
	}
	who := wire.Caller(ctx)
	wayOut := "'muster reports rebuild' makes the PDF again"
	if blobs.IsSigned(f.key) {
		wayOut = "remove it, and at the next download another one is signed"
	}
	s.Log.ErrorContext(ctx, "a stored file was changed or swapped and is not handed out; "+wayOut,
		"report", row.ID, "file", f.key, "recorded", f.Sha256, "found", found)
	wire.NoteOnce(ctx, s.Accounts, s.Log,
		wire.Client(ctx).Entry(who.Organization.ID, who.Member.ID, accounts.FileAltered, "report "+row.ID.String()+", "+f.key))
	return nil, &wire.Problem{Code: "file_altered", Detail: "The file in the store is not the one that the log recorded when the report was built, so it is not handed out. Tell the operator of Muster the report's id: the PDF can be built again from its inputs."}
}

// open reads a file once, in pieces, and goes back to its beginning. Inputs are packed
// in the store, and are in memory until they are sent.
func (s *ReportRoutes) open(ctx context.Context, f file) (content io.ReadSeekCloser, digest string, err error) {
	if f.Name == report.InputsFile {
		document, digest, err := s.Blobs.ReadInputs(ctx, f.key)
		return unpacked{bytes.NewReader(document)}, digest, err
	}
	stored, err := s.Blobs.Open(ctx, f.key)
	if err != nil {
		return nil, "", err
	}
	if digest, err = digestOf(stored); err != nil {
		_ = stored.Close()
		return nil, "", err
	}
	return stored, digest, nil
}

type unpacked struct{ *bytes.Reader }

func (unpacked) Close() error { return nil }

// digestOf reads a file once, in pieces, and goes back to its beginning.
func digestOf(file io.ReadSeeker) (string, error) {
	digest, err := hashed(io.Discard, file)
	if err != nil {
		return "", err
	}
	_, err = file.Seek(0, io.SeekStart)
	return digest, err
}

// hashed copies a file, and returns its SHA-256 in hex.
func hashed(to io.Writer, from io.Reader) (string, error) {
	digest := sha256.New()
	if _, err := io.Copy(io.MultiWriter(digest, to), from); err != nil {
		return "", err
	}
	return hex.EncodeToString(digest.Sum(nil)), nil
}

// download writes a stored file, whole or in ranges.
type download struct {
	request *http.Request
	row     history.ReportRow
	file    file
	content io.ReadSeekCloser
}

func (d download) VisitDownloadReportResponse(w http.ResponseWriter) error { return d.write(w) }

func (d download) VisitGetReportFileResponse(w http.ResponseWriter) error { return d.write(w) }

func (d download) write(w http.ResponseWriter) error {
	defer func() { _ = d.content.Close() }()
	h := w.Header()
	h.Set("Content-Type", d.file.contentType())
	h.Set(gzhttp.HeaderNoCompression, "1") // digest, tag and ranges are those of the file
	h.Set("Content-Disposition", disposition(report.SavedAs(d.row.File.Name, d.file.Name)))
	if digest, err := hex.DecodeString(d.file.Sha256); err == nil {
		h.Set("Repr-Digest", "sha-256=:"+base64.StdEncoding.EncodeToString(digest)+":")
		h.Set("ETag", `"`+d.file.Sha256+`"`) // strong: a range goes on where another one ended
	}
	h.Set("Cache-Control", "private, no-store")
	modified := time.Time{}
	if d.row.FinishedAt != nil {
		modified = *d.row.FinishedAt
	}
	if strings.Contains(d.request.Header.Get("Range"), ",") {
		d.request.Header.Del("Range") // several parts in one answer are nothing that openapi.yaml knows; the whole is always right
	}
	http.ServeContent(&contentRefuser{ResponseWriter: w, download: d}, d.request, "", modified, d.content)
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
		p = &wire.Problem{Code: "range_not_satisfiable", Detail: fmt.Sprintf("The file has %d bytes.", r.download.file.SizeBytes)}
	case http.StatusPreconditionFailed:
		p = &wire.Problem{Code: "precondition_failed", Detail: "The file is not the version that the request asks for."}
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
