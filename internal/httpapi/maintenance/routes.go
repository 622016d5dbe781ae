package maintenance

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands"
	windows "muster/commands/maintenance"
	"muster/domain/fleet"
	domain "muster/domain/maintenance"
	"muster/domain/schedule"
	"muster/domain/team"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/projections"
	projected "muster/projections/fleet"
)

const windowsPath = "/api/v1/maintenance-windows/"

// WindowRoutes are the operations on maintenance windows.
type WindowRoutes struct {
	DB       *sqlx.DB
	Commands *commands.Service
	Fleet    *projected.Reader
	Waiter   projections.Waiter
	Now      func() time.Time
}

func (s *WindowRoutes) ListMaintenanceWindows(ctx context.Context, r api.ListMaintenanceWindowsRequestObject) (api.ListMaintenanceWindowsResponseObject, error) {
	rows, err := windows.List(ctx, s.DB, wire.Caller(ctx).Organization.ID, s.Now())
	if err != nil {
		return nil, err
	}
	items, err := s.show(ctx, rows, r.Params.InstanceId)
	return api.ListMaintenanceWindows200JSONResponse{Items: items}, err
}

func (s *WindowRoutes) GetMaintenanceWindow(ctx context.Context, r api.GetMaintenanceWindowRequestObject) (api.GetMaintenanceWindowResponseObject, error) {
	shown, tag, err := s.window(ctx, r.WindowId)
	return api.GetMaintenanceWindow200JSONResponse{Body: shown, Headers: api.GetMaintenanceWindow200ResponseHeaders{ETag: tag}}, err
}

// window is one that the caller sees, and its ETag.
func (s *WindowRoutes) window(ctx context.Context, id uuid.UUID) (shown api.MaintenanceWindow, tag string, err error) {
	row, ok, err := windows.Find(ctx, s.DB, wire.Caller(ctx).Organization.ID, id)
	if err := wire.Found(ok, err, "maintenance window"); err != nil {
		return shown, "", err
	}
	items, err := s.show(ctx, []windows.Row{row}, nil)
	if err := wire.Found(len(items) == 1, err, "maintenance window"); err != nil {
		return shown, "", err
	}
	return items[0], wire.StateTag(row), nil
}

func (s *WindowRoutes) CreateMaintenanceWindow(ctx context.Context, r api.CreateMaintenanceWindowRequestObject) (api.CreateMaintenanceWindowResponseObject, error) {
	body := r.Body
	id, mark, err := s.Commands.CreateWindow(ctx, wire.Actor(ctx), windows.Window{
		Name: body.Name, Terms: termsOf(domain.Terms{Selector: selectorOf(body.Selector)}, body.From, body.To, body.Recurrence, &body.TimeZone),
	})
	if err != nil {
		return nil, err
	}
	wire.Settle(ctx, s.Waiter, mark)
	shown, tag, err := s.window(ctx, id)
	return api.CreateMaintenanceWindow201JSONResponse{Body: shown, Headers: api.CreateMaintenanceWindow201ResponseHeaders{Location: windowsPath + id.String(), ETag: tag}}, err
}

func (s *WindowRoutes) ChangeMaintenanceWindow(ctx context.Context, r api.ChangeMaintenanceWindowRequestObject) (api.ChangeMaintenanceWindowResponseObject, error) {
	if err := s.hidden(ctx, r.WindowId); err != nil {
		return nil, err
	}
	body := r.Body
	c := windows.ChangeWindow{Name: body.Name, Terms: func(t domain.Terms) domain.Terms {
		if body.Selector != nil {
			t.Selector = selectorOf(*body.Selector)
		}
		return termsOf(t, body.From, body.To, body.Recurrence, body.TimeZone)
	}}
	if r.Params.IfMatch != nil {
		c.Seen = wire.StatesSeen(*r.Params.IfMatch)
	}
	mark, err := s.Commands.ChangeWindow(ctx, wire.Actor(ctx), r.WindowId, c)
	if err != nil {
		return nil, err
	}
	wire.Settle(ctx, s.Waiter, mark)
	shown, tag, err := s.window(ctx, r.WindowId)
	return api.ChangeMaintenanceWindow200JSONResponse{Body: shown, Headers: api.ChangeMaintenanceWindow200ResponseHeaders{ETag: tag}}, err
}

func (s *WindowRoutes) EndMaintenanceWindow(ctx context.Context, r api.EndMaintenanceWindowRequestObject) (api.EndMaintenanceWindowResponseObject, error) {
	if err := s.hidden(ctx, r.WindowId); err != nil {
		return nil, err
	}
	mark, err := s.Commands.EndWindow(ctx, wire.Actor(ctx), r.WindowId)
	if err != nil {
		return nil, err
	}
	wire.Settle(ctx, s.Waiter, mark)
	shown, tag, err := s.window(ctx, r.WindowId)
	return api.EndMaintenanceWindow200JSONResponse{Body: shown, Headers: api.EndMaintenanceWindow200ResponseHeaders{ETag: tag}}, err
}

func (s *WindowRoutes) RemoveMaintenanceWindow(ctx context.Context, r api.RemoveMaintenanceWindowRequestObject) (api.RemoveMaintenanceWindowResponseObject, error) {
	if err := s.hidden(ctx, r.WindowId); err != nil {
		return nil, err
	}
	mark, err := s.Commands.RemoveWindow(ctx, wire.Actor(ctx), r.WindowId)
	if err != nil {
		return nil, err
	}
	wire.Settle(ctx, s.Waiter, mark)
	return api.RemoveMaintenanceWindow204Response{}, nil
}

// hidden refuses a change of a window that somebody with the role team does not see.
func (s *WindowRoutes) hidden(ctx context.Context, id uuid.UUID) error {
	if wire.Caller(ctx).World == nil { // the command finds out
		return nil
	}
	_, _, err := s.window(ctx, id)
	return err
}

func selectorOf(in api.MaintenanceSelector) team.Selector {
	return team.Selector{Tags: fleet.TagFilter(wire.Value(in.Tags)), InstanceIDs: wire.Value(in.InstanceIds)}
}

// termsOf are terms after a change. One time and a recurrence replace each other, unless both are asked for, which the
// domain refuses.
func termsOf(t domain.Terms, from, to *time.Time, recurrence *api.MaintenanceRecurrence, zone *string) domain.Terms {
	if from != nil || to != nil {
		if t.Recurrence != nil {
			t.TimeZone, t.Recurrence, t.Minutes = t.Recurrence.TimeZone, nil, 0
		}
		if from != nil {
			t.From = from
		}
		if to != nil {
			t.To = to
		}
	}
	if recurrence != nil {
		was := t.TimeZone
		if t.Recurrence != nil {
			was = t.Recurrence.TimeZone
		}
		t.Recurrence = &schedule.Recurrence{
			Every: schedule.Every(recurrence.Every), Weekday: string(wire.Value(recurrence.Weekday)), DayOfMonth: int(wire.Value(recurrence.DayOfMonth)),
			At: recurrence.At, TimeZone: was,
		}
		t.Minutes, t.TimeZone = recurrence.Minutes, ""
		if from == nil && to == nil {
			t.From, t.To = nil, nil
		}
	}
	switch {
	case zone != nil && t.Recurrence != nil:
		again := *t.Recurrence
		again.TimeZone = *zone
		t.Recurrence = &again
	case zone != nil:
		t.TimeZone = *zone
	}
	return t
}
