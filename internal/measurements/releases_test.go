package measurements

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
)

// TestReleases: several new statements of one database at once are a release, once, wherever a window begins.
func TestReleases(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	orders, billing := uuid.UUID{1}, uuid.UUID{2}
	first := func(database uuid.UUID, minute, statements int) FirstExecutions {
		return FirstExecutions{Instance: uuid.UUID{9}, Database: database, At: noon.Add(time.Duration(minute) * time.Minute), Statements: statements}
	}
	each := func(every, until int) (all []FirstExecutions) {
		for minute := 0; minute < until; minute += every {
			all = append(all, first(orders, minute, 1))
		}
		return all
	}
	for name, c := range map[string]struct {
		all  []FirstExecutions
		want string // the minutes, and how many statements
	}{
		"nothing":                      {nil, ""},
		"five at once":                 {[]FirstExecutions{first(orders, 30, 5)}, "30: 5"},
		"four":                         {[]FirstExecutions{first(orders, 30, 4)}, ""},
		"five in ten minutes":          {[]FirstExecutions{first(orders, 30, 2), first(orders, 35, 2), first(orders, 39, 1)}, "30: 5"},
		"five in eleven minutes":       {[]FirstExecutions{first(orders, 30, 2), first(orders, 35, 2), first(orders, 40, 1)}, ""},
		"of two databases":             {[]FirstExecutions{first(orders, 30, 3), first(billing, 30, 3)}, ""},
		"two databases have one each":  {[]FirstExecutions{first(orders, 30, 7), first(billing, 31, 6)}, "30: 7, 31: 6"},
		"the rest of it later":         {[]FirstExecutions{first(orders, 30, 20), first(orders, 55, 6), first(orders, 70, 1)}, "30: 20"},
		"another one, an hour later":   {[]FirstExecutions{first(orders, 30, 6), first(orders, 91, 6)}, "30: 6, 91: 6"},
		"one a minute, all the time":   {each(1, 300), "0: 10"},
		"one in five minutes":          {each(5, 300), ""},
		"a release among one a minute": {append(each(5, 300), first(orders, 122, 40)), "122: 42"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said := func(found []Release) string {
				var out []string
				for _, r := range found {
					out = append(out, fmt.Sprintf("%g: %d", r.At.Sub(noon).Minutes(), r.Statements))
				}
				return strings.Join(out, ", ")
			}
			all := Releases(c.all, noon, noon.Add(24*time.Hour))
			if got := said(all); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			for minute := 0; minute < 320; minute += 20 { // windows that follow each other have the same together
				from := noon.Add(time.Duration(minute) * time.Minute)
				to := from.Add(20 * time.Minute)
				begin, end := ReleaseSpan(from, to)
				read := slices.DeleteFunc(slices.Clone(c.all), func(f FirstExecutions) bool { return f.At.Before(begin) || !f.At.Before(end) })
				want := slices.DeleteFunc(slices.Clone(all), func(r Release) bool { return r.At.Before(from) || !r.At.Before(to) })
				if got := Releases(read, from, to); said(got) != said(want) {
					t.Errorf("from minute %d: %s, want %s", minute, said(got), said(want))
				}
			}
		})
	}
}
