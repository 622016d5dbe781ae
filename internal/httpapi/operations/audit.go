package operations

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/internal/accounts"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/projections/audit"
)

func (s *OperatorRoutes) ListReportEvents(ctx context.Context, r api.ListReportEventsRequestObject) (api.ListReportEventsResponseObject, error) {
	row, ok, err := s.History.Get(ctx, wire.Caller(ctx).Organization.ID, r.ReportId, s.Now())
	if err := wire.Found(ok && wire.Caller(ctx).World.Holds(row.Scope.InstanceIDs), err, "report"); err != nil {
		return nil, err
	}
	after, err := wire.CursorPosition(r.Params.Cursor, "trail")
	if err != nil {
		return nil, err
	}
	limit := wire.Or(r.Params.Limit, 50)
	entries, err := s.Audit.Trail(ctx, row.OrganizationID, row.ID, after, limit+1)
	if err != nil {
		return nil, err
	}
	answer := api.ListReportEvents200JSONResponse{Items: []api.TrailEntry{}}
	if len(entries) > limit {
		entries = entries[:limit]
		answer.NextCursor = wire.Cursor("trail", strconv.FormatInt(entries[limit-1].Position, 10))
	}
	actors, err := s.actors(ctx, entries)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		answer.Items = append(answer.Items, api.TrailEntry{At: e.At.UTC(), Type: e.Type, Actor: actors[e.ActorID], Data: object(e.Data)})
	}
	return answer, nil
}

// actors finds the people behind the entries; the system is nobody.
func (s *OperatorRoutes) actors(ctx context.Context, entries []audit.Entry) (map[string]*api.Person, error) {
	var ids []uuid.UUID
	for _, e := range entries {
		if id, err := uuid.Parse(e.ActorID); err == nil {
			ids = append(ids, id)
		}
	}
	names, err := wire.MemberNames(ctx, s.Accounts, ids)
	if err != nil {
		return nil, err
	}
	people := map[string]*api.Person{}
	for _, id := range ids {
		people[id.String()] = &api.Person{Id: id, Name: names[id]}
	}
	return people, nil
}

// object is data that is an object on the wire, whatever was recorded.
func object(data json.RawMessage) json.RawMessage {
	if len(data) == 0 || data[0] != '{' {
		return json.RawMessage("{}")
	}
	return data
}

// The two records of the audit list are merged into one order: by time, then log,
// then position. A cursor is a place in it, so that no entry that was there when the
// first page was read is skipped or shown twice.

func (s *OperatorRoutes) ListAuditEvents(ctx context.Context, r api.ListAuditEventsRequestObject) (api.ListAuditEventsResponseObject, error) {
	q, err := auditQuery(ctx, r.Params)
	if err != nil {
		return nil, err
	}
	entries, err := s.audited(ctx, q)
	if err != nil {
		return nil, err
	}
	answer := api.ListAuditEvents200JSONResponse{Items: []api.AuditEntry{}}
	if len(entries) == q.Limit {
		entries = entries[:q.Limit-1]
		answer.NextCursor = auditCursor(entries[len(entries)-1].Cursor())
	}
	actors, err := s.actors(ctx, entries)
	if err != nil {
		return nil, err
	}
	var side wire.Side
	names, err := s.Audit.Names(ctx, q.Organization, entries)
	if !side.Lacks(ctx, err, "names") {
		answer.Names = &names
	}
	answer.Unavailable = side.Unavailable()
	for _, e := range entries {
		item := api.AuditEntry{At: e.At.UTC(), Type: e.Type, Actor: actors[e.ActorID], Data: object(e.Data)}
		if token, err := uuid.Parse(strings.TrimPrefix(e.ActorID, audit.TokenActor)); err == nil && actors[e.ActorID] == nil {
			item.Token = &api.Reference{Id: token, Name: names[token.String()]}
		}
		if e.Subject != uuid.Nil {
			item.SubjectId = &e.Subject
		}
		answer.Items = append(answer.Items, item)
	}
	return answer, nil
}

// SecurityLog is the name under which the security log's entries are merged.
const SecurityLog = "security"

// auditQuery asks for one entry more than the caller does, which says whether
// there is a next page.
func auditQuery(ctx context.Context, p api.ListAuditEventsParams) (audit.Query, error) {
	who := wire.Caller(ctx)
	q := audit.Query{
		Organization: who.Organization.ID, Within: who.World, Member: who.Member.ID, From: wire.Bound(p.From), To: wire.Bound(p.To), Types: wire.Value(p.Type), Limit: wire.Or(p.Limit, 50) + 1,
	}
	if wire.Value(p.BuildSteps) == api.ListAuditEventsParamsBuildStepsExclude {
		q.Without = []string{"buildStarted", "buildResumed", "stepCompleted"}
	}
	for _, id := range wire.Value(p.ActorId) {
		q.Actors = append(q.Actors, id.String(), audit.TokenActor+id.String())
	}
	if p := wire.BrokenRules(wire.EmptyWindow(p.From, p.To)); p != nil {
		return q, p
	}
	place, err := wire.CursorPlace(p.Cursor, "audit")
	if err != nil || place == "" {
		return q, err
	}
	parts := strings.Split(place, "|") // time, log, position
	if len(parts) != 3 {
		return q, wire.BadCursor()
	}
	at, err1 := time.Parse(time.RFC3339Nano, parts[0])
	position, err2 := strconv.ParseInt(parts[2], 10, 64)
	if err1 != nil || err2 != nil {
		return q, wire.BadCursor()
	}
	q.Before = &audit.Cursor{At: at, Log: parts[1], Position: position}
	return q, nil
}

func auditCursor(p audit.Cursor) *string {
	return wire.Cursor("audit", strings.Join([]string{p.At.UTC().Format(time.RFC3339Nano), p.Log, strconv.FormatInt(p.Position, 10)}, "|"))
}

// audited returns the newest entries of both records that the query selects.
func (s *OperatorRoutes) audited(ctx context.Context, q audit.Query) ([]audit.Entry, error) {
	entries, err := s.Audit.List(ctx, q)
	if err != nil {
		return nil, err
	}
	asked := securityQuery(q)
	if q.Within != nil { // of the security log somebody with the role team sees what they did
		if len(q.Actors) > 0 && !slices.Contains(asked.Members, q.Member) {
			return entries, nil
		}
		asked.Members = []uuid.UUID{q.Member}
	}
	rows, err := s.Accounts.SecurityLog(ctx, asked)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		e, err := securityEntry(row)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	slices.SortFunc(entries, func(a, b audit.Entry) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.Log, a.Log), cmp.Compare(b.Position, a.Position))
	})
	return entries[:min(len(entries), q.Limit)], nil
}

// securityQuery asks the security log for the same. Of entries at the place's
// own instant those are left that come after it: all of the security log where
// the place is in a log of a greater name, none where it is in one of a smaller.
func securityQuery(q audit.Query) accounts.SecurityQuery {
	asked := accounts.SecurityQuery{Organization: q.Organization, From: q.From, To: q.To, Types: q.Types, Limit: q.Limit}
	for _, actor := range q.Actors {
		if id, err := uuid.Parse(actor); err == nil {
			asked.Members = append(asked.Members, id)
		}
	}
	if q.Before != nil {
		asked.Before = &accounts.SecurityPlace{At: q.Before.At, ID: q.Before.Position}
		switch order := cmp.Compare(SecurityLog, q.Before.Log); {
		case order < 0:
			asked.Before.ID = math.MaxInt64
		case order > 0:
			asked.Before.ID = 0
		}
	}
	return asked
}

func securityEntry(row accounts.SecurityEntry) (audit.Entry, error) {
	data := map[string]string{}
	for name, value := range map[string]string{"requestId": row.RequestID, "detail": row.Detail, "ip": row.IP, "component": row.Component} {
		if value != "" {
			data[name] = value
		}
	}
	text, err := json.Marshal(data)
	e := audit.Entry{Log: SecurityLog, Position: row.ID, At: row.At, Type: row.Type, Data: text}
	if row.MemberID != uuid.Nil {
		e.ActorID = row.MemberID.String()
	}
	return e, err
}
