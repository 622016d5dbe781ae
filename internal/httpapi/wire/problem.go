package wire

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"muster/commands/usecase"
	"muster/internal/httpapi/api"
)

// problemType is the page that explains a code; the code follows in kebab case.
const problemType = "https://muster.example/docs/problems/"

// Problem is a refusal or a failure on its way to the caller (RFC 9457). It is
// an error, so that handlers return it like any other.
type Problem struct {
	Code       string
	Detail     string
	Fields     []api.FieldError
	Budget     *api.ExhaustedBudget // of budget_exhausted
	RetryAfter time.Duration
	LimitTold  bool // the RateLimit header says already which limit it is
}

func (p *Problem) Error() string { return p.Code + ": " + p.Detail }

// StatusCode is the code's own.
func (p *Problem) StatusCode() int { return cmp.Or(Codes[p.Code].Status, rule) }

// Title is the code's own.
func (p *Problem) Title() string { return cmp.Or(Codes[p.Code].Title, "The request breaks a rule") }

// Write answers with the problem. It does nothing once an answer has begun.
func (p *Problem) Write(w http.ResponseWriter, r *http.Request) {
	call := CallOf(r.Context())
	call.Problem = p.Code
	h := w.Header()
	status := p.StatusCode()
	if p.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(WholeSeconds(p.RetryAfter)))
	} else if status == http.StatusServiceUnavailable {
		h.Set("Retry-After", "5")
	}
	if status == http.StatusRequestTimeout { // the rest of the body may be on its way
		h.Set("Connection", "close")
	}
	if status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="muster"`)
	}
	for _, name := range []string{"Content-Length", "Content-Encoding", "Content-Disposition", "Accept-Ranges", "ETag", "Last-Modified", "X-Muster-Lagging"} {
		h.Del(name)
	}
	h.Set("Cache-Control", "private, no-store")
	h.Set("Content-Type", "application/problem+json")
	body := api.Problem{
		Type: problemType + strings.ReplaceAll(p.Code, "_", "-"), Title: p.Title(), Status: status, Code: p.Code,
		Detail: p.Detail, Instance: r.URL.Path, RequestId: call.RequestID, Budget: p.Budget,
	}
	if len(p.Fields) > 0 {
		told := p.Fields[:min(len(p.Fields), MaxFaults)]
		body.Errors = &told
	}
	text, err := json.Marshal(body)
	if err != nil { // only params hold foreign values
		body.Errors = nil
		text, _ = json.Marshal(body)
	}
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n'))
}

// WholeSeconds rounds up: a caller that waits so long never comes too early.
func WholeSeconds(d time.Duration) int {
	return max(1, int((d+time.Second-1)/time.Second))
}

// NotFound is told of an id that is unknown or another organization's.
func NotFound(what string) *Problem {
	return &Problem{Code: "not_found", Detail: "No " + what + " of that id is known in this organization."}
}

// Found says what came of looking something up: err, or NotFound where that is none and
// there is no such thing.
func Found(ok bool, err error, what string) error {
	if err == nil && !ok {
		return NotFound(what)
	}
	return err
}

// BadParameter refuses one parameter.
func BadParameter(in api.FieldErrorIn, name, code, detail string) *Problem {
	return &Problem{Code: code, Detail: name + " " + detail + ".", Fields: []api.FieldError{{In: in, Parameter: &name, Code: code, Detail: detail}}}
}

// AsProblem finds the problem inside err.
func AsProblem(err error) (*Problem, bool) {
	var p *Problem
	ok := errors.As(err, &p)
	return p, ok
}

// InternalDetail is all that is told of a failure of ours.
const InternalDetail = "The request failed; the log has the reason under this request id."

// Sentence is a refusal's clause as a person reads it.
func Sentence(clause string) string {
	first, size := utf8.DecodeRuneInString(clause)
	if size == 0 {
		return clause
	}
	return strings.TrimSuffix(string(unicode.ToUpper(first))+clause[size:], ".") + "."
}

// MaxFaults is how many faults of a call are told. A batch could have millions, and ten
// thousand of them are an answer of a megabyte.
const MaxFaults = usecase.MaxBroken

// Unreadable makes one problem of field errors; its code is theirs where they
// agree, else the first one's that is no mere number out of range: what cannot be
// read comes before what breaks a rule.
func Unreadable(fields []api.FieldError) *Problem {
	if len(fields) == 0 {
		return nil
	}
	detail := "One value cannot be read: " + FieldName(fields[0]) + " " + fields[0].Detail + "."
	if len(fields) > 1 {
		detail = fmt.Sprintf("%d values cannot be read; errors names them.", len(fields))
	}
	if len(fields) >= MaxFaults {
		detail = fmt.Sprintf("At least %d values cannot be read; errors names these.", len(fields))
	}
	named := max(0, slices.IndexFunc(fields, func(f api.FieldError) bool { return f.Code != "out_of_range" }))
	return &Problem{Code: fields[named].Code, Detail: detail, Fields: fields}
}

// FieldName is where a field error lies: a pointer into the body, or a parameter.
func FieldName(f api.FieldError) string {
	if f.Pointer != nil {
		return *f.Pointer
	}
	if f.Parameter != nil {
		return *f.Parameter
	}
	return ""
}

// IsJSON is by what the request says of its body, or where it says nothing.
func IsJSON(req *http.Request) bool {
	kind, _, err := mime.ParseMediaType(req.Header.Get("Content-Type"))
	return err != nil || kind == "application/json"
}

// UnreadableBody is told where a body as a whole is not what it should be.
func UnreadableBody(detail string) *Problem {
	whole := "#"
	return Unreadable([]api.FieldError{{In: api.Body, Pointer: &whole, Code: "invalid_parameter", Detail: detail}})
}

// Storable says that PostgreSQL takes the text.
func Storable(text string) bool { return utf8.ValidString(text) && !strings.ContainsRune(text, 0) }

// BodyProblem says why a body could not be read.
func BodyProblem(err error, limit int64) *Problem {
	var (
		tooLarge *http.MaxBytesError
		late     net.Error
	)
	switch {
	case errors.As(err, &tooLarge):
		return &Problem{Code: "body_too_large", Detail: fmt.Sprintf("The body may have at most %d bytes.", limit)}
	case errors.As(err, &late) && late.Timeout():
		return &Problem{Code: "request_timeout", Detail: "The body did not arrive in time; the connection is closed."}
	}
	return &Problem{Code: "malformed_json", Detail: "The body could not be read."}
}
