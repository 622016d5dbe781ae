package watch

import (
	"context"
	_ "embed" // the statement
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/internal/accounts"
	"muster/internal/statement"
	"muster/internal/status"
)

//go:embed sql/open_states.sql
var openStates string

// manyServers stands for the instance in a sign of Down that is about many servers at once.
var manyServers = uuid.Nil

const (
	// confirm is how long a server has to be down before an alert says so: a restart takes
	// less.
	confirm = 10 * time.Second
	// confirmSeveral is the same where several went down of late: they may be many, and only
	// some were tried again so far.
	confirmSeveral, several = 20 * time.Second, 3
	// together is within how long servers go down at once, fewest how many an organization
	// has at least whose servers may go down as one.
	together, fewest = time.Minute, 5
)

// fleetState is how the servers of an organization are.
type fleetState struct {
	of          map[uuid.UUID]status.Status // of active servers
	silence     time.Duration               // the threshold of Silent
	listening   time.Time                   // since when Muster hears others; zero: it does not
	known, down int                         // servers that are up or down
	open        map[signOf]bool             // of signs that need another word: whether an alert is open
}

type signOf struct {
	Instance uuid.UUID
	Rule     Rule
}

// observe turns how servers are into signs of Down and Silent. A server of which nothing is
// known gets none: its sign becomes too old to be judged, and its alert stays as it is. One
// that is up gets one only where the last one said otherwise.
func (r *round) observe(ctx context.Context, organizations []accounts.Organization) error {
	all, err := status.Everywhere(ctx, r.DB, r.now)
	if err == nil {
		err = r.dropInactive(ctx, all)
	}
	if err != nil {
		return err
	}
	listening, err := status.ListeningSince(ctx, r.DB, r.now)
	if err != nil {
		return err
	}
	r.states = make(map[uuid.UUID]fleetState, len(all))
	for _, o := range organizations {
		if of, ok := all[o.ID]; ok {
			silence := time.Duration(ruleOf(Silent).threshold(o.Settings().Watch)) * time.Minute
			state := fleetState{of: of, silence: silence, open: map[signOf]bool{}}
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
	}](ctx, r.DB, "read which servers were down or silent", openStates, []string{string(Down), string(Silent)})
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
	}
	return ids
}

// signs are those of one server. alone says whether it is told of by itself when it goes down,
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
		over(Down)
		over(Silent)
	case status.Down:
		over(Silent)
		if f.open[signOf{id, Down}] || alone && now.Sub(*s.Since) >= patience {
			lasts(Down)
		}
	case status.Silent: // its silence counts while somebody was there to hear it
		if !f.listening.IsZero() && now.Sub(f.listening) >= f.silence {
			lasts(Silent)
		}
	}
	return signs
}

// patience is how long a server has to be down before that is told of it alone.
func (f *fleetState) patience(now time.Time) time.Duration {
	fresh := 0
	for _, since := range f.downSince() {
		if now.Sub(since) <= together {
			fresh++
		}
	}
	if fresh >= several {
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
// minute. It lasts for as long as more than half are down.
func (f *fleetState) many() bool {
	if f.known < fewest || 2*f.down <= f.known {
		return false
	}
	return f.open[signOf{manyServers, Down}] || f.window() != nil
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

// together is the sign of many servers at once.
func (f *fleetState) together(now time.Time) []Sign {
	_, told := f.open[signOf{manyServers, Down}]
	if !f.many() {
		if told {
			return []Sign{{Rule: Down, InstanceID: manyServers}}
		}
		return nil
	}
	since := f.downSince()[0]
	if first := f.window(); first != nil {
		since = *first
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
	if s.InstanceID == manyServers {
		return fmt.Sprintf("%d of %d servers are down", state.down, state.known),
			"They went down within a minute, at " + since + ". Check the network between Muster and the servers first."
	}
	title, description = name+" is down", "Down since "+since+"."
	if of := state.of[s.InstanceID]; of.Reason != nil && of.State == status.Down {
		title += ": " + status.Word(of.Reason.Code)
		description += " " + of.Reason.Sentence
	}
	return title, description + " " + ruleOf(Down).advice
}
