package api

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
)

// note is a request of every form that messages.tmpl and oapi-codegen write.
type note struct {
	ID     uuid.UUID `path:"id"`
	Params noteParams
	Body   *noteBody `body:",optional"`
}

type noteParams struct {
	From   time.Time    `form:"from" json:"from"`
	Page   *int32       `form:"page,omitempty" json:"page,omitempty"`
	Engine *[]Engine    `form:"engine,omitempty" json:"engine,omitempty"`
	In     []string     `form:"in" json:"in"`
	Key    *string      `json:"Idempotency-Key,omitempty"`
	Sender string       `json:"X-Muster-Sender"`
	Log    *uuid.UUID   `form:"log,omitempty" json:"log,omitempty"`
	Logs   *[]uuid.UUID `form:"logs,omitempty" json:"logs,omitempty"`
}

type noteBody struct {
	Text string `json:"text"`
}

const (
	noteID = "0199aa00-0000-7000-8000-000000000001"
	least  = "?from=2026-11-20T08:00:00%2B01:00&in=a"
)

var (
	id      = uuid.MustParse(noteID)
	eight   = time.Date(2026, 11, 20, 8, 0, 0, 0, time.FixedZone("", 3600))
	sender  = http.Header{"X-Muster-Sender": {"s1"}}
	smaller = note{ID: id, Params: noteParams{From: eight, In: []string{"a"}, Sender: "s1"}}
)

// readNote reads a request of the type Q as the server does.
func readNote[Q any](t *testing.T, path, query string, header http.Header, body string) (*Q, error) {
	t.Helper()
	o := operation("POST", "/notes/:id", func(context.Context, Q) (any, error) { return nil, nil }, nil)
	r := httptest.NewRequest("POST", "/notes/x"+query, strings.NewReader(body))
	r.Header = header
	request, err := o.Read(r, func(name string) string { return map[string]string{"id": path}[name] })
	return request.(*Q), err
}

func TestEveryFieldOfARequestIsRead(t *testing.T) {
	t.Parallel()
	whole := smaller
	page, key, engines := int32(2), "k", []Engine{"postgresql", "mysql"}
	whole.Params = noteParams{
		From: eight, Page: &page, Engine: &engines, In: []string{"a,b", "c"}, Key: &key, Sender: "s1", Log: &id, Logs: &[]uuid.UUID{id},
	}
	whole.Body = &noteBody{Text: "hello"}
	for name, c := range map[string]struct {
		query, body string
		header      http.Header
		want        note
	}{
		"what is required": {least, "", sender, smaller},
		"everything": {
			"?from=2026-11-20T08:00:00%2B01:00&page=2&engine=postgresql&engine=mysql&in=a,b&in=c&log=" + noteID + "&logs=" + noteID,
			`{"text": "hello"}`, http.Header{"X-Muster-Sender": {"s1"}, "Idempotency-Key": {"k"}}, whole,
		},
	} {
		got, err := readNote[note](t, noteID, c.query, c.header, c.body)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !got.Params.From.Equal(c.want.Params.From) {
			t.Errorf("%s: from is %v", name, got.Params.From)
		}
		got.Params.From = c.want.Params.From
		if !reflect.DeepEqual(*got, c.want) {
			t.Errorf("%s: got %+v, want %+v", name, *got, c.want)
		}
	}
}

func TestARequestThatDoesNotFitItsTypeIsRefused(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]struct {
		path, query, body string
		header            http.Header
	}{
		"read id: ":              {"1", least, "", sender},
		"read from: ":            {noteID, "?in=a", "", sender},
		"read in: ":              {noteID, "?from=2026-11-20T08:00:00Z", "", sender},
		"read page: ":            {noteID, least + "&page=two", "", sender},
		"read log: ":             {noteID, least + "&log=1", "", sender},
		"read X-Muster-Sender: ": {noteID, least, "", nil},
		"read Idempotency-Key: expected one value, got 2": {noteID, least, "", http.Header{"X-Muster-Sender": {"s1"}, "Idempotency-Key": {"a", "b"}}},
		"read Body: unexpected EOF":                       {noteID, least, "{", sender},
	} {
		if _, err := readNote[note](t, c.path, c.query, c.header, c.body); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestABodyIsReadByItsMediaType(t *testing.T) {
	t.Parallel()
	type either struct {
		JSONBody *noteBody `body:"application/json"`
		Body     io.Reader `body:"application/x-protobuf"`
	}
	got, err := readNote[either](t, "", "", http.Header{"Content-Type": {"application/json; charset=utf-8"}}, `{"text": "a"}`)
	if err != nil || got.Body != nil || got.JSONBody == nil || got.JSONBody.Text != "a" {
		t.Errorf("JSON: %+v, %v", got, err)
	}
	got, err = readNote[either](t, "", "", http.Header{"Content-Type": {"application/x-protobuf"}}, "\x01")
	if err != nil || got.JSONBody != nil || got.Body == nil {
		t.Fatalf("protobuf: %+v, %v", got, err)
	}
	if text, err := io.ReadAll(got.Body); err != nil || string(text) != "\x01" {
		t.Errorf("protobuf: %q, %v", text, err)
	}
	type required struct {
		Body *noteBody `body:""`
	}
	if _, err := readNote[required](t, "", "", nil, ""); err == nil {
		t.Error("a required body is missing, and the request is taken")
	}
}

func TestAnAnswerHasItsHeaders(t *testing.T) {
	t.Parallel()
	five := 5
	for name, c := range map[string]struct {
		write func(http.ResponseWriter) error
		code  int
		body  string
		want  http.Header
	}{
		"JSON with headers": {
			CreateReport202JSONResponse{Headers: CreateReport202ResponseHeaders{Location: "/r", RetryAfter: 2}}.VisitCreateReportResponse, 202, "{",
			http.Header{"Content-Type": {"application/json"}, "Location": {"/r"}, "Retry-After": {"2"}},
		},
		"JSON": {
			GetHealth200JSONResponse{Status: "ok"}.VisitGetHealthResponse, 200, `{"status":"ok"}`, http.Header{"Content-Type": {"application/json"}},
		},
		"no body, and one of three optional headers": {
			ReceivePrometheusWrite204Response{Headers: ReceivePrometheusWrite204ResponseHeaders{
				XPrometheusRemoteWriteSamplesWritten: &five,
			}}.VisitReceivePrometheusWriteResponse, 204, "", http.Header{"X-Prometheus-Remote-Write-Samples-Written": {"5"}},
		},
		"a file": {
			ReceiveOtlpLogs200ApplicationxProtobufResponse{Body: strings.NewReader("abc"), ContentLength: 3}.VisitReceiveOtlpLogsResponse, 200, "abc",
			http.Header{"Content-Type": {"application/x-protobuf"}, "Content-Length": {"3"}},
		},
	} {
		w := httptest.NewRecorder()
		if err := c.write(w); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if w.Code != c.code || !strings.HasPrefix(w.Body.String(), c.body) || !reflect.DeepEqual(w.Header(), c.want) {
			t.Errorf("%s: %d %q %v", name, w.Code, w.Body, w.Header())
		}
	}
}

func TestAnAnswerThatCannotBeEncodedIsNotBegun(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	if err := writeJSON(w, 200, nil, "application/json", func() {}); err == nil || len(w.Header()) > 0 || w.Body.Len() > 0 {
		t.Errorf("%v: %v %q", err, w.Header(), w.Body)
	}
}
