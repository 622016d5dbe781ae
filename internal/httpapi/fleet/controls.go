package fleet

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/internal/report/control"
)

func (s *ServerRoutes) GetControl(ctx context.Context, r api.GetControlRequestObject) (api.GetControlResponseObject, error) {
	check, ok := control.Find(s.Checks, r.CheckId)
	if err := wire.Found(ok, nil, "check"); err != nil {
		return nil, err
	}
	p := r.Params
	window, broken := wire.SpanAt(s.Now(), p.From, p.To)
	instances, err := wire.FilteredIDs(ctx, s.Fleet, wire.Filter{IDs: p.InstanceId, Tags: p.Tag}, broken, overlongWindow(p.From, p.To))
	if err != nil {
		return nil, err
	}
	answer, err := s.Controls.Read(ctx, control.Question{
		Organization: wire.Caller(ctx).Organization.ID, Check: check.ID, Engine: fleet.Engine(check.Engine),
		Instances: instances, From: window.From, To: window.To, Now: window.Now,
	})
	if err != nil {
		return nil, err
	}
	exceptions, err := s.showGranted(ctx, answer.Exceptions)
	if err != nil {
		return nil, err
	}
	names, err := s.namesInLives(ctx, answer.Items)
	if err != nil {
		return nil, err
	}
	return api.GetControl200JSONResponse{
		Check: api.FindingCheck{
			Id: check.ID, Title: check.Title, Domain: check.Domain, Severity: api.FindingCheckSeverity(check.Severity), References: showReferences(check),
		},
		From: answer.From, To: answer.To, AsOf: answer.AsOf, Items: wire.List(answer.Items, func(item control.Item) api.ControlledInstance { return showControlled(item, names) }), Exceptions: exceptions,
	}, nil
}

// overlongWindow is the rule that a window breaks which reaches further than assessments
// are kept.
func overlongWindow(from, to time.Time) []api.FieldError {
	if to.Sub(from) <= control.MaxWindow {
		return nil
	}
	days := int(control.MaxWindow / (24 * time.Hour))
	return wire.BrokenParameter("to", "out_of_range", fmt.Sprintf("must lie at most %d days behind from", days), map[string]any{"maxDays": days})
}

// mostShown bounds the assessments of a server that an answer lists.
const mostShown = 1000

// namesInLives are the people who registered, removed or switched servers.
func (s *ServerRoutes) namesInLives(ctx context.Context, items []control.Item) (map[uuid.UUID]string, error) {
	var people []uuid.UUID
	for _, item := range items {
		for _, e := range item.Events {
			if e.ByKind == control.ByMember {
				people = append(people, e.ByID)
			}
		}
	}
	return wire.MemberNames(ctx, s.Accounts, people)
}

func showLifeEvent(e control.LifeEvent, names map[uuid.UUID]string) api.ControlLifeEvent {
	shown := api.ControlLifeEvent{Event: e.What, At: e.At, Engine: api.Engine(e.Engine), By: e.ByKind, Position: e.Position}
	if e.What == control.Joined {
		shown.Since = &e.Since
	}
	if e.ByKind == control.ByMember {
		shown.Member = &api.Person{Id: e.ByID, Name: names[e.ByID]}
	}
	return shown
}

func showAltered(l control.Look) api.ControlAlteredAssessment {
	shown := api.ControlAlteredAssessment{Id: l.ID, At: l.At, Reason: l.Altered}
	if l.Event > 0 {
		shown.RecordedAt, shown.Position = &l.RecordedAt, &l.Event
	}
	return shown
}

func showControlled(item control.Item, names map[uuid.UUID]string) api.ControlledInstance {
	return api.ControlledInstance{
		Instance: api.Reference{Id: item.Instance, Name: item.Name}, Removed: item.Removed,
		PassedShare: item.Course.PassedShare(), LongestGapSeconds: item.Course.LongestGap.Seconds(),
		Periods: wire.List(item.Course.Periods, func(p control.Period) api.ControlPeriod {
			return api.ControlPeriod{
				From: p.From, To: p.To, State: api.ControlPeriodState(p.State), ExceptionId: p.Exception,
				Assessments: int32(min(p.Looks, 1<<31-1)), Reasons: append([]string{}, p.Reasons...),
				CatalogueVersion: wire.Optional(p.Catalogue),
			}
		}),
		Population: wire.List(item.Events, func(e control.LifeEvent) api.ControlLifeEvent { return showLifeEvent(e, names) }),
		Late: wire.List(item.Late[:min(len(item.Late), mostShown)], func(l control.Look) api.ControlLateAssessment {
			return api.ControlLateAssessment{Id: l.ID, At: l.At, RecordedAt: l.RecordedAt}
		}),
		Altered:    wire.List(item.Altered[:min(len(item.Altered), mostShown)], showAltered),
		BackupDays: showBackupCounts(item.Backups),
	}
}

func showBackupCounts(c *control.BackupCounts) *api.BackupCounts {
	if c == nil {
		return nil
	}
	return &api.BackupCounts{Kept: c.Kept, Late: c.Late, Unknown: c.Unknown}
}

// showGranted names the people as they are called today.
func (s *ServerRoutes) showGranted(ctx context.Context, granted []control.Granted) ([]api.ControlException, error) {
	var people []uuid.UUID
	for _, g := range granted {
		people = append(people, g.RequestedBy, g.GrantedBy)
		if g.RevokedBy != nil {
			people = append(people, *g.RevokedBy)
		}
	}
	names, err := wire.MemberNames(ctx, s.Accounts, people)
	if err != nil {
		return nil, err
	}
	return wire.List(granted, func(g control.Granted) api.ControlException {
		x := api.ControlException{
			Id: g.ID, InstanceId: g.Instance, DatabaseId: g.DatabaseID, ObjectRef: wire.Optional(g.Object), Reason: g.Reason, Until: g.Until,
			RequestedBy: api.Person{Id: g.RequestedBy, Name: names[g.RequestedBy]}, GrantedBy: api.Person{Id: g.GrantedBy, Name: names[g.GrantedBy]},
			GrantedAt: g.From, RevokedAt: wire.UTC(g.RevokedAt),
		}
		if g.RevokedBy != nil {
			x.RevokedBy = &api.Person{Id: *g.RevokedBy, Name: names[*g.RevokedBy]}
		}
		return x
	}), nil
}
