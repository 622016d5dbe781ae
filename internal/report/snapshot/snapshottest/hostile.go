package snapshottest

import (
	"fmt"
	"slices"
	"strings"

	"muster/domain/report"
	"muster/internal/report/snapshot"
)

// Nasty are strings that have broken PDF writers: beyond the BMP, right to
// left, bidirectional overrides, control characters, invalid UTF-8, combining
// marks, PDF syntax, page aliases, glyphs that no font of ours has, and 5,000
// characters without a break.
func Nasty() []string {
	return []string{
		"rocket 🚀 base", "خادم-قاعدة", "שרת_נתונים", "admin\u202egpj.exe", "bell\x07null\x00esc\x1b[31m", "bad\xff\xfe\xc3(utf8",
		"cafe\u0301 na\u0308ive", "(paren) \\slash) endstream endobj", "{nb} {nbs}", "데이터베이스 数据库", "zero\u200bwidth\ufeffjoin\u200d",
		"tab\tnewline\nreturn\r\nend", strings.Repeat("x", 5000), "ﬁ ligature № ™ ∑ → ✓ ☠", "\ufffe\uffff\ue000", "Čeština Ελληνικά Русский",
		"soft\u00adhyphen nb\u00a0space", "\u2066isolate\u2069 <b>&amp;</b>", "CR\rLF\u010a\u010d\u0a0d", "",
	}
}

// Hostile returns the rich document with every name and text replaced by a
// nasty one. It is not normalized: the renderer must stand it raw.
func Hostile(kind report.Kind) snapshot.Document {
	doc := Rich(kind)
	nasty := Nasty()
	n := 0
	next := func() string { n++; return nasty[n%len(nasty)] }
	doc.Organization.Name, doc.Requester.Name, doc.ScopeLabel = nasty[0], nasty[5], nasty[12]
	doc.Feed.Name, doc.Catalogue.Version, doc.Witness.Hash, doc.KeysFingerprint = next(), next(), next(), next()
	for i := range doc.Checks {
		c := &doc.Checks[i]
		c.Title, c.Passed, c.Rationale, c.Pass, c.Remediation, c.Impact = next(), next(), next(), next(), next(), next()
	}
	for i := range doc.Instances {
		hostileInstance(&doc.Instances[i], next)
	}
	for i := range doc.Exceptions {
		x := &doc.Exceptions[i]
		x.Reason, x.RequestedBy.Name, x.GrantedBy.Name = next(), next(), next()
	}
	if doc.Alerts != nil {
		for i := range doc.Alerts.Listed {
			a := &doc.Alerts.Listed[i]
			a.Title, a.Rule, a.Database, a.State = next(), next(), next(), next()
		}
	}
	hostileDay(doc.Day, next)
	return doc
}

func hostileInstance(in *snapshot.Instance, next func() string) {
	in.Name, in.Version, in.Host, in.NotAssessed = next(), next(), next(), next()
	if a := in.Assessment; a != nil {
		a.Role, a.RolesNote = next(), next()
		for i := range a.Results {
			r := &a.Results[i]
			r.Reason, r.Measured, r.Threshold = next(), next(), next()
			for k := range r.Violations {
				r.Violations[k] = snapshot.Violation{Object: next(), Evidence: next(), Fix: &snapshot.Fix{Database: next(), Statement: next()}}
			}
		}
		for i := range a.Roles {
			a.Roles[i].Name, a.Roles[i].MemberOf = next(), []string{next(), next()}
		}
	}
	for i := range in.Databases {
		in.Databases[i].Name = next()
		if c := in.Databases[i].Classification; c != nil {
			for k := range c.Tables {
				c.Tables[k].Name = next()
				for l := range c.Tables[k].Columns {
					c.Tables[k].Columns[l].Name = next()
				}
			}
		}
	}
}

// Huge returns a security document with n findings of one check spread over
// databases of one server, more than a table prints when n > 20,000.
func Huge(n int) snapshot.Document {
	doc := Rich(report.Security)
	doc.Instances = []snapshot.Instance{*assessed(&doc)}
	in := &doc.Instances[0]
	in.Assessment.Results = nil
	for start := 0; start < n; start += snapshot.MaxViolations {
		r := snapshot.CheckResult{CheckID: "PG-S18", Database: fmt.Sprintf("tenant_%05d", start/snapshot.MaxViolations), Status: snapshot.StatusFail, FailFraction: 0.5}
		for i := start; i < min(n, start+snapshot.MaxViolations); i++ {
			r.Violations = append(r.Violations, snapshot.Violation{Object: fmt.Sprintf("public.measurement_%06d", i), Evidence: "SELECT to PUBLIC"})
		}
		r.Total = len(r.Violations)
		in.Assessment.Results = append(in.Assessment.Results, r)
	}
	return snapshot.Normalize(doc)
}

// Pages returns a security document of about n pages: many checks, each with
// as many findings as fill half a page.
func Pages(n int) snapshot.Document {
	doc := Rich(report.Security)
	in := assessed(&doc)
	in.Assessment.Results = nil
	base := doc.Checks[0]
	for i := range 2 * n {
		c := base
		c.ID = fmt.Sprintf("XX-%05d", i)
		doc.Checks = append(doc.Checks, c)
		r := snapshot.CheckResult{CheckID: c.ID, Status: snapshot.StatusFail, FailFraction: 1}
		for k := range 15 {
			r.Violations = append(r.Violations, snapshot.Violation{Object: fmt.Sprintf("public.measurement_%06d", 15*i+k), Evidence: "SELECT, UPDATE to PUBLIC"})
		}
		r.Total = len(r.Violations)
		in.Assessment.Results = append(in.Assessment.Results, r)
	}
	return snapshot.Normalize(doc)
}

// assessed is the first instance with an assessment.
func assessed(doc *snapshot.Document) *snapshot.Instance {
	i := slices.IndexFunc(doc.Instances, func(in snapshot.Instance) bool { return in.Assessment != nil })
	return &doc.Instances[i]
}
