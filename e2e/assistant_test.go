package e2e

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// authorized sends a token with every request.
type authorized struct{ token string }

func (a authorized) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+a.token)
	return http.DefaultTransport.RoundTrip(r)
}

// assistantHasTheProof has the official SDK's client read the proof of a report, and holds it to the one that
// the API answers.
func (h house) assistantHasTheProof(t *testing.T, r row) {
	t.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "judge", Version: "1"}, nil).Connect(t.Context(), &mcp.StreamableClientTransport{
		Endpoint: h.server.base + "/mcp", HTTPClient: &http.Client{Transport: authorized{h.ana.token}}, MaxRetries: -1, DisableStandaloneSSE: true,
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = session.Close() }()
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "evidence", Arguments: map[string]any{"of": "report", "reportId": r.ID}})
	if err != nil || result.IsError {
		t.Fatalf("%v %+v", err, result)
	}
	var told struct{ Data struct{ Result any } }
	if err := json.Unmarshal([]byte(result.Content[0].(*mcp.TextContent).Text), &told); err != nil {
		t.Fatal(err)
	}
	var want any
	h.ana.get(t, "/api/v1/reports/"+r.ID.String()+"/proof", &want)
	if diff := cmp.Diff(want, told.Data.Result); diff != "" {
		t.Errorf("the assistant's proof is not the API's (-API +assistant):\n%s", diff)
	}
}
