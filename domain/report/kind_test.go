package report_test

import (
	"errors"
	"slices"
	"testing"

	"muster/domain/report"
)

// TestEveryKindIsComplete: it has a name of its own, all words, and contents.
func TestEveryKindIsComplete(t *testing.T) {
	t.Parallel()
	names, stems := map[report.Kind]bool{}, map[string]bool{}
	for _, d := range report.Definitions() {
		if d.Name == "" || names[d.Name] || d.FileStem == "" || stems[d.FileStem] {
			t.Errorf("%s, %s: the name or the stem of files is not its own", d.Name, d.FileStem)
		}
		names[d.Name], stems[d.FileStem] = true, true
		if d.Title == "" || d.Short == "" || d.PaperTitle == "" || d.Everything == "" {
			t.Errorf("%s lacks words", d.Name)
		}
		if d.Verdict == "" || len(d.Sections) == 0 {
			t.Errorf("%s has no contents", d.Name)
		}
		if d.Database && !d.OneInstance {
			t.Errorf("%s can be limited to one database of several instances", d.Name)
		}
		// The paper of every kind prints these.
		for _, p := range []report.Part{report.PartOrganization, report.PartHead, report.PartKeys} {
			if !d.Gathers(p) {
				t.Errorf("%s does not gather %s", d.Name, p)
			}
		}
		if d.Comparable && !d.Gathers(report.PartPrevious) {
			t.Errorf("%s can be compared and does not gather the report before", d.Name)
		}
		if found, err := report.Find(d.Name); err != nil || found.Title != d.Title {
			t.Errorf("%s is found as %s, %v", d.Name, found.Name, err)
		}
	}
	if !slices.Contains(report.Kinds(), report.Security) || len(report.Kinds()) != len(names) {
		t.Error(report.Kinds())
	}
}

// TestAnUnknownKindIsAnError, and takes no other kind's rules or words.
func TestAnUnknownKindIsAnError(t *testing.T) {
	t.Parallel()
	for _, name := range []report.Kind{"", "Weather", "security"} {
		_, err := report.Find(name)
		if unknown := new(report.UnknownKindError); !errors.As(err, &unknown) || unknown.Kind != name {
			t.Errorf("%q: %v", name, err)
		}
		if _, broken := report.Validate(name, report.Scope{}, now); len(broken) != 1 || broken[0].Pointer != "#/kind" {
			t.Errorf("%q: %v", name, broken)
		}
		if name.Title() != string(name) || report.Companions(name) != nil {
			t.Errorf("%q has the words or files of another kind", name)
		}
	}
}
