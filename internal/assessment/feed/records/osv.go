package records

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"muster/domain/fleet"
	"muster/internal/assessment/feed"
	"muster/internal/engine"
)

// osv is what is read of a record of OSV (schema 1.4 to 1.7).
type osv struct {
	ID        string   `json:"id"`
	Summary   string   `json:"summary"`
	Details   string   `json:"details"`
	Aliases   []string `json:"aliases"`
	Published string   `json:"published"`
	Modified  string   `json:"modified"`
	Withdrawn string   `json:"withdrawn"`
	Severity  []osvSeverity
	Affected  []struct {
		Package struct {
			Ecosystem string `json:"ecosystem"`
			Name      string `json:"name"`
		} `json:"package"`
		Severity []osvSeverity `json:"severity"`
		Ranges   []struct {
			Type   string     `json:"type"`
			Events []osvEvent `json:"events"`
		} `json:"ranges"`
	} `json:"affected"`
}

type osvSeverity struct {
	Type  string `json:"type"`
	Score string `json:"score"`
}

type osvEvent struct {
	Introduced   string `json:"introduced"`
	Fixed        string `json:"fixed"`
	LastAffected string `json:"last_affected"`
}

// packages are those whose versions are the project's own.
var packages = func() map[string]fleet.Engine {
	all := map[string]fleet.Engine{}
	for _, e := range engine.All() {
		if e.Feed != nil && e.Feed.Package != "" {
			all[e.Feed.Package] = e.Name
		}
	}
	return all
}()

func (r *reader) readOSV(id string, text json.RawMessage) (found []feed.Record, problems []feed.Problem) {
	broken := func(rule, format string, args ...any) ([]feed.Record, []feed.Problem) {
		return nil, append(problems, feed.Problem{Record: id, Rule: rule, Words: fmt.Sprintf(format, args...)})
	}
	var in osv
	if err := json.Unmarshal(text, &in); err != nil {
		return broken("json", "%v", err)
	}
	for _, affected := range in.Affected {
		engine, ours := packages[affected.Package.Name]
		if !ours || affected.Package.Ecosystem != "Bitnami" || !r.wants(engine) {
			continue
		}
		one := feed.Record{Engine: engine, Title: title(in.Summary, in.Details), Withdrawn: in.Withdrawn != "", Source: "OSV " + in.ID}
		for _, name := range append([]string{in.ID}, in.Aliases...) {
			if strings.HasPrefix(name, "CVE-") {
				one.ID = name
				break
			}
		}
		if one.ID == "" {
			return broken("id", "it names no CVE")
		}
		var err error
		if one.Modified, err = instantOf(in.Modified); err != nil {
			return broken("modified", "%v", err)
		}
		one.Published = one.Modified
		if in.Published != "" {
			if one.Published, err = instantOf(in.Published); err != nil {
				return broken("published", "%v", err)
			}
		}
		if !one.Withdrawn {
			severity := append(slices.Clone(affected.Severity), in.Severity...)
			if len(severity) == 0 {
				return broken("score", "it has no vector")
			}
			if one.CVSS, err = scoreOf(severity[0].Score); err != nil {
				return broken("score", "%v", err)
			}
			one.Vector = essential(severity[0].Score)
			var events []osvEvent
			for _, ranges := range affected.Ranges {
				if ranges.Type != "GIT" {
					events = append(events, ranges.Events...)
				}
			}
			if one.Affected, err = rangesOf(engine, events); err != nil {
				return broken("range", "%v", err)
			}
		}
		found = append(found, one)
	}
	return found, problems
}

// rangesOf turns events into what the tables have: of PostgreSQL the release that fixes
// it in each major, of the others spans.
func rangesOf(engine fleet.Engine, events []osvEvent) ([]string, error) {
	var out []string
	from := ""
	for _, e := range events {
		switch {
		case e.Introduced != "":
			if from != "" {
				return nil, fmt.Errorf("introduced in %s and again in %s, and not fixed between", from, e.Introduced)
			}
			from = e.Introduced
		case from == "":
			return nil, fmt.Errorf("fixed in %s and not introduced before", e.Fixed+e.LastAffected)
		case engine == fleet.PostgreSQL && e.Fixed == "":
			return nil, fmt.Errorf("introduced in %s and last seen in %s, and no release fixes it", from, e.LastAffected)
		case engine == fleet.PostgreSQL:
			fixed, err := fixedRelease(from, e.Fixed)
			if err != nil {
				return nil, err
			}
			out, from = append(out, fixed), ""
		case e.Fixed != "" && e.Fixed == from: // nothing between: that series never had it
			from = ""
		case e.Fixed != "":
			out, from = append(out, from+"..<"+e.Fixed), ""
		default:
			out, from = append(out, from+".."+e.LastAffected), ""
		}
	}
	if from != "" {
		return nil, fmt.Errorf("introduced in %s and not fixed: a version to go to is not known", from)
	}
	if engine == fleet.PostgreSQL {
		return feed.SortReleases(out), nil
	}
	return feed.SortSpans(out), nil
}

// fixedRelease reads 16.14.0 as 16.14. A range from 0 on affects all older majors, of which the
// last counts.
func fixedRelease(from, fixed string) (string, error) {
	release, ok := feed.ParseVersion(shortened(fixed))
	if !ok {
		return "", fmt.Errorf("fixed in %q, which is no release", fixed)
	}
	if from != "0" {
		if first, ok := feed.ParseVersion(shortened(from)); !ok || first.Major != release.Major {
			return "", fmt.Errorf("introduced in %s and fixed in %s: in which release of the majors between is not said", from, fixed)
		} else if first.Minor >= release.Minor {
			return "", fmt.Errorf("introduced in %s and fixed in %s, which is not later", from, fixed)
		}
	}
	return release.String(), nil
}

// shortened takes the 0 from 16.14.0, which PostgreSQL does not write since 10.
func shortened(version string) string {
	if strings.HasPrefix(version, "9.") || strings.Count(version, ".") < 2 {
		return version
	}
	return strings.TrimSuffix(version, ".0")
}

// title is the summary in one line, or the first sentence of the details.
func title(summary, details string) string {
	text := strings.Join(strings.Fields(summary), " ")
	if text == "" {
		text, _, _ = strings.Cut(strings.Join(strings.Fields(details), " "), ". ")
	}
	text = strings.TrimRight(text, " .")
	if runes := []rune(text); len(runes) > 230 {
		text = string(runes[:229]) + "…"
	}
	return text
}
