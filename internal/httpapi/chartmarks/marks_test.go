package chartmarks

import (
	"slices"
	"testing"

	"muster/internal/httpapi/api"
)

// TestWindowsGiveWayToOtherMarks: many maintenance windows push no deployment out of an answer.
func TestWindowsGiveWayToOtherMarks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ windows, others, wantWindows, wantOthers int }{
		"all fit":         {400, 600, 400, 600},
		"a year of them":  {1200, 10, 990, 10},
		"too many of all": {5, 1200, 0, 1000},
	} {
		var marks []api.Mark
		for i := range c.windows {
			marks = append(marks, api.Mark{Kind: markMaintenance, Text: string(rune(i))})
		}
		for i := range c.others { // older than all windows
			marks = append(marks, api.Mark{Kind: markDeploy, Text: string(rune(i))})
		}
		var of [2][]string
		for _, m := range fit(slices.Clone(marks)) {
			if m.Kind == markMaintenance {
				of[0] = append(of[0], m.Text)
			} else {
				of[1] = append(of[1], m.Text)
			}
		}
		for i, want := range []int{c.wantWindows, c.wantOthers} {
			if len(of[i]) != want || want > 0 && of[i][want-1] != string(rune(want-1)) {
				t.Errorf("%s: %d of kind %d are left, not the newest %d", name, len(of[i]), i, want)
			}
		}
	}
}
