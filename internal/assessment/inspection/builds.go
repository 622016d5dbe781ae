package inspection

import (
	"fmt"
	"time"

	"muster/domain/fleet"
	"muster/internal/assessment/feed"
	engines "muster/internal/engine"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

// Behind is the rule of builds: one fails that is not the latest of a release in support.
// version is the engine's own, "16.0.4135.4". f is nil where the feed could not be read.
func Behind(f *feed.Feed, engine fleet.Engine, version string, a *snapshot.Assessment, at time.Time) Rule {
	return func() (violations []snapshot.Violation, measured, unknown string) {
		if f == nil {
			return nil, "", "The release and CVE feed could not be read."
		}
		name := analysis.EngineName(string(engine)) + " " + version
		r, _ := f.Judge(engine, version, a, at)
		keeper := ""
		if a != nil {
			keeper = engines.KeptBy(string(engine), a.Edition)
		}
		switch {
		case keeper != "":
			return nil, keeper + " keeps its version up to date", ""
		case r == nil || r.EndOfLife == nil:
			return nil, "", fmt.Sprintf("The feed of %s does not know %s.", f.Identity().Date.Format(time.DateOnly), name)
		case !at.Before(*r.EndOfLife):
			measured = name + ", out of support since " + r.EndOfLife.Format(time.DateOnly)
			return []snapshot.Violation{{Object: version, Evidence: "out of support since " + r.EndOfLife.Format(time.DateOnly)}}, measured, ""
		case r.Latest == "":
			return nil, "", fmt.Sprintf("The feed of %s does not know the latest build of %s.", f.Identity().Date.Format(time.DateOnly), name)
		case r.Behind:
			evidence := "the latest is " + r.Latest
			if r.MinorsBehind > 0 {
				evidence = fmt.Sprintf("%d behind %s", r.MinorsBehind, r.Latest)
			}
			return []snapshot.Violation{{Object: version, Evidence: evidence}}, name + ", " + evidence, ""
		}
		return nil, name + ", the latest that is known, supported until " + r.EndOfLife.Format(time.DateOnly), ""
	}
}
