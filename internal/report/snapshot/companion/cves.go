package companion

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

// cvesHeader: the columns about a CVE, then about the instance that it concerns, then those that join the tables.
var cvesHeader = []string{
	"cveId", "severity", "cvss", "vector", "scoredBy", "title", "component", "fixedIn", "source", "publishedAt", "exploitedSince",
	"instanceId", "instance", "version", "applies", "precondition", "ownerId", "owner", "findingId", "step", "riskId",
}

// cvesRows has a row for each CVE of each instance: the instances by name, the highest score first.
func cvesRows(s *Set) [][]string {
	doc, j := s.doc, s.joins()
	known := make(map[string]snapshot.Vulnerability, len(doc.Vulnerabilities))
	for _, v := range doc.Vulnerabilities {
		known[v.ID] = v
	}
	var rows [][]string
	for i := range doc.Instances {
		in := &doc.Instances[i]
		version, _ := analysis.Version(in)
		ownerID, owner := ownerOf(in)
		all := slices.Clone(in.CVEs)
		slices.SortStableFunc(all, func(a, b snapshot.InstanceCVE) int {
			return cmp.Or(cmp.Compare(known[b.ID].CVSS, known[a.ID].CVSS), strings.Compare(a.ID, b.ID))
		})
		for _, c := range all {
			v := known[c.ID]
			step := ""
			if c.Applies != snapshot.CVENotExploitable {
				step = j.update(in)
			}
			rows = append(rows, []string{
				Cell(c.ID), analysis.Band(v.CVSS), strconv.FormatFloat(v.CVSS, 'f', 1, 64), Cell(v.Vector), Cell(v.ScoredBy), Cell(v.Title), Cell(v.Component),
				Cell(strings.Join(v.FixedIn, "; ")), Cell(v.Source), dateOf(v.Published), dateOf(v.ExploitedSince),
				id(in.ID), Cell(in.Name), Cell(version), applies(c.Applies), Cell(c.Precondition), ownerID, owner, strings.Join(j.about(in, c.ID), "; "), step, "",
			})
		}
	}
	return rows
}

// applies is how a CVE concerns an instance, in the form of the API.
func applies(how string) string {
	switch how {
	case snapshot.CVENotExploitable:
		return "notExploitable"
	case snapshot.CVEUnknown:
		return "notRuledOut"
	}
	return how
}

func dateOf(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.UTC().Format(time.DateOnly)
}

// ownerOf is the team that owns an instance; empty: no team does.
func ownerOf(in *snapshot.Instance) (ownerID, owner string) {
	if in.Owner == nil {
		return "", ""
	}
	return id(in.Owner.ID), Cell(in.Owner.Name)
}
