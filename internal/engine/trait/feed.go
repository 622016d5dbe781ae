package trait

// Feed is how the release feed knows an engine.
type Feed struct {
	// FixedReleases: the feed knows of a CVE which release of each major fixes it. Else it knows
	// the spans of versions that have it.
	FixedReleases bool
}
