package e2e

import (
	"context"
	"fmt"
	"maps"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// The alerts of kit/prometheus and docs/runbooks/alerts.md, on running processes. Each
// trouble is brought about, and the figures of all processes are taken as Prometheus would
// take them: before it came, while it lasted, and when it had been put right by what the
// page says. Debian's promtool then judges the rules over these figures. Minutes and hours
// are not waited for: of three scrapes it gets a course of some hours, in which each state
// lasts as long as the rules ask for (see course). What a figure needs more time for than a
// test has is set back in the database, and the trouble says so.

// trouble is something that goes wrong, and how it is put right.
type trouble struct {
	alerts []string
	// comes brings it about, and returns when the figures show it.
	comes func(t *testing.T)
	// fails are beginnings of commands that end with a status, because they say what is wrong.
	fails []string
	// says are words in what the commands of Look print.
	says []string
	// goes does what the page has people do by no command, before those of Do; nil: nothing.
	goes func(t *testing.T)
	// over says whether the figures are well again; nil: the rule looks back, and nothing new comes.
	over func(t *testing.T) bool
}

// section is what the page has on an alert.
type section struct {
	queries  []string
	look, do []string // lines of shell
}

// alertSections reads docs/runbooks/alerts.md.
func alertSections(t testing.TB) map[string]section {
	t.Helper()
	sections := map[string]section{}
	for _, text := range strings.Split(readText(t, "docs/runbooks/alerts.md"), "\n## ")[1:] {
		name, text, _ := strings.Cut(text, "\n")
		look, do, ok := strings.Cut(text, "\n**Do**\n")
		if !ok {
			t.Errorf("%s: there is nothing to do", name)
		}
		var s section
		for _, block := range regexp.MustCompile("(?s)```(\\w+)\n(.*?)\n```").FindAllStringSubmatch(look, -1) {
			switch block[1] {
			case "promql":
				s.queries = append(s.queries, block[2])
			case "sh":
				s.look = append(s.look, strings.Split(block[2], "\n")...)
			}
		}
		for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)\n```").FindAllStringSubmatch(do, -1) {
			s.do = append(s.do, strings.Split(block[1], "\n")...)
		}
		if len(s.queries) == 0 || len(s.look) == 0 {
			t.Errorf("%s: %d queries and %d commands say what is wrong", name, len(s.queries), len(s.look))
		}
		sections[name] = s
	}
	return sections
}

// alertRules are the expressions of kit/prometheus, by alert.
func alertRules(t testing.TB) map[string]string {
	t.Helper()
	rules := map[string]string{}
	for _, rule := range regexp.MustCompile(`(?m)^ +- alert: (\w+).*\n +expr: (.*)$`).FindAllStringSubmatch(readText(t, "kit/prometheus/muster.rules.yaml"), -1) {
		rules[rule[1]] = rule[2]
	}
	return rules
}

// moment is what a scrape of all processes shows: by the label instance, series and value.
// A process that does not answer has up alone.
type moment map[string]map[string]float64

// ward is an installation whose processes are watched.
type ward struct {
	house
	watched   map[string]func() (client, bool) // by the label instance; false: it does not run
	logs      func() string                    // of all processes
	systemctl func(t *testing.T, verb string)
	reader    map[string]string // variables that the page leaves to who reads it
	asked     string            // a file of what systemctl was asked
	log       string            // a file that journalctl prints
	courses   []course
	ill       []moment // that a trouble has taken of itself
}

// newWard is a ward without processes.
func newWard(t testing.TB, i installed) *ward {
	t.Helper()
	dir := t.TempDir()
	return &ward{
		house: house{installed: i}, watched: map[string]func() (client, bool){},
		reader: map[string]string{}, asked: filepath.Join(dir, "asked"), log: filepath.Join(dir, "log"),
	}
}

// scrape takes the figures of every process.
func (w *ward) scrape(t testing.TB) moment {
	t.Helper()
	m := moment{}
	for name := range w.watched {
		m[name] = w.figures(t, name)
	}
	return m
}

// figures are those of a process now.
func (w *ward) figures(t testing.TB, process string) map[string]float64 {
	t.Helper()
	away := map[string]float64{"up": 0}
	c, runs := w.watched[process]()
	if !runs {
		return away
	}
	got, err := c.try(t.Context(), http.MethodGet, "/metrics", nil)
	if err != nil || got.status != http.StatusOK {
		return away
	}
	shown := map[string]float64{"up": 1}
	for line := range strings.Lines(string(got.body)) {
		at := strings.LastIndexByte(line, ' ')
		if value, err := strconv.ParseFloat(strings.TrimSpace(line[at+1:]), 64); err == nil && !strings.HasPrefix(line, "#") {
			shown[line[:at]] = value
		}
	}
	return shown
}

// figure is a series of a process now; NaN: it has none.
func (w *ward) figure(t testing.TB, process, series string) float64 {
	t.Helper()
	if value, ok := w.figures(t, process)[series]; ok {
		return value
	}
	return math.NaN()
}

// awaits waits until a series of a process is so much at least.
func (w *ward) awaits(t testing.TB, process, series string, least float64) {
	t.Helper()
	eventually(t, series+" of "+process, func() bool { return w.figure(t, process, series) >= least })
}

// strikes has a trouble come and go, by the page's commands.
func (w *ward) strikes(t *testing.T, c trouble) {
	t.Helper()
	w.ill = nil
	well := w.scrape(t)
	c.comes(t)
	if w.ill == nil {
		w.ill = []moment{w.scrape(t)}
	}
	ill, sections := w.ill, alertSections(t)
	said := ""
	for _, name := range c.alerts {
		for _, line := range sections[name].look {
			said += w.run(t, line, c.fails)
		}
	}
	for _, words := range c.says {
		if !strings.Contains(said, words) {
			t.Errorf("%v: what the page has people look at does not say %q:\n%s", c.alerts, words, said)
		}
	}
	if c.goes != nil {
		c.goes(t)
	}
	for _, name := range c.alerts {
		for _, line := range sections[name].do {
			w.run(t, line, c.fails)
		}
	}
	if c.over != nil {
		eventually(t, fmt.Sprint(c.alerts, " is over"), func() bool { return c.over(t) })
	}
	w.courses = append(w.courses, course{c.alerts, well, ill, w.scrape(t)})
}

// stands are systemctl and journalctl, which need a systemd that runs: the one is done by
// the ward afterwards, the other prints what all processes have logged.
const stands = `systemctl() { echo "$*" >> "$ASKED"; }
journalctl() { cat "$LOG"; }
`

// run runs a line of the page. A call of muster alone is run in this process, where it
// takes a tenth of the time, all else by a shell.
func (w *ward) run(t *testing.T, line string, fails []string) (said string) {
	t.Helper()
	write(t, w.asked, nil)
	write(t, w.log, []byte(w.logs()))
	var err error
	if args, plain := strings.CutPrefix(line, "muster "); plain && !strings.ContainsAny(line, "|;&>") {
		got := w.muster(t, strings.Fields(os.Expand(strings.ReplaceAll(args, `"`, ""), func(name string) string { return w.reader[name] }))...)
		if said = got.out + got.errors; got.status != 0 {
			err = fmt.Errorf("status %d", got.status)
		}
	} else {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		cmd := exec.CommandContext(ctx, "sh", "-euc", stands+line)
		cmd.Env = append(os.Environ(), "ASKED="+w.asked, "LOG="+w.log, "MUSTER_DATABASE_URL="+w.url)
		for name, value := range w.reader {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
		var out []byte
		out, err = cmd.CombinedOutput()
		said = string(out)
	}
	expected := slices.ContainsFunc(fails, func(begins string) bool { return strings.HasPrefix(line, begins) })
	if expected != (err != nil) || said == "" && !strings.HasPrefix(line, "systemctl ") {
		t.Errorf("%s: %v\n%s", line, err, said)
	}
	for verb := range strings.Lines(string(read(t, w.asked))) {
		if verb, unit, _ := strings.Cut(strings.TrimSpace(verb), " "); verb != "status" && unit == "muster" {
			w.systemctl(t, verb)
		}
	}
	return said
}

// How many minutes a state lasts in a course: beyond what any rule waits for.
const (
	minutesWell  = 20
	minutesIll   = 75
	minutesAfter = 75
)

// course is how the figures of a trouble went. While the trouble lasts each scrape of it is
// a minute, again and again: what is counted goes on by as much as it did.
type course struct {
	alerts []string
	well   moment
	ill    []moment
	after  moment
}

// counts says whether a series is a counter's.
func counts(series string) bool {
	name, _, _ := strings.Cut(series, "{")
	return slices.ContainsFunc([]string{"_total", "_count", "_sum", "_bucket"}, func(end string) bool { return strings.HasSuffix(name, end) })
}

// values are a series of a process, a minute each, as promtool reads them.
func (c course) values(process, series string) string {
	var minutes []string
	put := func(value float64, is bool) {
		if minutes = append(minutes, "_"); is {
			minutes[len(minutes)-1] = strconv.FormatFloat(value, 'f', -1, 64)
		}
	}
	before, is := c.well[process][series]
	for range minutesWell {
		put(before, is)
	}
	last, end := c.ill[len(c.ill)-1][process][series], 0.0
	for minute := range minutesIll {
		value, is := c.ill[minute%len(c.ill)][process][series]
		if counts(series) {
			value += float64(minute/len(c.ill)) * max(0, last-before)
		}
		end = value
		put(value, is)
	}
	value, is := c.after[process][series]
	if counts(series) && value >= last { // it was not started anew
		value += end - last
	}
	for range minutesAfter {
		put(value, is)
	}
	return strings.Join(minutes, " ")
}

// judged is the course as a test of promtool's: the rules are silent, fire, and are silent
// again, and while they fire each query of the page shows something.
func (c course) judged(t testing.TB) map[string]any {
	t.Helper()
	rules, sections, wanted := alertRules(t), alertSections(t), map[string]bool{"up": true}
	var shown []string
	for _, name := range c.alerts {
		shown = append(shown, sections[name].queries...)
		shown = append(shown, fmt.Sprintf(`ALERTS{alertname=%q, alertstate="firing"}`, name))
		for _, expression := range append(sections[name].queries, rules[name]) {
			for _, figure := range regexp.MustCompile(`\b(?:muster|process|go)_\w+`).FindAllString(expression, -1) {
				wanted[figure] = true
			}
		}
	}
	var input []map[string]string
	for process := range c.well {
		series := maps.Clone(c.well[process])
		for _, m := range append(slices.Clone(c.ill), c.after) {
			maps.Copy(series, m[process])
		}
		for _, s := range slices.Sorted(maps.Keys(series)) {
			name, labels, _ := strings.Cut(strings.TrimSuffix(s, "}"), "{")
			if wanted[name] {
				full := fmt.Sprintf(`%s{job="muster",instance=%q`, name, process)
				if labels != "" {
					full += "," + labels
				}
				input = append(input, map[string]string{"series": full + "}", "values": c.values(process, s)})
			}
		}
	}
	at := func(minute int) string { return strconv.Itoa(minute) + "m" }
	illness := minutesWell + minutesIll - 1
	var expressions, silences []any
	for _, query := range shown {
		expressions = append(expressions, map[string]any{"expr": "count(" + query + ") > bool 0", "eval_time": at(illness),
			"exp_samples": []any{map[string]any{"labels": "{}", "value": 1}}})
	}
	for _, name := range c.alerts {
		silences = append(silences, map[string]any{"eval_time": at(minutesWell - 1), "alertname": name},
			map[string]any{"eval_time": at(illness + minutesAfter), "alertname": name})
	}
	return map[string]any{"name": fmt.Sprint(c.alerts), "interval": "1m", "input_series": input, "promql_expr_test": expressions, "alert_rule_test": silences}
}

// judge has promtool judge all courses.
func (w *ward) judge(t *testing.T) {
	t.Helper()
	file, err := filepath.Abs(filepath.Join(root, "kit/prometheus/muster.rules.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var tests []any
	for _, c := range w.courses {
		tests = append(tests, c.judged(t))
	}
	text, err := yaml.Marshal(map[string]any{"rule_files": []string{file}, "evaluation_interval": "1m", "tests": tests})
	if err != nil {
		t.Fatal(err)
	}
	if said, err := exec.CommandContext(t.Context(), "promtool", "test", "rules", fileWith(t, "alerts.yaml", string(text))).CombinedOutput(); err != nil {
		t.Errorf("promtool: %v\n%s", err, said)
	}
}

// needsPromtool skips where nobody can judge.
func needsPromtool(t testing.TB) {
	t.Helper()
	for _, program := range []string{"promtool", "curl", "psql"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed (Debian: apt-get install --no-install-recommends prometheus curl postgresql-client)", program)
		}
	}
}
