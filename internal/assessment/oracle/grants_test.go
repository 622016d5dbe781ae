package oracle

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"muster/domain/fleet"
	"muster/internal/assessment"
	"muster/internal/assessment/catalogue"
	"muster/internal/engine/oracle"
	measured "muster/internal/intake/measure/oracle"
)

// namedView is a view as a query of ours names it.
var namedView = regexp.MustCompile(`(?i)\b(?:from|join)\s+(?:sys\.)?((?:dba_|v\$|audit_)[a-z_$]+)`)

// TestGrantsAreEnough: whatever a check asks for, and whatever our own queries name, is
// given by one of the two parts of the script.
func TestGrantsAreEnough(t *testing.T) {
	t.Parallel()
	first, ok := measured.Grants("")
	if !ok {
		t.Fatal("there is no script")
	}
	script := first + Grants(assessment.ClassifyOff)
	given := func(right string) bool {
		grant := "GRANT " + strings.Replace(right, "SELECT on", "SELECT ON", 1)
		inRoot := strings.Contains(script, grant+" TO c##muster CONTAINER = ALL;") || strings.Contains(first, grant+" TO c##muster;")
		return inRoot && strings.Contains(script, grant+" TO muster;")
	}
	checks, err := catalogue.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, check := range checks.Of(fleet.Oracle) {
		for _, right := range check.LeastRights() {
			if !given(right) {
				t.Errorf("%s needs %q", check.ID, right)
			}
		}
	}
	files, err := filepath.Glob("sql/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range namedView.FindAllStringSubmatch(string(text), -1) {
			if right := "SELECT on " + oracle.View(strings.ToUpper(found[1])); !given(right) {
				t.Errorf("%s needs %q", path, right)
			}
		}
	}
	if names, values := Grants(assessment.ClassifyNames), Grants(assessment.ClassifyValues); strings.Contains(names, "ANY TABLE") || !strings.Contains(values, "GRANT SELECT ANY TABLE TO muster;\n") {
		t.Errorf("%s\n%s", names, values)
	}
}
