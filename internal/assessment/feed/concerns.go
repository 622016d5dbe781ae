package feed

import (
	"slices"
	"strings"
	"time"

	"muster/domain/fleet"
	"muster/internal/report/snapshot"
)

// OutOfSupport says whether a version's major had reached its end of life at a
// point in time; known is false for a major that the feed does not have.
func (f *Feed) OutOfSupport(v Version, at time.Time) (since time.Time, out, known bool) {
	m, ok := f.major(v.Major)
	if !ok {
		return time.Time{}, false, false
	}
	return m.endOfLife, !at.Before(m.endOfLife), true
}

// Concerns returns the CVEs whose versions include v, sorted by id. The
// assessment decides preconditions; without one (nil) they stay unknown. Of a major alone
// none can be told: CVEs are known by release.
func (f *Feed) Concerns(v Version, a *snapshot.Assessment) []snapshot.InstanceCVE {
	out := []snapshot.InstanceCVE{}
	m, known := f.major(v.Major)
	if !known || v.MinorUnknown {
		return out
	}
	for _, one := range f.vulnerabilities {
		fixed, named := one.fixed[v.Major]
		switch {
		case named && v.Minor >= fixed.Minor && one.precondition.kind == "script":
			out = append(out, snapshot.InstanceCVE{ID: one.ID, Applies: snapshot.CVEUnknown, Precondition: one.precondition.afterUpdate(fixed)})
		case named && v.Minor >= fixed.Minor:
		case named:
			applies, words := one.precondition.holds(a)
			out = append(out, snapshot.InstanceCVE{ID: one.ID, Applies: applies, Precondition: words})
		case m.endOfLife.Year() < one.year && f.mayReach(m, one):
			out = append(out, one.precondition.unexamined(one.ID, "PostgreSQL "+v.Major, a))
		}
	}
	return out
}

// mayReach says whether a CVE may affect a major that was out of support in its year: the major
// is older than every one that the CVE names, and no major between them was supported all that
// year. A major that was, and is not named, was examined and is not affected; a flaw from after
// it is not in older ones.
func (f *Feed) mayReach(m major, v vulnerability) bool {
	for _, other := range f.majors {
		if _, named := v.fixed[other.name]; named {
			return m.endOfLife.Before(other.endOfLife)
		}
		if m.endOfLife.Before(other.endOfLife) && other.endOfLife.Year() > v.year {
			return false
		}
	}
	return false
}

// unexamined is how a CVE concerns a version that the project did not examine: it is not
// exploitable if its precondition rules it out, otherwise it is not ruled out.
func (p precondition) unexamined(id, major string, a *snapshot.Assessment) snapshot.InstanceCVE {
	words := major + " was out of support; the vendor did not analyze whether it is affected"
	applies, why := p.holds(a)
	if applies == snapshot.CVENotExploitable {
		return snapshot.InstanceCVE{ID: id, Applies: snapshot.CVENotExploitable, Precondition: why}
	}
	if why != "" {
		words += "; " + why
	}
	return snapshot.InstanceCVE{ID: id, Applies: snapshot.CVEUnknown, Precondition: words}
}

// Release returns the feed's knowledge of a version: nil if it does not know its major.
// concerns are the version's CVEs from Concerns.
func (f *Feed) Release(v Version, concerns []snapshot.InstanceCVE, at time.Time) *snapshot.Release {
	m, ok := f.major(v.Major)
	if !ok || v.Minor > m.latest.Minor {
		return nil
	}
	endOfLife := m.endOfLife
	r := &snapshot.Release{
		Major: m.name, Latest: m.latest.String(), MinorsBehind: m.latest.Minor - v.Minor, EndOfLife: &endOfLife,
		KnownUntil: f.knownUntil(fleet.PostgreSQL),
	}
	if v.MinorUnknown {
		r.Latest, r.MinorsBehind, r.CVEsUnknown = "", 0, true
		r.CVEGap = "which minor release it is was not told, and CVEs are known by release"
	}
	if target, needed := f.target(v, m, concerns, at); needed {
		r.Target = target.String()
		if to, ok := f.major(target.Major); ok {
			r.TargetEndOfLife = &to.endOfLife
		}
		r.Cost = f.costOf(fleet.PostgreSQL, target.Major != m.name)
	}
	if newest := f.newest(); at.Before(m.endOfLife) && newest.endOfLife.After(m.endOfLife) && newest.latest.Major != "" {
		r.Longest = &snapshot.LongestSupport{
			Version: newest.latest.String(), EndOfLife: newest.endOfLife, Cost: f.costOf(fleet.PostgreSQL, true),
		}
	}
	return r
}

// newest is the newest major to go to: one that has had an update. A major in its first weeks has not.
func (f *Feed) newest() major {
	for _, m := range slices.Backward(f.majors) {
		if m.latest.Minor > 0 {
			return m
		}
	}
	return f.majors[len(f.majors)-1]
}

// target is the lowest version of the same major that fixes every CVE that is open or unknown.
// A major past its end of life has to be left for the newest one that has had an update: it has
// the longest support left, and an upgrade over several majors takes no more steps than one
// over a single one.
func (f *Feed) target(v Version, m major, concerns []snapshot.InstanceCVE, at time.Time) (Version, bool) {
	pending := make(map[string]bool)
	for _, c := range concerns {
		if c.Applies != snapshot.CVENotExploitable {
			pending[c.ID] = true
		}
	}
	if at.Before(m.endOfLife) {
		lowest := v
		for _, one := range f.vulnerabilities {
			if fixed := one.fixed[m.name]; pending[one.ID] && fixed.Minor > lowest.Minor {
				lowest = fixed
			}
		}
		return lowest, lowest != v
	}
	newest := f.newest()
	return newest.latest, at.Before(newest.endOfLife)
}

// holds says whether a precondition is met on the assessed server, in words.
func (p precondition) holds(a *snapshot.Assessment) (applies, words string) {
	switch p.kind {
	case "":
		return snapshot.CVEOpen, ""
	case "client":
		return snapshot.CVENotExploitable, "concerns client programs of this version; the running server is not exposed"
	case "script":
		return snapshot.CVEOpen, "an update alone does not close it: run " + p.value + " in every database, in template0 and template1, too"
	case "unverified":
		return snapshot.CVEUnknown, "needs " + p.value + ", which was not looked at"
	}
	if a == nil || a.Outcome == snapshot.OutcomeUnreachable {
		return snapshot.CVEUnknown, p.needs() + "; the server was not assessed"
	}
	if a.Sent {
		return p.sent(a)
	}
	switch p.kind {
	case "extension":
		return p.extensionInstalled(a)
	case "attribute":
		return p.attributeHeld(a)
	case "build":
		return p.built(a.VersionText)
	default:
		return p.checkFails(a)
	}
}

// sent is holds for another tool's results: the result of the named check decides, or an
// account with the attribute. They say nothing about extensions or the build, and an account
// that is missing from them may still exist.
func (p precondition) sent(a *snapshot.Assessment) (applies, words string) {
	switch p.kind {
	case "check":
		return p.checkFails(a)
	case "attribute":
		if applies, words = p.attributeHeld(a); applies == snapshot.CVEOpen {
			return applies, words
		}
	}
	return snapshot.CVEUnknown, p.needs() + "; the feed that assesses the server does not tell"
}

// afterUpdate says why a CVE is not ruled out on a version that has its fix: the cluster may be older.
func (p precondition) afterUpdate(fixed Version) string {
	return "open in a cluster that was made before " + fixed.String() + " until " + p.value + " was run in every database, which was not looked at"
}

func (p precondition) needs() string {
	switch p.kind {
	case "extension":
		return "needs extension " + strings.ReplaceAll(p.value, " ", " or ")
	case "attribute":
		return "needs an ordinary role with " + p.value
	case "build":
		return "needs a " + p.value + " build"
	default:
		return "needs check " + p.value + " to fail"
	}
}

func (p precondition) extensionInstalled(a *snapshot.Assessment) (applies, words string) {
	names := strings.Fields(p.value)
	var in []string
	for _, e := range a.Extensions {
		if slices.Contains(names, e.Name) && !slices.Contains(in, e.Database) {
			in = append(in, e.Database)
		}
	}
	if len(in) > 0 {
		slices.Sort(in)
		return snapshot.CVEOpen, p.needs() + ": installed in " + strings.Join(in[:min(len(in), 5)], ", ")
	}
	for _, r := range a.Results {
		if r.ReasonCode == snapshot.ReasonDatabaseUnreachable {
			return snapshot.CVEUnknown, p.needs() + ": not every database could be read"
		}
	}
	return snapshot.CVENotExploitable, p.needs() + ": not installed in any database"
}

func (p precondition) attributeHeld(a *snapshot.Assessment) (applies, words string) {
	for _, r := range a.Roles {
		if !r.Superuser && slices.Contains(r.Attributes, p.value) {
			return snapshot.CVEOpen, p.needs() + ": role " + r.Name + " has it"
		}
	}
	return snapshot.CVENotExploitable, p.needs() + ": no role has it"
}

func (p precondition) built(versionText string) (applies, words string) {
	text := strings.ToLower(versionText)
	met := strings.Contains(text, p.value)
	if p.value == "windows" {
		met = met || strings.Contains(text, "visual c++") || strings.Contains(text, "msvc") || strings.Contains(text, "mingw")
	}
	if met {
		return snapshot.CVEOpen, p.needs() + ": this is one"
	}
	return snapshot.CVENotExploitable, p.needs() + ": this is none"
}

func (p precondition) checkFails(a *snapshot.Assessment) (applies, words string) {
	for _, r := range a.Results {
		if r.CheckID != p.value {
			continue
		}
		switch r.Status {
		case snapshot.StatusFail:
			return snapshot.CVEOpen, p.needs() + ": it does"
		case snapshot.StatusPass:
			return snapshot.CVENotExploitable, p.needs() + ": it passes"
		}
	}
	return snapshot.CVEUnknown, p.needs() + ": it was not assessed"
}
