package wire

import (
	"errors"
	"fmt"
	"mime"
	"net"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"muster/internal/httpapi/api"
)

// MaxFaults is how many faults of a value are told: every item of the largest
// batch may have one. A body of 4 MiB could have millions.
const MaxFaults = 10_000

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
