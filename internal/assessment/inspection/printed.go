package inspection

import (
	"maps"
	"slices"
	"strings"

	"muster/domain/printable"
	"muster/internal/assessment/changes"
	"muster/internal/report/snapshot"
)

// Print names the databases of an assessment as the fleet does, because everything stored about
// a database is found by that name. It returns their printed names by name. all are the
// server's current names. It is called after all questions to the server, which knows only its
// own name.
func Print(a *snapshot.Assessment, state *changes.State, all []string) map[string]string {
	printed := printable.Names(all)
	for _, d := range a.Databases {
		if _, known := printed[d.Name]; !known { // it is gone since
			printed[d.Name] = printable.Names(slices.AppendSeq([]string{d.Name}, maps.Keys(printed)))[d.Name]
		}
	}
	maps.DeleteFunc(printed, func(name, form string) bool { return name == form })
	rename := func(name *string) {
		if form, differs := printed[*name]; differs {
			*name = form
		}
	}
	for i := range a.Databases {
		rename(&a.Databases[i].Name)
	}
	for i := range a.Results {
		rename(&a.Results[i].Database)
		for j := range a.Results[i].Violations {
			if fix := a.Results[i].Violations[j].Fix; fix != nil {
				rename(&fix.Database)
			}
		}
	}
	for i := range a.Extensions {
		rename(&a.Extensions[i].Database)
	}
	for i := range a.MissingGrants {
		a.MissingGrants[i].Object = printedIn(a.MissingGrants[i].Object, printed)
	}
	for _, scopes := range [][]changes.Scope{state.Seen, state.Blind} {
		for i := range scopes {
			rename(&scopes[i].Database)
		}
	}
	for i := range state.Items {
		rename(&state.Items[i].Database)
	}
	return printed
}

// printedIn is the object of a grant, which ends in the database that it is about.
func printedIn(object string, printed map[string]string) string {
	for name, form := range printed {
		if rest, ok := strings.CutSuffix(object, "database "+name); ok && (rest == "" || strings.HasSuffix(rest, " in ")) {
			return rest + "database " + form
		}
	}
	return object
}
