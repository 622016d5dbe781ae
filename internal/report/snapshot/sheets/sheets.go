package sheets

import (
	"fmt"

	"muster/domain/report"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/alertsum"
	"muster/internal/report/snapshot/daysheet"
	"muster/internal/report/snapshot/sheet"
	"muster/internal/report/snapshot/slasum"
)

// makers has the verdict of every kind that is a summary.
func makers() map[report.Verdict]func(snapshot.Document) sheet.Sheet {
	return map[report.Verdict]func(snapshot.Document) sheet.Sheet{
		report.VerdictOnAlerts:  alertsum.Sheet,
		report.VerdictOnDay:     daysheet.Sheet,
		report.VerdictOnService: slasum.Sheet,
	}
}

// NoSheetError says that a kind is no summary.
type NoSheetError struct{ Kind report.Kind }

func (e *NoSheetError) Error() string {
	return fmt.Sprintf("a report of kind %q is no summary", e.Kind)
}

// Has says whether a kind is a summary.
func Has(kind report.Definition) bool { return makers()[kind.Verdict] != nil }

// Of returns the sheet of a document. Errors: *report.UnknownKindError, *NoSheetError.
func Of(doc snapshot.Document) (sheet.Sheet, error) {
	kind, err := report.Find(report.Kind(doc.Kind))
	if err != nil {
		return sheet.Sheet{}, err
	}
	if !Has(kind) {
		return sheet.Sheet{}, &NoSheetError{kind.Name}
	}
	return makers()[kind.Verdict](doc), nil
}
