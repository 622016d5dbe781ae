package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"
)

// book has what was done, what was asked and how it was answered, what was acknowledged, and
// what was wrong. Anybody may write into it at any time.
type book struct {
	began time.Time

	mu      sync.Mutex
	step    string // where the plan is
	done    map[string]int
	asked   map[string]int            // by what clients do
	answers map[string]map[string]int // the same, by label
	again   map[string]int            // those after which they ask again
	told    map[string]map[string]any // by what it is and its id: acknowledged, with what was sent
	offered map[string]map[string]any // the same: sent, and not acknowledged so far
	notes   []string                  // what was measured, for the table
	ills    []string                  // troubles and their alerts, for the table
	excuses int                       // of processes that could not start
	counts  []tally
	wrongs  []string // the first ones
	faults  int      // all of them
}

// mostWrongs are told; the first says what went wrong, and hundreds more do not help.
const mostWrongs = 20

func newBook() *book {
	return &book{
		began: time.Now(), step: "before the first step", done: map[string]int{}, asked: map[string]int{}, answers: map[string]map[string]int{}, again: map[string]int{},
		told: map[string]map[string]any{}, offered: map[string]map[string]any{},
	}
}

// time is when something was, as the table has it.
func (b *book) time(at time.Time) string { return at.Sub(b.began).Round(time.Millisecond).String() }

// at is where the plan is.
func (b *book) at() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.step
}

// wrong notes what may not be, when it was and where the plan was.
func (b *book) wrong(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.faults++
	if len(b.wrongs) < mostWrongs {
		b.wrongs = append(b.wrongs, fmt.Sprintf("%s, %s: %s", b.time(time.Now()), b.step, fmt.Sprintf(format, args...)))
	}
}

// begins has the plan, and what clients send, begin now.
func (b *book) begins() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.began = time.Now()
}

// note has something in the table.
func (b *book) note(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.notes = append(b.notes, fmt.Sprintf(format, args...))
}

// why notes what a process said that could not start, of the first ones.
func (b *book) why(who, said string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.excuses++; b.excuses <= 5 {
		b.notes = append(b.notes, who+" could not start: "+said)
	}
}

// reach says that the plan has come to a step.
func (b *book) reach(n, of int, what string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.step = fmt.Sprintf("step %d of %d (%s)", n+1, of, what)
}

// does counts what was done.
func (b *book) does(what string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done[what]++
}

// times is how often something was done.
func (b *book) times(what fault) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.done[string(what)]
}

func (b *book) asks(does string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked[does]++
}

func (b *book) answered(does string, v verdict) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.answers[does] == nil {
		b.answers[does] = map[string]int{}
	}
	b.answers[does][v.label]++
	if !v.last {
		b.again[v.label+" to "+does]++
	}
}

func (b *book) answeredWell(does string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.answers[does][answeredWell]
}

// refusals are the answers so far after which a client asks again.
func (b *book) refusals() (refused []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for what, n := range b.again {
		refused = append(refused, fmt.Sprintf("%d times %s", n, what))
	}
	slices.Sort(refused)
	return refused
}

// offer notes what is about to be sent, and take that it was acknowledged.
func (b *book) offer(what, id string, sent any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.offered[what] == nil {
		b.offered[what], b.told[what] = map[string]any{}, map[string]any{}
	}
	b.offered[what][id] = sent
}

func (b *book) take(what, id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if sent, ok := b.offered[what][id]; ok { // else it was acknowledged before
		b.told[what][id] = sent
		delete(b.offered[what], id)
	}
}

// tell prints the table, or the seed and what was wrong first.
func (b *book) tell(t *testing.T, f *fire) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for n, wrong := range b.wrongs {
		t.Errorf("%s, wrong %d of %d: %s", f, n+1, b.faults, wrong)
	}
	if t.Failed() {
		t.Logf("%s: it had come to %s after %s; %s=%d does the same in the same order", f, b.step, b.time(time.Now()), fireSeed, f.seed)
	}
	t.Logf("%s, %s\n%s", f, time.Since(b.began).Round(time.Second), b.table())
}

func (b *book) table() string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "What was done\ttimes")
	for _, what := range slices.Sorted(maps.Keys(b.done)) {
		fmt.Fprintf(w, "%s\t%d\n", what, b.done[what])
	}
	labels := map[string]bool{}
	for _, answers := range b.answers {
		for label := range answers {
			labels[label] = true
		}
	}
	columns := slices.Sorted(maps.Keys(labels))
	fmt.Fprintf(w, "\t\nWhat was asked\ttimes\tanswered %s\n", strings.Join(columns, "\t"))
	for _, does := range slices.Sorted(maps.Keys(b.asked)) {
		fmt.Fprintf(w, "%s\t%d", does, b.asked[does])
		for _, label := range columns {
			fmt.Fprintf(w, "\t%d", b.answers[does][label])
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w, "\t\nWhat was there\tacknowledged\tnever answered\tthere\tlost\tdouble\tfrom nowhere")
	for _, c := range b.counts {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\n", c.what, c.told, c.unsure, c.there, len(c.lost), len(c.double), len(c.stray))
	}
	if len(b.ills) > 0 {
		fmt.Fprintln(w, "\t\nTrouble\tcheck\talert\tsection\traised after\tover after")
		for _, one := range b.ills {
			fmt.Fprintln(w, one)
		}
	}
	_ = w.Flush()
	return text.String() + "\n" + strings.Join(b.notes, "\n")
}
