package analysis

import (
	"slices"
)

// Fix is statements that can be run as they stand, and where.
type Fix struct {
	Instances  []string // by name
	Database   string   // empty: any will do
	Statements []string // a line each, run one after another
}

// Fixes are the statements of a check's findings: what is the same on several
// instances once, what belongs to one database together. missing counts the
// listed findings without one.
func Fixes(g CheckFindings) (fixes []Fix, missing int) {
	type place struct{ instance, database string }
	var places []place
	statements := map[place][]string{}
	for _, f := range g.Findings {
		if f.Fix == nil {
			missing++
			continue
		}
		at := place{f.InstanceName, f.Fix.Database}
		if _, known := statements[at]; !known {
			places = append(places, at)
		}
		if !slices.Contains(statements[at], f.Fix.Statement) {
			statements[at] = append(statements[at], f.Fix.Statement)
		}
	}
	for _, at := range places {
		same := slices.IndexFunc(fixes, func(o Fix) bool {
			return o.Database == at.database && slices.Equal(o.Statements, statements[at])
		})
		if same < 0 {
			fixes = append(fixes, Fix{Database: at.database, Statements: statements[at]})
			same = len(fixes) - 1
		}
		if !slices.Contains(fixes[same].Instances, at.instance) {
			fixes[same].Instances = append(fixes[same].Instances, at.instance)
		}
	}
	return fixes, missing
}
