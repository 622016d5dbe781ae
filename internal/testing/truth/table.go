package truth

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"muster/internal/measurements/measurementstest"
)

// Row is what one watcher gives.
type Row struct {
	Who string
	Figures
	Locks float64 // sessions that wait for locks at once; of the truth and ours only
	Note  string  // what is said of it
	Empty bool    // there is no figure, for the reason in Note
}

// Cell is a scene on an engine.
type Cell struct {
	Scene, Story, Engine string
	Truth, Ours          Row
	Peers                []Row
	Said                 []string // what ours says that it lacks
	Wrong                []string // what ours has that did not happen; there is none
}

// Run plays the scenes of these names, or all, on every engine, each with a store of its own.
func Run(ctx context.Context, open func() measurementstest.Harness, only ...string) ([]Cell, error) {
	var cells []Cell
	for _, s := range scenes {
		if len(only) > 0 && !slices.Contains(only, s.name) {
			continue
		}
		for _, v := range variants {
			c, err := play(ctx, s, v, open())
			if err != nil {
				return nil, fmt.Errorf("%s on %s: %w", s.name, v.name, err)
			}
			cells = append(cells, c)
		}
	}
	return cells, nil
}

func play(ctx context.Context, s scene, v variant, store measurementstest.Harness) (Cell, error) {
	w := newWorld(v, store)
	defer w.ours.Close(ctx)
	s.happens(w)
	if err := w.run(ctx); err != nil {
		return Cell{}, err
	}
	ours, locks, err := w.tile(ctx, v.engine)
	if err != nil {
		return Cell{}, err
	}
	c := Cell{Scene: s.name, Story: s.story, Engine: v.name}
	c.Said, c.Wrong = w.said()
	c.Truth = Row{Who: "actual", Figures: w.truth(v.engine), Locks: float64(w.waiting())}
	c.Ours = Row{Who: "Muster", Figures: ours, Locks: locks}
	if len(c.Said) > 0 {
		c.Ours.Note = "reported: " + join(c.Said)
	}
	for _, p := range w.peers {
		f, why := p.figures()
		c.Peers = append(c.Peers, Row{Who: p.name, Figures: f, Note: why, Empty: f.Calls == 0 && why != ""})
	}
	return c, nil
}

// waiting is how many sessions wait for locks, all the time.
func (w *world) waiting() int {
	switch s := w.server.(type) {
	case *PostgreSQL:
		return s.waiting
	case *SQLServer:
		return s.waiting
	case *Oracle:
		return s.waiting
	}
	return 0
}

// Exact says whether ours is the truth in everything that is compared.
func (c Cell) Exact() bool {
	t, o := c.Truth, c.Ours
	return near(t.Calls, o.Calls) && near(t.TotalMs, o.TotalMs) && near(t.MaxMs, o.MaxMs) && near(t.Locks, o.Locks)
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(math.Abs(a), math.Abs(b)) }

// Table is the page's part between its marks.
func Table(cells []Cell) string {
	var b strings.Builder
	summary(&b, cells)
	for i, c := range cells {
		if i == 0 || cells[i-1].Scene != c.Scene {
			fmt.Fprintf(&b, "\n### %s\n\n%s\n\n", capital(c.Scene), c.Story)
			b.WriteString("| Engine | Source | Executions | Total, ms | Average, ms | Maximum, ms | Error | Note |\n|---|---|--:|--:|--:|--:|--:|---|\n")
		}
		for j, r := range append([]Row{c.Truth, c.Ours}, c.Peers...) {
			engine := ""
			if j == 0 {
				engine = c.Engine
			}
			line(&b, engine, r, c.Truth)
		}
	}
	b.WriteString("\n### Methods of the other products\n\n")
	for _, s := range sources {
		fmt.Fprintf(&b, "- **%s**, %s: %s. *%s*\n", s.peer, s.engine, s.says, s.at)
	}
	return b.String()
}

// Into puts both tables into the page, in the place of what is there between its marks.
func Into(page, table, sessions string) (string, error) {
	for part, text := range map[string]string{"make truth": table, "make truth, sessions": sessions} {
		begin, end := "<!-- "+part+": from here -->\n\n", "\n<!-- "+part+": to here -->\n"
		before, rest, ok1 := strings.Cut(page, begin)
		_, after, ok2 := strings.Cut(rest, end)
		if !ok1 || !ok2 {
			return "", errors.New("the page has no marks for a table")
		}
		page = before + begin + text + end + after
	}
	return page, nil
}

func line(b *strings.Builder, engine string, r, truth Row) {
	if r.Empty {
		fmt.Fprintf(b, "| %s | %s | – | – | – | – | – | %s |\n", engine, r.Who, r.Note)
		return
	}
	wrong := ""
	if r.Who != truth.Who {
		wrong = percent(worst(r, truth))
	}
	fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s | %s |\n", engine, r.Who, figure(r.Calls), figure(r.TotalMs), figure(r.AvgMs()), figure(r.MaxMs), wrong, r.Note)
}

// worst is the greatest of the relative errors of the executions, the total and the average.
func worst(r, truth Row) float64 {
	of := func(got, want float64) float64 {
		if math.IsNaN(got) {
			return 1
		}
		return math.Abs(got-want) / want
	}
	return max(of(r.Calls, truth.Calls), of(r.TotalMs, truth.TotalMs), of(r.AvgMs(), truth.AvgMs()))
}

func percent(x float64) string {
	if x < 1e-9 {
		return "0"
	}
	return fmt.Sprintf("%.1f %%", x*100)
}

func figure(x float64) string {
	if math.IsNaN(x) {
		return "none"
	}
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.3f", x), "0"), ".")
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// summary is one line a scene: ours, and the worst and the best of the peers.
func summary(b *strings.Builder, cells []Cell) {
	b.WriteString("| Scene |")
	for i, v := range variants {
		var names []string
		for _, p := range cells[i].Peers {
			names = append(names, p.Who)
		}
		fmt.Fprintf(b, " %s: Muster | %s |", v.name, strings.Join(names, " / "))
	}
	b.WriteString("\n|---|" + strings.Repeat("--:|--:|", len(variants)) + "\n")
	for i, c := range cells {
		if i%len(variants) == 0 {
			fmt.Fprintf(b, "| %s |", c.Scene)
		}
		ours := "0"
		if !c.Exact() {
			ours = percent(worst(c.Ours, c.Truth)) + ", reported"
		}
		var peers []string
		for _, p := range c.Peers {
			if p.Empty {
				peers = append(peers, "–")
				continue
			}
			peers = append(peers, percent(worst(p, c.Truth)))
		}
		fmt.Fprintf(b, " %s | %s |", ours, strings.Join(peers, " / "))
		if i%len(variants) == len(variants)-1 {
			b.WriteString("\n")
		}
	}
}
