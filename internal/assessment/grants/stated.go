package grants

import (
	"slices"

	"muster/domain/fleet"
	"muster/internal/assessment/catalogue"
	"muster/internal/engine/trait"
	"muster/internal/report/snapshot"
)

// Stated are the grants of objects that an agent reported, with the statement from Muster's own
// lists beside each; an object in no list has none. No text of a machine is in a statement. A
// database that the object names is where to run the statement, and no part of it.
func Stated(engine fleet.Engine, version string, checks *catalogue.Catalogue, objects []string) []snapshot.MissingGrant {
	of := grantsOf(engine)
	out := make([]snapshot.MissingGrant, len(objects))
	rest := map[string]string{} // the statements of checks, by subject
	for i, object := range objects {
		out[i].Object = object
		known := slices.IndexFunc(of.Measuring, func(m trait.MeasuringGrant) bool { return m.Object.MatchString(object) })
		if known >= 0 {
			out[i].Statement = of.Measuring[known].Statement(object, version)
			continue
		}
		subject, _ := within(object)
		rest[subject] = ""
	}
	if len(rest) == 0 {
		return out
	}
	for _, check := range checks.Of(engine) {
		readBy(of, version, check, func(object, statement string) {
			if before, asked := rest[object]; asked && before == "" {
				rest[object] = statement
			}
		})
	}
	for i := range out {
		if subject, _ := within(out[i].Object); out[i].Statement == "" {
			out[i].Statement = rest[subject]
		}
	}
	return out
}

// readBy are the objects that a check reads, and what lets it read each.
func readBy(of trait.Grants, version string, check catalogue.Check, yield func(object, statement string)) {
	if of.NameObjects {
		for _, read := range check.Reads {
			yield(read.Denied(), read.Grant(trait.Account))
		}
		return
	}
	if of.Statement == nil {
		return
	}
	for _, right := range check.LeastRights() {
		yield(right, of.Statement(right, version))
	}
}

// AgentScript has the grants of Stated as one script. It names neither the server nor a
// database: their names came from machines.
func AgentScript(engine fleet.Engine, all []Advice) string {
	here, own := slices.Clone(all), grantsOf(engine).Own
	for i := range here {
		if here[i].Subject == here[i].Object { // it names no database, or its statement leads to one
			continue
		}
		if here[i].Statement != "" {
			here[i].Statement = "-- In each database that lacks it:\n" + here[i].Statement
		}
		here[i].Database = ""
		// An object without a statement is not in a script. Statements come from the lists
		// alone.
		if own != nil {
			here[i].Subject = own(here[i].Subject)
		}
	}
	return Script(engine, "the server", here)
}
