package fleet

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"muster/commands/usecase"
	"muster/domain/organization"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/internal/report/control/evidence"
)

func (s *ServerRoutes) MakeEvidence(ctx context.Context, r api.MakeEvidenceRequestObject) (api.MakeEvidenceResponseObject, error) {
	caller := wire.Caller(ctx)
	who := caller.Organization
	var mark usecase.Mark
	made, err := s.Evidence.Make(ctx, evidence.Request{
		Organization: who, Check: r.Body.Check, From: r.Body.From, To: r.Body.To, Instances: wire.Value(r.Body.InstanceIds), Within: caller.World,
	}, func(ctx context.Context, id uuid.UUID, made organization.EvidenceMade) (err error) {
		writing, cancel := wire.Writing(ctx)
		defer cancel()
		mark, err = s.Commands.RecordEvidence(writing, wire.Actor(ctx), id, made)
		return err
	})
	if err != nil {
		return nil, refusedEvidence(err)
	}
	d := made.Document
	out := evidenceFile{content: made.Text, kind: jsonType, name: fmt.Sprintf("%s-%s-%s", d.Check.ID, d.From.Format("2006-01-02"), d.To.Format("2006-01-02"))}
	if prefersPDF(wire.CallOf(ctx).Request.Header.Values("Accept")) {
		out.kind = pdfType
		if out.content, err = s.Evidence.PDF(ctx, made, who.PaperSize); err != nil {
			return nil, err
		}
	}
	wire.Settle(ctx, s.Waiter, mark)
	return out, nil
}

// refusedEvidence shows what a request breaks by the pointers of its body.
func refusedEvidence(err error) error {
	var refused *evidence.RefusedError
	if !errors.As(err, &refused) {
		return err
	}
	fields := wire.List(refused.Faults, func(f evidence.Fault) api.FieldError {
		pointer := "#/" + f.Field
		field := api.FieldError{In: api.Body, Pointer: &pointer, Code: f.Code, Detail: f.Detail}
		if f.Params != nil {
			field.Params = &f.Params
		}
		return field
	})
	return wire.BrokenRules(fields[:min(len(fields), usecase.MaxBroken)])
}

const (
	jsonType = "application/json"
	pdfType  = "application/pdf"
)

// prefersPDF says whether a caller would rather have a PDF than JSON. By name it has to be
// asked for: */* is JSON.
func prefersPDF(accept []string) bool {
	weight := map[string]float64{}
	for _, entry := range strings.Split(strings.Join(accept, ","), ",") {
		named, parameters, err := mime.ParseMediaType(entry)
		if err != nil {
			continue
		}
		q, err := strconv.ParseFloat(parameters["q"], 64)
		if err != nil {
			q = 1
		}
		weight[named] = max(weight[named], q)
	}
	return weight[pdfType] > weight[jsonType]
}

// evidenceFile is sent as it is: its bytes are what people keep.
type evidenceFile struct {
	content    []byte
	kind, name string
}

func (f evidenceFile) VisitMakeEvidenceResponse(w http.ResponseWriter) error {
	h := w.Header()
	h.Set("Content-Type", f.kind)
	h.Set("Content-Length", strconv.Itoa(len(f.content)))
	h.Set("Content-Disposition", `attachment; filename="`+f.name+"."+strings.TrimPrefix(f.kind, "application/")+`"`)
	w.WriteHeader(http.StatusOK)
	_, err := w.Write(f.content)
	return err
}
