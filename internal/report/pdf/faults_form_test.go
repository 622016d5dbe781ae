package pdf_test

import (
	"bytes"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"muster/domain/report"
	"muster/internal/report/pdf/blocks"
	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
	"muster/internal/report/snapshot/snapshottest"
)

// TestFault44ACardHasUndoAndCheck: the statement that undoes the fix, and the one that shows whether the finding is closed.
func TestFault44ACardHasUndoAndCheck(t *testing.T) {
	t.Parallel()
	doc := snapshottest.Rich(report.Security)
	eachResult(doc, func(r *snapshot.CheckResult) {
		for i := range r.Violations {
			r.Violations[i].Fix = &snapshot.Fix{Statement: "ALTER ROLE app NOSUPERUSER;", Rollback: "ALTER ROLE app SUPERUSER;"}
		}
	})
	for i := range doc.Checks {
		doc.Checks[i].Verify = &snapshot.Verification{Before: "SELECT 1 FROM pg_roles WHERE rolname = ", After: " AND rolsuper;"}
	}
	says(t, renderer(t), doc, []string{"ALTER ROLE app NOSUPERUSER;", "Undo ALTER ROLE app SUPERUSER;", "SELECT 1 FROM pg_roles WHERE rolname = ", "Returns no row once it is closed."}, nil)
	for i := range doc.Checks {
		doc.Checks[i].Verify.After = strings.Repeat(" AND rolsuper AND rolcanlogin", 12) + ";"
	}
	says(t, renderer(t), doc, []string{"findings.csv has the query that shows it (verify)."}, []string{"SELECT 1 FROM pg_roles WHERE rolname = ", "Returns no row once it is closed."})
	demoSays(t, "security", []string{"Undo ALTER LOGIN [tmp_migration] ENABLE;", "No statement restores it"}, nil)
}

// TestFault42LinksMatchTheServersMajor, in cards about servers of one major.
func TestFault42LinksMatchTheServersMajor(t *testing.T) {
	t.Parallel()
	for reference, want := range map[[2]string]string{
		{"https://www.postgresql.org/docs/15/sql-alterrole.html", "12"}:                 "https://www.postgresql.org/docs/12/sql-alterrole.html",
		{"https://www.postgresql.org/docs/15/sql-alterrole.html", ""}:                   "https://www.postgresql.org/docs/15/sql-alterrole.html",
		{"https://learn.microsoft.com/x?view=sql-server-ver16", "2019"}:                 "https://learn.microsoft.com/x?view=sql-server-ver15",
		{"https://learn.microsoft.com/x?view=sql-server-ver16", "2031"}:                 "https://learn.microsoft.com/x?view=sql-server-ver16",
		{"https://docs.oracle.com/en/database/oracle/oracle-database/19/a.html", "21c"}: "https://docs.oracle.com/en/database/oracle/oracle-database/19/a.html",
	} {
		if got := analysis.AddressFor(reference[0], reference[1]); got != want {
			t.Errorf("%s for %s: %s, want %s", reference[0], reference[1], got, want)
		}
	}
	file, _ := demoFile(t, "scorecard") // of a server of PostgreSQL 12
	for address := range addresses(file) {
		if strings.Contains(address, "postgresql.org/docs/") && !strings.Contains(address, "/docs/12/") && !strings.Contains(address, "/docs/current/") {
			t.Errorf("it leads to %s", address)
		}
	}
}

// TestFault46EachFileHasATitleOfItsOwn: the server's, the scope's or the organization's, and the day; and so has each page.
func TestFault46EachFileHasATitleOfItsOwn(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"security": "Security report of 2026-11-23 – Demo organization", "inventory": "Data inventory of 2026-11-23 – Demo organization",
		"scorecard": "Per-instance scorecard of 2026-11-23 – demo-pg-legacy-01 – Demo organization",
	} {
		file, _ := demoFile(t, name)
		if !bytes.Contains(file, utf16(want)) {
			t.Errorf("%s: the title is not %q", name, want)
		}
	}
	file, _ := demoFile(t, "scorecard")
	for i, page := range words(t, file) {
		if !strings.Contains(page, "demo-pg-legacy-01") || i > 0 && !strings.Contains(page, "Per-instance scorecard · demo-pg-legacy-01 · Demo organization") {
			t.Errorf("page %d does not name the server: %.200s", i+1, page)
		}
	}
}

// luminance is the relative luminance of a color (WCAG 2.2).
func luminance(c typeset.Color) float64 {
	channel := func(shift uint) float64 {
		v := float64(c>>shift&0xFF) / 255
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*channel(16) + 0.7152*channel(8) + 0.0722*channel(0)
}

func contrast(a, b typeset.Color) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// TestFault48EveryColorOfTextHasAContrastOf45, on paper and on the washes that text stands on.
func TestFault48EveryColorOfTextHasAContrastOf45(t *testing.T) {
	t.Parallel()
	text := map[string]typeset.Color{"ink": blocks.Ink, "muted": blocks.Muted, "accent": blocks.Accent, "good": blocks.Good, "caution": blocks.Caution, "overdue": blocks.OverdueStyle.Color}
	for severity, color := range blocks.SeverityColor {
		text[severity] = color
	}
	for name, color := range text {
		for _, ground := range []typeset.Color{blocks.White, blocks.Wash} {
			if c := contrast(color, ground); c < 4.5 {
				t.Errorf("%s on %06x has a contrast of %.2f", name, ground, c)
			}
		}
	}
	for severity, tint := range blocks.SeverityTint {
		ink := blocks.Ink
		if severity == analysis.Critical {
			ink = blocks.White
		}
		if c := contrast(ink, tint); c < 4.5 {
			t.Errorf("the letter of %s has a contrast of %.2f", severity, c)
		}
	}
}

// TestFault48NoTypeIsTooSmall: body 10 points, tables 9, and nothing below 8.
func TestFault48NoTypeIsTooSmall(t *testing.T) {
	t.Parallel()
	if blocks.BodyStyle.Size < 10 || blocks.CellStyle.Size < 9 || blocks.CellStrong.Size < 9 || blocks.CellMuted.Size < 9 {
		t.Errorf("body %v, tables %v", blocks.BodyStyle.Size, blocks.CellStyle.Size)
	}
	size := regexp.MustCompile(`/F[0-9a-f]+ ([0-9.]+) Tf`)
	for _, name := range demoDocuments {
		file, _ := demoFile(t, name)
		for _, m := range size.FindAllSubmatch(drawn(t, file), -1) {
			if points := string(m[1]); len(points) < 4 || points[1] == '.' && points < "8" {
				t.Fatalf("%s has type of %s points", name, points)
			}
		}
	}
}

// TestFault49NoCardIsTorn: each page of findings that has a card's head has its foot, too.
func TestFault49NoCardIsTorn(t *testing.T) {
	t.Parallel()
	file, _ := demoFile(t, "security")
	heads := regexp.MustCompile(`(Overdue by|Due in) \d+ days?`)
	feet := regexp.MustCompile(`(MS|OR|PG)-\w+ · steps? `)
	cards := 0
	for i, page := range words(t, file)[1:] {
		head, foot := len(heads.FindAllString(page, -1)), len(feet.FindAllString(page, -1))
		if head != foot {
			t.Errorf("page %d has the heads of %d cards and the feet of %d", i+2, head, foot)
		}
		cards += head
	}
	if cards < 30 {
		t.Errorf("only %d cards", cards)
	}
}

// TestFault50CommonTextIsPrintedOnce: the witness, and text that is true of all statements.
func TestFault50CommonTextIsPrintedOnce(t *testing.T) {
	t.Parallel()
	doc := demoDocument(t, "security")
	file, _ := render(t, renderer(t), doc)
	all := strings.Join(words(t, file), " ")
	for text, most := range map[string]int{
		doc.Witness.Hash: 1, "The statement has not been tried on a live server.": 0, "try them on a copy first": 1,
		"PostgreSQL 12 was out of support; nobody looked": 1,
	} {
		if n := strings.Count(all, text); n > most {
			t.Errorf("%q stands %d times, want %d", text, n, most)
		}
	}
}

// TestTheDemoIsShort: the goals for the demo's documents.
func TestTheDemoIsShort(t *testing.T) {
	t.Parallel()
	for name, most := range map[string]int{"security": 18, "scorecard": 8, "inventory": 11} {
		if _, rendered := demoFile(t, name); rendered.Pages > most {
			t.Errorf("%s has %d pages, want at most %d", name, rendered.Pages, most)
		}
	}
}

// TestPageOneHasOneSentenceFirst, and the map of servers and areas.
func TestPageOneHasOneSentenceFirst(t *testing.T) {
	t.Parallel()
	file, _ := demoFile(t, "security")
	page := words(t, file)[0]
	for _, want := range []string{
		"43 critical and high findings are overdue, 34 of them on demo-mssql-erp-02 and demo-pg-legacy-01.",
		"Sign-in Rights Encryption Exposure Audit Patches", "demo-pg-identity-01 0 0 0 0 0 0 Nov 2029",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q: %s", want, page)
		}
	}
}

// TestFault15DormantAccountsComeFirst, with the word, and no column says the same in every row.
func TestFault15DormantAccountsComeFirst(t *testing.T) {
	t.Parallel()
	demoSays(t, "security", []string{" 2 of them are dormant.", "dormant"}, []string{"unknown unknown", "Password Valid until"})
}

// TestFault41SparseSamplesAreMarked: an hour with one sample counts as measured, so the minutes stand beside
// it, in bold if they are few.
func TestFault41SparseSamplesAreMarked(t *testing.T) {
	t.Parallel()
	demoSays(t, "scorecard", []string{"717 of 720 5,582 minutes of 43,020 (13%)"}, nil)
	says(t, renderer(t), snapshottest.Rich(report.InstanceScorecard), []string{"692 of 720 41,414 minutes of 41,520"}, []string{"41,520 (100%)"})
}

// TestFault37AndFault38AnInventoryExplainsItsSources: which servers have no security checks, that values were
// sampled, and where the encryption of volumes is known from.
func TestFault37AndFault38AnInventoryExplainsItsSources(t *testing.T) {
	t.Parallel()
	demoSays(t, "inventory", []string{
		"3 of 14 instances were not checked for security", "values were sampled", "It is known where a feed reported it.",
	}, []string{"column names only, no values sampled", "3 of 14 instances were not assessed"})
}

// TestFault13ACheckIsOneCard: the findings of one server share a row, so that a finding for each CVE prints as one.
func TestFault13ACheckIsOneCard(t *testing.T) {
	t.Parallel()
	file, _ := demoFile(t, "security")
	all := strings.Join(words(t, file), " ")
	if n := strings.Count(all, "Minor version has known vulnerabilities High"); n > 1 {
		t.Errorf("the check has %d cards", n)
	}
	if !regexp.MustCompile(`CVE-[0-9-]+ and \d+ more demo-pg-muster-01`).MatchString(all) {
		t.Error("the findings of one server are not in one row")
	}
}

// TestFault47DocumentsAreTagged: one title, a heading for each section, and tables with heads.
func TestFault47DocumentsAreTagged(t *testing.T) {
	t.Parallel()
	for _, name := range demoDocuments {
		file, _ := demoFile(t, name)
		if all := pdfInfo(t, file); !regexp.MustCompile(`Tagged: +yes`).MatchString(all) {
			t.Errorf("%s: %s", name, all)
		}
		structure := pdfInfo(t, file, "-struct")
		if n := strings.Count(structure, "\n  H1 "); n != 1 || strings.Contains(strings.ToLower(structure), "error") {
			t.Errorf("%s: %d titles: %.3000s", name, n, structure)
		}
		for kind, least := range map[string]int{"H2 ": 6, "H3 ": 4, "Table ": 8, "TR\n": 40, "TH:": 30, "TD\n": 200} {
			if n := strings.Count(structure, kind); n < least {
				t.Errorf("%s: %d of %s, want %d", name, n, kind, least)
			}
		}
	}
}

// TestFault47EveryTextIsInTheStructure but running heads and feet, of a short document: poppler takes a minute for the
// text of a long one.
func TestFault47EveryTextIsInTheStructure(t *testing.T) {
	t.Parallel()
	document := snapshottest.Empty(report.InstanceScorecard)
	file, _ := render(t, renderer(t), document)
	spaces := regexp.MustCompile(`[\s"]+`)
	text := spaces.ReplaceAllString(pdfInfo(t, file, "-struct-text"), "")
	for i, page := range words(t, file) {
		for word := range strings.FieldsSeq(page) {
			if !strings.Contains(text, word) && word != "Confidential" && !strings.Contains("·request…Page 1 2 of Per-instance scorecard "+document.Organization.Name, word) {
				t.Errorf("%q of page %d is in no element", word, i+1)
			}
		}
	}
	verdict, contents := strings.Index(text, "Noinstanceisinscope"), strings.Index(text, "1Overallhealth")
	if verdict < 0 || contents < verdict {
		t.Errorf("the verdict is read at %d, the contents at %d", verdict, contents)
	}
}

// pdfInfo is what pdfinfo says of a file.
func pdfInfo(t *testing.T, file []byte, arguments ...string) string {
	t.Helper()
	tool, err := exec.LookPath("pdfinfo")
	if err != nil {
		t.Skip("pdfinfo is missing: install poppler-utils to check the structure of the reports")
	}
	cmd := exec.CommandContext(t.Context(), tool, append(arguments, "-")...)
	cmd.Stdin = bytes.NewReader(file)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// TestFault47QPDFFindsNoFault in the demo's documents.
func TestFault47QPDFFindsNoFault(t *testing.T) {
	t.Parallel()
	tool, err := exec.LookPath("qpdf")
	if err != nil {
		t.Skip("qpdf is missing: install it to check the form of the reports")
	}
	for _, name := range demoDocuments {
		file, _ := demoFile(t, name)
		path := filepath.Join(t.TempDir(), name+".pdf")
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.CommandContext(t.Context(), tool, "--check", path).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", name, err, out)
		}
	}
}

// TestFault43OneServerIsNotCountedTwice in words of what feeds reported.
func TestFault43OneServerIsNotCountedTwice(t *testing.T) {
	t.Parallel()
	doc := fed(report.Security)
	doc.Instances = doc.Instances[:1]
	says(t, renderer(t), doc, []string{"Not applicable: no monitoring role signed in; feeds reported 1 assessed instance."}, []string{"1 the assessed"})
}

// TestFault53ChartsAreSmallAndShowPeaks: three lines share a third of a page, four hours above 80% of a month are
// seen, and the alerts are not listed twice.
func TestFault53ChartsAreSmallAndShowPeaks(t *testing.T) {
	t.Parallel()
	orange := func(above float64) (n int) {
		u := disk(30, 20, 0)
		for h := 100; h < 104; h++ {
			u.DiskPercent[h] = &above
		}
		file, _ := render(t, renderer(t), used(u))
		for i, page := range words(t, file) {
			if !strings.Contains(page, "By hour") {
				continue
			}
			img := picture(t, file, i+1)
			for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y++ {
				for x := img.Bounds().Min.X; x < img.Bounds().Max.X; x++ {
					if r, g, b, _ := img.At(x, y).RGBA(); r > g+0x2000 && r > b+0x3000 {
						n++
					}
				}
			}
		}
		return n
	}
	if without, with := orange(79), orange(99); with < without+10 {
		t.Errorf("%d pixels show four hours above 80%%, %d without one", with, without)
	}
	doc := snapshottest.Rich(report.InstanceScorecard)
	file, _ := render(t, renderer(t), doc)
	all := strings.Join(words(t, file), " ")
	_, list, _ := strings.Cut(all, "Alerts, the worst and longest first")
	list, _, _ = strings.Cut(list, "further alerts: see the page Alerts.")
	if n := len(regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d (Open|Resolved|Auto-resolved)`).FindAllString(list, -1)); n != 4 {
		t.Errorf("%d alerts are listed, want the worst 4", n)
	}
}
