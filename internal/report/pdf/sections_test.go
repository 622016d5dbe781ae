package pdf

import (
	"testing"

	"muster/domain/report"
	"muster/internal/report/pdf/blocks"
	"muster/internal/report/snapshot/snapshottest"
)

// TestEverySectionOfAKindCanBeWritten, and none is left that no kind has.
func TestEverySectionOfAKindCanBeWritten(t *testing.T) {
	t.Parallel()
	wanted := map[report.Section]bool{}
	for _, kind := range report.Definitions() {
		b, err := blocks.New(snapshottest.Rich(kind.Name), "")
		if err != nil {
			t.Fatal(err)
		}
		sections, err := sectionsOf(&b, kind)
		if err != nil || len(sections) == 0 {
			t.Errorf("%s has %d sections, %v", kind.Name, len(sections), err)
			continue
		}
		if _, err := front(&b); err != nil {
			t.Error(err)
		}
		titles := map[string]bool{}
		for i, name := range kind.Sections {
			wanted[name] = true
			if titles[sections[i].title] {
				t.Errorf("%s has the heading %q twice", kind.Name, sections[i].title)
			}
			titles[sections[i].title] = true
		}
		if titles["Remediation plan"] && objectsIn(&b) == "" {
			t.Errorf("the plan of %s sends its reader to a section that it does not have", kind.Name)
		}
	}
	for name := range knownSections(new(blocks.Builder)) {
		if !wanted[name] {
			t.Errorf("no kind has the section %q", name)
		}
	}
}

// TestAnUnknownSectionOrVerdictIsAnError: nothing replaces it.
func TestAnUnknownSectionOrVerdictIsAnError(t *testing.T) {
	t.Parallel()
	b, err := blocks.New(snapshottest.Rich(report.Security), "")
	if err != nil {
		t.Fatal(err)
	}
	b.Kind.Sections = []report.Section{"weather"}
	if err := compose(&b); err == nil {
		t.Error("a section that nothing writes is no error")
	}
	b.Kind.Sections, b.Kind.Verdict = nil, "weather"
	if err := compose(&b); err == nil {
		t.Error("a verdict without figures is no error")
	}
}
