package feed

import (
	"slices"
	"strings"
	"time"

	"muster/domain/fleet"
	"muster/internal/engine"
	"muster/internal/engine/trait"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

// knownOf is the feed's knowledge of an engine; ok is false if it has none.
func knownOf(name fleet.Engine) (f trait.Feed, ok bool) {
	e, err := engine.Of(name)
	if err != nil || e.Feed == nil {
		return trait.Feed{}, false
	}
	return *e.Feed, true
}

func keptBy(name fleet.Engine, edition string) string { return engine.KeptBy(string(name), edition) }

// order is the place of an engine among all.
func order(name fleet.Engine) int {
	return slices.IndexFunc(engine.All(), func(e *trait.Engine) bool { return e.Name == name })
}

// Judge returns what is known of a version of another engine than PostgreSQL: how long
// it is supported, which build of it is the latest, where to go, and its CVEs. The
// release is nil where the feed does not know the major. Where the text does not say
// which build it is, no CVE can be told, and the release says so. The release is also nil if a
// provider keeps the version up to date.
func (f *Feed) Judge(engine fleet.Engine, version string, a *snapshot.Assessment, at time.Time) (*snapshot.Release, []snapshot.InstanceCVE) {
	l := f.lifecycleOf(engine, version)
	if l == nil || a != nil && keptBy(engine, a.Edition) != "" {
		return nil, nil
	}
	end := l.endOfLife
	r := &snapshot.Release{Major: l.name, EndOfLife: &end, CVEGap: f.gapOf(engine), KnownUntil: f.knownUntil(engine)}
	v, known := f.buildOf(engine, l, version)
	if !known {
		r.CVEsUnknown = true
		r.CVEGap = "which build it is was not told, and CVEs are known by build"
		f.leave(r, l, nil, at)
		return r, nil
	}
	if len(f.byEngine[engine]) == 0 {
		r.CVEsUnknown = true
	}
	concerns := f.concerns(engine, v, l, a)
	latest, named := f.latest(l, v)
	if named {
		r.Latest, r.MinorsBehind = latest.String(), f.behind(l, v, latest)
		r.Behind = v.compare(latest.version) < 0
		published := latest.published
		r.LatestAt = &published
		if pending := pendingOf(concerns); at.Before(end) && r.Behind && len(pending) > 0 && f.clears(l.engine, latest.version, pending) {
			r.Target, r.TargetMajor, r.TargetEndOfLife = latest.String(), l.name, &end
			r.Cost = f.costOf(engine, false)
		}
	}
	f.leave(r, l, concerns, at)
	return r, concerns
}

// leave names the major that is supported longest: as the version to go to, where this
// one's end has come or none of its builds clears what is open; else as what is there
// beyond it.
func (f *Feed) leave(r *snapshot.Release, l *lifecycle, concerns []snapshot.InstanceCVE, at time.Time) {
	pending := pendingOf(concerns)
	longest, version, clean := f.longest(l, pending, at)
	if longest == nil {
		return
	}
	end := longest.endOfLife
	if !at.Before(l.endOfLife) || clean && r.Target == "" && len(pending) > 0 {
		r.Target, r.TargetMajor, r.TargetEndOfLife = longest.name, longest.name, &end
		r.TargetBuild, r.Cost = version, f.costOf(l.engine, true)
		return
	}
	if clean {
		r.Longest = &snapshot.LongestSupport{Version: longest.name, Build: version, EndOfLife: end, Cost: f.costOf(l.engine, true)}
	}
}

// longest is the major with the longest support that outlives l, among those whose latest known
// build fixes the CVEs. If none is known to, clean is false and it is the one with the longest
// support.
func (f *Feed) longest(l *lifecycle, pending map[string]bool, at time.Time) (best *lifecycle, version string, clean bool) {
	for _, mustClear := range []bool{true, false} {
		for i := range f.lifecycles {
			other := &f.lifecycles[i]
			if other.engine != l.engine || !at.Before(other.endOfLife) || !other.endOfLife.After(l.endOfLife) {
				continue
			}
			latest, named := f.latest(other, nil)
			if mustClear && (!named || !f.clears(l.engine, latest.version, pending)) || best != nil && !other.endOfLife.After(best.endOfLife) {
				continue
			}
			best, version = other, ""
			if named {
				version = latest.String()
			}
		}
		if best != nil {
			return best, version, mustClear
		}
	}
	return nil, "", false
}

// pendingOf are the CVEs that are open or not ruled out.
func pendingOf(concerns []snapshot.InstanceCVE) map[string]bool {
	out := map[string]bool{}
	for _, c := range concerns {
		if c.Applies != snapshot.CVENotExploitable {
			out[c.ID] = true
		}
	}
	return out
}

// clears says whether a version has none of those CVEs.
func (f *Feed) clears(engine fleet.Engine, v dotted, ids map[string]bool) bool {
	return !slices.ContainsFunc(f.byEngine[engine], func(a advisory) bool { return ids[a.ID] && a.affects(v) })
}

// lifecycleOf finds the major of a version; nil where the feed does not know it.
func (f *Feed) lifecycleOf(engine fleet.Engine, version string) *lifecycle {
	release := releaseOf(engine, version)
	if release == "" {
		return nil
	}
	for i := range f.lifecycles {
		l := &f.lifecycles[i]
		if l.engine == engine && (release == l.name || release == l.release || strings.HasPrefix(release, l.release+".")) {
			return l
		}
	}
	return nil
}

// engineName is how people call it.
func engineName(engine fleet.Engine) string { return analysis.EngineName(string(engine)) }
