package kit

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// tabled are the settings of docs/configuration.md, which a test of internal/config holds to
// the program.
func tabled(t *testing.T) (names []string) {
	t.Helper()
	for _, row := range regexp.MustCompile("(?m)^\\| (`MUSTER_[^|]+) \\|").FindAllStringSubmatch(text(t, "../docs/configuration.md"), -1) {
		names = append(names, regexp.MustCompile("MUSTER_[A-Z_]+").FindAllString(row[1], -1)...)
	}
	if len(names) < 30 {
		t.Fatalf("only %d settings: %v", len(names), names)
	}
	return names
}

// TestTheChartKnowsEverySetting: a setting is one that the chart makes itself, or one that
// values.schema.json lets through. What is neither could not be set, and a name that is
// no setting would be taken and do nothing. helm itself judges the chart in make test-all.
func TestTheChartKnowsEverySetting(t *testing.T) {
	t.Parallel()
	var schema struct {
		Properties map[string]struct {
			AdditionalProperties *bool
			Properties           map[string]any
		}
	}
	if err := json.Unmarshal([]byte(text(t, "helm/muster/values.schema.json")), &schema); err != nil {
		t.Fatal(err)
	}
	var known []string
	for name := range schema.Properties["settings"].Properties {
		known = append(known, name)
	}
	own := map[string]bool{"MUSTER_DEMO": true, "MUSTER_ROLES": true} // refused, and the flag --roles
	for _, file := range []string{"_helpers.tpl", "settings.yaml"} {
		for _, name := range regexp.MustCompile(`(?m)^ +(?:- name: )?(MUSTER_[A-Z_]+)\b`).FindAllStringSubmatch(text(t, "helm/muster/templates/"+file), -1) {
			own[name[1]] = true
		}
	}
	for _, name := range tabled(t) {
		if at := slices.Index(known, name); at >= 0 == own[name] {
			t.Errorf("%s is set by the chart: %t, by whoever installs it: %t", name, own[name], at >= 0)
		} else if at >= 0 {
			known = slices.Delete(known, at, at+1)
		}
		delete(own, name)
	}
	if len(known)+len(own) > 0 {
		t.Errorf("no settings of Muster's: %v, %v", known, own)
	}
	defaults := map[string]any{}
	if err := yaml.Unmarshal([]byte(text(t, "helm/muster/values.yaml")), &defaults); err != nil {
		t.Fatal(err)
	}
	for name := range defaults {
		part, ok := schema.Properties[name]
		if members, is := defaults[name].(map[string]any); !ok || is && (part.AdditionalProperties == nil || *part.AdditionalProperties) {
			t.Errorf("the schema takes anything in %s, with its %d members", name, len(members))
		}
	}
	roles := regexp.MustCompile(`"roles" "([a-z,]+)"`)
	runbook := text(t, "../docs/runbooks/scale-out.md")
	for _, file := range []string{"api", "workers"} {
		found := roles.FindStringSubmatch(text(t, "helm/muster/templates/"+file+".yaml"))
		if found == nil || !strings.Contains(runbook, "muster serve --roles "+found[1]+" ") {
			t.Errorf("%s.yaml has the roles %q, which docs/runbooks/scale-out.md does not have", file, found)
		}
	}
}
