package e2e

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestRecipesOfTheAPI runs the recipes of docs/api.md word for word, one after the other against one installation with
// one live server, and holds what is printed to what the page says.
func TestRecipesOfTheAPI(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"curl", "jq"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is missing: install it", tool)
		}
	}
	h := newHouse(t)
	h.ana.assessedAgain(t, h.live)
	page := readText(t, "docs/api.md")
	sender := strings.TrimSpace(h.must(t, "token", "create", "--kind", "ingest", "--email", "ana@acme.example"))
	ours := []string{
		"https://muster.example", h.server.base, "YOUR-TOKEN", h.ana.token, "YOUR-INGEST-TOKEN", sender,
		"pg-orders-01", "pg-live", "pg-orders", "pg-live", // the longer name first
	}
	for i := 0; i < len(ours); i += 2 {
		if !strings.Contains(page, ours[i]) {
			t.Errorf("the page does not name %s", ours[i])
		}
	}
	page = strings.NewReplacer(ours...).Replace(page)
	numbered := regexp.MustCompile(`^\d+\. `)
	recipes := 0
	var exported []string // as in the walk through, one shell for all would not tell which of them failed
	desk := t.TempDir()
	for _, part := range partsOf(page) {
		if numbered.MatchString(part.title) {
			recipes++
		}
		if len(part.printed) == 0 {
			t.Errorf("%s: the page does not say what is printed", part.title)
		}
		run := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", strings.Join(append(exported, part.commands...), "\n"))
		run.Dir, run.Env = desk, programEnvironment("PATH="+os.Getenv("PATH"))
		out, err := run.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", part.title, err, out)
		}
		part.holds(t, string(out))
		for _, line := range part.commands {
			if strings.HasPrefix(line, "export ") {
				exported = append(exported, line)
			}
		}
	}
	if recipes != 10 {
		t.Errorf("%d recipes, want ten", recipes)
	}
}
