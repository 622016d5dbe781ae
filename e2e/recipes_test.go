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
	parts, recipes := partsOf(page), 0
	numbered := regexp.MustCompile(`^\d+\. `)
	for _, part := range parts {
		if numbered.MatchString(part.title) {
			recipes++
		}
		if len(part.printed) == 0 {
			t.Errorf("%s: the page does not say what is printed", part.title)
		}
	}
	if recipes != 10 {
		t.Errorf("%d recipes, want ten", recipes)
	}
	runParts(t, parts, t.TempDir(), "PATH="+os.Getenv("PATH"))
}
