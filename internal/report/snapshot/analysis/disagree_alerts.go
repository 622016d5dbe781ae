package analysis

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/internal/engine"
	"muster/internal/engine/trait"
	"muster/internal/report/snapshot"
)

// Contradictions says in clauses where the alerts and the settings of a scorecard do not fit the results of its checks.
// The sources may differ in their limits and times, so the reader has to decide; none of them is corrected.
func Contradictions(doc snapshot.Document) []string {
	if len(doc.Instances) == 0 {
		return nil
	}
	in := &doc.Instances[0]
	var all []string
	if doc.Alerts != nil {
		for _, check := range engine.ChecksOf(in.Engine).Alerts {
			if words := alertAgainst(doc, in, check); words != "" {
				all = append(all, words)
			}
		}
	}
	if doc.Tuning != nil {
		all = append(all, settingsAgainst(doc, in)...)
	}
	return all
}

// alertAgainst says how the alerts on a check's matter contradict its result; empty: they do not.
func alertAgainst(doc snapshot.Document, in *snapshot.Instance, check trait.AlertCheck) string {
	status, since := standingResult(doc, in, check.Check)
	open, closed := newestAlerts(doc.Alerts.Listed, check)
	switch {
	case status == snapshot.StatusPass && open != nil:
		return "the alert “" + Shorten(open.Title, 120) + "” is open, and " + check.Check + " passes"
	case status == snapshot.StatusFail && open == nil && closed != nil && since != nil && closed.ResolvedAt.After(*since):
		return "the alert “" + Shorten(closed.Title, 120) + "” was resolved on " + closed.ResolvedAt.UTC().Format(time.DateOnly) +
			", and " + check.Check + " fails since " + since.UTC().Format(time.DateOnly)
	}
	return ""
}

// standingResult is the result of a check, failed if it fails anywhere, and since when it has failed.
func standingResult(doc snapshot.Document, in *snapshot.Instance, check string) (status string, since *time.Time) {
	for _, r := range recorded(doc, in) {
		if r.CheckID != check || status == snapshot.StatusFail {
			continue
		}
		if status = r.Status; status != snapshot.StatusFail {
			continue
		}
		since = r.FirstSeenAt
		for _, v := range r.Violations {
			if v.FirstSeenAt != nil && (since == nil || v.FirstSeenAt.Before(*since)) {
				since = v.FirstSeenAt
			}
		}
	}
	return status, since
}

// newestAlerts are the newest open and the newest resolved of the alerts on a check's matter.
func newestAlerts(listed []snapshot.Alert, check trait.AlertCheck) (open, closed *snapshot.Alert) {
	for i := range listed {
		a := &listed[i]
		text := strings.ToLower(a.Title + " " + a.Rule)
		if !slices.ContainsFunc(check.Words, func(w string) bool { return strings.Contains(text, w) }) || below(text, check.From) {
			continue
		}
		switch {
		case a.ResolvedAt == nil:
			if open == nil || a.CreatedAt.After(open.CreatedAt) {
				open = a
			}
		case closed == nil || a.ResolvedAt.After(*closed.ResolvedAt):
			closed = a
		}
	}
	return open, closed
}

var percent = regexp.MustCompile(`(\d+)\s*%`)

// below says whether a text names a lower percentage.
func below(text string, from int) bool {
	m := percent.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	n, err := strconv.Atoi(m[1])
	return err == nil && n < from
}

// setting is how a statement of PostgreSQL or SQL Server sets one.
var setting = regexp.MustCompile(`(?m)^(?:ALTER SYSTEM SET (\w+) = '?([\w. ]+?)'?;|EXEC sys\.sp_configure N'([^']+)', (\d+);)$`)

// settingsAgainst says which checks ask for a setting that already has the value that they ask for.
func settingsAgainst(doc snapshot.Document, in *snapshot.Instance) (all []string) {
	values := map[string]string{}
	for _, s := range doc.Tuning.Settings {
		values[strings.ToLower(s.Name)] = s.Value
	}
	for _, r := range recorded(doc, in) {
		if r.Status != snapshot.StatusFail {
			continue
		}
		for _, v := range r.Violations {
			if v.Fix == nil {
				continue
			}
			for _, m := range setting.FindAllStringSubmatch(v.Fix.Statement, -1) {
				name, asked := m[1]+m[3], m[2]+m[4]
				words := r.CheckID + " asks for " + name + " = " + asked + ", which the settings of the same server have"
				if is, known := values[strings.ToLower(name)]; known && strings.EqualFold(is, asked) && !slices.Contains(all, words) {
					all = append(all, words)
				}
			}
		}
	}
	return all
}
