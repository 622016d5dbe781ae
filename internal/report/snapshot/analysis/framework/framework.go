package framework

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

// Framework is a text that the checks of the catalogue refer to, with the controls of it that they test.
type Framework struct {
	Name     string
	Controls []Control // in the order of their numbers
}

// Control is a part of a framework: on how many servers it fails, holds, or was not looked at. It fails where any of its
// checks fails, and holds where all of them have an answer and none fails; accepted findings do not fail. Servers of
// whose engine no check refers to it are in none of the three, unless no check is made for the engine at all.
type Control struct {
	ID, Name      string
	Checks        int // that refer to it
	Failing       []string
	Hold, Unasked int
	// On is how it stands on each instance of the document: fails, holds, or was not looked at; empty: it is in none of the
	// three.
	On []Standing
}

// Standing is how a control stands on a server.
type Standing string

// The standings.
const (
	Fails   Standing = "fails"
	Holds   Standing = "holds"
	Unasked Standing = "not looked at"
)

// Total adds up the servers of all controls.
func (f Framework) Total() (fail, hold, unasked int) {
	for _, c := range f.Controls {
		fail, hold, unasked = fail+len(c.Failing), hold+c.Hold, unasked+c.Unasked
	}
	return fail, hold, unasked
}

// The frameworks, and how a reference to each begins. That of CIS is one for each engine: its part names the engine, too.
var frameworks = []struct {
	name, prefix string
	engines      bool
}{
	{name: "ISO/IEC 27001:2022, Annex A", prefix: "ISO/IEC 27001:2022 Annex A, "},
	{name: "PCI DSS 4.0.1", prefix: "PCI DSS 4.0.1, "},
	{name: "CIS Benchmarks", prefix: "CIS ", engines: true},
}

// All are the controls that the checks of a report test. A framework that none refers to is left out.
func All(doc snapshot.Document) []Framework {
	servers := make([]map[string]string, len(doc.Instances))
	for i := range doc.Instances {
		servers[i] = worstResults(doc, &doc.Instances[i])
	}
	checks := analysis.Checks(doc)
	checked := map[string]bool{} // engines
	for _, c := range checks {
		checked[c.Engine] = true
	}
	var all []Framework
	for _, f := range frameworks {
		out := Framework{Name: f.name}
		for id, of := range checksByControl(checks, f.prefix) {
			control := Control{ID: id, Name: controlNames[id], Checks: len(of)}
			for i := range doc.Instances {
				in := &doc.Instances[i]
				on := control.on(of, in.Engine, servers[i])
				if on == "" && !checked[in.Engine] && !f.engines {
					on = Unasked
				}
				switch control.On = append(control.On, on); on {
				case Fails:
					control.Failing = append(control.Failing, in.Name)
				case Holds:
					control.Hold++
				case Unasked:
					control.Unasked++
				}
			}
			out.Controls = append(out.Controls, control)
		}
		if len(out.Controls) > 0 {
			slices.SortFunc(out.Controls, func(a, b Control) int { return compareParts(a.ID, b.ID) })
			all = append(all, out)
		}
	}
	return all
}

// on is how a control stands on a server; empty: no check of it is about the server.
func (Control) on(checks []snapshot.Check, engine string, results map[string]string) (on Standing) {
	for _, c := range checks {
		if c.Engine != engine {
			continue
		}
		switch result, answered := results[c.ID]; {
		case result == snapshot.StatusFail:
			return Fails
		case !answered, result == snapshot.StatusNotAssessed:
			on = Unasked
		case result != snapshot.StatusNotApplicable && on == "":
			on = Holds
		}
	}
	return on
}

// worstResults are the results of an instance's checks, the worst of each.
func worstResults(doc snapshot.Document, in *snapshot.Instance) map[string]string {
	order := []string{snapshot.StatusNotApplicable, snapshot.StatusPass, snapshot.StatusAccepted, snapshot.StatusNotAssessed, snapshot.StatusFail}
	worst := map[string]string{}
	for _, r := range analysis.Results(doc, in) {
		if was, known := worst[r.CheckID]; !known || slices.Index(order, r.Status) > slices.Index(order, was) {
			worst[r.CheckID] = r.Status
		}
	}
	return worst
}

// checksByControl are the checks that refer to each part of a framework.
func checksByControl(checks []snapshot.Check, prefix string) map[string][]snapshot.Check {
	of := map[string][]snapshot.Check{}
	for _, c := range checks {
		for _, reference := range c.References {
			if id, ok := strings.CutPrefix(reference, prefix); ok && !slices.ContainsFunc(of[id], func(o snapshot.Check) bool { return o.ID == c.ID }) {
				of[id] = append(of[id], c)
			}
		}
	}
	return of
}

// compareParts orders "A.8.2" before "A.8.12".
func compareParts(a, b string) int {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(as), len(bs)) {
		x, errX := strconv.Atoi(as[i])
		y, errY := strconv.Atoi(bs[i])
		order := cmp.Compare(x, y)
		if errX != nil || errY != nil {
			order = cmp.Compare(as[i], bs[i])
		}
		if order != 0 {
			return order
		}
	}
	return cmp.Compare(len(as), len(bs))
}

// controlNames are short names of the controls.
var controlNames = map[string]string{
	"A.5.17": "Authentication information", "A.5.18": "Access rights", "A.8.2": "Privileged access rights", "A.8.3": "Information access restriction",
	"A.8.5": "Secure authentication", "A.8.6": "Capacity management", "A.8.8": "Technical vulnerabilities", "A.8.9": "Configuration management",
	"A.8.12": "Data leakage prevention", "A.8.13": "Information backup", "A.8.14": "Redundancy", "A.8.15": "Logging", "A.8.16": "Monitoring activities", "A.8.17": "Clock synchronization",
	"A.8.18": "Privileged utility programs", "A.8.20": "Network security", "A.8.24": "Use of cryptography", "A.8.28": "Secure coding",

	"1.4.1": "Controls between trusted and untrusted networks",
	"1.4.4": "Stored card data out of reach of untrusted networks", "2.2.2": "Vendor default accounts", "2.2.4": "Only necessary functions are on",
	"2.2.6": "Secure parameters", "2.2.7": "Encrypted administrative access", "3.5.1": "Stored card numbers unreadable", "6.3.3": "Security patches installed",
	"4.2.1": "Card numbers encrypted on the way", "7.2.2": "Least privilege of people", "7.2.5": "Least privilege of applications", "8.2.6": "Inactive accounts", "8.3.2": "Strong cryptography of sign-in",
	"8.3.4": "Lockout after failed sign-ins", "8.3.6": "Strength of passwords", "8.3.7": "No reuse of passwords", "8.3.9": "Age of passwords",
	"10.2.1": "Audit logs are on", "10.2.1.2": "Actions of administrators are logged", "10.2.1.4": "Failed sign-ins are logged", "10.2.1.5": "Changes of accounts are logged",
	"10.2.1.7": "Changes of objects are logged", "10.2.2": "Details of audit logs",
	"10.3.1": "Audit logs readable by need", "10.5.1": "Audit logs are kept", "10.6.1": "Clocks are synchronized",
}
