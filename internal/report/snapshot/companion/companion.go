package companion

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/google/uuid"

	"muster/domain/printable"
	"muster/domain/report"
	"muster/internal/report/snapshot"
)

// tables are the columns of each file, and what writes its rows.
var tables = map[string]struct {
	header []string
	rows   func(s *Set) [][]string
}{
	report.FindingsFile:  {findingsHeader, findingsRows},
	report.InventoryFile: {inventoryHeader, inventoryRows},
	report.CVEsFile:      {cvesHeader, cvesRows},
	report.AccountsFile:  {accountsHeader, accountsRows},
	report.AlertsFile:    {alertsHeader, alertsRows},
	report.SLAFile:       {slaHeader, slaRows},
}

// objects are the files that hold one object each.
var objects = map[string]func(doc snapshot.Document) (any, error){report.DigestFile: digestOf}

// byteOrderMark lets a spreadsheet read a table as UTF-8.
const byteOrderMark = "\uFEFF"

// Set is the companions of one document. What they have in common is made once, so its files can be written at the same
// time.
type Set struct {
	doc   snapshot.Document
	joins func() joins
}

// Of returns the companions of a document.
func Of(inputs snapshot.Canonical) *Set {
	return &Set{doc: inputs.Document, joins: sync.OnceValue(func() joins { return joined(inputs.Document) })}
}

// Write writes one of report.Companions for a document that need not be canonical.
func Write(w io.Writer, name string, doc snapshot.Document) error {
	return Of(snapshot.Canonical{Document: snapshot.Normalize(doc)}).Write(w, name)
}

// Write writes one of report.Companions.
func (s *Set) Write(w io.Writer, name string) error {
	if object, ok := objects[name]; ok {
		return writeObject(w, name, s.doc, object)
	}
	table, ok := tables[name]
	if !ok {
		return fmt.Errorf("a report has no companion %q", name)
	}
	if _, err := io.WriteString(w, byteOrderMark); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	out := csv.NewWriter(w)
	out.UseCRLF = true
	if err := out.Write(table.header); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if err := out.WriteAll(table.rows(s)); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// Cell is a text that another person chose, in a form that a spreadsheet shows and does not
// run. The pages have the same rule (web/src/ui/csv.ts).
func Cell(s string) string {
	shown := visible(s)
	if isFormula(s) {
		return "'" + shown
	}
	return shown
}

// isFormula says whether a spreadsheet would execute a text.
func isFormula(s string) bool {
	if strings.HasPrefix(s, "\t") || strings.HasPrefix(s, "\r") || strings.HasPrefix(s, "\n") {
		return true
	}
	s = strings.TrimLeftFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.In(r, unicode.Cc, unicode.Cf) })
	for _, r := range s {
		return strings.ContainsRune("=+-@＝＋－＠﹦﹢﹣﹫", r)
	}
	return false
}

// visible shows by its number what would not be seen, or not be what it seems.
func visible(s string) string {
	if printable.IsText(s) {
		return s
	}
	var out strings.Builder
	for _, r := range s {
		if printable.IsText(string(r)) {
			out.WriteRune(r)
			continue
		}
		fmt.Fprintf(&out, "‹U+%04X›", r)
	}
	return out.String()
}

func id(u uuid.UUID) string {
	if u == uuid.Nil {
		return ""
	}
	return u.String()
}

func at(t *time.Time) string {
	if t == nil || t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

func whole[N int | int64](n N) string { return strconv.FormatInt(int64(n), 10) }

// databaseID is the id of an instance's database; the fleet may not know it yet.
func databaseID(in *snapshot.Instance, name string) string {
	for _, db := range in.Databases {
		if db.Name == name {
			return id(db.ID)
		}
	}
	return ""
}
