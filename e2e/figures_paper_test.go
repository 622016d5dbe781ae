package e2e

import (
	"encoding/csv"
	"fmt"
	"maps"
	"net/http"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// paper is a document as a reader has it: the text of its pages, and its tables.
type paper struct {
	*drawn
	kind     string
	about    *drawnServer // of a scorecard; nil: all
	before   *paper       // the report before, with which it compares itself
	id       uuid.UUID
	asOf     time.Time         // as it prints it
	sections map[string]string // by title; "1" is the first page
	tables   map[string][]map[string]string
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// printedSections are the titles of the numbered sections, by kind.
var printedSections = map[string][]string{
	"Security":          {"Summary", "Versions and known vulnerabilities", "Security findings", "Privileged accounts", "Remediation plan", "Coverage and methodology", "CVE appendix"},
	"InstanceScorecard": {"Overall health", "Resource utilization", "Alert history", "Remediation plan", "Recommendations", "Detailed results"},
	"DataInventory":     {"Summary", "Sensitive tables by category", "Encryption coverage", "Exceptions worklist", "Risk register", "Coverage and methodology"},
}

// footer is what stands below each page.
var footer = regexp.MustCompile(`(Security report|Per-instance scorecard|Data inventory) · [^·]{1,80} (· [^·]{1,80} )?Snapshot .{1,30} UTC Confidential · .{1,80} · request [0-9a-f-]{36} Page \d+ of \d+|Confidential · .{1,80} · request [0-9a-f-]{36} Page 1 of \d+`)

// read requests a document, and reads it when it is ready.
func (d *drawn) read(w wish) *paper {
	d.Helper()
	tool, err := exec.LookPath("pdftotext")
	if err != nil {
		d.Skip("pdftotext is missing: install poppler-utils to take the figures of reports back to their sources")
	}
	p := &paper{drawn: d, kind: w.Kind, id: d.ana.request(d.T, w), tables: map[string][]map[string]string{}}
	if w.Kind == "InstanceScorecard" {
		p.about = d.subject
	}
	d.ana.await(d.T, p.id, "Ready")
	files := "/api/v1/reports/" + p.id.String() + "/files"
	cmd := exec.CommandContext(d.Context(), tool, "-raw", "-enc", "UTF-8", "-", "-")
	cmd.Stdin = strings.NewReader(string(d.ana.get(d.T, files+"/report.pdf", nil).body))
	out, err := cmd.Output()
	if err != nil {
		d.Fatal(err)
	}
	p.cut(string(out))
	for _, name := range map[string][]string{"DataInventory": {"inventory.csv"}}[w.Kind] {
		p.table(files, name)
	}
	if w.Kind != "DataInventory" {
		for _, name := range []string{"findings.csv", "cves.csv", "accounts.csv"} {
			p.table(files, name)
		}
	}
	return p
}

// cut divides the text by sections.
func (p *paper) cut(text string) {
	p.Helper()
	first, rest, _ := strings.Cut(text, "\f")
	clean := func(text string) string {
		return footer.ReplaceAllString(strings.Join(strings.Fields(text), " "), "")
	}
	p.sections = map[string]string{"1": clean(first)}
	rest = clean(rest)
	titles := printedSections[p.kind]
	for i, title := range titles {
		at := strings.Index(rest, fmt.Sprintf("%d %s ", i+1, title))
		if at < 0 {
			p.Fatalf("%s has no section %q", p.kind, title)
		}
		rest = rest[at:]
		end := len(rest)
		if i+1 < len(titles) {
			if end = strings.Index(rest, fmt.Sprintf(" %d %s ", i+2, titles[i+1])); end < 0 {
				p.Fatalf("%s has no section %q", p.kind, titles[i+1])
			}
		}
		p.sections[title], rest = rest[:end], rest[min(end+1, len(rest)):]
	}
	at := regexp.MustCompile(`Snapshot (\d+ \w+ \d{4} \d\d:\d\d:\d\d) UTC`).FindStringSubmatch(p.sections["1"])
	if at == nil {
		p.Fatal("the first page does not say of when it is")
	}
	var err error
	if p.asOf, err = time.Parse("2 Jan 2006 15:04:05", at[1]); err != nil {
		p.Fatal(err)
	}
}

// table reads a companion.
func (p *paper) table(files, name string) {
	p.Helper()
	body := strings.TrimPrefix(string(p.ana.call(p.T, http.StatusOK, http.MethodGet, files+"/"+name, nil, nil).body), "\ufeff")
	rows, err := csv.NewReader(strings.NewReader(body)).ReadAll()
	if err != nil {
		p.Fatal(name, err)
	}
	p.tables[name] = []map[string]string{}
	for _, row := range rows[1:] {
		record := map[string]string{}
		for i, column := range rows[0] {
			record[column] = row[i]
		}
		p.tables[name] = append(p.tables[name], record)
	}
}

// pattern finds words whose spaces are those of the page. A cell may be wrapped within a word.
func pattern(words string) *regexp.Regexp {
	var out strings.Builder
	out.WriteString(`(?:^|[\s(“])`)
	for _, r := range words {
		switch r {
		case ' ':
			out.WriteString(`\s`)
		case '{', '|', '}': // one of two figures, see decimal
			out.WriteString(map[rune]string{'{': "(?:", '|': "|", '}': ")"}[r])
		case '‹': // some words that are taken back elsewhere
			out.WriteString(`.{1,60}?`)
		case '«': // more of them
			out.WriteString(`.{1,500}?`)
		default:
			out.WriteString(regexp.QuoteMeta(string(r)) + ` ?`)
		}
	}
	out.WriteString(`(?:[\s.,;:)”·]|$)`)
	return regexp.MustCompile(strings.ReplaceAll(out.String(), ` ?\s`, `\s`))
}

// says takes a figure or a sentence of a section back: it has to stand there as it follows from another source. kind is
// what it is about.
func (p *paper) says(kind, section, format string, args ...any) bool {
	p.Helper()
	words := fmt.Sprintf(format, args...)
	p.printed[kind]++
	text, known := p.sections[section]
	if !known {
		p.Fatalf("no section %q", section)
	}
	if pattern(words).MatchString(text) {
		return true
	}
	p.Errorf("%s of %s, %s: not %q\nbut %s", p.kind, p.name, section, words, nearest(text, words))
	return false
}

// agrees takes a figure of a table or of the API back.
func (p *paper) agrees(kind string, is, want any) {
	p.Helper()
	p.tabled[kind]++
	if fmt.Sprint(is) != fmt.Sprint(want) {
		p.Errorf("%s of %s, %s: %v, want %v", p.kind, p.name, kind, is, want)
	}
}

// nearest is where a text has the longest beginning of words.
func nearest(text, words string) string {
	parts := strings.Fields(words)
	for n := len(parts); n > 0; n-- {
		if at := strings.Index(text, strings.Join(parts[:n], " ")); at >= 0 {
			return fmt.Sprintf("…%.900s…", text[at:])
		}
	}
	return fmt.Sprintf("%.240s…", text)
}

// count is a number with its noun.
func count(n int, single, many string) string {
	if n == 1 {
		return "1 " + single
	}
	return grouped(int64(n)) + " " + many
}

// grouped is a number with a comma between thousands.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// decimal is a number with one decimal. If it lies between two, either will do: which one depends on the order of a sum.
func decimal(x float64) string {
	below, above := fmt.Sprintf("%.1f", x-1e-9), fmt.Sprintf("%.1f", x+1e-9)
	if below == above {
		return below
	}
	return "{" + below + "|" + above + "}"
}

func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }

func minute(t time.Time) string { return t.UTC().Format("2 Jan 2006 15:04") + " UTC" }

// calendarDays is the number of dates from one time to another.
func calendarDays(from, to time.Time) int {
	a, b := from.UTC(), to.UTC()
	return int(time.Date(b.Year(), b.Month(), b.Day(), 0, 0, 0, 0, time.UTC).Sub(time.Date(a.Year(), a.Month(), a.Day(), 0, 0, 0, 0, time.UTC)).Hours()) / 24
}

// lateBy is for how many days something has been overdue, a day that has begun counting.
func lateBy(due, now time.Time) int {
	n := 0
	for at := due; at.Before(now); at = at.Add(24 * time.Hour) {
		n++
	}
	return n
}

// firstNames joins the first names, and counts the others.
func firstNames(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
}
