package pdf

import (
	"testing"

	"muster/domain/report"
	"muster/internal/report/snapshot/snapshottest"
)

// TestEverySectionOfAKindCanBeWritten, and none is left that no kind has.
func TestEverySectionOfAKindCanBeWritten(t *testing.T) {
	t.Parallel()
	wanted := map[report.Section]bool{}
	for _, kind := range report.Definitions() {
		b, err := newBuilder(nil, snapshottest.Rich(kind.Name), "")
		if err != nil {
			t.Fatal(err)
		}
		sections, err := b.sectionsOf(kind)
		if err != nil || len(sections) == 0 {
			t.Errorf("%s has %d sections, %v", kind.Name, len(sections), err)
			continue
		}
		if _, err := b.front(); err != nil {
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
		if titles["Remediation plan"] && b.objectsIn() == "" {
			t.Errorf("the plan of %s sends its reader to a section that it does not have", kind.Name)
		}
	}
	for name := range new(builder).knownSections() {
		if !wanted[name] {
			t.Errorf("no kind has the section %q", name)
		}
	}
}

// TestAKindThatAsksForMoreThanThereIsIsAnError: nothing stands in for what it asks for.
func TestAKindThatAsksForMoreThanThereIsIsAnError(t *testing.T) {
	t.Parallel()
	b, err := newBuilder(nil, snapshottest.Rich(report.Security), "")
	if err != nil {
		t.Fatal(err)
	}
	b.kind.Sections = []report.Section{"weather"}
	if err := b.compose(); err == nil {
		t.Error("a section that nothing writes is no error")
	}
	b.kind.Sections, b.kind.Verdict = nil, "weather"
	if err := b.compose(); err == nil {
		t.Error("a verdict without figures is no error")
	}
}
