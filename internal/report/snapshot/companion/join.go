package companion

import (
	"slices"
	"strings"

	"github.com/google/uuid"

	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

// joins has what joins the tables of a report with each other and with its pages: the ids of findings, the numbers of
// the actions in the plan, and the ids of the risks.
type joins struct {
	plan map[uuid.UUID][]numbered
	// byObject has the findings about an object of an instance.
	byObject map[object][]analyzed
	risks    map[table]string
	findings []analysis.CheckFindings
}

// numbered is an action of the plan with its number.
type numbered struct {
	number int
	analysis.Step
}

// analyzed is an open finding.
type analyzed struct{ id, check string }

type object struct {
	instance uuid.UUID
	name     string
}

// table is a table by the name that findings give it.
type table struct {
	instance       uuid.UUID
	database, name string
}

func joined(doc snapshot.Document) joins {
	j := joins{
		plan: map[uuid.UUID][]numbered{}, byObject: map[object][]analyzed{}, risks: map[table]string{},
		findings: analysis.Findings(doc),
	}
	for i, s := range analysis.Plan(doc) {
		j.plan[s.Instance] = append(j.plan[s.Instance], numbered{i + 1, s})
	}
	ids := identities{organization: doc.Organization.ID, made: map[uuid.UUID]bool{}}
	for _, g := range j.findings {
		for _, f := range g.Findings {
			about := object{f.InstanceID, accountOf(f.Object)}
			j.byObject[about] = append(j.byObject[about], analyzed{ids.of(g.Check.ID, f, true), g.Check.ID})
		}
	}
	for _, r := range analysis.Risks(doc) {
		j.risks[table{r.InstanceID, r.Database, tableName(r.Table)}] = r.ID
	}
	return j
}

// accountOf is the account that a finding is about, without the role: "app in sysadmin" is about app.
func accountOf(name string) string {
	account, _, _ := strings.Cut(name, " in ")
	return account
}

// tableName is a table with its schema, where its engine has those.
func tableName(t snapshot.ClassifiedTable) string {
	if t.Schema == "" {
		return t.Name
	}
	return t.Schema + "." + t.Name
}

// step is the number of the action that closes a check on an instance; empty: none does.
func (j joins) step(in *snapshot.Instance, check string) string {
	for _, s := range j.plan[in.ID] {
		if slices.Contains(s.Checks, check) {
			return whole(s.number)
		}
	}
	return ""
}

// update is the number of the action that clears the CVEs of an instance.
func (j joins) update(in *snapshot.Instance) string {
	for _, s := range j.plan[in.ID] {
		if s.CVEs+s.Possible > 0 || len(s.Exploited) > 0 {
			return whole(s.number)
		}
	}
	return ""
}

// about are the ids of the open findings about an object of an instance.
func (j joins) about(in *snapshot.Instance, name string) []string {
	var ids []string
	for _, f := range j.byObject[object{in.ID, name}] {
		ids = append(ids, f.id)
	}
	return ids
}

// steps are the numbers of the actions that close the findings about an object.
func (j joins) steps(in *snapshot.Instance, name string) string {
	var numbers []string
	for _, f := range j.byObject[object{in.ID, name}] {
		if n := j.step(in, f.check); n != "" && !slices.Contains(numbers, n) {
			numbers = append(numbers, n)
		}
	}
	return strings.Join(numbers, "; ")
}

// identities makes the ids under which the API lists findings.
type identities struct {
	organization uuid.UUID
	made         map[uuid.UUID]bool
}

func (m identities) of(check string, f analysis.Finding, assessed bool) string {
	for nth := 0; ; nth++ {
		made := analysis.FindingID(m.organization, check, f, assessed, nth)
		if !m.made[made] {
			m.made[made] = true
			return made.String()
		}
	}
}
