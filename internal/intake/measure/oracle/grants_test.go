package oracle

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestTheGuideCountsTheViewsOfTheGrants, for one database and for a cluster.
func TestTheGuideCountsTheViewsOfTheGrants(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../../../../docs/administrators.md")
	if err != nil {
		t.Fatal(err)
	}
	first, rest, _ := strings.Cut(grants, "-- 2. ")
	_, cluster, _ := strings.Cut(rest, "-- 3. ")
	views := func(part string) int { return strings.Count(part, "\nGRANT SELECT ON SYS.") }
	one, both := views(first), views(first)+views(cluster)
	want := fmt.Sprintf("SELECT on %d views, in a cluster on %d.", one, both)
	if !strings.Contains(string(guide), want) {
		t.Errorf("docs/administrators.md does not say %q", want)
	}
}
