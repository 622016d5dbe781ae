package chartmarks

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	domain "muster/domain/fleet"
	"muster/domain/organization"
	"muster/domain/printable"
	"muster/internal/assessment/changes"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/internal/measurements"
	"muster/internal/measurements/replication"
	"muster/projections/audit"
	"muster/projections/health"
)

const (
	// maxChanges is how many changes are read for an answer: an assessment may find many.
	maxChanges = 5000
	// namedChanges is how many of the changes of one kind that an assessment found a mark names.
	namedChanges = 5
	// maxNew is how many new statements of an instance are read for an answer.
	maxNew = 5000
	// foundWithin is how long after a restart an assessment finds it at the latest: it is looked for in those that
	// came so long after the window.
	foundWithin = 24 * time.Hour
)

// changeMarks are the kinds of changes that charts show, and the kind of their mark. Accounts, privileges and the rules
// of pg_hba.conf are left out: they do not explain a figure.
var changeMarks = map[domain.ChangeKind]string{
	domain.ChangedSetting: markSetting, domain.ChangedVersion: markVersion, domain.ChangedExtension: markVersion,
	domain.ChangedStart: markRestart,
}

// knownMarks are the marks that Muster derives from what it keeps.
type knownMarks struct {
	marks []api.Mark
	whole bool // none was left out
}

// knownMarks derives them from the changes that assessments found (the same as on the page of a server), from changes of
// roles in replication, from new statements, from when servers were registered, from the audit list, and from maintenance
// windows. Each is a side figure.
func (s *MarkRoutes) knownMarks(ctx context.Context, scope domain.Scope, from, to time.Time, side *wire.Side) knownMarks {
	known := knownMarks{marks: []api.Mark{}, whole: true}
	organization := wire.Caller(ctx).Organization.ID
	changed, err := s.changedMarks(ctx, scope, from, to, &known)
	if !side.Lacks(ctx, err, "items.changes") {
		known.marks = append(known.marks, changed...)
	}
	roles, err := replication.RoleChanges(ctx, s.DB, organization, scope, from, to, maxMarks+1)
	if !side.Lacks(ctx, err, "items.failovers") {
		known.whole = known.whole && len(roles) <= maxMarks
		for _, c := range roles {
			known.add(c.Instance, c.At, markFailover, failoverText(c), c.At.UTC().Format(time.RFC3339Nano))
		}
	}
	if err := s.releaseMarks(ctx, scope, from, to, &known); side.Lacks(ctx, err, "items.releases") {
		known.whole = false
	}
	registered, err := s.Fleet.RegisteredIn(ctx, organization, scope, from, to, maxMarks+1)
	if !side.Lacks(ctx, err, "items.registered") {
		known.whole = known.whole && len(registered) <= maxMarks
		for _, r := range registered {
			known.add(r.ID, r.At, markRegistered, "Registered", r.ID.String())
		}
	}
	retired, err := s.retired(ctx, scope, from, to)
	if !side.Lacks(ctx, err, "items.retired") {
		known.whole = known.whole && len(retired) <= maxMarks
		for _, e := range retired {
			known.add(e.Subject, e.At, retiredAs[e.Type].kind, retiredAs[e.Type].text, fmt.Sprint(e.Position))
		}
	}
	ids := make([]uuid.UUID, len(known.marks))
	for i, m := range known.marks {
		ids[i] = m.Instance.Id
	}
	names, err := s.Fleet.Names(ctx, organization, ids)
	if side.Lacks(ctx, err, "items.instance") {
		return knownMarks{marks: []api.Mark{}}
	}
	for i, m := range known.marks {
		is := wire.NamedInstance(names, m.Instance.Id)
		known.marks[i].Instance = &is
	}
	planned, err := s.windowMarks(ctx, scope, from, to)
	if !side.Lacks(ctx, err, "items.maintenance") {
		known.marks = append(known.marks, planned...)
	}
	return known
}

// failoverText says from which role to which a server went.
func failoverText(c replication.RoleChange) string {
	said := "From " + string(c.Was) + " to " + string(c.Role)
	if c.Was == c.Role {
		said = "Another server is " + string(c.Role)
	}
	if c.Timeline > 0 {
		said += fmt.Sprintf(", timeline %d", c.Timeline)
	}
	return said
}

// releaseMarks adds where databases got several new statements at once.
func (s *MarkRoutes) releaseMarks(ctx context.Context, scope domain.Scope, from, to time.Time, known *knownMarks) error {
	organization := wire.Caller(ctx).Organization.ID
	begin, end := measurements.ReleaseSpan(from, to)
	all, err := s.Tiles.Store.FirstExecutions(ctx, organization, scope, begin, end, maxNew)
	if err != nil {
		return err
	}
	of := map[uuid.UUID]int{}
	for _, f := range all {
		of[f.Instance] += f.Statements
		known.whole = known.whole && of[f.Instance] < maxNew
	}
	releases := measurements.Releases(all, from, to)
	names, err := s.Fleet.DatabaseNames(ctx, organization, wire.List(releases, func(r measurements.Release) uuid.UUID { return r.Database }))
	if err != nil {
		return err
	}
	for _, r := range releases {
		text := fmt.Sprintf("%d new statements", r.Statements)
		if name := names[r.Database]; name != "" {
			text += " in database " + quoted(name)
		}
		known.add(r.Instance, r.At, markRelease, text, r.Database.String()+" "+r.At.Format(time.RFC3339Nano))
	}
	return nil
}

// add adds a mark of an instance, whose name is read later. of tells it from others of its kind and instance.
func (k *knownMarks) add(instance uuid.UUID, at time.Time, kind, text, of string) {
	k.marks = append(k.marks, api.Mark{
		Id: markID(kind, instance, of), At: at.UTC(), Kind: kind, Text: text, Tags: map[string]string{}, Instance: &api.ContributingInstance{Id: instance},
	})
}

// markID is the id of a mark that is derived: the same at every request.
func markID(kind string, instance uuid.UUID, of string) (id uuid.UUID) {
	about := sha256.Sum256(fmt.Appendf(nil, "mark %s %s %s", kind, instance, of))
	copy(id[:], about[:])
	id[6] = id[6]&0x0f | 0x80 // version 8: made by whoever made it
	id[8] = id[8]&0x3f | 0x80
	return id
}

// retiredAs are the types of the audit list after which Muster watches a server no longer, or again.
var retiredAs = map[string]struct{ kind, text string }{
	"instanceRemoved": {markRetired, "Removed"}, "instanceDeactivated": {markRetired, "Deactivated"}, "instanceActivated": {markRegistered, "Activated"},
}

// retired are the entries of the audit list about servers that members and programs removed or switched off.
func (s *MarkRoutes) retired(ctx context.Context, scope domain.Scope, from, to time.Time) ([]audit.Entry, error) {
	caller := wire.Caller(ctx)
	return s.Audit.List(ctx, audit.Query{
		Organization: caller.Organization.ID, Within: caller.World, Member: caller.Member.ID, From: from, To: to,
		Types: slices.Collect(maps.Keys(retiredAs)), About: scope, Limit: maxMarks + 1,
	})
}

// changedMarks are the marks of what assessments found to be other than before: one for each kind of an assessment.
func (s *MarkRoutes) changedMarks(ctx context.Context, scope domain.Scope, from, to time.Time, known *knownMarks) ([]api.Mark, error) {
	org := wire.Caller(ctx).Organization.ID
	kinds := []domain.ChangeKind{domain.ChangedSetting, domain.ChangedVersion, domain.ChangedExtension}
	rows, err := s.Health.ChangesIn(ctx, org, scope, kinds, from, to, maxChanges)
	if err != nil {
		return nil, err
	}
	starts, err := s.Health.ChangesIn(ctx, org, scope, []domain.ChangeKind{domain.ChangedStart}, from, to.Add(foundWithin), maxChanges)
	if err != nil {
		return nil, err
	}
	known.whole = known.whole && len(rows) < maxChanges && len(starts) < maxChanges
	rows = append(rows, starts...)
	ids := wire.List(rows, func(c health.Changed) uuid.UUID { return c.Assessment })
	values, err := changes.ValuesOf(ctx, s.DB, org, slices.Compact(ids))
	if err != nil {
		return nil, err
	}
	sees := wire.Caller(ctx).Can(organization.ScopeReportsDownload) && !wire.HidesPeople(ctx)
	slices.SortStableFunc(rows, func(a, b health.Changed) int { // the version of a server before those of its extensions
		return cmp.Or(bytes.Compare(a.Assessment[:], b.Assessment[:]), cmp.Compare(changeMarks[a.Kind], changeMarks[b.Kind]), cmp.Compare(b.Kind, a.Kind))
	})
	var found knownMarks
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && rows[n].Assessment == rows[0].Assessment && changeMarks[rows[n].Kind] == changeMarks[rows[0].Kind] {
			n++
		}
		if at := changedAt(rows[0], values); !at.Before(from) && at.Before(to) {
			found.add(rows[0].Instance, at, changeMarks[rows[0].Kind], changedText(rows[:n], values, sees), rows[0].Assessment.String())
		}
		rows = rows[n:]
	}
	return found.marks, nil
}

// changedAt is when a change happened: of a restart, the start of the server if it is kept; of all others, the assessment
// that found it.
func changedAt(c health.Changed, values map[changes.Place]changes.Values) time.Time {
	v := values[changes.Place{Assessment: c.Assessment, Nth: c.Nth}]
	if c.Kind == domain.ChangedStart && v.After != nil {
		if started, err := time.Parse(time.RFC3339, *v.After); err == nil && started.Before(c.At) {
			return started
		}
	}
	return c.At
}

// changedText says what an assessment found to be other than before, in changes of one kind of mark. sees: the caller
// sees names and values of settings and extensions.
func changedText(of []health.Changed, values map[changes.Place]changes.Values, sees bool) string {
	switch of[0].Kind {
	case domain.ChangedStart:
		return "Restarted"
	case domain.ChangedSetting, domain.ChangedVersion, domain.ChangedExtension, domain.ChangedRole, domain.ChangedGrant, domain.ChangedHBA, domain.ChangedReplication:
	}
	var said []string
	counts := map[domain.ChangeKind]int{}
	for _, c := range of {
		if v, kept := values[changes.Place{Assessment: c.Assessment, Nth: c.Nth}]; kept && (sees || c.Kind == domain.ChangedVersion) {
			said = append(said, oneChange(c, v))
		} else {
			counts[c.Kind]++
		}
	}
	if more := len(said) - namedChanges; more > 0 {
		said = append(said[:namedChanges], fmt.Sprintf("and %d more", more))
	}
	for _, kind := range []domain.ChangeKind{domain.ChangedSetting, domain.ChangedExtension, domain.ChangedVersion} {
		switch n := counts[kind]; {
		case n == 1:
			said = append(said, "1 "+string(kind)+" changed")
		case n > 1:
			said = append(said, fmt.Sprintf("%d %ss changed", n, kind))
		}
	}
	return strings.Join(said, "; ")
}

// oneChange says what a change shows.
func oneChange(c health.Changed, v changes.Values) string {
	switch {
	case c.Added:
		return quoted(v.Name) + " added"
	case c.Removed:
		return quoted(v.Name) + " removed"
	case v.Before == nil || v.After == nil: // they may hold a secret
		return quoted(v.Name) + " changed"
	}
	return quoted(v.Name) + ": " + quoted(*v.Before) + " → " + quoted(*v.After)
}

// longestValue is how many characters of a value a mark shows.
const longestValue = 60

// quoted is a value as a mark shows it.
func quoted(value string) string {
	if value == "" {
		return "(empty)"
	}
	return printable.Cut(printable.Clean(value), longestValue)
}
