package mail_test

import (
	"html"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/internal/mail"
)

func briefed() mail.ReadyNotice {
	n := notice()
	n.ScopeLabel = "All active instances"
	n.Findings = &mail.Findings{
		Open: 120, Since: &n.AsOf, New: 3, Closed: 4,
		Looked: &mail.Looked{Instances: 14, Assessed: 11, Critical: 2, High: 62, Overdue: 43, OpenCVEs: 247, WorstCVSS: 9.9},
	}
	n.Brief = &mail.Brief{
		State: "Critical", Color: mail.StateColor("Critical", false),
		Verdict: "43 critical and high findings are overdue, 34 of them on demo-mssql-erp-02 and demo-pg-legacy-01.",
		Rest:    "3 of 14 instances were not assessed.",
		Facts: []mail.Fact{
			{Label: "Overdue", Words: "43 critical and high findings"}, {Label: "New", Words: "1 critical, 2 high"}, {Label: "Closed", Words: "4 medium"},
			{Label: "Do first", Words: "Logins have no password, or their name as one: <b>tmp_migration</b> ${Link}", Begins: true},
			{Label: "Server", Words: "demo-mssql-erp-02"}, {Label: "Owner", Words: "ERP team"}, {Label: "Due", Words: "2026-11-26, 3 days overdue"},
		},
	}
	return n
}

// TestAReadyMailHasTheVerdictAndTheFirstAction in both parts and in the same words, before everything else,
// with the state of the verdict in the subject. Text of machines is text.
func TestAReadyMailHasTheVerdictAndTheFirstAction(t *testing.T) {
	t.Parallel()
	n := briefed()
	m := compose(t, n, ana)
	if want := " (Critical: 3 new, 4 closed, 120 open (2 critical, 62 high), 43 overdue, "; !strings.Contains(m.Subject, want) {
		t.Errorf("subject %q lacks %q", m.Subject, want)
	}
	o, dir := outbox(t)
	if _, err := o.Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(filepath.Join(dir, m.Name+".eml"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	_, bodies := parts(t, f)
	for kind, body := range bodies {
		words := strings.Join(strings.Fields(body), " ")
		if kind == "text/html" {
			if strings.Contains(body, "<b>tmp_migration</b>") {
				t.Error("the name of a login reached the HTML unescaped")
			}
			words = strings.Join(strings.Fields(html.UnescapeString(words)), " ")
		}
		at := strings.Index(words, "The report is ready")
		for _, want := range append([]mail.Fact{{Label: "Verdict", Words: "43 critical and high findings are overdue, 34 of them on"}, {Label: "Verdict", Words: n.Brief.Rest}}, n.Brief.Facts...) {
			if i := strings.Index(words, want.Words); i < 0 || i > at || !strings.Contains(words, want.Label) {
				t.Errorf("%s part does not say %v before that the report is ready:\n%s", kind, want, body)
			}
		}
	}
	for line := range strings.Lines(bodies["text/plain"]) {
		if strings.Contains(line, "demo-pg-legacy-01") && len(line) > 79 {
			t.Errorf("a line of %d bytes: %s", len(line), line)
		}
	}
}

// TestAMailIsGreenOnlyUnderAGreenVerdict: no state is green if the verdict may not be.
func TestAMailIsGreenOnlyUnderAGreenVerdict(t *testing.T) {
	t.Parallel()
	green := mail.StateColor("Clean", true)
	for _, state := range []string{"Critical", "High", "Medium", "Low", "Unknown", "Nothing", "Clean", "another"} {
		if mail.StateColor(state, false) == green {
			t.Errorf("%s is green", state)
		}
	}
}
