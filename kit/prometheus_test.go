package kit

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// alert is a rule of kit/prometheus/muster.rules.yaml.
type alert struct {
	Alert       string            `yaml:"alert"`
	Expr        string            `yaml:"expr"`
	Labels      map[string]string `yaml:"labels"`
	Annotations map[string]string `yaml:"annotations"`
}

func text(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.FromSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func alerts(t *testing.T) []alert {
	t.Helper()
	var file struct {
		Groups []struct {
			Rules []alert `yaml:"rules"`
		} `yaml:"groups"`
	}
	if err := yaml.Unmarshal([]byte(text(t, "prometheus/muster.rules.yaml")), &file); err != nil || len(file.Groups) != 1 {
		t.Fatalf("%d groups, %v", len(file.Groups), err)
	}
	return file.Groups[0].Rules
}

// panels are the expressions of the dashboard, as Prometheus gets them.
func panels(t *testing.T) (expressions []string) {
	t.Helper()
	var dashboard struct {
		Panels []struct {
			Title, Type string
			Targets     []struct{ Expr string }
		}
	}
	if err := json.Unmarshal([]byte(text(t, "grafana/muster.json")), &dashboard); err != nil {
		t.Fatal(err)
	}
	asked := strings.NewReplacer("$__rate_interval", "5m", "$job", "muster")
	for _, p := range dashboard.Panels {
		if p.Type != "row" && len(p.Targets) == 0 {
			t.Errorf("the panel %q asks for nothing", p.Title)
		}
		for _, target := range p.Targets {
			expressions = append(expressions, asked.Replace(target.Expr))
		}
	}
	return expressions
}

func promtool(t *testing.T, dir string, args ...string) {
	t.Helper()
	tool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed (Debian: apt-get install prometheus)")
	}
	cmd := exec.CommandContext(t.Context(), tool, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// TestTheAlertsOfTheKit has Prometheus' own tool judge the rules, over four processes in
// the layout of docs/runbooks/scale-out.md.
func TestTheAlertsOfTheKit(t *testing.T) {
	t.Parallel()
	promtool(t, "prometheus", "check", "rules", "muster.rules.yaml")
	promtool(t, "prometheus", "test", "rules", "muster.rules_test.yaml")
}

// TestEveryAlertIsTriedAndHasItsRunbook: each fires in a test and stays silent in one,
// and names the section of the page that says what to do.
func TestEveryAlertIsTriedAndHasItsRunbook(t *testing.T) {
	t.Parallel()
	var names []string
	tests, page := text(t, "prometheus/muster.rules_test.yaml"), text(t, "../docs/runbooks/alerts.md")
	for _, a := range alerts(t) {
		names = append(names, a.Alert)
		if !regexp.MustCompile(`alertname: ` + a.Alert + `\n +exp_alerts: \[\{`).MatchString(tests) {
			t.Errorf("no test has %s fire", a.Alert)
		}
		if !strings.Contains(tests, "alertname: "+a.Alert+"}\n") {
			t.Errorf("no test has %s silent", a.Alert)
		}
		if want := "docs/runbooks/alerts.md#" + strings.ToLower(a.Alert); a.Annotations["runbook"] != want || a.Annotations["summary"] == "" {
			t.Errorf("%s has the runbook %q and the summary %q", a.Alert, a.Annotations["runbook"], a.Annotations["summary"])
		}
		if s := a.Labels["severity"]; s != "warning" && s != "critical" {
			t.Errorf("%s is %q", a.Alert, s)
		}
	}
	var sections []string
	for _, section := range strings.Split(page, "\n## ")[1:] {
		name, rest, _ := strings.Cut(section, "\n")
		sections = append(sections, name)
		if !regexp.MustCompile(`(?s)^\n\*\*It means\*\* .+\n\n\*\*Look\*\*\n\n.+\n\n\*\*Do\*\*\n\n.+\n\n\*\*It is over\*\* .+\n$`).MatchString(rest + "\n") {
			t.Errorf("the section %s does not say what it means, where to look, what to do and when it is over", name)
		}
	}
	if !slices.Equal(names, sections) {
		t.Errorf("the rules are\n%v\nthe page has\n%v", names, sections)
	}
}

// TestTheDashboardParses has promtool read every expression of the dashboard as a rule.
func TestTheDashboardParses(t *testing.T) {
	t.Parallel()
	var rules []map[string]string
	for _, expression := range panels(t) {
		rules = append(rules, map[string]string{"record": "panel:" + string(rune('a'+len(rules)%26)) + strings.Repeat("x", len(rules)/26), "expr": expression})
	}
	if len(rules) < 25 {
		t.Errorf("only %d expressions", len(rules))
	}
	file, err := yaml.Marshal(map[string]any{"groups": []any{map[string]any{"name": "panels", "rules": rules}}})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "panels.yaml"), file, 0o600); err != nil {
		t.Fatal(err)
	}
	promtool(t, dir, "check", "rules", "panels.yaml")
}

// TestFiguresOfTheKitAreDocumented: what rules and panels ask for is in the table that
// TestTheScaleOutLayout holds against running processes.
func TestFiguresOfTheKitAreDocumented(t *testing.T) {
	t.Parallel()
	table := text(t, "../docs/operators.md")
	expressions := panels(t)
	for _, a := range alerts(t) {
		expressions = append(expressions, a.Expr)
	}
	figure := regexp.MustCompile(`\bmuster_[a-z_]+`)
	suffix := regexp.MustCompile(`_(bucket|sum|count)$`)
	for _, expression := range expressions {
		for _, name := range figure.FindAllString(expression, -1) {
			if !strings.Contains(table, "`"+suffix.ReplaceAllString(name, "")+"`") {
				t.Errorf("%s asks for %s, which docs/operators.md does not explain", expression, name)
			}
		}
	}
}
