// Testreport says what `make test` came to: which tests were the slowest, what was skipped
// for want of what, how long each part took, and, last, what failed and what it said: the
// end of a log is what is read, and often all that is kept.
//
//	go test -json ./... | testreport follow FILE   prints what go test would, and keeps its lines
//	testreport DIR                                 prints the end of make test
//
// DIR holds go.json, the lines of go test -json; NAME.json, what vitest's json reporter
// writes; skipped, a line "WHAT: WHY" for all that never began; and parts, a line "NAME
// SECONDS STATUS" each. What is not there is not told.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const (
	slowestShown = 20
	linesShown   = 30 // of what a failed test said
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "testreport:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 2 && args[0] == "follow":
		kept, err := os.Create(args[1])
		if err != nil {
			return err
		}
		err = newGoTests(os.Stdout).read(io.TeeReader(os.Stdin, kept))
		return errors.Join(err, kept.Close())
	case len(args) == 1:
		return summarize(os.Stdout, args[0])
	default:
		return errors.New("usage: testreport follow FILE | testreport DIR")
	}
}

// test is one that ran, or that said why it did not.
type test struct {
	name    string // "e2e TestX", "web/e2e/chart.test.ts draws …"
	seconds float64
	skipped string // why; empty: it ran
	failed  string // what it said; empty: it did not fail
}

func summarize(w io.Writer, dir string) error {
	var tests []test
	reports, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return err
	}
	for _, path := range reports {
		read := fromVitest
		if filepath.Base(path) == "go.json" {
			read = fromGo
		}
		more, err := read(path)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		tests = append(tests, more...)
	}
	printSlowest(w, tests)
	whole, err := lines(filepath.Join(dir, "skipped"))
	if err != nil {
		return err
	}
	for _, line := range whole {
		what, why, _ := strings.Cut(line, ": ")
		tests = append(tests, test{name: what, skipped: why})
	}
	printSkipped(w, tests)
	if err := printParts(w, filepath.Join(dir, "parts")); err != nil {
		return err
	}
	printFailed(w, tests)
	return nil
}

func printSlowest(w io.Writer, tests []test) {
	slowest := slices.SortedFunc(slices.Values(tests), func(a, b test) int {
		return cmp.Or(cmp.Compare(b.seconds, a.seconds), strings.Compare(a.name, b.name))
	})
	fmt.Fprintf(w, "\nThe slowest of %d tests:\n", len(tests))
	for _, t := range slowest[:min(slowestShown, len(slowest))] {
		fmt.Fprintf(w, "%8.1f s  %s\n", t.seconds, t.name)
	}
}

func printSkipped(w io.Writer, tests []test) {
	why := map[string][]string{}
	for _, t := range tests {
		if t.skipped != "" {
			why[t.skipped] = append(why[t.skipped], t.name)
		}
	}
	if len(why) == 0 {
		fmt.Fprintln(w, "\nNo test was skipped.")
		return
	}
	fmt.Fprintln(w, "\nSkipped:")
	for _, reason := range slices.Sorted(maps.Keys(why)) {
		names, others := why[reason], ""
		if len(names) > 1 {
			others = fmt.Sprintf(" and %d more", len(names)-1)
		}
		fmt.Fprintf(w, "  %s\n      %s%s\n", reason, names[0], others)
	}
}

// lines reads a file that need not be there.
func lines(path string) ([]string, error) {
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' }), nil
}

func printParts(w io.Writer, path string) error {
	parts, err := lines(path)
	if err != nil {
		return err
	}
	fmt.Fprintln(w)
	for _, line := range parts {
		var name string
		var seconds, status int
		if _, err := fmt.Sscan(line, &name, &seconds, &status); err != nil {
			return fmt.Errorf("%s: %q: %w", path, line, err)
		}
		verdict := "passed"
		if status != 0 {
			verdict = "FAILED"
		}
		fmt.Fprintf(w, "%s %-12s %2d:%02d\n", verdict, name, seconds/60, seconds%60)
	}
	return nil
}

func printFailed(w io.Writer, tests []test) {
	for _, t := range tests {
		if t.failed == "" {
			continue
		}
		fmt.Fprintf(w, "\nFAILED %s\n", t.name)
		said := strings.Split(strings.TrimRight(t.failed, "\n"), "\n")
		if over := len(said) - linesShown; over > 0 {
			half := linesShown / 2
			said = slices.Concat(said[:half], []string{fmt.Sprintf("[%d lines more]", over)}, said[half+over:])
		}
		for _, line := range said {
			fmt.Fprintf(w, "  %s\n", line)
		}
	}
}

// fromVitest reads what vitest's json reporter writes.
func fromVitest(path string) ([]test, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var report struct {
		TestResults []struct {
			Name, Status, Message string // the message is of a file that could not be run
			AssertionResults      []struct {
				FullName, Status string
				Duration         float64 // ms
				FailureMessages  []string
			}
		}
	}
	if err := json.Unmarshal(text, &report); err != nil {
		return nil, err
	}
	var tests []test
	for _, file := range report.TestResults {
		name := file.Name
		if _, inWeb, ok := strings.Cut(name, "/web/"); ok {
			name = "web/" + inWeb
		}
		if file.Status == "failed" && file.Message != "" {
			tests = append(tests, test{name: name, failed: file.Message})
		}
		for _, r := range file.AssertionResults {
			t := test{name: name + " " + r.FullName, seconds: r.Duration / 1000}
			if r.Status == "failed" {
				t.failed = cmp.Or(strings.Join(r.FailureMessages, "\n"), "no reason given")
			}
			if r.Status == "skipped" || r.Status == "pending" {
				t.skipped = "make test-all runs it, or its name says what is missing"
			}
			tests = append(tests, t)
		}
	}
	return tests, nil
}

// event is a line of go test -json: see go doc test2json.
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64
}

// goTests follows go test -json.
type goTests struct {
	out   io.Writer
	said  map[string][]string // by package and test: its output so far
	tests []test
}

func newGoTests(out io.Writer) *goTests { return &goTests{out: out, said: map[string][]string{}} }

func fromGo(path string) ([]test, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	g := newGoTests(io.Discard)
	err = g.read(f)
	return g.tests, err
}

func (g *goTests) read(r io.Reader) error {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		var e event
		if json.Unmarshal(line, &e) == nil {
			g.take(e)
		} else {
			fmt.Fprintf(g.out, "%s", line) // what go itself says
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// race begins what the race detector says. It fails whichever tests run, and is told
// among the output of the one that was named last: one that passed before, it may be.
const race = "WARNING: DATA RACE\n"

// take prints what go test prints without -v: of a test that failed all it said, and a
// line a package.
func (g *goTests) take(e event) {
	key := e.Package + " " + e.Test
	switch e.Action {
	case "build-output":
		fmt.Fprint(g.out, e.Output)
	case "output":
		g.said[key] = append(g.said[key], e.Output)
	case "pass", "skip", "fail":
		said := g.said[key]
		delete(g.said, key)
		if e.Test == "" {
			g.endPackage(e, said)
			return
		}
		t := test{name: strings.TrimPrefix(e.Package, "muster/") + " " + e.Test, seconds: e.Elapsed}
		if e.Action == "fail" || slices.Contains(said, race) {
			fmt.Fprint(g.out, strings.Join(said, ""))
			t.failed = why(said)
		}
		if e.Action == "skip" {
			t.skipped = reason(said)
		}
		if e.Action == "skip" || t.failed != "" || !strings.Contains(e.Test, "/") {
			g.tests = append(g.tests, t)
		}
	}
}

// endPackage prints the package's own lines: its verdict, and what was said outside of
// tests. A test that was running when all ended has said why, and nobody else knows.
func (g *goTests) endPackage(e event, said []string) {
	name := strings.TrimPrefix(e.Package, "muster/")
	if e.Action == "fail" {
		for key, lines := range g.said {
			if strings.HasPrefix(key, e.Package+" ") {
				fmt.Fprint(g.out, strings.Join(lines, ""))
				g.tests = append(g.tests, test{name: strings.TrimPrefix(key, "muster/"), failed: why(lines)})
				delete(g.said, key)
			}
		}
		ofIt := func(t test) bool { return t.failed != "" && strings.HasPrefix(t.name, name+" ") }
		if !slices.ContainsFunc(g.tests, ofIt) { // it was not compiled, or failed behind its tests
			g.tests = append(g.tests, test{name: name, failed: strings.Join(said, "")})
		}
	}
	for _, line := range said {
		if line != "PASS\n" && !strings.HasSuffix(line, "[no test files]\n") {
			fmt.Fprint(g.out, line)
		}
	}
}

// why is what a test said, without the lines with which go test -v says what it is about.
func why(said []string) string {
	return strings.Join(slices.DeleteFunc(said, func(line string) bool { return strings.HasPrefix(line, "=== ") }), "")
}

var place = regexp.MustCompile(`^\s+\S+\.go:\d+: `)

// reason is what a skipped test said last: "    x_test.go:12: why".
func reason(said []string) string {
	for _, line := range slices.Backward(said) {
		if at := place.FindString(line); at != "" {
			return strings.TrimSpace(line[len(at):])
		}
	}
	return "no reason given"
}
