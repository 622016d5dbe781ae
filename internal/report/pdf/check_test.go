package pdf_test

import (
	"strings"
	"testing"

	"muster/eventstore/witness"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/snapshottest"
)

// The last page of a report, of every kind and length, says how to check it, where the keys
// are, and the witness.
func TestTheLastPageExplainsTheCheckOfTheReport(t *testing.T) {
	t.Parallel()
	r := renderer(t)
	for _, kind := range kinds {
		for name, doc := range map[string]snapshot.Document{"rich": snapshottest.Rich(kind), "empty": snapshottest.Empty(kind)} {
			file, _ := render(t, r, doc)
			pages := words(t, file)
			last := pages[len(pages)-1]
			head := witness.Format(doc.Witness.Log, doc.Witness.Position, doc.Witness.Hash)
			for _, want := range []string{
				"HOW TO CHECK THIS REPORT", "muster verify --offline FILE.pdf --keys muster-keys.json", "muster verify --page",
				`muster events verify --witness \ ` + head, "had this fingerprint when the report was built: " + doc.KeysFingerprint,
			} {
				if !strings.Contains(last, want) {
					t.Errorf("%s, %s: the last page does not say %q:\n%s", kind, name, want, last)
				}
			}
			if n := strings.Count(strings.Join(pages, " "), "HOW TO CHECK THIS REPORT"); n != 1 {
				t.Errorf("%s, %s: it is said %d times", kind, name, n)
			}
		}
		doc := snapshottest.Empty(kind)
		for public, want := range map[string]string{
			"https://muster.example.org/": "The keys are at https://muster.example.org/.well-known/muster-keys.json On the installation",
			"":                            "The keys are at /.well-known/muster-keys.json of the installation that built this report. On the installation",
		} { // the inputs of before have no fingerprint
			doc.KeysFingerprint = ""
			doc.PublicURL = public
			file, _ := render(t, r, doc)
			if pages := words(t, file); !strings.Contains(pages[len(pages)-1], want) {
				t.Errorf("%s at %q: the last page does not say %q", kind, public, want)
			}
		}
	}
}
