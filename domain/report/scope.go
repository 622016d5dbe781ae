package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/domain/rule"
)

// Scope is what a report covers.
type Scope struct {
	InstanceIDs []uuid.UUID `json:"instanceIds"` // sorted, unique; empty: all active instances
	// Tags are those by which the request named its instances; InstanceIDs are the ones that had
	// them when it was accepted.
	Tags       fleet.TagFilter `json:"tags,omitempty"`
	TeamID     *uuid.UUID      `json:"teamId,omitempty"` // whose instances they were when it was accepted
	DatabaseID *uuid.UUID      `json:"databaseId"`
	From       *time.Time      `json:"from"` // of a kind with a window, UTC, whole minutes
	To         *time.Time      `json:"to"`
	// TimeZone is that in which a schedule's day is told; empty: the organization's.
	TimeZone string `json:"timeZone,omitempty"`
}

// Whole says whether a scope is about the whole organization. Tags and a team may have no server.
func (s Scope) Whole() bool { return len(s.InstanceIDs) == 0 && len(s.Tags) == 0 && s.TeamID == nil }

// Validate brings a scope into its canonical form (sorted unique ids, window
// in UTC floored to the minute, an end up to MaxAhead in the future clamped to
// now) and returns every rule of its kind that it breaks. Whether the instances
// exist is not for it to know.
func Validate(kind Kind, scope Scope, now time.Time) (Scope, rule.Set) {
	canonical := Scope{InstanceIDs: unique(scope.InstanceIDs), Tags: scope.Tags, TeamID: scope.TeamID, DatabaseID: scope.DatabaseID, TimeZone: scope.TimeZone}
	d, err := Find(kind)
	if err != nil {
		return canonical, rule.Set{{Pointer: "#/kind", Code: "out_of_range", Detail: "is no kind of report"}}
	}
	broken := d.brokenCover(canonical)
	if d.Window == 0 {
		eachEnd(scope, func(pointer string, at *time.Time) {
			if at != nil {
				broken.Add(pointer, "range_not_allowed", "a report of this kind has no date range")
			}
		})
		return canonical, broken
	}
	eachEnd(scope, func(pointer string, at *time.Time) {
		if at == nil {
			broken.Add(pointer, "range_required", "a report of this kind needs from and to")
		}
	})
	if scope.From == nil || scope.To == nil {
		return canonical, broken
	}
	start, end, more := window(*scope.From, *scope.To, now, d.Window)
	canonical.From, canonical.To = &start, &end
	return canonical, append(broken, more...)
}

// brokenCover returns the rules on instances and database that a canonical scope breaks.
func (d Definition) brokenCover(scope Scope) (broken rule.Set) {
	switch n := len(scope.InstanceIDs); {
	case d.OneInstance && n != 1:
		broken.Add("#/scope/instanceIds", "scorecard_needs_one_instance", "a report of this kind covers exactly one instance")
	case n > MaxInstances && len(scope.Tags) == 0 && scope.TeamID == nil:
		broken = append(broken, rule.Broken{
			Pointer: "#/scope/instanceIds", Code: "too_many_instances",
			Detail: fmt.Sprintf("names %d instances; at most %d are allowed", n, MaxInstances),
			Params: map[string]any{"max": MaxInstances},
		})
	}
	if !d.Database && scope.DatabaseID != nil {
		broken.Add("#/scope/databaseId", "database_not_allowed", "a report of this kind cannot be limited to a database")
	}
	return broken
}

// eachEnd calls see with both ends of a scope's window.
func eachEnd(scope Scope, see func(pointer string, at *time.Time)) {
	see("#/scope/from", scope.From)
	see("#/scope/to", scope.To)
}

// window floors, clamps and judges a window of at most that width. The floors come
// first: a window of exactly 31 days at any second of its minute stays one.
func window(from, to, now time.Time, most time.Duration) (start, end time.Time, broken rule.Set) {
	now = now.UTC()
	start, end = from.UTC().Truncate(time.Minute), to.UTC().Truncate(time.Minute)
	if from.After(now) {
		broken.Add("#/scope/from", "window_in_future", "must not lie in the future")
	}
	switch {
	case to.After(now.Add(MaxAhead)):
		broken = append(broken, rule.Broken{
			Pointer: "#/scope/to", Code: "window_in_future",
			Detail: "must not lie more than 5 minutes in the future",
			Params: map[string]any{"maxMinutes": int(MaxAhead / time.Minute)},
		})
	case to.After(now):
		end = now.Truncate(time.Minute)
	}
	if len(broken) > 0 {
		return start, end, broken
	}
	switch width := end.Sub(start); {
	case width <= 0:
		broken.Add("#/scope/to", "invalid_window", "must be at least one minute after from")
	case width > most:
		broken = append(broken, rule.Broken{
			Whole: "report_range_too_wide", Pointer: "#/scope/to", Code: "range_too_wide",
			Detail: fmt.Sprintf("must be at most %d days after from", days(most)),
			Params: map[string]any{"maxDays": days(most)},
		})
	}
	return start, end, broken
}

func days(d time.Duration) int { return int(d / (24 * time.Hour)) }

// Recipients returns the requester and then the extras, each once, and the rule
// they break if they are more than MaxRecipients.
func Recipients(requester uuid.UUID, extras []uuid.UUID) ([]uuid.UUID, rule.Set) {
	all := []uuid.UUID{requester}
	for _, id := range extras {
		if !slices.Contains(all, id) {
			all = append(all, id)
		}
	}
	if len(all) <= MaxRecipients {
		return all, nil
	}
	return all, rule.Set{{
		Pointer: "#/recipientIds", Code: "too_many_recipients",
		Detail: fmt.Sprintf("with the requester these are %d recipients; at most %d are allowed", len(all), MaxRecipients),
		Params: map[string]any{"max": MaxRecipients},
	}}
}

// Fingerprint is the identity of a request: SHA-256, in hex, over organization,
// kind, instances, tags, database and window of a canonical scope. Requester and
// recipients are not part of it.
func Fingerprint(organization uuid.UUID, kind Kind, scope Scope) string {
	lines := []string{organization.String(), string(kind)}
	for _, id := range scope.InstanceIDs {
		lines = append(lines, "instance "+id.String())
	}
	if scope.TeamID != nil {
		lines = append(lines, "team "+scope.TeamID.String())
	}
	for _, word := range scope.Tags.Words() {
		lines = append(lines, "tag "+word)
	}
	if scope.DatabaseID != nil {
		lines = append(lines, "database "+scope.DatabaseID.String())
	}
	for _, end := range []*time.Time{scope.From, scope.To} {
		if end != nil {
			lines = append(lines, end.UTC().Format(time.RFC3339))
		}
	}
	if scope.TimeZone != "" {
		lines = append(lines, "zone "+scope.TimeZone)
	}
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:])
}

// unique returns the ids sorted, each once; never nil, so that it is [] on the wire.
func unique(ids []uuid.UUID) []uuid.UUID {
	sorted := append(make([]uuid.UUID, 0, len(ids)), ids...)
	slices.SortFunc(sorted, func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
	return slices.Compact(sorted)
}
