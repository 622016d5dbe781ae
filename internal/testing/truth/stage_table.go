package truth

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// SessionTable is the page's part on sessions, between its marks.
func SessionTable(cells []SessionCell) string {
	var b strings.Builder
	b.WriteString("| Scene | Engine | Holds others up | Muster names it after | Average sessions with the greatest difference | Actual | Muster | Sampling error | Counted |\n")
	b.WriteString("|---|---|---|--:|---|--:|--:|--:|---|\n")
	for i, c := range cells {
		scene := ""
		if i == 0 || cells[i-1].Scene != c.Scene {
			scene = capital(c.Scene)
		}
		named := "–"
		switch {
		case c.Named && c.Root != "":
			named = fmt.Sprintf("%.1f s", c.Shown.Round(100*time.Millisecond).Seconds())
		case c.Root != "":
			named = "not named"
		}
		l := c.Lines[0]
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %.3f | %.3f | %.3f | %s |\n", scene, c.Engine, cmp.Or(c.Root, "nobody"), named,
			l.What, l.Actual, l.Ours, l.Allowed, cmp.Or(strings.Join(c.Counted, "; "), "–"))
	}
	b.WriteString("\n")
	for i, c := range cells {
		if i == 0 || cells[i-1].Scene != c.Scene {
			fmt.Fprintf(&b, "- **%s**: %s\n", capital(c.Scene), c.Story)
		}
	}
	return b.String()
}
