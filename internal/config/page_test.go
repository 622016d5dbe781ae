package config

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/configuration.md")

const page = "../../docs/configuration.md"

// more is where the documentation tells more about a setting.
var more = map[string]string{
	"ops-listen":              "operators.md#processes-without-the-api",
	"roles":                   "runbooks/scale-out.md",
	"mcp":                     "assistants.md",
	"budget-bytes":            "operators.md#budgets",
	"budget-events":           "operators.md#budgets",
	"budget-open-alerts":      "operators.md#budgets",
	"budget-token-share":      "operators.md#budgets",
	"target-networks":         "operators.md#which-servers-may-be-registered",
	"channel-networks":        "operators.md#where-notifications-may-go",
	"trusted-proxies":         "operators.md#behind-a-proxy",
	"log-format":              "operators.md#logs",
	"database-url":            "operators.md#a-postgresql-that-fails-over",
	"blob-url":                "operators.md#object-stores",
	"measurements-url":        "operators.md#measurements-in-clickhouse",
	"secret-key-file":         "runbooks/rotate-keys.md",
	"feed-key":                "operators.md#releases-and-vulnerabilities",
	"signing-cert-file":       "auditors.md#keys",
	"signing-key-file":        "auditors.md#keys",
	"proof-public":            "auditors.md#checkpoints",
	"tsa-url":                 "auditors.md#time-stamps",
	"witnesses":               "auditors.md#witnesses",
	"smtp-url":                "operators.md#the-mail-server",
	"smtp-hello":              "operators.md#the-mail-server",
	"oidc-issuer":             "identity-provider.md",
	"oidc-client-id":          "identity-provider.md",
	"oidc-client-secret-file": "identity-provider.md",
}

const head = `# Configuration

You set Muster by environment variables or by flags of ` + "`muster`" + `. A flag has the variable's name in lower case:
` + "`MUSTER_PUBLIC_URL` is `--public-url`" + `. A flag wins over its variable, and an empty variable counts as not set.
` + "`muster serve`" + ` reports all broken settings together and does not start; it warns about a ` + "`MUSTER_*`" + ` variable that
it does not know.

OpenTelemetry has [variables of its own](operators.md#traces) (` + "`OTEL_EXPORTER_OTLP_ENDPOINT`" + ` …), and so has AWS for
[object stores](operators.md#object-stores).

<!-- go test ./internal/config -run TestTheConfigurationPage -update writes this page from settings.go. -->
`

// TestTheConfigurationPage holds docs/configuration.md to the table of settings.
func TestTheConfigurationPage(t *testing.T) {
	t.Parallel()
	want, c := head, &Config{}
	known := map[string]bool{}
	for _, group := range []struct {
		title    string
		settings []setting
	}{
		{"Serving", servingSettings(c)},
		{"Storage", storingSettings(c)},
		{"Proofs", provingSettings(c)},
		{"People and mail", peopleSettings(c)},
	} {
		want += "\n## " + group.title + "\n\n| Variable | Default | Meaning | More |\n|---|---|---|---|\n"
		for _, s := range group.settings {
			known[s.flag] = true
			want += documented(t, s)
		}
	}
	for _, s := range settings(c) {
		if !known[s.flag] {
			t.Errorf("--%s is in no group of the page", s.flag)
		}
	}
	for name := range more {
		if !known[name] {
			t.Errorf("there is more about --%s, which is no setting", name)
		}
	}
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil { //nolint:gosec // a page of the documentation
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(page); err != nil || string(got) != want {
		t.Errorf("docs/configuration.md is not what settings.go has (%v); -update writes it:\n%s", err, want)
	}
}

var (
	impliedDefault = regexp.MustCompile(` \(default ([^()]+)\)`)
	verbatim       = regexp.MustCompile(`\S*(?:://|<[a-z-]+>)[^\s),;]*(?:,host…\S*)?`)
)

// documented is a setting's row in the page.
func documented(t *testing.T, s setting) string {
	t.Helper()
	implied := "none"
	meaning := strings.ReplaceAll(s.help, "`", "")
	if found := impliedDefault.FindStringSubmatch(meaning); found != nil {
		implied = verbatim.ReplaceAllString(found[1], "`$0`")
		meaning = strings.Replace(meaning, found[0], "", 1)
	}
	if s.fallback != "" {
		implied = "`" + s.fallback + "`"
	}
	link := ""
	if to := more[s.flag]; to != "" {
		link = fmt.Sprintf("[%s](%s)", headingOf(t, to), to)
	}
	meaning = verbatim.ReplaceAllString(meaning, "`$0`")
	return fmt.Sprintf("| `%s` | %s | %s%s | %s |\n", s.variable(), implied, strings.ToUpper(meaning[:1]), meaning[1:], link)
}

// headingOf is the heading that an address within docs/ leads to; without one, the title of the page.
func headingOf(t *testing.T, address string) string {
	t.Helper()
	file, anchor, _ := strings.Cut(address, "#")
	text, err := os.ReadFile("../../docs/" + file)
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(string(text), -1) {
		if anchor == "" || anchor == strings.ReplaceAll(strings.ToLower(found[1]), " ", "-") {
			return found[1]
		}
	}
	t.Errorf("docs/%s has no heading %s", file, anchor)
	return ""
}
