package records

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"muster/domain/fleet"
	"muster/internal/assessment/feed"
	"muster/internal/engine"
)

// cve is what is read of a record of the CVE list (JSON 5.0 to 5.2).
type cve struct {
	Metadata struct {
		ID        string `json:"cveId"`
		State     string `json:"state"`
		CNA       string `json:"assignerShortName"`
		Published string `json:"datePublished"`
		Updated   string `json:"dateUpdated"`
	} `json:"cveMetadata"`
	Containers struct {
		CNA struct {
			Title        string `json:"title"`
			Descriptions []struct {
				Value string `json:"value"`
			} `json:"descriptions"`
			Affected []struct {
				Product  string       `json:"product"`
				Versions []cveVersion `json:"versions"`
			} `json:"affected"`
			Metrics []struct {
				V40 *cveScore `json:"cvssV4_0"`
				V31 *cveScore `json:"cvssV3_1"`
				V30 *cveScore `json:"cvssV3_0"`
			} `json:"metrics"`
		} `json:"cna"`
	} `json:"containers"`
}

type cveVersion struct {
	Version         string `json:"version"`
	Status          string `json:"status"`
	LessThan        string `json:"lessThan"`
	LessThanOrEqual string `json:"lessThanOrEqual"`
}

type cveScore struct {
	Vector string  `json:"vectorString"`
	Score  float64 `json:"baseScore"`
}

// product is an engine whose own project writes the record, by the name of its CNA.
type product struct {
	cna    string
	engine fleet.Engine
}

// products are those engines, by what the CVE list calls them.
var products = func() map[string]product {
	all := map[string]product{}
	for _, e := range engine.All() {
		if e.Feed != nil && e.Feed.Product != "" {
			all[e.Feed.Product] = product{e.Feed.CNA, e.Name}
		}
	}
	return all
}()

func (r *reader) readCVE(place string, text json.RawMessage) (found []feed.Record, problems []feed.Problem) {
	var in cve
	if err := json.Unmarshal(text, &in); err != nil {
		return nil, []feed.Problem{{Record: place, Rule: "json", Words: err.Error()}}
	}
	id := in.Metadata.ID
	broken := func(rule, format string, args ...any) ([]feed.Record, []feed.Problem) {
		return nil, []feed.Problem{{Record: id, Rule: rule, Words: fmt.Sprintf(format, args...)}}
	}
	one := feed.Record{ID: id, Source: "CVE list, " + in.Metadata.CNA, Withdrawn: in.Metadata.State == "REJECTED"}
	var err error
	if one.Modified, err = instantOf(in.Metadata.Updated); err != nil {
		return broken("dateUpdated", "%v", err)
	}
	if one.Withdrawn { // whose it was, it does not say any more
		for _, p := range products {
			if strings.EqualFold(in.Metadata.CNA, p.cna) && r.wants(p.engine) {
				one.Engine, one.Published = p.engine, one.Modified
				return []feed.Record{one}, nil
			}
		}
		return nil, nil
	}
	var ranges []string
	for _, affected := range in.Containers.CNA.Affected {
		p, ours := products[affected.Product]
		if !ours || !strings.EqualFold(in.Metadata.CNA, p.cna) || !r.wants(p.engine) {
			continue
		}
		one.Engine = p.engine
		more, err := versionsOf(p.engine, affected.Versions)
		if err != nil {
			return broken("range", "%v", err)
		}
		ranges = append(ranges, more...)
	}
	if one.Engine == "" {
		return nil, nil
	}
	if one.Published, err = instantOf(in.Metadata.Published); err != nil {
		return broken("datePublished", "%v", err)
	}
	one.Affected = feed.SortSpans(ranges)
	if one.Engine == fleet.PostgreSQL {
		one.Affected = feed.SortReleases(ranges)
	}
	score := in.score()
	if score == nil {
		return broken("score", "it has no score of CVSS 3.0, 3.1 or 4.0")
	}
	if one.CVSS, err = scoreOf(score.Vector); err != nil {
		return broken("score", "%v", err)
	}
	if math.Abs(one.CVSS-score.Score) > 0.05 {
		return broken("score", "it says %.1f, and its vector %s gives %.1f", score.Score, score.Vector, one.CVSS)
	}
	one.Vector = essential(score.Vector)
	details := ""
	if d := in.Containers.CNA.Descriptions; len(d) > 0 {
		details = d[0].Value
	}
	one.Title = title(in.Containers.CNA.Title, details)
	return []feed.Record{one}, nil
}

// score is that of CVSS 3, by which CVEs are compared, or else of 4.
func (in cve) score() *cveScore {
	var found *cveScore
	for _, m := range in.Containers.CNA.Metrics {
		for _, s := range []*cveScore{m.V31, m.V30} {
			if s != nil {
				return s
			}
		}
		if found == nil {
			found = m.V40
		}
	}
	return found
}

// versionsOf turns a product's versions into what the tables have.
func versionsOf(engine fleet.Engine, versions []cveVersion) ([]string, error) {
	var out []string
	for _, v := range versions {
		switch {
		case v.Status != "affected":
			continue
		case engine == fleet.PostgreSQL && v.LessThan == "":
			return nil, fmt.Errorf("%s is affected, and no release fixes it", v.Version)
		case engine == fleet.PostgreSQL:
			fixed, err := fixedRelease(v.Version, v.LessThan)
			if err != nil {
				return nil, err
			}
			out = append(out, fixed)
		case v.LessThan != "":
			out = append(out, v.Version+"..<"+v.LessThan)
		case v.LessThanOrEqual != "":
			out = append(out, v.Version+".."+v.LessThanOrEqual)
		default:
			out = append(out, v.Version+".."+v.Version)
		}
	}
	return out, nil
}
