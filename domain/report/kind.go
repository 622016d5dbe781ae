package report

import (
	"fmt"
	"slices"
	"time"
)

// Kind is the name of a report kind, spelt as on the wire.
type Kind string

// Definition is the complete definition of a report kind. Each kind is one value, in
// kind_security.go and its neighbors. The packages that gather, judge and print use the value
// and never compare the name.
type Definition struct {
	Name Kind

	// Words.
	Title      string // on the catalog page and in mails: "Security Report"
	Short      string // in lists: "Security"
	PaperTitle string // on page 1 of the PDF
	FileStem   string // the first part of its files' names
	Everything string // the label of a scope that names no instance

	// Terms of a request, held by Validate.
	OneInstance bool          // it covers exactly one instance; otherwise any number up to MaxInstances, or all
	Database    bool          // it can be limited to one database of its instance
	Window      time.Duration // the longest date range; 0: it has none
	Daily       bool          // of a schedule, its date range is the day before the due time

	// Contents.
	Parts       []Part    // the inputs that a build gathers
	Classified  bool      // it fails when no database in scope has a completed classification
	CheckDomain string    // the one domain of checks that it is about; empty: all
	Verdict     Verdict   // the text of page 1
	Sections    []Section // the pages after page 1
	Companions  []string  // the tables beside the PDF

	// Comparable says whether it has findings, so that two of them can be compared.
	Comparable bool
}

// Definitions returns every kind, in the order of the API's enum.
func Definitions() []Definition {
	return []Definition{security(), scorecard(), inventory(), alertsSummary(), dailyDigest(), performanceSLA()}
}

// UnknownKindError says that this program does not know a kind.
type UnknownKindError struct{ Kind Kind }

func (e *UnknownKindError) Error() string { return fmt.Sprintf("no report of kind %q", string(e.Kind)) }

// Find returns the definition of a kind. Error: *UnknownKindError.
func Find(kind Kind) (Definition, error) {
	for _, d := range Definitions() {
		if d.Name == kind {
			return d, nil
		}
	}
	return Definition{}, &UnknownKindError{kind}
}

// Kinds returns the names of all kinds.
func Kinds() []Kind {
	var names []Kind
	for _, d := range Definitions() {
		names = append(names, d.Name)
	}
	return names
}

// Title is what the catalog page calls a kind; a kind of a newer program has its name alone.
func (k Kind) Title() string {
	d, err := Find(k)
	if err != nil {
		return string(k)
	}
	return d.Title
}

// Gathers says whether a part belongs to the kind.
func (d Definition) Gathers(p Part) bool { return slices.Contains(d.Parts, p) }
