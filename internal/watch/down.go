package watch

import (
	"context"
	_ "embed" // the statement
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	domain "muster/domain/fleet"
	"muster/internal/accounts"
	"muster/internal/postgres/statement"
	"muster/internal/watch/status"
	"muster/projections/fleet"
)

//go:embed sql/open_states.sql
var openStates string

// manyServers stands for the instance in a sign of Down that is about many servers at once.
var manyServers = uuid.Nil

const (
	// confirm is how long a server has to be down before an alert says so: a restart takes
	// less.
	confirm = 10 * time.Second
	// confirmSeveral is the same where several went down of late, or most of the others were not
	// tried since: they may be many. Servers that do not answer any more are known to be down
	// up to 20 seconds after each other.
	confirmSeveral, several = 25 * time.Second, 3
	// together is within how long servers go down at once, fewest how many an organization
	// has at least whose servers may go down as one.
	together, fewest = time.Minute, 5
	// often is how often a server has to go down within status.Lately to be told of although it
	// is up: it keeps restarting.
	often = 3
)

// fleetState is how the servers of an organization are.
type fleetState struct {
	of          map[uuid.UUID]status.Status // of active servers
	listening   time.Time                   // since when Muster hears others; zero: it does not
	known, down int                         // servers that are up or down
	lost        int                         // servers that were, and nobody looked lately
	restless    int                         // servers that keep going down
	open        map[signOf]bool             // of signs that need another word: whether an alert is open
	settings    Settings                    // of its rules
	tags        map[uuid.UUID]domain.Tags   // of servers that are silent, if settings are about tags
}

// silence is how long a server has to be silent.
func (f *fleetState) silence(id uuid.UUID) time.Duration {
	return time.Duration(f.settings.of(Silent, f.tags[id]).Threshold) * time.Minute
}

type signOf struct {
	Instance uuid.UUID
	Rule     Rule
}

// observe turns the states of servers into signs of Down, Silent and NotMeasured. A server in an unknown
// state gets none: its sign becomes too old to be judged, and its alert stays as it is. A
// server that is up gets one only if the last one said otherwise.
func (r *round) observe(ctx context.Context, organizations []accounts.Organization) error {
	all, listening, err := status.Everywhere(ctx, r.DB, r.now)
	if err == nil {
		err = r.dropInactive(ctx, all)
	}
	if err != nil {
		return err
	}
	if err := r.uptime.Record(ctx, r.DB, r.now, all); err != nil {
		return err
	}
	r.states = make(map[uuid.UUID]fleetState, len(all))
	for _, o := range organizations {
		if of, ok := all[o.ID]; ok {
			state := fleetState{of: of, open: map[signOf]bool{}, settings: r.settings[o.ID]}
			if state.tags, err = r.tagsOf(ctx, o.ID, state); err != nil {
				return err
			}
			if listening != nil {
				state.listening = *listening
			}
			r.states[o.ID] = state
		}
	}
	rows, err := statement.All[struct {
		Organization uuid.UUID `db:"organization_id"`
		Instance     uuid.UUID `db:"instance_id"`
		Rule         Rule
		Open         bool
	}](ctx, r.DB, "read which servers were down or silent", openStates, []string{string(Down), string(Silent), string(NotMeasured)})
	if err != nil {
		return err
	}
	for _, row := range rows {
		if state, ok := r.states[row.Organization]; ok {
			state.open[signOf{row.Instance, row.Rule}] = row.Open
		}
	}
	var signs []Sign
	for organization, state := range r.states {
		ids := state.count()
		alone, patience := !state.many(), state.patience(r.now) // once, not for each server
		for _, id := range ids {
			signs = append(signs, state.signs(id, r.now, alone, patience)...)
		}
		signs = append(signs, state.together(r.now)...)
		for i := range signs {
			if signs[i].OrganizationID == uuid.Nil {
				signs[i].OrganizationID, signs[i].At = organization, r.now
			}
		}
		r.states[organization] = state
	}
	_, err = Record(ctx, r.DB, r.now, signs)
	return err
}

// tagsOf are the tags of the servers that are silent, if a setting asks for them.
func (r *round) tagsOf(ctx context.Context, organization uuid.UUID, state fleetState) (map[uuid.UUID]domain.Tags, error) {
	if len(state.settings[Silent]) == 1 {
		return nil, nil
	}
	var ids []uuid.UUID
	for id, s := range state.of {
		if s.State == status.Silent {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	found, _, err := r.Fleet.Instances(ctx, fleet.Query{Organization: organization, IDs: ids, Page: 1, Size: len(ids)})
	tags := make(map[uuid.UUID]domain.Tags, len(found))
	for _, i := range found {
		tags[i.ID] = domain.Tags(i.Tags)
	}
	return tags, err
}

// dropInactive leaves out servers that are switched off or removed, and has what was observed
// of them forgotten: switched on again, they were not silent meanwhile.
func (r *round) dropInactive(ctx context.Context, all map[uuid.UUID]map[uuid.UUID]status.Status) error {
	var organizations, instances []uuid.UUID
	for organization, of := range all {
		for id := range of {
			organizations, instances = append(organizations, organization), append(instances, id)
		}
	}
	active, err := r.Fleet.ActiveAmong(ctx, organizations, instances)
	if err != nil {
		return err
	}
	var gone []uuid.UUID
	for i, id := range instances {
		if !active[id] {
			delete(all[organizations[i]], id)
			gone = append(gone, id)
		}
	}
	if len(gone) == 0 {
		return nil
	}
	if current, err := r.settled(); err != nil || !current {
		return err // the read model may lack servers that are there
	}
	return status.Forget(ctx, r.DB, gone)
}

// count counts the servers that are up or down, and returns all.
func (f *fleetState) count() (ids []uuid.UUID) {
	for id, s := range f.of {
		ids = append(ids, id)
		if s.State == status.Up || s.State == status.Down {
			f.known++
		}
		if s.State == status.Down {
			f.down++
		}
		if s.State == status.Unknown && (s.Reason.Code == status.CodeNotLooking || s.Reason.Code == status.CodeNotHeard) {
			f.lost++
		}
		if restless(s) {
			f.restless++
		}
	}
	return ids
}

// signs are those of one server. alone says whether it is reported by itself when it goes down,
// and patience after how long.
func (f *fleetState) signs(id uuid.UUID, now time.Time, alone bool, patience time.Duration) (signs []Sign) {
	s := f.of[id]
	over := func(rule Rule) {
		if _, told := f.open[signOf{id, rule}]; told {
			signs = append(signs, Sign{Rule: rule, InstanceID: id, Value: -now.Sub(*s.Since).Minutes()})
		}
	}
	lasts := func(rule Rule) {
		signs = append(signs, Sign{Rule: rule, InstanceID: id, Value: max(now.Sub(*s.Since), time.Second).Minutes()})
	}
	switch s.State {
	case status.Up:
		if restless(s) && alone {
			signs = append(signs, Sign{Rule: Down, InstanceID: id, Value: max(now.Sub(s.Fell[0]), time.Second).Minutes()})
		} else {
			over(Down)
		}
		over(Silent)
		if sign, fails := notMeasured(s.Parts, now); fails {
			sign.InstanceID = id
			signs = append(signs, sign)
		} else if _, told := f.open[signOf{id, NotMeasured}]; told {
			signs = append(signs, Sign{Rule: NotMeasured, InstanceID: id})
		}
	case status.Down:
		over(Silent)
		if f.open[signOf{id, Down}] || alone && now.Sub(*s.Since) >= patience {
			lasts(Down)
		}
	case status.Silent: // its silence counts while somebody was there to hear it
		if !f.listening.IsZero() && now.Sub(f.listening) >= f.silence(id) {
			lasts(Silent)
		}
	}
	return signs
}

// restless says whether a server keeps going down.
func restless(s status.Status) bool { return len(s.Fell) >= often }

// patience is how long a server has to be down before it is reported by itself.
func (f *fleetState) patience(now time.Time) time.Duration {
	var fresh []time.Time
	for _, since := range f.downSince() {
		if now.Sub(since) <= together {
			fresh = append(fresh, since)
		}
	}
	if len(fresh) == 0 {
		return confirm
	}
	untried := 0 // since the first of them went
	for _, s := range f.of {
		if s.State != status.Down && s.TriedAt != nil && s.TriedAt.Before(fresh[0]) && now.Sub(*s.TriedAt) <= together {
			untried++
		}
	}
	if all := f.known + f.lost; len(fresh) >= several || all >= fewest && 2*(len(fresh)+untried) > all {
		return confirmSeveral
	}
	return confirm
}

func (f *fleetState) downSince() (times []time.Time) {
	for _, s := range f.of {
		if s.State == status.Down {
			times = append(times, *s.Since)
		}
	}
	slices.SortFunc(times, time.Time.Compare)
	return times
}

// many tells whether more than half of at least five servers are down, and went within a
// minute, or keep going down. It lasts for as long as more than half are down, or may be for
// all that is known.
func (f *fleetState) many() bool {
	if all := f.known + f.lost; f.open[signOf{manyServers, Down}] && all >= fewest && 2*(f.down+f.lost) > all {
		return true
	}
	return f.known >= fewest && (2*f.down > f.known && f.window() != nil || 2*f.restless > f.known)
}

// window is when the first of more than half of the servers went down that did so within a
// minute; nil: they did not.
func (f *fleetState) window() *time.Time {
	times := f.downSince()
	for first, n := 0, f.known/2+1; first+n <= len(times); first++ {
		if times[first+n-1].Sub(times[first]) <= together {
			return &times[first]
		}
	}
	return nil
}

// firstFall is when the first of many servers went down; zero: none is known to have.
func (f *fleetState) firstFall() (first time.Time) {
	if window := f.window(); window != nil {
		return *window
	}
	if times := f.downSince(); len(times) > 0 {
		return times[0]
	}
	for _, s := range f.of {
		if restless(s) && (first.IsZero() || s.Fell[0].Before(first)) {
			first = s.Fell[0]
		}
	}
	return first
}

// together is the sign of many servers at once.
func (f *fleetState) together(now time.Time) []Sign {
	_, told := f.open[signOf{manyServers, Down}]
	if !f.many() {
		if told {
			return []Sign{{Rule: Down, InstanceID: manyServers}}
		}
		return nil
	}
	since := f.firstFall()
	if since.IsZero() {
		return nil // nobody looked
	}
	if !told && now.Sub(since) < confirmSeveral {
		return nil
	}
	return []Sign{{Rule: Down, InstanceID: manyServers, Value: max(now.Sub(since), time.Second).Minutes()}}
}

// wordsOfDown are the title and the description of an alert that a server is down, or many.
func (r *round) wordsOfDown(s judged, name string) (title, description string) {
	state := r.states[s.OrganizationID]
	since := s.Since.UTC().Format("2006-01-02 15:04:05") + " UTC"
	if s.InstanceID == manyServers && 2*state.down <= state.known && state.restless > 0 {
		return fmt.Sprintf("%d of %d servers keep going down", state.restless, state.known),
			"They went down several times since " + since + ". Check the network between Muster and the servers first."
	}
	if s.InstanceID == manyServers {
		return fmt.Sprintf("%d of %d servers are down", state.down, state.known),
			"They went down within a minute, at " + since + ". Check the network between Muster and the servers first."
	}
	title, description = name+" is down", "Down since "+since+"."
	of := state.of[s.InstanceID]
	if restless(of) && (of.State == status.Up || of.State == status.Down) {
		again := fmt.Sprintf("%d times within %d minutes", len(of.Fell), int(status.Lately.Minutes()))
		if of.State == status.Up {
			return name + " keeps going down: " + again, "It went down " + again + ", and is up in between. It crashes or is restarted: " +
				"check its log, and the service manager that starts it."
		}
		description += " It went down " + again + "."
	}
	if of.Reason != nil && of.State == status.Down {
		title += ": " + status.Word(of.Reason.Code)
		description += " " + of.Reason.Sentence
	}
	return title, description + " " + ruleOf(Down).Advice
}
