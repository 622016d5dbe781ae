package feed

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"muster/domain/fleet"
	"muster/internal/report/snapshot"
)

// TestPreconditionsOfSQLServerAndOracleAreTrueFalseOrUnknown: a CVE is open without a precondition, or if the check
// that decides it fails. It is not exploitable if the check passes, or if it concerns client programs. It is not ruled
// out if nobody looked, also where the server was not assessed, or could not answer the check.
func TestPreconditionsOfSQLServerAndOracleAreTrueFalseOrUnknown(t *testing.T) {
	t.Parallel()
	f := *feedOf(t)
	f.byEngine = maps.Clone(f.byEngine)
	decided := func(engine fleet.Engine, id, check string) {
		all := slices.Clone(f.byEngine[engine])
		i := slices.IndexFunc(all, func(a advisory) bool { return a.ID == id })
		if i < 0 {
			t.Fatalf("the table has no %s", id)
		}
		all[i].precondition = precondition{kind: "check", value: check}
		f.byEngine[engine] = all
	}
	decided(fleet.SQLServer, "CVE-2026-21262", "MS-24")
	decided(fleet.Oracle, "CVE-2025-30701", "OR-40")
	answered := func(check, status string, sent bool) *snapshot.Assessment {
		return &snapshot.Assessment{Outcome: snapshot.OutcomeComplete, Sent: sent, Results: []snapshot.CheckResult{{CheckID: check, Status: status}}}
	}
	for _, test := range []struct {
		engine       fleet.Engine
		version, cve string
		check        string // that decides it; empty: none does
		kind         string
	}{
		{fleet.SQLServer, "13.0.6480.3", "CVE-2026-21262", "MS-24", "decided"},
		{fleet.Oracle, "19.24.0.0.0", "CVE-2025-30701", "OR-40", "decided"},
		{fleet.SQLServer, "16.0.4240.3", "CVE-2026-26115", "MS-24", "none"},
		{fleet.Oracle, "19.31.0.0.0", "CVE-2026-61211", "OR-40", "none"},
		{fleet.Oracle, "19.31.0.0.0", "CVE-2026-47061", "OR-40", "client"},
		{fleet.SQLServer, "16.0.4131.1", "CVE-2024-37318", "MS-24", "unverified"},
		{fleet.Oracle, "19.27.0.0.0", "CVE-2025-50069", "OR-68", "decided"}, // of the Java VM
		{fleet.Oracle, "19.26.0.0.0", "CVE-2025-30702", "OR-40", "unverified"},
	} {
		unreachable := &snapshot.Assessment{Outcome: snapshot.OutcomeUnreachable}
		for name, c := range map[string]struct {
			assessment *snapshot.Assessment
			decided    string // what becomes of a CVE that the check decides
			words      string
		}{
			"fails":       {answered(test.check, snapshot.StatusFail, false), snapshot.CVEOpen, ": it does"},
			"fails, fed":  {answered(test.check, snapshot.StatusFail, true), snapshot.CVEOpen, ": it does"},
			"passes":      {answered(test.check, snapshot.StatusPass, false), snapshot.CVENotExploitable, ": it passes"},
			"passes, fed": {answered(test.check, snapshot.StatusPass, true), snapshot.CVENotExploitable, ": it passes"},
			"unread":      {answered(test.check, snapshot.StatusNotAssessed, false), snapshot.CVEUnknown, ": it was not assessed"},
			"other check": {answered("XX-01", snapshot.StatusPass, false), snapshot.CVEUnknown, ": it was not assessed"},
			"unreachable": {unreachable, snapshot.CVEUnknown, "the server was not assessed"},
			"none":        {nil, snapshot.CVEUnknown, "the server was not assessed"},
		} {
			want, words := c.decided, c.words
			switch test.kind {
			case "none":
				want, words = snapshot.CVEOpen, ""
			case "client":
				want, words = snapshot.CVENotExploitable, "concerns client programs"
			case "unverified":
				want, words = snapshot.CVEUnknown, "which was not looked at"
			}
			_, concerns := f.Judge(test.engine, test.version, c.assessment, november)
			if got, why := how(concerns, test.cve); got != want || !strings.Contains(why, words) || (words == "") != (why == "") {
				t.Errorf("%s %s, %s, check %s: %q (%s), want %q (%s)", test.engine, test.cve, test.kind, name, got, why, want, words)
			}
		}
	}
}
