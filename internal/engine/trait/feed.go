package trait

import "regexp"

// Feed is how the release feed knows an engine.
type Feed struct {
	// FixedReleases: the feed knows of a CVE which release of each major fixes it. Else it knows
	// the spans of versions that have it.
	FixedReleases bool
	// Package is what OSV calls it (ecosystem Bitnami); empty: no update of the feed is read.
	Package string
	// Product and CNA are what the CVE list calls it and who writes its records there; empty:
	// no record of that list is read.
	Product, CNA string
	// Release is how a version begins, as "8.0", or the name of its major; "" where the text does
	// not say. nil: Numbered.
	Release func(version string) string
	// Build is the form of a build's numbers in a text; nil: three numbers or more.
	Build *regexp.Regexp
	// NoBuild says that a version names no build; nil: every version does.
	NoBuild func(version []int) bool
	// Update is the form in which a text names a build, with its number in parentheses, and
	// UpdateName what the table of builds has before that number. nil: builds have no names.
	Update     *regexp.Regexp
	UpdateName string
	// KeptBy is who keeps the version of an edition up to date, if it is not the server's owner: such a server has no
	// release and no CVE of its own. nil: it is always the owner.
	KeptBy func(edition string) string
	// AllBuilds: the table has all builds of a major. Else it has the latest.
	AllBuilds bool
}

var numbered = regexp.MustCompile(`^\D*?(\d+)\.(\d+)`)

// Numbered is a version's first two numbers, as "8.0"; "" where it does not begin with them.
func Numbered(version string) string {
	if m := numbered.FindStringSubmatch(version); m != nil {
		return m[1] + "." + m[2]
	}
	return ""
}
