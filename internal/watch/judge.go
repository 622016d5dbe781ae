package watch

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/domain/alert"
	"muster/domain/fleet"
	"muster/domain/organization"
	"muster/internal/accounts"
	"muster/internal/postgres/statement"
)

// round is one judgement.
type round struct {
	*Watch
	now      time.Time
	found    Judgement
	settled  func() (bool, error)     // whether the fleet is current, asked once a round
	states   map[uuid.UUID]fleetState // of organizations
	settings map[uuid.UUID]Settings   // of organizations
	// without are the organizations that leave waits for advisory locks out.
	without map[uuid.UUID]bool
}

// Settings are those of an organization's rules: of each rule the ones in force, in their order.
type Settings map[Rule][]organization.WatchSetting

// SettingsOf are the settings in force of every rule of the catalogue.
func SettingsOf(stored accounts.WatchSettings, w organization.Watch) Settings {
	all := Settings{}
	for _, d := range Catalogue() {
		all[d.rule()] = d.Settings(stored[d.ID], w)
	}
	return all
}

// of is the setting of a rule for servers with these tags.
func (s Settings) of(r Rule, tags fleet.Tags) organization.WatchSetting {
	return organization.Setting(s[r.shown()], tags)
}

// judged is a sign and what its rule makes of it.
type judged struct {
	Sign
	Since   *time.Time // when the breach began whose end nobody was told
	Until   *time.Time // when the last one ended
	Pending *time.Time // since when the figure has been beyond its threshold, and not for long enough yet
	Gone    bool       // the volume is not there any more

	Setting   organization.WatchSetting `db:"-"` // of its place
	beyond    *bool                     // nil: nobody knows, because it is stale, or nobody was there to hear
	forgotten bool                      // its figure is no longer known
}

// ended tells whether a breach is over and perhaps not reported: a process that dies between
// recording and reporting leaves this state.
func (s judged) ended() bool { return s.Since != nil && s.Until != nil }

// read returns the signs that may be in breach, and those that were.
func (r *round) read(ctx context.Context) ([]judged, error) {
	organizations, err := r.Organizations.Organizations(ctx)
	if err != nil {
		return nil, err
	}
	stored, err := r.Organizations.WatchRules(ctx)
	if err != nil {
		return nil, err
	}
	type bounds struct {
		Organization uuid.UUID
		Rule         Rule
		Above, Below float64
	}
	var all []bounds
	r.settings, r.without = make(map[uuid.UUID]Settings, len(organizations)), map[uuid.UUID]bool{}
	for _, o := range organizations {
		r.without[o.ID] = o.AdvisoryLocks == organization.WatchOff
		settings := SettingsOf(stored[o.ID], o.Settings().Watch)
		r.settings[o.ID] = settings
		for _, id := range append(Rules(), HostVolume) {
			above, below := ruleOf(id).bounds(settings[id.shown()])
			all = append(all, bounds{o.ID, id, above, below})
		}
	}
	if err := r.observe(ctx, organizations); err != nil {
		return nil, err
	}
	return statement.All[judged](ctx, r.DB, "judge the signs", judgeSigns, append(statement.Columns(all), goneAfter.Seconds())...)
}

// judge decides about signs of one organization, records its decisions and reports them. It
// records first: if it dies in between, the next judgment reports the same from the record.
func (r *round) judge(ctx context.Context, signs []judged) error {
	of := signs[0].OrganizationID
	servers, err := r.places(ctx, of, signs)
	if err != nil {
		return err
	}
	places := make(map[subject]watchedPlace, len(signs))
	for _, s := range signs {
		places[s.subject()] = s.place(servers)
	}
	var changes []change
	var telling []judged
	for _, was := range signs {
		at := places[was.subject()]
		was.Setting = r.settings[of].of(was.Rule, at.tags)
		if was.advisory() && r.without[of] {
			was.Setting.Enabled = false
		}
		is, moved := was.decide(at, r.now)
		if moved {
			changes = append(changes, change{was, is})
		} else if is.tells(places[was.subject()]) {
			telling = append(telling, is)
		}
	}
	moved, err := r.move(ctx, changes)
	if err != nil {
		return err
	}
	for _, c := range moved {
		r.count(c)
		if c.is.tells(places[c.is.subject()]) {
			telling = append(telling, c.is)
		}
	}
	if err := r.tell(ctx, of, telling, places); err != nil {
		return err
	}
	var over []change
	for _, s := range telling {
		if s.ended() {
			calm := s
			calm.Since = nil
			over = append(over, change{s, calm})
		}
	}
	_, err = r.move(ctx, over)
	return err
}

// judge is whether the figure is beyond the threshold of its setting; nil: nobody knows.
func (s judged) judge(now time.Time) *bool {
	var is bool
	switch {
	case s.Gone:
	case s.At.Before(now.Add(-Fresh)):
		return nil
	default:
		is = ruleOf(s.Rule).Beyond(s.Sign, s.Setting)
	}
	return &is
}

// decide returns the sign as it is from now on, and whether that is a change. It is all that
// judges figures: the preview of a rule calls it with those of the past.
func (s judged) decide(at watchedPlace, now time.Time) (is judged, moved bool) {
	s.beyond = s.judge(now)
	is = s
	switch {
	case s.ended(), at.standing == unknown:
		return is, false // to be told first; or to be looked for again
	case at.standing == unwatched:
		is.forgotten, is.Pending = true, nil
		if s.Since != nil {
			is.Until = s.end(now)
		}
	case s.beyond == nil: // what is not known did not last
		is.Pending = nil
		return is, s.Pending != nil
	case *s.beyond && s.Since != nil:
		return is, false
	case *s.beyond && !s.lasts():
		if s.Pending != nil {
			return is, false
		}
		is.Pending = s.begin(now)
	case *s.beyond:
		is.Since, is.Until, is.Pending = s.begin(now), nil, nil
	case s.Since != nil:
		is.Until = s.end(now)
	default:
		is.Pending = nil
		return is, s.Pending != nil
	}
	return is, true
}

// jitter is how much sooner than the setting says a figure may come: one a minute does so a moment early or late.
const jitter = 2 * time.Second

// lasts tells whether a figure has been beyond its threshold for as long as its setting asks. How
// long a server is down is in its sign.
func (s judged) lasts() bool {
	duration := time.Duration(s.Setting.ForSeconds) * time.Second
	if s.Rule == Down {
		return time.Duration(s.Value*float64(time.Minute)) >= duration-jitter
	}
	return duration == 0 || s.Pending != nil && s.At.Sub(*s.Pending) >= duration-jitter
}

// begin is when a breach began: with the figure, when the server went down, or when it had
// been silent for too long, and after the end of the one before. Not after now: an alert's
// start that lies in the future would be taken for another one later.
func (s judged) begin(now time.Time) *time.Time {
	at := s.At
	if s.Rule == Down || s.Rule == Silent {
		at = s.began().Add(time.Duration(s.Setting.Threshold) * time.Minute)
	}
	if at.After(now) {
		at = now
	}
	if s.Until != nil && s.Until.After(at) {
		at = *s.Until
	}
	return &at
}

// end is when a breach ended: the time of the figure that ends it, or now if the threshold
// changed, or if the server or the volume is gone. It is always after the breach's beginning,
// so that the next breach begins later than this one did.
func (s judged) end(now time.Time) *time.Time {
	at := now
	aState := s.Rule == Down || s.Rule == Silent
	switch {
	case s.beyond == nil || *s.beyond || s.Gone || !s.At.After(*s.Since):
	case !aState:
		at = s.At
	case s.Value <= 0:
		at = s.began()
	}
	if !at.After(*s.Since) {
		at = s.Since.Add(time.Microsecond)
	}
	return &at
}

// tells tells whether there is something to say: it is over, or it still is.
func (s judged) tells(at watchedPlace) bool {
	return s.ended() || s.Since != nil && s.beyond != nil && *s.beyond && at.standing == watched
}

// tell sends what is in breach and what is over through the door of machines'
// alerts. Sent twice, late or by two processes at once, it changes nothing more.
func (r *round) tell(ctx context.Context, organization uuid.UUID, signs []judged, places map[subject]watchedPlace) error {
	if len(signs) == 0 {
		return nil
	}
	holders, err := r.holders(ctx, signs)
	if err != nil {
		return fmt.Errorf("look who holds up sessions of organization %s: %w", organization, err)
	}
	firings := make([]alert.Firing, 0, len(signs))
	for _, s := range signs {
		firings = append(firings, r.firing(s, places[s.subject()], holders[s.subject()]))
	}
	dropped, mark, err := r.Alerts.RecordFirings(ctx, actor(organization), firings)
	if err != nil {
		return fmt.Errorf("tell %d alerts of organization %s: %w", len(firings), organization, err)
	}
	if dropped > 0 {
		r.Log.WarnContext(ctx, "alerts of the watch cannot be kept", "organization", organization, "alerts", dropped)
	}
	r.recorded(ctx, mark)
	return nil
}

// firing is the sign as the door of machines' alerts takes it. by is who holds up its sessions; nil:
// that is not known.
func (r *round) firing(s judged, at watchedPlace, by *held) alert.Firing {
	of, threshold := ruleOf(s.Rule), float64(s.Setting.Threshold)
	f := alert.Firing{
		Key: s.subject().key(), Severity: of.severity(s.Value, s.Setting),
		Rule:       &alert.Rule{ID: of.ID, Name: of.Name, Threshold: &threshold, Unit: of.Unit},
		InstanceID: at.instance, OtherInstanceIDs: at.others, StartsAt: s.Since.UTC(), SeenAt: s.At.UTC(),
	}
	if s.advisory() && s.Rule == LockWait {
		f.Rule.Name = "Session waits for an advisory lock"
	}
	if s.Rule == Down {
		f.Title, f.Description = r.wordsOfDown(s, at.name)
		f.Rule.Threshold, f.Rule.Unit = nil, ""
	} else {
		f.Title, f.Description = at.name+": "+of.title(s.Sign), s.description(of, at)
	}
	if by != nil {
		by.tell(&f, at.name)
	}
	if at.servers != "" {
		f.Title += alert.TitleServers + at.servers + ")"
	}
	if s.ended() {
		f.Resolved, f.EndsAt, f.SeenAt = true, s.Until.UTC(), s.Until.UTC()
	}
	return f
}

// description is what to do, and what the title has no room for.
func (s judged) description(of Definition, at watchedPlace) string {
	said := of.Advice
	if s.Gone && s.Details.Host != "" {
		said = "Host " + s.Details.Host + " does not report this volume any more."
	}
	if waits := s.Details.waits(); waits != "" {
		said += " " + waits
	}
	if at.servers != "" {
		said += alert.DescriptionServers + s.Details.Host + ": " + at.all + "."
	}
	if len(s.Details.Mounts) > 1 {
		said += " Mounted at " + strings.Join(s.Details.Mounts, ", ") + "."
	}
	return said
}

func (r *round) count(c change) {
	switch {
	case c.was.Since == nil && c.is.Since != nil:
		r.found.Began[c.is.Rule.shown()]++
	case c.is.ended():
		r.found.Ended[c.is.Rule.shown()]++
	}
}

// change is a sign before and after a decision.
type change struct{ was, is judged }

// move writes changes, and returns those that were made: if a sign is no longer as it was
// judged, the next judgment decides.
func (r *round) move(ctx context.Context, changes []change) ([]change, error) {
	if len(changes) == 0 {
		return nil, nil
	}
	type row struct {
		subject
		At                               time.Time
		WasSince, WasUntil, Since, Until *time.Time
		Pending                          *time.Time
		Forgotten                        bool
	}
	rows := make([]row, len(changes))
	bySubject := make(map[subject]change, len(changes))
	for i, c := range changes {
		rows[i] = row{c.was.subject(), c.was.At, c.was.Since, c.was.Until, c.is.Since, c.is.Until, c.is.Pending, c.is.forgotten}
		bySubject[c.was.subject()] = c
	}
	noted, err := statement.All[subject](ctx, r.DB, "note judgements", moveSigns, statement.Columns(rows)...)
	made := make([]change, len(noted))
	for i, s := range noted {
		made[i] = bySubject[s]
	}
	return made, err
}
