package organization

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
)

// Settings are what an administrator sets for the whole organization.
type Settings struct {
	Name                string
	ReportRetentionDays int    // of reports that become Ready from now on
	InputsRetentionDays int    // likewise
	PaperSize           string // A4, Letter
	StatementTexts      string // TextsOff, TextsNormalized
	SessionDetail       string // DetailOff, DetailOn
	ExceptionApproval   string // ApprovalAny, ApprovalAnother
	Catalog             string // CatalogAll, CatalogSpecification
	ProtectedTags       string // JoinKeys: keys of tags that only administrators set
	DueDays             DueDays
	Watch               Watch
}

// DueDays is, by severity, the number of days after its first appearance in which a finding is
// due.
type DueDays struct{ Critical, High, Medium, Low int }

// What is kept of the texts of statements.
const (
	TextsOff        = "off"        // nothing
	TextsNormalized = "normalized" // without literals and comments
)

// What is kept of whose sessions they are: users, applications and clients.
const (
	DetailOff = "off" // nothing
	DetailOn  = "on"  // their names
)

// Who may grant an exception.
const (
	ApprovalAny     = "any"     // every administrator
	ApprovalAnother = "another" // every administrator but the one who requested it (four eyes)
)

// Which reports the catalog offers.
const (
	CatalogAll           = "all"           // every kind can be requested
	CatalogSpecification = "specification" // summaries are previews with sample data, as the specification has them
)

// Whether waits for advisory locks count for the watch.
const (
	WatchOff = "off"
	WatchOn  = "on"
)

// Watch holds the thresholds of the built-in watch.
type Watch struct {
	SilentMinutes     int // without a sign of life from a server
	VolumePercent     int // of a volume in use
	LockWaitMinutes   int // of a session
	WraparoundPercent int // of the transaction ids in use
	// AdvisoryLocks says whether waits for advisory locks count: WatchOn, WatchOff.
	AdvisoryLocks string
}

// ChangeSettings is what changes about the settings; nil stays. That each value
// is in its range is for the caller to see to.
type ChangeSettings struct {
	Name                *string
	ReportRetentionDays *int
	InputsRetentionDays *int
	PaperSize           *string
	StatementTexts      *string
	SessionDetail       *string
	ExceptionApproval   *string
	Catalog             *string
	ProtectedTags       *[]string
	DueCritical         *int
	DueHigh             *int
	DueMedium           *int
	DueLow              *int
	SilentMinutes       *int
	VolumePercent       *int
	LockWaitMinutes     *int
	WraparoundPercent   *int
	AdvisoryLocks       *string
}

// Change returns the settings as they are after c, and one event with what
// really changes; none where nothing does.
func (s Settings) Change(c ChangeSettings) (Settings, []Event) {
	var e SettingsChanged
	is := s
	if c.Name != nil {
		is.Name = *c.Name
	}
	e.NameChanged = is.Name != s.Name
	e.ReportRetentionDays = change(&is.ReportRetentionDays, c.ReportRetentionDays)
	e.InputsRetentionDays = change(&is.InputsRetentionDays, c.InputsRetentionDays)
	e.PaperSize = change(&is.PaperSize, c.PaperSize)
	e.StatementTexts = change(&is.StatementTexts, c.StatementTexts)
	e.SessionDetail = change(&is.SessionDetail, c.SessionDetail)
	e.ExceptionApproval = change(&is.ExceptionApproval, c.ExceptionApproval)
	e.Catalog = change(&is.Catalog, c.Catalog)
	if c.ProtectedTags != nil {
		keys := JoinKeys(*c.ProtectedTags)
		e.ProtectedTags = change(&is.ProtectedTags, &keys)
	}
	e.DueCritical = change(&is.DueDays.Critical, c.DueCritical)
	e.DueHigh = change(&is.DueDays.High, c.DueHigh)
	e.DueMedium = change(&is.DueDays.Medium, c.DueMedium)
	e.DueLow = change(&is.DueDays.Low, c.DueLow)
	e.SilentMinutes = change(&is.Watch.SilentMinutes, c.SilentMinutes)
	e.VolumePercent = change(&is.Watch.VolumePercent, c.VolumePercent)
	e.LockWaitMinutes = change(&is.Watch.LockWaitMinutes, c.LockWaitMinutes)
	e.WraparoundPercent = change(&is.Watch.WraparoundPercent, c.WraparoundPercent)
	e.AdvisoryLocks = change(&is.Watch.AdvisoryLocks, c.AdvisoryLocks)
	if is == s {
		return s, nil
	}
	return is, []Event{e}
}

// change sets value and returns the old and the new one; nil if it stays.
func change[T comparable](value, to *T) *SettingChange[T] {
	if to == nil || *to == *value {
		return nil
	}
	changed := &SettingChange[T]{From: *value, To: *to}
	*value = *to
	return changed
}

// JoinKeys are keys of tags as one text: sorted, each once, with commas, which no key has,
// between them.
func JoinKeys(keys []string) string {
	return strings.Join(slices.Compact(slices.Sorted(slices.Values(keys))), ",")
}

// SplitKeys are the keys that JoinKeys put into one text.
func SplitKeys(joined string) []string {
	if joined == "" {
		return []string{}
	}
	return strings.Split(joined, ",")
}

// Digest identifies the settings by their values.
func (s Settings) Digest() string { return Digest(s) }

// Digest identifies something that is changed by its values, so a request to change it says which
// state its author saw. A counter would give two states the same number after a restore, and
// equal values mean the same to the person who decides. They are strings, numbers and ids.
func Digest(values any) string {
	text, _ := json.Marshal(values) // of these it cannot fail
	digest := sha256.Sum256(text)
	return hex.EncodeToString(digest[:16])
}
