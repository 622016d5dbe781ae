package evidence

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/internal/report/control"
	"muster/internal/report/snapshot/companion"
)

var header = []string{
	"checkId", "instanceId", "instance", "removed", "from", "to", "state", "assessments", "reasons", "exceptionId", "grantedBy", "grantedAt",
	"passedShare", "longestGapSeconds",
}

// WriteCSV writes a row a period, RFC 4180. No cell of it is executed by a spreadsheet.
func WriteCSV(w io.Writer, d Document) error {
	out := csv.NewWriter(w)
	out.UseCRLF = true
	rows := [][]string{header}
	granted := d.granted()
	for _, item := range d.Items {
		for _, p := range item.Periods {
			row := []string{
				companion.Cell(d.Check.ID), item.Instance.ID.String(), companion.Cell(item.Instance.Name), strconv.FormatBool(item.Removed),
				rfc3339(p.From), rfc3339(p.To), string(p.State), strconv.Itoa(p.Assessments), companion.Cell(strings.Join(p.Reasons, " ")), "", "", "",
				strconv.FormatFloat(item.PassedShare, 'f', 6, 64), strconv.FormatFloat(item.LongestGapSeconds, 'f', -1, 64),
			}
			if p.ExceptionID != nil {
				x := granted[*p.ExceptionID]
				row[9], row[10], row[11] = x.ID.String(), companion.Cell(x.GrantedBy.Name), rfc3339(x.GrantedAt)
			}
			rows = append(rows, row)
		}
	}
	if err := out.WriteAll(rows); err != nil {
		return fmt.Errorf("write evidence as CSV: %w", err)
	}
	return nil
}

// granted are the exceptions by id.
func (d Document) granted() map[uuid.UUID]Exception {
	all := make(map[uuid.UUID]Exception, len(d.Exceptions))
	for _, x := range d.Exceptions {
		all[x.ID] = x
	}
	return all
}

func rfc3339(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// Words says a period's state, and why, for people.
func (d Document) Words(p Period) string {
	switch p.State {
	case control.Accepted:
		if p.ExceptionID != nil {
			x := d.granted()[*p.ExceptionID]
			return "granted by " + whoever(x.GrantedBy) + ": " + x.Reason
		}
	case control.NotAssessed, control.ReportedLate, control.Altered:
		return strings.Join(p.Reasons, " ")
	case control.Passed, control.Failed:
	}
	return ""
}

func whoever(n Named) string {
	if n.Name == "" {
		return "a former member"
	}
	return n.Name
}

// Lasting is a length of time in words.
func Lasting(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second)).Round(time.Minute)
	days, d := d/(24*time.Hour), d%(24*time.Hour)
	hours, minutes := d/time.Hour, d%time.Hour/time.Minute
	switch {
	case seconds == 0:
		return "none"
	case days > 0:
		return fmt.Sprintf("%d d %d h", days, hours)
	case hours > 0:
		return fmt.Sprintf("%d h %d min", hours, minutes)
	default:
		return fmt.Sprintf("%d min", minutes)
	}
}

// Share is a share in percent, never rounded up to all of it.
func Share(share float64) string {
	if share >= 1 {
		return "100 %"
	}
	return fmt.Sprintf("%.1f %%", min(share*100, 99.9))
}
