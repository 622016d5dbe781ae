package maintenance

import (
	"context"
	"time"

	"github.com/google/uuid"

	windows "muster/commands/maintenance"
	domain "muster/domain/maintenance"
	"muster/domain/organization"
	"muster/domain/team"
	"muster/internal/accounts"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
)

// show shows the windows that the caller sees; with a server, only those that select it and that it is the caller's to see.
func (s *WindowRoutes) show(ctx context.Context, rows []windows.Row, server *uuid.UUID) ([]api.MaintenanceWindow, error) {
	caller := wire.Caller(ctx)
	selectors := make([]team.Selector, len(rows))
	for i, r := range rows {
		selectors[i] = r.Terms.Selector
	}
	var side wire.Side
	selected, err := s.Fleet.Matching(ctx, caller.Organization.ID, selectors...)
	if err != nil && (caller.World != nil || server != nil) {
		return nil, err
	}
	unknown := side.Lacks(ctx, err, "items.instanceCount")
	may, err := mayChange(ctx)
	if err != nil {
		return nil, err
	}
	shown := []api.MaintenanceWindow{}
	for i, r := range rows {
		var n int64
		about := server == nil
		for id, tags := range selected {
			if wire.Sees(ctx, id) && selectors[i].Matches(id, tags) {
				n++
				about = about || id == *server
			}
		}
		change := may(selectors[i])
		if !about || caller.World != nil && n == 0 && !change {
			continue
		}
		one := s.showOne(ctx, r)
		one.MayChange, one.Unavailable = change, side.Unavailable()
		if !unknown {
			one.InstanceCount = &n
		}
		shown = append(shown, one)
	}
	return shown, nil
}

func (s *WindowRoutes) showOne(ctx context.Context, r windows.Row) api.MaintenanceWindow {
	now, v, t := s.Now(), r.Version(), r.Terms
	tags := map[string][]string{}
	for key, values := range t.Selector.Tags {
		tags[key] = values
	}
	ids := []uuid.UUID{}
	for _, id := range t.Selector.InstanceIDs {
		if wire.Sees(ctx, id) {
			ids = append(ids, id)
		}
	}
	one := api.MaintenanceWindow{
		Id: r.ID, Name: r.Name, Selector: api.MaintenanceSelector{Tags: &tags, InstanceIds: &ids}, From: wire.UTC(t.From), To: wire.UTC(t.To),
		TimeZone: t.TimeZone, CreatedAt: r.CreatedAt.UTC(), State: "over",
	}
	if re := t.Recurrence; re != nil {
		one.TimeZone = re.TimeZone
		one.Recurrence = &api.MaintenanceRecurrence{Every: api.Every(re.Every), At: re.At, Minutes: t.Minutes}
		if re.Weekday != "" {
			weekday := api.Weekday(re.Weekday)
			one.Recurrence.Weekday = &weekday
		}
		if re.DayOfMonth != 0 {
			day := int32(re.DayOfMonth)
			one.Recurrence.DayOfMonth = &day
		}
	}
	if next := next(v, now); next != nil {
		one.State, one.Next = "coming", next
	}
	if running, ok := v.Running(now); ok {
		one.State, one.Running = "running", showTime(running)
	}
	return one
}

// next is the next time of a window that begins; nil: there is none.
func next(v domain.Version, now time.Time) *api.MaintenanceTime {
	after := now
	if v.Holds.After(after) {
		after = v.Holds
	}
	for _, s := range v.Terms.Times(v.Zone, domain.Span{From: after, To: after.AddDate(1, 0, 2)}) {
		if !s.From.Before(after) {
			return showTime(s)
		}
	}
	return nil
}

func showTime(s domain.Span) *api.MaintenanceTime {
	return &api.MaintenanceTime{From: s.From.UTC(), To: s.To.UTC()}
}

// mayChange says of a selector whether the caller may change windows with it.
func mayChange(ctx context.Context) (func(team.Selector) bool, error) {
	caller := wire.Caller(ctx)
	if !caller.Can(organization.ScopeAlertsWrite) || caller.World == nil {
		may := caller.Can(organization.ScopeAlertsWrite)
		return func(team.Selector) bool { return may }, nil
	}
	teams, err := wire.Teams(ctx)
	if err != nil {
		return nil, err
	}
	_, acting := accounts.Belongs(teams, caller.Member.ID)
	selectors := accounts.Selectors(acting)
	return func(s team.Selector) bool { return domain.Within(s, selectors, caller.World.Acts) }, nil
}
