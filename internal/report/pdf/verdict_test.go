package pdf_test

import (
	"encoding/hex"
	"image"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"muster/domain/report"
	"muster/eventstore/witness"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/snapshottest"
)

// faultless is a document of a kind in which everything was looked at and nothing is
// wrong.
func faultless(kind report.Kind) snapshot.Document {
	doc := snapshottest.Rich(kind)
	doc.Exceptions, doc.Previous = nil, nil
	doc.Instances = slices.DeleteFunc(doc.Instances, func(in snapshot.Instance) bool {
		return !in.Active || in.Assessment == nil || in.Assessment.Outcome == snapshot.OutcomeUnreachable
	})
	doc.Instances = doc.Instances[:min(2, len(doc.Instances))]
	current(doc)
	for i := range doc.Instances {
		in := &doc.Instances[i]
		in.Databases = []snapshot.Database{{Name: "crm", Classification: &snapshot.Classification{Status: snapshot.ClassificationCompleted, TablesSeen: 3, TablesClassified: 3}}}
		in.OpenAlerts = &snapshot.OpenAlerts{}
		in.Assessment.Outcome, in.Assessment.MissingGrants = snapshot.OutcomeComplete, nil
	}
	eachResult(doc, func(r *snapshot.CheckResult) {
		*r = snapshot.CheckResult{CheckID: r.CheckID, Database: r.Database, Status: snapshot.StatusPass, Measured: "as required"}
	})
	return doc
}

// green counts the pixels of page 1 that are as green as the colour of a clean verdict.
func green(img image.Image) int {
	n, box := 0, img.Bounds()
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			if r, g, b, _ := img.At(x, y).RGBA(); g > r+0x2800 && g > b+0x1800 {
				n++
			}
		}
	}
	return n
}

// Page 1 is green where all was looked at, and nowhere green over one hole.
func TestPageOneIsGreenOverNothingUnknown(t *testing.T) {
	t.Parallel()
	r := renderer(t)
	for _, kind := range kinds {
		file, _ := render(t, r, faultless(kind))
		if green(picture(t, file, 1)) == 0 {
			t.Errorf("%s: all was looked at, nothing is wrong, and page 1 is not green: %s", kind, words(t, file)[0])
		}
		for name, hole := range map[string]func(doc *snapshot.Document){
			"an answer is missing": func(doc *snapshot.Document) {
				results := doc.Instances[0].Assessment.Results
				results[slices.IndexFunc(results, func(r snapshot.CheckResult) bool { return r.CheckID == "PG-S07" })].Status = snapshot.StatusNotAssessed
			},
			"nobody looked": func(doc *snapshot.Document) { doc.Instances[0].Assessment = nil },
			"the feed has a gap": func(doc *snapshot.Document) {
				doc.Instances[0].Release.CVEGap = "of these CVEs not all are known"
			},
			"past its end of life": func(doc *snapshot.Document) {
				doc.Instances[0].Release.EndOfLife = &doc.AsOf
			},
		} {
			doc := faultless(kind)
			hole(&doc)
			file, _ := render(t, r, doc)
			if n := green(picture(t, file, 1)); n > 0 {
				t.Errorf("%s, %s: %d green pixels on page 1: %s", kind, name, n, words(t, file)[0])
			}
		}
	}
	doc := faultless(report.DataInventory)
	doc.Instances[0].Databases[0].Classification = nil
	file, _ := render(t, r, doc)
	if n := green(picture(t, file, 1)); n > 0 {
		t.Errorf("a database that was not classified: %d green pixels on page 1", n)
	}
}

// What is printed of the log can be given to the verifier as it stands, from the
// footer and from the last page.
func TestTheWitnessIsPrintedAsTheVerifierTakesIt(t *testing.T) {
	t.Parallel()
	doc := snapshottest.Rich(report.Security)
	doc.Witness.Position = 9_007_199_254 // with separators it would be no position
	file, _ := render(t, renderer(t), doc)
	pages := words(t, file)
	printed := 0
	for _, page := range pages {
		for word := range strings.FieldsSeq(page) {
			if !strings.HasPrefix(word, "reports:") {
				continue
			}
			printed++
			log, position, hash, err := witness.Parse(word)
			if err != nil || log != doc.Witness.Log || position != doc.Witness.Position || hex.EncodeToString(hash) != doc.Witness.Hash {
				t.Errorf("%q: %s:%d:%x, %v", word, log, position, hash, err)
			}
		}
	}
	if printed != 1 {
		t.Errorf("printed %d times on %d pages, want once, with the command", printed, len(pages))
	}
	if all := strings.Join(pages, " "); !strings.Contains(all, `muster events verify --witness \ reports:9007199254:`) {
		t.Error("the command to run is not printed with the witness")
	}
}

// A report of an earlier release is rendered from what its inputs say.
func TestInputsOfEveryFormRender(t *testing.T) {
	t.Parallel()
	forms, err := filepath.Glob("../snapshot/testdata/form-*.json")
	if err != nil || len(forms) < 3 {
		t.Fatal(forms, err)
	}
	for _, path := range forms {
		stored, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := snapshot.Decode(stored)
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range kinds {
			doc.Kind = string(kind)
			file, _ := render(t, renderer(t), doc)
			if all := strings.Join(words(t, file), " "); !strings.Contains(all, "CONTENTS") || strings.Contains(all, "0001-01-01") {
				t.Errorf("%s as %s: %.300s", path, kind, all)
			}
		}
	}
}
