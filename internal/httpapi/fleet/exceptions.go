package fleet

import (
	"context"

	"github.com/google/uuid"

	"muster/commands"
	"muster/commands/usecase"
	"muster/domain/exception"
	"muster/domain/organization"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/projections/exceptions"
)

const exceptionsPath = "/api/v1/exceptions/"

func (s *ServerRoutes) ListExceptions(ctx context.Context, r api.ListExceptionsRequestObject) (api.ListExceptionsResponseObject, error) {
	p := r.Params
	who := wire.Caller(ctx)
	q := exceptions.Query{
		Organization: who.Organization.ID, Within: who.World, Checks: wire.Value(p.CheckId),
		Statuses: wire.Words[exception.Status](wire.Value(p.Status)),
		Page:     wire.Or(p.Page, 1), Size: wire.Or(p.PageSize, wire.DefaultPageSize),
	}
	if len(wire.Value(p.InstanceId))+len(wire.Value(p.Tag)) > 0 { // else those for all servers, too
		var err error
		if q.Instances, err = wire.FilteredIDs(ctx, s.Fleet, wire.Filter{IDs: p.InstanceId, Tags: p.Tag}); err != nil {
			return nil, err
		}
	}
	rows, total, err := s.Exceptions.Page(ctx, q, s.Now())
	if err != nil {
		return nil, err
	}
	items, err := s.showExceptions(ctx, rows)
	if err != nil {
		return nil, err
	}
	return api.ListExceptions200JSONResponse{Items: items, Page: wire.Paged(ctx, q.Page, q.Size, total)}, nil
}

func (s *ServerRoutes) GetException(ctx context.Context, r api.GetExceptionRequestObject) (api.GetExceptionResponseObject, error) {
	row, err := s.exception(ctx, r.ExceptionId)
	if err != nil {
		return nil, err
	}
	shown, err := s.showException(ctx, row)
	return api.GetException200JSONResponse(shown), err
}

// exception is one that the caller sees.
func (s *ServerRoutes) exception(ctx context.Context, id uuid.UUID) (exceptions.Exception, error) {
	who := wire.Caller(ctx)
	row, ok, err := s.Exceptions.Exception(ctx, who.Organization.ID, who.World, id, s.Now())
	return row, wire.Found(ok, err, "exception")
}

func (s *ServerRoutes) RequestException(ctx context.Context, r api.RequestExceptionRequestObject) (api.RequestExceptionResponseObject, error) {
	who := wire.Actor(ctx)
	in := commands.RequestException{
		Subject: exception.Subject{
			CheckID: r.Body.CheckId, InstanceID: r.Body.InstanceId, DatabaseID: r.Body.DatabaseId, ObjectRef: wire.Value(r.Body.ObjectRef),
		},
		Reason: r.Body.Reason, Until: r.Body.Until,
	}
	id, mark, err := s.Commands.RequestException(ctx, who, in)
	if err != nil {
		return nil, err
	}
	wire.Settle(ctx, s.Waiter, mark)
	row, ok, err := s.Exceptions.Exception(ctx, who.OrganizationID, who.World, id, s.Now())
	if err != nil {
		return nil, err
	}
	if !ok { // its projection lags: what was asked is all that is known
		row = exceptions.Exception{
			ID: id, Status: exception.StatusRequested, CheckID: in.CheckID, InstanceID: in.InstanceID, DatabaseID: in.DatabaseID,
			ObjectRef: in.ObjectRef, Reason: in.Reason, Until: in.Until, RequestedBy: who.MemberID, RequestedAt: s.Now(),
		}
	}
	shown, err := s.showException(ctx, row)
	return api.RequestException201JSONResponse{Body: shown, Headers: api.RequestException201ResponseHeaders{Location: exceptionsPath + id.String()}}, err
}

func (s *ServerRoutes) GrantException(ctx context.Context, r api.GrantExceptionRequestObject) (api.GrantExceptionResponseObject, error) {
	shown, err := s.decided(ctx, r.ExceptionId, exception.StatusGranted, s.Commands.GrantException)
	return api.GrantException200JSONResponse(shown), err
}

func (s *ServerRoutes) RevokeException(ctx context.Context, r api.RevokeExceptionRequestObject) (api.RevokeExceptionResponseObject, error) {
	// An administrator's token needs the scope admin. That of somebody with the role team cannot have it.
	if who := wire.Caller(ctx); who.World == nil && !who.Can(organization.ScopeAdmin) {
		if _, err := s.exception(ctx, r.ExceptionId); err != nil {
			return nil, err
		}
		return nil, &wire.Problem{Code: "forbidden", Detail: "The token needs the scope admin."}
	}
	shown, err := s.decided(ctx, r.ExceptionId, exception.StatusRevoked, s.Commands.RevokeException)
	return api.RevokeException200JSONResponse(shown), err
}

// decided is an exception as the caller's decision leaves it.
func (s *ServerRoutes) decided(
	ctx context.Context, id uuid.UUID, status exception.Status, decide func(context.Context, usecase.Actor, uuid.UUID) (usecase.Mark, error),
) (api.Exception, error) {
	who := wire.Actor(ctx)
	mark, err := decide(ctx, who, id)
	if err != nil {
		return api.Exception{}, err
	}
	wire.Settle(ctx, s.Waiter, mark)
	row, ok, err := s.Exceptions.Exception(ctx, who.OrganizationID, who.World, id, s.Now())
	if err != nil {
		return api.Exception{}, err
	}
	if !ok {
		return api.Exception{}, &wire.Problem{Code: "unavailable", Detail: "The decision was saved but cannot be shown yet. Load it again in a moment."}
	}
	if row.Status != status { // its projection lags, or somebody else decided right behind
		at := s.Now()
		row.Status, row.DecidedBy, row.DecidedAt = status, &who.MemberID, &at
	}
	return s.showException(ctx, row)
}

func (s *ServerRoutes) showException(ctx context.Context, row exceptions.Exception) (api.Exception, error) {
	shown, err := s.showExceptions(ctx, []exceptions.Exception{row})
	if err != nil {
		return api.Exception{}, err
	}
	return shown[0], nil
}

// mayRevoke reports whether the caller may end an exception for a server, or for all: as an administrator, or
// with the role team where they act.
func mayRevoke(ctx context.Context, instance *uuid.UUID) bool {
	who := wire.Caller(ctx)
	if who.World == nil {
		return who.Can(organization.ScopeAdmin)
	}
	return who.Can(organization.ScopeReportsCreate) && instance != nil && wire.Acts(ctx, *instance)
}

// showExceptions names the people and the checks, as they are called today.
func (s *ServerRoutes) showExceptions(ctx context.Context, rows []exceptions.Exception) ([]api.Exception, error) {
	var people []uuid.UUID
	for _, row := range rows {
		people = append(people, row.RequestedBy)
		if row.DecidedBy != nil {
			people = append(people, *row.DecidedBy)
		}
	}
	names, err := wire.MemberNames(ctx, s.Accounts, people)
	if err != nil {
		return nil, err
	}
	tables := map[string]string{}
	for _, row := range rows {
		if !exception.IsRisk(row.CheckID) {
			continue
		}
		if _, tables[row.CheckID], _, err = s.Servers.RiskOn(ctx, wire.Caller(ctx).Organization.ID, row.CheckID); err != nil {
			return nil, err
		}
	}
	return wire.List(rows, func(row exceptions.Exception) api.Exception {
		x := api.Exception{
			Id: row.ID, Status: api.ExceptionStatus(row.Status), CheckId: row.CheckID, InstanceId: row.InstanceID, DatabaseId: row.DatabaseID,
			ObjectRef: wire.Optional(row.ObjectRef), Reason: row.Reason, Until: row.Until.UTC(),
			RequestedBy: api.Person{Id: row.RequestedBy, Name: names[row.RequestedBy]}, RequestedAt: row.RequestedAt.UTC(), DecidedAt: wire.UTC(row.DecidedAt),
			MayRevoke: mayRevoke(ctx, row.InstanceID),
		}
		if check, ok := s.Checks.Check(row.CheckID); ok {
			x.CheckTitle = &check.Title
		}
		if table := tables[row.CheckID]; table != "" {
			title := "Risk of the table " + table
			x.CheckTitle = &title
		}
		if row.DecidedBy != nil {
			x.DecidedBy = &api.Person{Id: *row.DecidedBy, Name: names[*row.DecidedBy]}
		}
		return x
	}), nil
}
