package sqlserver

import (
	"regexp"
	"strings"
	"testing"

	"muster/domain/fleet"
	"muster/internal/assessment"
	"muster/internal/assessment/catalogue"
	"muster/internal/engine/sqlserver"
	measured "muster/internal/intake/measure/sqlserver"
)

// TestGrantsAreEnough: whatever right a check asks for is given by one of the two parts of
// the script, or the script says why it is not.
func TestGrantsAreEnough(t *testing.T) {
	t.Parallel()
	checks, err := catalogue.Load()
	if err != nil {
		t.Fatal(err)
	}
	all := checks.Of(fleet.SQLServer)
	if len(all) < 50 {
		t.Fatalf("%d checks", len(all))
	}
	name, _ := sqlserver.Engine.Checks.Quote.Identifier("muster")
	for version, a := range map[string]access{"2019": {login: "muster", release: 15}, "2022": {login: "muster", release: 16}, "azure": {login: "muster", azure: true}} {
		first, ok := measured.Grants(version)
		second, also := Grants(version, assessment.ClassifyNames)
		if !ok || !also {
			t.Fatalf("%s: there is no script", version)
		}
		script := first + second
		for _, check := range all {
			if a.Excludes(check) != "" {
				continue
			}
			for _, right := range check.LeastRights() {
				if !given(script, a, right, name) && !strings.Contains(script, check.ID) {
					t.Errorf("%s: %s needs %q", version, check.ID, right)
				}
			}
		}
	}
	for version, want := range map[string]bool{"": true, "2016": true, "13.0.5026.0": true, "17": true, "AZURE": true, "2014": false, "12": false, "x": false} {
		if _, ok := Grants(version, assessment.ClassifyOff); ok != want {
			t.Errorf("%q: %t", version, ok)
		}
	}
	names, _ := Grants("", assessment.ClassifyNames)
	values, _ := Grants("", assessment.ClassifyValues)
	if strings.Contains(names, "SECURABLES") || strings.Count(values, "ALL USER SECURABLES") != 2 || strings.Contains(values, "--values") {
		t.Errorf("%s\n%s", names, values)
	}
}

// TestF19GrantsOnRDS: both scripts grant only what the master user has (Amazon RDS, "Master user account privileges").
func TestF19GrantsOnRDS(t *testing.T) {
	t.Parallel()
	first, ok := measured.Grants("RDS")
	second, also := Grants("rds", assessment.ClassifyValues)
	if !ok || !also {
		t.Fatal("there is no script")
	}
	var granted []string
	for line := range strings.Lines(first + second) {
		if m := permission.FindStringSubmatch(line); m != nil && !strings.HasPrefix(line, "--") {
			granted = append(granted, m[1])
		}
	}
	if got := strings.Join(granted, ", "); got != "VIEW SERVER STATE, VIEW ANY DEFINITION, VIEW ANY DATABASE" {
		t.Errorf("it grants %s", got)
	}
}

var permission = regexp.MustCompile(`GRANT (.+?)(?: ON (\S+))? TO`)

// given says whether a script gives what the statement of a right would, or its narrower
// form from 2022 on.
func given(script string, a access, right, login string) bool {
	statement := a.statement(right)
	if statement == "" { // everybody has it, or nobody should
		return right == "membership in public" || a.azure && right == "VIEW ANY DATABASE" // sys.databases shows the own one to everybody
	}
	asked := permission.FindStringSubmatch(statement)
	wanted := []string{asked[0] + " " + login + ";"}
	if asked[1] == "VIEW SERVER STATE" && a.release >= sqlserver.Release2022 {
		wanted = nil
		for _, narrow := range []string{"VIEW SERVER SECURITY STATE", "VIEW SERVER PERFORMANCE STATE"} {
			if strings.Contains(right, narrow) {
				wanted = append(wanted, "GRANT "+narrow+" TO "+login+";")
			}
		}
	}
	for _, grant := range wanted {
		found := false
		for line := range strings.Lines(script) {
			found = found || strings.HasPrefix(line, grant)
		}
		if !found {
			return false
		}
	}
	return true
}
