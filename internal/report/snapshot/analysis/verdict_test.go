package analysis_test

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"muster/domain/report"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
	"muster/internal/report/snapshot/snapshottest"
)

// drawDocument is a document of any kind with holes and faults anywhere.
func drawDocument(t *rapid.T) snapshot.Document {
	doc := snapshottest.Rich(report.Kind(rapid.SampledFrom([]string{"Security", "InstanceScorecard", "DataInventory"}).Draw(t, "kind")))
	all := min(len(doc.Instances), rapid.IntRange(0, 3).Draw(t, "instances"))
	doc.Instances, doc.Exceptions, doc.Database = doc.Instances[:all], nil, nil
	calm := rapid.Bool().Draw(t, "calm") // else no document would ever be clean
	likely := func(one, other string, label string) string {
		if calm || rapid.IntRange(0, 9).Draw(t, label) > 0 {
			return one
		}
		return other
	}
	for i := range doc.Instances {
		in := &doc.Instances[i]
		in.Active = likely("yes", "no", "active") == "yes"
		end := doc.AsOf.AddDate(1, 0, 0)
		if likely("supported", "ended", "end of life") == "ended" {
			end = doc.AsOf.AddDate(0, 0, -rapid.IntRange(0, 800).Draw(t, "days"))
		}
		if in.Release = nil; likely("known", "unknown", "release") == "known" {
			in.Release = &snapshot.Release{Major: "15", Latest: "15.20", EndOfLife: &end, Target: "15.20"}
			if in.Release.CVEsUnknown = likely("listed", "unlisted", "CVEs") == "unlisted"; in.Release.CVEsUnknown {
				in.CVEs = nil // an engine of which the feed knows no CVE
			}
		}
		for k := range in.CVEs {
			in.CVEs[k].Applies = likely(snapshot.CVENotExploitable, rapid.SampledFrom([]string{snapshot.CVEOpen, snapshot.CVEUnknown}).Draw(t, "applies"), "cve")
		}
		switch likely("complete", rapid.SampledFrom([]string{"none", "unreachable"}).Draw(t, "how"), "assessment") {
		case "none":
			in.Assessment = nil
		case "unreachable":
			in.Assessment = &snapshot.Assessment{Outcome: snapshot.OutcomeUnreachable}
		default:
			in.Assessment = &snapshot.Assessment{Outcome: snapshot.OutcomeComplete}
			for _, c := range doc.Checks {
				r := snapshot.CheckResult{CheckID: c.ID, Status: likely(snapshot.StatusPass, rapid.SampledFrom([]string{snapshot.StatusFail, snapshot.StatusNotAssessed}).Draw(t, "status"), "result")}
				if r.Status == snapshot.StatusFail {
					r.Violations = []snapshot.Violation{{Object: "o", Severity: rapid.SampledFrom([]string{"", "Critical", "Low"}).Draw(t, "severity")}}
					r.Total = 1
				}
				in.Assessment.Results = append(in.Assessment.Results, r)
			}
		}
		for k := range in.Databases {
			run := in.Databases[k].Classification
			if run == nil {
				run = &snapshot.Classification{}
				in.Databases[k].Classification = run
			}
			run.Status = likely(snapshot.ClassificationCompleted, rapid.SampledFrom([]string{snapshot.ClassificationPartial, snapshot.ClassificationFailed, snapshot.ClassificationOff}).Draw(t, "run"), "classification")
			for n := range run.Tables {
				run.Tables[n].RowsKnown = true
			}
		}
	}
	return doc
}

// holes says whether something in scope was not looked at, told from the document
// itself and from none of the figures that the reports are made of.
func holes(doc snapshot.Document) bool {
	security := map[string]bool{}
	for _, c := range doc.Checks {
		security[c.ID] = c.Domain == "Security" || doc.Kind == string(report.InstanceScorecard)
	}
	for _, in := range doc.Instances {
		if !in.Active || in.Assessment == nil || in.Assessment.Outcome == snapshot.OutcomeUnreachable || in.Release == nil || in.Release.CVEsUnknown {
			return true
		}
		for _, r := range in.Assessment.Results {
			if r.Status == snapshot.StatusNotAssessed && security[r.CheckID] {
				return true
			}
		}
		for _, db := range in.Databases {
			if doc.Kind == string(report.DataInventory) && db.Classification.Status != snapshot.ClassificationCompleted {
				return true
			}
		}
		for _, c := range in.CVEs {
			if c.Applies == snapshot.CVEUnknown {
				return true
			}
		}
	}
	return false
}

func judged(t interface{ Fatal(...any) }, doc snapshot.Document) analysis.Verdict {
	v, err := analysis.Judge(doc)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestAnUnknownKindHasNoVerdict: not that of another kind.
func TestAnUnknownKindHasNoVerdict(t *testing.T) {
	t.Parallel()
	doc := snapshottest.Rich(report.Security)
	doc.Kind = "Weather"
	var unknown *report.UnknownKindError
	if v, err := analysis.Judge(doc); !errors.As(err, &unknown) || string(unknown.Kind) != doc.Kind {
		t.Errorf("%+v, %v", v, err)
	}
}

// A verdict is never better than its coverage, and silent on nothing that is grave,
// whatever the kind of the report.
func TestAVerdictIsNeverBetterThanItsCoverage(t *testing.T) {
	t.Parallel()
	clean := 0
	rapid.Check(t, func(t *rapid.T) {
		doc := drawDocument(t)
		v := judged(t, doc)
		words := v.Lead + " " + v.Rest
		if v.State == analysis.Clean {
			clean++
			if holes(doc) {
				t.Fatalf("green over the unknown: %q", words)
			}
		}
		mentioned := func(n int, word string) {
			t.Helper()
			if n > 0 && !strings.Contains(words, strconv.Itoa(n)+" "+word) {
				t.Fatalf("%d %s, and the verdict is silent: %q", n, word, words)
			}
			if n > 0 && v.State == analysis.Clean {
				t.Fatalf("green over %d %s", n, word)
			}
		}
		counts := analysis.CountBySeverity(analysis.Findings(doc))
		security := ""
		if doc.Kind == string(report.DataInventory) {
			security = "security "
		}
		mentioned(counts[0], "critical "+security+"finding")
		mentioned(counts[1], "high "+security+"finding")
		ended, cvss, open, possible := 0, map[string]float64{}, map[string]bool{}, map[string]bool{}
		for _, one := range doc.Vulnerabilities {
			cvss[one.ID] = one.CVSS
		}
		assessed := 0
		for _, in := range doc.Instances {
			if in.Active && in.Assessment != nil && in.Assessment.Outcome != snapshot.OutcomeUnreachable {
				assessed++
			}
			if in.Release == nil { // an inactive server may be running
				continue
			}
			if !in.Release.EndOfLife.After(doc.AsOf) {
				ended++
			}
			for _, c := range in.CVEs {
				if cvss[c.ID] >= 7 {
					open[c.ID] = open[c.ID] || c.Applies == snapshot.CVEOpen
					possible[c.ID] = possible[c.ID] || c.Applies == snapshot.CVEUnknown
				}
			}
		}
		if len(doc.Instances) > 1 { // else it is “the server”
			mentioned(ended, "instance")
		} else if ended > 0 && (v.State == analysis.Clean || !strings.Contains(words, "The server runs a major version past its end of life.")) {
			t.Fatalf("the server is past its end of life, and the verdict is green or silent: %q", words)
		}
		if ended > 0 && !strings.Contains(words, "past its end of life") {
			t.Fatalf("%d past their end of life, and the verdict is silent: %q", ended, words)
		}
		n, maybe := 0, 0
		for id, is := range open {
			switch {
			case is:
				n++
			case possible[id]:
				maybe++
			}
		}
		mentioned(n, "open CVE")
		if maybe > 0 && !strings.Contains(words, "not ruled out") {
			t.Fatalf("%d CVEs not ruled out, and the verdict is silent: %q", maybe, words)
		}
		if all := len(doc.Instances); all > assessed && assessed > 0 && doc.Kind != string(report.InstanceScorecard) && !strings.Contains(words, strconv.Itoa(all-assessed)+" of "+strconv.Itoa(all)+" instances") {
			t.Fatalf("%d of %d instances were not assessed, and the verdict is silent: %q", all-assessed, all, words)
		}
	})
	if clean == 0 {
		t.Error("no document was clean: the property holds of nothing")
	}
}

// What was seen: three databases of 23 looked at, and a green "none carries a high
// risk"; a server past its end of life and holes of others that the page was silent on.
func TestVerdictsOfKnownMistakes(t *testing.T) {
	t.Parallel()
	end, old := snapshottest.AsOf().AddDate(0, 0, 353), snapshottest.AsOf().AddDate(0, 0, -731)
	supported := &snapshot.Release{Major: "15", EndOfLife: &end}
	db := func(c *snapshot.Classification) snapshot.Database { return snapshot.Database{Classification: c} }
	done := &snapshot.Classification{Status: snapshot.ClassificationCompleted, Tables: []snapshot.ClassifiedTable{{Name: "t", RowsKnown: true}}}
	live := instance(one, "live", status("PG-S01", "pass"), status("PG-S02", "pass"), status("PG-S04", "pass"), status("PG-S05", "pass"))
	live.Release, live.Databases = supported, []snapshot.Database{db(done)}
	paper := snapshot.Instance{ID: two, Name: "paper", Active: true, Release: supported, Databases: slices.Repeat([]snapshot.Database{db(nil)}, 20)}
	inventory := document(live, paper)
	inventory.Kind = string(report.DataInventory)
	legacy := paper
	legacy.Name, legacy.Databases, legacy.Release = "legacy", nil, &snapshot.Release{Major: "12", EndOfLife: &old, Target: "18.7"}
	legacy.CVEs = []snapshot.InstanceCVE{{ID: "CVE-1", Applies: snapshot.CVEUnknown}}
	paper.CVEs = []snapshot.InstanceCVE{{ID: "CVE-1", Applies: snapshot.CVEOpen}, {ID: "CVE-2", Applies: snapshot.CVEOpen}}
	security := document(live, paper, legacy)
	security.Kind = string(report.Security)
	security.Vulnerabilities = []snapshot.Vulnerability{{ID: "CVE-1", CVSS: 8.8}, {ID: "CVE-2", CVSS: 4.3}}
	whole := document(live)
	whole.Kind = string(report.Security)
	for name, tc := range map[string]struct {
		doc   snapshot.Document
		state string
		says  []string
	}{
		"an inventory of one database in 21": {inventory, analysis.Unknown, []string{
			"1 table holds sensitive data in 1 classified database, none of a high risk as far as it is known.", "20 of 21 databases were not classified", "1 of 2 instances was not checked for security"}},
		"security beyond the assessed": {security, analysis.High, []string{
			"1 instance runs a major version past its end of life: legacy. 2 of 3 instances were not assessed.", "1 open CVE of CVSS 7.0 or more concerns 1 instance."}},
		"all looked at, nothing found": {whole, analysis.Clean, []string{"No findings on 1 assessed instance."}},
		"nothing in scope":             {snapshottest.Empty(report.Security), analysis.Nothing, []string{"No instance is in scope"}},
	} {
		v := judged(t, tc.doc)
		if v.State != tc.state {
			t.Errorf("%s: %s, want %s", name, v.State, tc.state)
		}
		for _, want := range tc.says {
			if !strings.Contains(v.Lead+" "+v.Rest, want) {
				t.Errorf("%s: no %q in %q %q", name, want, v.Lead, v.Rest)
			}
		}
	}
}

// TestEveryKindHasAVerdict that its words exist for.
func TestEveryKindHasAVerdict(t *testing.T) {
	t.Parallel()
	for _, kind := range report.Kinds() {
		if v := judged(t, snapshottest.Rich(kind)); v.State == "" || v.Lead == "" {
			t.Errorf("%s: %+v", kind, v)
		}
	}
}
