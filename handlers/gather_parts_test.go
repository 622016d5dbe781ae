package handlers

import (
	"context"
	"slices"
	"testing"

	"muster/domain/report"
	"muster/internal/report/snapshot"
)

// elsewhere are the parts that are not gathered one after the other.
var elsewhere = []report.Part{report.PartPrevious, report.PartVerifications}

// TestEveryPartOfAKindCanBeGathered, and none is left that no kind wants.
func TestEveryPartOfAKindCanBeGathered(t *testing.T) {
	t.Parallel()
	known := slices.Clone(elsewhere)
	for _, p := range new(Inputs).parts(nil) {
		known = append(known, p.name)
	}
	wanted := map[report.Part]bool{}
	for _, kind := range report.Definitions() {
		for _, p := range kind.Parts {
			wanted[p] = true
			if !slices.Contains(known, p) {
				t.Errorf("%s names %q, which nothing gathers", kind.Name, p)
			}
		}
	}
	for _, p := range known {
		if !wanted[p] {
			t.Errorf("no kind names %q", p)
		}
	}
}

// TestOnlyThePartsOfTheKindAreGathered, in the order of the list.
func TestOnlyThePartsOfTheKindAreGathered(t *testing.T) {
	t.Parallel()
	for _, kind := range report.Definitions() {
		var ran, want []report.Part
		parts := new(Inputs).parts(nil)
		for i := range parts {
			name := parts[i].name
			parts[i].add = func(context.Context, Gathering, *snapshot.Document) error {
				ran = append(ran, name)
				return nil
			}
			if slices.Contains(kind.Parts, name) {
				want = append(want, name)
			}
		}
		if err := addAll(t.Context(), Gathering{}, &snapshot.Document{}, parts, kind.Gathers); err != nil || !slices.Equal(ran, want) {
			t.Errorf("%s gathers %q, want %q, %v", kind.Name, ran, want, err)
		}
	}
	performance := []report.Part{report.PartAlerts, report.PartScores, report.PartUtilization, report.PartTuning, report.PartServer}
	for kind, without := range map[report.Kind][]report.Part{
		report.Security:      performance,
		report.DataInventory: append(performance, report.PartFirstSeen, report.PartVerifications),
	} {
		d, err := report.Find(kind)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range without {
			if d.Gathers(part) {
				t.Errorf("%s gathers %q, which is not in its inputs", kind, part)
			}
		}
	}
}

// TestAnUnknownKindGathersNothing: it is an error before anything is read.
func TestAnUnknownKindGathersNothing(t *testing.T) {
	t.Parallel()
	in := Gathering{Queued: report.Queued{Kind: "Weather"}}
	if _, err := new(Inputs).Gather(t.Context(), in); err == nil {
		t.Error("a report on the weather was gathered")
	}
	if _, err := new(Inputs).Findings(t.Context(), in); err == nil {
		t.Error("a report on the weather has findings")
	}
}
