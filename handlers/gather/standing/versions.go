package standing

import (
	"muster/domain/fleet"
	"muster/internal/assessment/feed"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

// Versions holds each server's version against the feed: the one it
// answered with, else the one it was registered with.
func Versions(known *feed.Feed, doc *snapshot.Document) {
	var all [][]snapshot.InstanceCVE
	for i := range doc.Instances {
		instance := &doc.Instances[i]
		if instance.Engine != string(fleet.PostgreSQL) {
			version, _ := analysis.Version(instance)
			instance.Release, instance.CVEs = known.Judge(fleet.Engine(instance.Engine), version, instance.Assessment, doc.AsOf)
			noteContradiction(instance)
			all = append(all, instance.CVEs)
			continue
		}
		version, ok := PostgreSQL(instance)
		if !ok {
			continue
		}
		instance.CVEs = known.Concerns(version, instance.Assessment)
		instance.Release = known.Release(version, instance.CVEs, doc.AsOf)
		noteContradiction(instance)
		all = append(all, instance.CVEs)
	}
	doc.Vulnerabilities = known.Vulnerabilities(all...)
}

// PostgreSQL is the release of PostgreSQL in the server's answer, otherwise the registered
// one.
func PostgreSQL(instance *snapshot.Instance) (feed.Version, bool) {
	registered, known := feed.ParseVersion(instance.Version)
	a := instance.Assessment
	if a == nil {
		return registered, known
	}
	sent, parsed := feed.ParseVersion(a.VersionText)
	switch {
	case a.Sent && parsed && sent.MinorUnknown && known && sent.Major == registered.Major:
		return registered, true // which may say the minor
	case a.Sent && parsed && sent.MinorUnknown:
		return sent, true
	case a.VersionNum > 0:
		return feed.VersionOf(a.VersionNum), true
	case parsed:
		return sent, true
	}
	return registered, known
}

// noteContradiction keeps what the fleet has as a version where the server answered with
// another one: a feed that is mistaken, or two servers under one name.
func noteContradiction(instance *snapshot.Instance) {
	answer, answered := analysis.Version(instance)
	if r := instance.Release; r != nil && answered && feed.Contradict(instance.Version, answer) {
		r.RegisteredAs = instance.Version
	}
}
