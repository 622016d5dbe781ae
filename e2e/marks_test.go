package e2e

import (
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestAJobSetsAMark: the command of docs/administrators.md, with a token that may do nothing else, sets one mark however
// often the job runs.
func TestAJobSetsAMark(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is missing: install it")
	}
	h := newHouse(t)
	var token struct{ Token string }
	h.ana.call(t, 201, http.MethodPost, "/api/v1/api-tokens", map[string]any{"name": "ci", "scopes": []string{"marks:write"}}, &token)
	command := regexp.MustCompile("(?s)```sh\n(curl -fsS https://muster.example.org/api/v1/marks .*?)```").FindStringSubmatch(readText(t, "docs/administrators.md"))
	if command == nil {
		t.Fatal("docs/administrators.md has no command that sets a mark")
	}
	run := func(job string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "bash", "-euc", strings.ReplaceAll(command[1], "https://muster.example.org", h.server.base))
		cmd.Env = append(cmd.Environ(), "MUSTER_TOKEN="+token.Token, "CI_JOB_ID="+job)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	first, again, other := run("1"), run("1"), run("2")
	if !strings.Contains(first, `"text":"deploy billing 4.2"`) || again != first || other == first {
		t.Errorf("the command answers\n%s\n%s\n%s", first, again, other)
	}
	var list struct {
		Items []struct{ Text string }
	}
	h.ana.get(t, "/api/v1/marks?from=2020-01-01T00:00:00Z&to=2100-01-01T00:00:00Z&tag=app:billing", &list)
	if len(list.Items) != 0 { // no server has the tags
		t.Errorf("there are %+v", list.Items)
	}
	var shown struct{ ID string }
	h.ana.call(t, 201, http.MethodPost, "/api/v1/marks", map[string]any{"text": "everywhere"}, &shown)
	h.ana.get(t, "/api/v1/marks?from=2020-01-01T00:00:00Z&to=2100-01-01T00:00:00Z", &list)
	deploys := 0
	for _, m := range list.Items {
		if m.Text == "everywhere" {
			deploys++
		}
	}
	if deploys != 1 {
		t.Errorf("the organization has %+v", list.Items)
	}
}
