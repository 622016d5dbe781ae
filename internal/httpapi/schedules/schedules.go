package schedules

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/commands"
	"muster/commands/usecase"
	"muster/domain/fleet"
	"muster/domain/organization"
	"muster/domain/report"
	"muster/domain/schedule"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/projections/schedules"
)

const schedulesPath = "/api/v1/schedules/"

// nextDues is how many due times are told ahead.
const nextDues = 5

func (s *ScheduleRoutes) ListSchedules(ctx context.Context, r api.ListSchedulesRequestObject) (api.ListSchedulesResponseObject, error) {
	page, size := wire.Or(r.Params.Page, 1), wire.Or(r.Params.PageSize, wire.DefaultPageSize)
	rows, total, err := s.page(ctx, page, size)
	if err != nil {
		return nil, err
	}
	items, err := s.show(ctx, rows)
	return api.ListSchedules200JSONResponse{Items: items, Page: wire.Paged(ctx, page, size, total)}, err
}

// page is a page of the schedules that the caller sees. An organization has few enough to look at
// all of them for somebody who does not see them all.
func (s *ScheduleRoutes) page(ctx context.Context, page, size int) (rows []schedules.Schedule, total int64, err error) {
	who := wire.Caller(ctx)
	if who.World == nil {
		return s.Schedules.Page(ctx, who.Organization.ID, page, size)
	}
	if rows, _, err = s.Schedules.Page(ctx, who.Organization.ID, 1, commands.MaxSchedules); err != nil {
		return nil, 0, err
	}
	rows, err = s.sight(ctx).seen(ctx, rows)
	from := min((page-1)*size, len(rows))
	return rows[from:min(from+size, len(rows))], int64(len(rows)), err
}

func (s *ScheduleRoutes) GetSchedule(ctx context.Context, r api.GetScheduleRequestObject) (api.GetScheduleResponseObject, error) {
	row, err := s.schedule(ctx, r.ScheduleId)
	if err != nil {
		return nil, err
	}
	shown, err := s.showOne(ctx, row)
	return api.GetSchedule200JSONResponse(shown), err
}

// schedule is one that the caller sees.
func (s *ScheduleRoutes) schedule(ctx context.Context, id uuid.UUID) (schedules.Schedule, error) {
	row, ok, err := s.Schedules.Schedule(ctx, wire.Caller(ctx).Organization.ID, id)
	if ok && err == nil {
		ok, err = s.sight(ctx).sees(ctx, row)
	}
	return row, wire.Found(ok, err, "schedule")
}

// hidden refuses a change of a schedule that somebody with the role team does not see.
func (s *ScheduleRoutes) hidden(ctx context.Context, id uuid.UUID) error {
	if wire.Caller(ctx).World == nil { // the command finds out
		return nil
	}
	_, err := s.schedule(ctx, id)
	return err
}

func (s *ScheduleRoutes) CreateSchedule(ctx context.Context, r api.CreateScheduleRequestObject) (api.CreateScheduleResponseObject, error) {
	who, body := wire.Actor(ctx), r.Body
	terms := schedule.Terms{
		Name: body.Name, Kind: report.Kind(body.Kind), RecipientIDs: wire.Value(body.RecipientIds), TeamIDs: wire.Value(body.TeamIds), PerTeam: wire.Value(body.PerTeam),
		Recurrence:    recurrence(body.Every, body.Weekday, body.DayOfMonth, body.At, body.TimeZone),
		OnlyIfChanged: wire.Value(body.OnlyIfChanged), Enabled: body.Enabled == nil || *body.Enabled,
	}
	if body.Scope != nil {
		terms.Scope = scopeOf(*body.Scope)
	}
	id, mark, err := s.Commands.CreateSchedule(ctx, who, terms)
	if err != nil {
		return nil, err
	}
	wire.Settle(ctx, s.Waiter, mark)
	row, ok, err := s.Schedules.Schedule(ctx, who.OrganizationID, id)
	if err != nil {
		return nil, err
	}
	if !ok { // its projection lags: what was asked is all that is known
		now := s.Now()
		row = schedules.Schedule{ID: id, OrganizationID: who.OrganizationID, CreatedAt: now, State: schedule.State{OwnerID: who.MemberID, Terms: terms.Normal(), From: now}}
	}
	shown, err := s.showOne(ctx, row)
	return api.CreateSchedule201JSONResponse{Body: shown, Headers: api.CreateSchedule201ResponseHeaders{Location: schedulesPath + id.String()}}, err
}

func recurrence(every api.Every, weekday *api.Weekday, dayOfMonth *int32, at, timeZone string) schedule.Recurrence {
	return schedule.Recurrence{
		Every: schedule.Every(every), Weekday: string(wire.Value(weekday)), DayOfMonth: int(wire.Value(dayOfMonth)), At: at, TimeZone: timeZone,
	}
}

func scopeOf(in api.ScheduleScope) schedule.Scope {
	return schedule.Scope{InstanceIDs: wire.Value(in.InstanceIds), Tags: fleet.TagFilter(wire.Value(in.Tags)), DatabaseID: in.DatabaseId, Window: string(wire.Value(in.Window))}
}

func (s *ScheduleRoutes) ChangeSchedule(ctx context.Context, r api.ChangeScheduleRequestObject) (api.ChangeScheduleResponseObject, error) {
	if err := s.hidden(ctx, r.ScheduleId); err != nil {
		return nil, err
	}
	mark, err := s.Commands.ChangeSchedule(ctx, wire.Actor(ctx), r.ScheduleId, commands.EditSchedule{
		Change: func(terms *schedule.Terms) { change(terms, *r.Body) }, TakeOver: wire.Value(r.Body.TakeOver), Admin: administers(ctx),
	})
	if err != nil {
		return nil, err
	}
	wire.Settle(ctx, s.Waiter, mark)
	row, err := s.schedule(ctx, r.ScheduleId)
	if err != nil {
		return nil, err
	}
	shown, err := s.showOne(ctx, row)
	return api.ChangeSchedule200JSONResponse(shown), err
}

// change is what the body says; what is left out stays.
func change(terms *schedule.Terms, body api.ChangeSchedule) {
	set(&terms.Name, body.Name)
	if body.Scope != nil {
		terms.Scope = scopeOf(*body.Scope)
	}
	set(&terms.RecipientIDs, body.RecipientIds)
	set(&terms.TeamIDs, body.TeamIds)
	set(&terms.PerTeam, body.PerTeam)
	set((*api.Every)(&terms.Every), body.Every)
	set((*api.Weekday)(&terms.Weekday), body.Weekday)
	if body.DayOfMonth != nil {
		terms.DayOfMonth = int(*body.DayOfMonth)
	}
	set(&terms.At, body.At)
	set(&terms.TimeZone, body.TimeZone)
	set(&terms.OnlyIfChanged, body.OnlyIfChanged)
	set(&terms.Enabled, body.Enabled)
}

func set[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}

func administers(ctx context.Context) bool { return wire.Caller(ctx).Member.Role == organization.Admin }

func (s *ScheduleRoutes) RemoveSchedule(ctx context.Context, r api.RemoveScheduleRequestObject) (api.RemoveScheduleResponseObject, error) {
	if err := s.hidden(ctx, r.ScheduleId); err != nil {
		return nil, err
	}
	mark, err := s.Commands.RemoveSchedule(ctx, wire.Actor(ctx), r.ScheduleId, administers(ctx))
	if err != nil {
		return nil, err
	}
	wire.Settle(ctx, s.Waiter, mark)
	return api.RemoveSchedule204Response{}, nil
}

func (s *ScheduleRoutes) PreviewSchedule(_ context.Context, r api.PreviewScheduleRequestObject) (api.PreviewScheduleResponseObject, error) {
	when := recurrence(r.Body.Every, r.Body.Weekday, r.Body.DayOfMonth, r.Body.At, r.Body.TimeZone)
	dues, err := s.Commands.DueTimes(when, nextDues)
	if err != nil {
		return nil, err
	}
	return api.PreviewSchedule200JSONResponse{NextDueAts: dues, NextDueLocal: localTimes(dues, zoneOf(when.TimeZone))}, nil
}

func (s *ScheduleRoutes) ListScheduleRuns(ctx context.Context, r api.ListScheduleRunsRequestObject) (api.ListScheduleRunsResponseObject, error) {
	row, err := s.schedule(ctx, r.ScheduleId)
	if err != nil {
		return nil, err
	}
	page, size := wire.Or(r.Params.Page, 1), wire.Or(r.Params.PageSize, wire.DefaultPageSize)
	waiting := s.waiting(row)
	offset := int64(page-1) * int64(size)
	before := min(offset, int64(len(waiting)))
	items := waiting[before:min(before+int64(size), int64(len(waiting)))]
	runs, total, err := s.Schedules.Runs(ctx, row.OrganizationID, row.ID, offset-before, size-len(items))
	if err != nil {
		return nil, err
	}
	zone := zoneOf(row.Terms.TimeZone)
	items = append(slices.Clone(items), wire.List(runs, func(run schedules.Run) api.ScheduleRun { return showRun(run, zone) })...)
	return api.ListScheduleRuns200JSONResponse{Items: wire.NeverNull(items), Page: wire.Paged(ctx, page, size, total+int64(len(waiting)))}, nil
}

// waiting are the due times that have come and have no fact yet, the newest first.
func (s *ScheduleRoutes) waiting(row schedules.Schedule) []api.ScheduleRun {
	zone, err := usecase.Zone(row.Terms.TimeZone)
	if err != nil {
		return nil
	}
	dues := row.Due(zone, s.Now())
	slices.Reverse(dues)
	return wire.List(dues, func(due time.Time) api.ScheduleRun {
		return api.ScheduleRun{DueAt: due.UTC(), DueLocal: localTime(due, zone), Status: string(schedule.StatusWaiting)}
	})
}

// zoneOf is a time zone by its name, UTC where it is not known any more.
func zoneOf(name string) *time.Location {
	zone, err := usecase.Zone(name)
	if err != nil {
		return time.UTC
	}
	return zone
}

// localTime is what the clocks of a zone show at an instant.
func localTime(at time.Time, zone *time.Location) string { return at.In(zone).Format(time.RFC3339) }

func localTimes(dues []time.Time, zone *time.Location) []string {
	return wire.List(dues, func(due time.Time) string { return localTime(due, zone) })
}

func showRun(run schedules.Run, zone *time.Location) api.ScheduleRun {
	shown := api.ScheduleRun{DueAt: run.DueAt.UTC(), DueLocal: localTime(run.DueAt, zone), Status: string(run.Status), Reason: wire.Optional(run.Reason)}
	if run.ReportID != uuid.Nil {
		shown.ReportId = &run.ReportID
	}
	if run.Status == schedule.StatusRequested {
		at := run.At.UTC()
		shown.StartedAt = &at
	}
	return shown
}

func (s *ScheduleRoutes) showOne(ctx context.Context, row schedules.Schedule) (api.Schedule, error) {
	shown, err := s.show(ctx, []schedules.Schedule{row})
	if err != nil {
		return api.Schedule{}, err
	}
	return shown[0], nil
}

// show names owners and servers as they are called today, and says what the clock does.
func (s *ScheduleRoutes) show(ctx context.Context, rows []schedules.Schedule) ([]api.Schedule, error) {
	org := wire.Caller(ctx).Organization.ID
	var owners, places []uuid.UUID
	for _, row := range rows {
		owners, places = append(owners, row.OwnerID), append(places, row.Terms.Scope.InstanceIDs...)
		if id := row.Terms.Scope.DatabaseID; id != nil {
			places = append(places, *id)
		}
	}
	names, err := wire.MemberNames(ctx, s.Accounts, owners)
	if err != nil {
		return nil, err
	}
	var side wire.Side
	called, err := s.Fleet.Names(ctx, org, places)
	named := !side.Lacks(ctx, err, "scopeLabel")
	paused := map[uuid.UUID]string{}
	for _, id := range owners {
		if _, known := paused[id]; known {
			continue
		}
		owner, ok, err := s.Accounts.Member(ctx, org, id)
		if err != nil {
			return nil, err
		}
		paused[id] = commands.PausedBy(owner, ok)
	}
	return wire.List(rows, func(row schedules.Schedule) api.Schedule {
		shown := s.showSchedule(row)
		shown.Owner = api.Person{Id: row.OwnerID, Name: names[row.OwnerID]}
		shown.Paused, shown.Unavailable = wire.Optional(paused[row.OwnerID]), side.Unavailable()
		scope := row.Terms.Scope
		instances := wire.List(scope.InstanceIDs, func(id uuid.UUID) string { return called[id].Name })
		database := ""
		if scope.DatabaseID != nil {
			database = called[*scope.DatabaseID].Name
		}
		if label := report.Label(row.Terms.Kind, report.Scope{Tags: scope.Tags}, instances, database); named {
			shown.ScopeLabel = &label
		}
		return shown
	}), nil
}

// showSchedule is a schedule without what has to be looked up.
func (s *ScheduleRoutes) showSchedule(row schedules.Schedule) api.Schedule {
	t := row.Terms
	shown := api.Schedule{
		Id: row.ID, Name: t.Name, Kind: string(t.Kind), RecipientIds: wire.NeverNull(t.RecipientIDs),
		Every: api.Every(t.Every), At: t.At, TimeZone: t.TimeZone, OnlyIfChanged: t.OnlyIfChanged, Enabled: t.Enabled,
		CreatedAt: row.CreatedAt.UTC(), NextDueAts: []time.Time{},
	}
	shown.TeamIds, shown.PerTeam = wire.NeverNull(t.TeamIDs), t.PerTeam
	shown.Scope.Tags = wire.Tags(t.Scope.Tags)
	shown.Scope.InstanceIds, shown.Scope.DatabaseId, shown.Scope.Window = wire.NeverNull(t.Scope.InstanceIDs), t.Scope.DatabaseID, wire.Optional(t.Scope.Window)
	if t.Weekday != "" {
		day := api.Weekday(t.Weekday)
		shown.Weekday = &day
	}
	if t.DayOfMonth != 0 {
		shown.DayOfMonth = &t.DayOfMonth
	}
	if zone, err := usecase.Zone(t.TimeZone); err == nil {
		shown.NextDueAts = row.Coming(zone, s.Now(), nextDues)
	}
	zone := zoneOf(t.TimeZone)
	shown.NextDueLocal = localTimes(shown.NextDueAts, zone)
	if row.LastRun != nil {
		run := showRun(*row.LastRun, zone)
		shown.LastRun = &run
	}
	if waiting := s.waiting(row); len(waiting) > 0 {
		shown.LastRun = &waiting[0]
	}
	return shown
}
