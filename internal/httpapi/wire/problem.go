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

	"muster/commands"
	"muster/internal/httpapi/api"
)

// problemType is the page that explains a code; the code follows in kebab case.
const problemType = "https://muster.example/docs/problems/"

// Problem is a refusal or a failure on its way to the caller (RFC 9457). It is
// an error, so that handlers return it like any other.
type Problem struct {
	Code       string
	Title      string // empty: the code's own
	Detail     string
	Fields     []api.FieldError
	Budget     *api.ExhaustedBudget // of budget_exhausted
	RetryAfter time.Duration
	LimitTold  bool // the RateLimit header says already which limit it is
}

func (p *Problem) Error() string { return p.Code + ": " + p.Detail }

// Codes lists every code an answer can carry with its status and title
// (contract, §1.5 and §1.6). A rule's code that is not listed is a 422.
var Codes = map[string]struct {
	status int
	title  string
}{
	"malformed_json":            {400, "The body is not JSON"},
	"missing_parameter":         {400, "Something is missing"},
	"invalid_parameter":         {400, "The request cannot be read"},
	"unknown_parameter":         {400, "The request has a parameter that does not exist"},
	"unknown_field":             {400, "The body has a member that does not exist"},
	"repeated_field":            {400, "The body has a member twice"},
	"invalid_bucket_size":       {400, "There is no such bucket size"},
	"invalid_cursor":            {400, "The cursor is not one of ours"},
	"by_not_available":          {400, "The figure is not kept by that"},
	"conflicting_parameters":    {400, "Two parameters contradict each other"},
	"idempotency_not_supported": {400, "This operation takes no idempotency key"},

	"unauthenticated":     {401, "Sign in first"},
	"session_expired":     {401, "The session has ended"},
	"token_expired":       {401, "The token has expired"},
	"token_revoked":       {401, "The token was revoked"},
	"invalid_credentials": {401, "The address or the password is wrong"},

	"forbidden":            {403, "Not allowed"},
	"outside_token":        {403, "The token is limited to its instances"},
	"cross_origin_request": {403, "The request comes from another site"},
	"setup_closed":         {403, "There is an administrator already"},

	"not_found":               {404, "There is no such thing here"},
	"method_not_allowed":      {405, "The method does not fit"},
	"not_acceptable":          {406, "None of the accepted types can be made"},
	"request_timeout":         {408, "The body did not arrive in time"},
	"report_not_ready":        {409, "The report has no file"},
	"proof_not_ready":         {409, "The report is not proven yet"},
	"idempotency_in_progress": {409, "The first request with this key is still running"},
	"member_exists":           {409, "The address has an account already"},
	"last_admin":              {409, "Somebody has to administer"},
	"rebuild_in_progress":     {409, "A rebuild is running already"},
	"report_is_final":         {409, "The report has ended"},
	"invalid_state":           {409, "Not in this state"},
	"own_request":             {409, "Another administrator has to grant it"},
	"channel_in_use":          {409, "A rule tells through the channel"},
	"already_registered":      {409, "The server is registered already"},
	"assessed_by_collector":   {409, "Muster assesses the instance itself"},
	"managed_by_connection":   {409, "Administrators manage this instance"},
	"instance_held":           {409, "Another sender has the instance"},
	"report_expired":          {410, "The report has expired"},
	"expired":                 {410, "The file has expired with its report"},
	"inputs_erased":           {410, "The inputs were erased"},
	"link_gone":               {410, "The link no longer works"},
	"invitation_gone":         {410, "The invitation no longer works"},
	"precondition_failed":     {412, "Somebody else changed it first"},
	"body_too_large":          {413, "The body is too large"},
	"uri_too_long":            {414, "The address is too long"},
	"unsupported_media_type":  {415, "The body has a type that cannot be read"},
	"range_not_satisfiable":   {416, "The range lies outside the file"},
	"precondition_required":   {428, "If-Match is required"},

	"weak_password":      {422, "The password is too easy to guess"},
	"too_many_instances": {422, "Too many instances"},
	"out_of_range":       {422, "A value is out of range"},
	"invalid_window":     {422, "The window is empty"},
	"window_in_future":   {422, "The window lies in the future"},
	"no_mail_server":     {422, "No mail server is set"},
	"detail_not_kept":    {422, "That is not kept as far back"},
	"engine_fixed":       {422, "The engine of an instance never changes"},
	"texts_off":          {422, "No texts of statements are kept"},
	"too_many_buckets":   {422, "The window has too many buckets"},

	"rate_limited":           {429, "Too many requests"},
	"budget_exhausted":       {429, "A budget is used up"},
	"too_many_confirmations": {429, "The address was asked too often"},
	"login_throttled":        {429, "Too many attempts to sign in"},
	"too_many_building":      {429, "Too many reports are being built"},
	"too_many_senders":       {429, "Too many senders"},

	"file_altered":   {500, "The stored file is not the one that was built"},
	"internal_error": {500, "Something went wrong on our side"},
	"unavailable":    {503, "Not available at the moment"},
}

// rule is the title of a 422 whose maker gave none.
const ruleTitle = "The request breaks a rule"

// StatusCode is the code's own; a rule that is not listed is a 422.
func (p *Problem) StatusCode() int {
	return cmp.Or(Codes[p.Code].status, http.StatusUnprocessableEntity)
}

// Headline is the problem's title, which is the code's own where it has none.
func (p *Problem) Headline() string { return cmp.Or(p.Title, Codes[p.Code].title, ruleTitle) }

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
		Type: problemType + strings.ReplaceAll(p.Code, "_", "-"), Title: p.Headline(), Status: status, Code: p.Code,
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
const MaxFaults = commands.MaxBroken

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

// EscapePointer is a name as part of a JSON pointer (RFC 6901).
func EscapePointer(token string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(token)
}
