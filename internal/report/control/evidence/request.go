package evidence

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/domain/instant"
	"muster/domain/team"
	"muster/internal/accounts"
	"muster/internal/assessment/catalogue"
	"muster/internal/report/control"
)

// Request is what evidence is asked for.
type Request struct {
	Organization accounts.Organization
	Check        string
	From, To     time.Time   // a To in the future is now
	Instances    []uuid.UUID // nil: all of the check's engine
	Within       team.World  // in which the requester lives; the servers outside are unknown
}

// MaxInstances is how many servers may be named.
const MaxInstances = 500

// Fault is one rule that a request breaks.
type Fault struct {
	Field  string // check, from, to, instanceIds, instanceIds/3
	Code   string // of the contract
	Detail string // the part of the sentence after Field: "must lie before to"
	Params map[string]any
}

// RefusedError reports all rules that a request breaks.
type RefusedError struct{ Faults []Fault }

func (e *RefusedError) Error() string {
	var all []string
	for _, f := range e.Faults {
		all = append(all, f.Field+" "+f.Detail)
	}
	return "evidence is refused: " + strings.Join(all, "; ")
}

// Faults are the rules that a request breaks at a moment whatever servers there are.
func (r Request) Faults(checks *catalogue.Catalogue, now time.Time) (faults []Fault) {
	add := func(field, code, detail string, params map[string]any) {
		faults = append(faults, Fault{field, code, detail, params})
	}
	if _, known := control.Find(checks, r.Check); !known {
		add("check", "unknown_check", "is no check of the catalogue", nil)
	}
	from, to, now := instant.Cut(r.From), instant.Cut(r.To), instant.Cut(now)
	if !from.Before(to) {
		add("from", "invalid_window", "must lie before to", nil)
	}
	if !from.Before(now) {
		add("from", "window_in_future", "must not lie in the future", nil)
	}
	if to.Sub(from) > control.MaxWindow {
		days := int(control.MaxWindow / (24 * time.Hour))
		add("to", "out_of_range", fmt.Sprintf("must lie at most %d days after from", days), map[string]any{"maxDays": days})
	}
	switch n := len(r.Instances); {
	case r.Instances != nil && n == 0:
		add("instanceIds", "out_of_range", "must name at least one server, or be absent for all of them", nil)
	case n > MaxInstances:
		add("instanceIds", "too_many_instances", fmt.Sprintf("must have at most %d entries", MaxInstances), map[string]any{"max": MaxInstances})
	}
	return faults
}

// resolved names the servers of the world of somebody who asks for all. They cannot ask for more
// of them than anybody can name.
func (r Request) resolved() Request {
	if r.Within != nil && r.Instances == nil {
		r.Instances = slices.SortedFunc(slices.Values(r.Within.Instances()), func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
		if r.Instances == nil {
			r.Instances = []uuid.UUID{}
		}
	}
	return r
}

// unknown are the broken rules for servers that the log of the fleet does not have; servers of
// other organizations and outside the world are unknown, too. A removed server is known.
func (m *Maker) unknown(ctx context.Context, r Request) (faults []Fault, err error) {
	if len(r.Instances) == 0 || len(r.Instances) > MaxInstances {
		return nil, nil
	}
	known := map[uuid.UUID]bool{}
	for e, err := range m.Controls.Log.LoadEach(ctx, r.Organization.ID, r.Instances) {
		if err != nil {
			return nil, fmt.Errorf("look for the servers of evidence: %w", err)
		}
		known[e.Stream] = known[e.Stream] || e.StreamType == fleet.InstanceStream && r.Within.Sees(e.Stream)
	}
	for i, id := range r.Instances {
		if !known[id] {
			faults = append(faults, Fault{"instanceIds/" + strconv.Itoa(i), "instance_not_in_organization", "is no server of this organization", nil})
		}
	}
	return faults, nil
}

// question is what is asked of the controls at a moment. Errors: *RefusedError.
func (m *Maker) question(ctx context.Context, r Request, now time.Time) (q control.Question, err error) {
	faults := r.Faults(m.Checks, now)
	unknown, err := m.unknown(ctx, r)
	if err != nil {
		return q, err
	}
	if faults = append(faults, unknown...); len(faults) > 0 {
		return q, &RefusedError{faults}
	}
	check, _ := control.Find(m.Checks, r.Check)
	return control.Question{
		Organization: r.Organization.ID, Check: check.ID, Engine: fleet.Engine(check.Engine), Instances: r.Instances,
		From: instant.Cut(r.From), To: instant.Earlier(instant.Cut(r.To), now), Now: now, FromRecord: true, WithLooks: true,
	}, nil
}
