package clickhouse

import (
	"fmt"
	"strings"
	"time"

	"muster/internal/measurements/blocks"
)

// window is when blocks start.
type window struct{ from, to time.Time }

// where is the condition of the blocks of ranges.
func (s *Store) where(which share, asked []blocks.Range) string {
	kind := ""
	if which.in.form == bodies {
		kind = " AND kind = " + quote(which.kind)
	}
	return fmt.Sprintf("organization = toUUID('%s')%s AND (%s)", which.organization, kind, anyWindow(asked, func(w window) string {
		return fmt.Sprintf("start >= toDateTime(%d) AND start < toDateTime(%d)", seconds(w.from), seconds(w.to))
	}))
}

// anyWindow is a condition of times for the series that ask for them. Most ask for one
// window of many series.
func anyWindow(asked []blocks.Range, in func(window) string) string {
	var windows []window
	subjects := make(map[window][]string)
	for _, r := range asked {
		w := window{r.From, r.To}
		if _, known := subjects[w]; !known {
			windows = append(windows, w)
		}
		subjects[w] = append(subjects[w], quote(r.Series.Subject))
	}
	either := make([]string, len(windows))
	for i, w := range windows {
		either[i] = fmt.Sprintf("%s AND subject IN (%s)", in(w), strings.Join(subjects[w], ", "))
	}
	return strings.Join(either, " OR ")
}

// seconds is a time, rounded up to where a block may start, as ClickHouse has it.
func seconds(at time.Time) int64 {
	if at.Before(from) {
		return from.Unix()
	}
	if !at.Before(until) {
		return until.Unix() - 1
	}
	return at.Add(time.Second - 1).Unix()
}

// quote writes a text as ClickHouse reads it.
func quote(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text) + "'"
}
