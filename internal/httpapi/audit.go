package httpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/internal/accounts"
	"muster/internal/httpapi/api"
	"muster/projections/audit"
)

func (s *server) ListReportEvents(ctx context.Context, r api.ListReportEventsRequestObject) (api.ListReportEventsResponseObject, error) {
	row, err := s.report(ctx, r.ReportId)
	if err != nil {
		return nil, err
	}
	after, err := positionOf(r.Params.Cursor, "trail")
	if err != nil {
		return nil, err
	}
	limit := or(r.Params.Limit, 50)
	entries, err := s.Audit.Trail(ctx, row.OrganizationID, row.ID, after, limit+1)
	if err != nil {
		return nil, err
	}
	answer := api.ListReportEvents200JSONResponse{Items: []api.TrailEntry{}}
	if len(entries) > limit {
		entries = entries[:limit]
		answer.NextCursor = cursor("trail", strconv.FormatInt(entries[limit-1].Position, 10))
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
func (s *server) actors(ctx context.Context, entries []audit.Entry) (map[string]*api.Person, error) {
	var ids []uuid.UUID
	for _, e := range entries {
		if id, err := uuid.Parse(e.ActorID); err == nil {
			ids = append(ids, id)
		}
	}
	names, err := s.names(ctx, ids)
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

// The audit list joins two records that are kept apart: events of the logs,
// which form a chain, and the security log of sign-ins and refusals, which
// anybody at the door can make longer. Its cursor holds a place in either.

func (s *server) ListAuditEvents(ctx context.Context, r api.ListAuditEventsRequestObject) (api.ListAuditEventsResponseObject, error) {
	q, err := auditQuery(ctx, r.Params)
	if err != nil {
		return nil, err
	}
	entries, err := s.Audit.List(ctx, q.events)
	if err != nil {
		return nil, err
	}
	entries, err = s.withSecurity(ctx, q, entries)
	if err != nil {
		return nil, err
	}
	answer := api.ListAuditEvents200JSONResponse{Items: []api.AuditEntry{}}
	if len(entries) > q.limit {
		entries = entries[:q.limit]
		answer.NextCursor = q.after(entries)
	}
	actors, err := s.actors(ctx, entries)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		item := api.AuditEntry{At: e.At.UTC(), Type: e.Type, Actor: actors[e.ActorID], Data: object(e.Data)}
		if e.Subject != uuid.Nil {
			item.SubjectId = &e.Subject
		}
		answer.Items = append(answer.Items, item)
	}
	return answer, nil
}

// auditPage is what one page of the audit list asks of both records.
type auditPage struct {
	events   audit.Query
	security int64 // entries with an id below this; 0: from the newest
	limit    int
}

// securityLog is the name under which the security log's entries are merged.
const securityLog = "security"

func auditQuery(ctx context.Context, p api.ListAuditEventsParams) (auditPage, error) {
	q := auditPage{limit: or(p.Limit, 50)}
	q.events = audit.Query{
		Organization: caller(ctx).Organization.ID, From: value(p.From), To: value(p.To), Types: list(p.Type), Limit: q.limit + 1,
	}
	for _, id := range list(p.ActorId) {
		q.events.Actors = append(q.events.Actors, id.String())
	}
	if p.From != nil && p.To != nil && !p.From.Before(*p.To) {
		return q, &problem{Code: "invalid_window", Title: "The window is empty", Detail: "from must lie before to."}
	}
	place, err := placeOf(p.Cursor, "audit")
	if err != nil || place == "" {
		return q, err
	}
	parts := strings.Split(place, "|") // time, log, position, security id
	if len(parts) != 4 {
		return q, badCursor()
	}
	at, err1 := time.Parse(time.RFC3339Nano, parts[0])
	position, err2 := strconv.ParseInt(parts[2], 10, 64)
	security, err3 := strconv.ParseInt(parts[3], 10, 64)
	if err1 != nil || err2 != nil || err3 != nil {
		return q, badCursor()
	}
	q.events.Before, q.security = &audit.Place{At: at, Log: parts[1], Position: position}, security
	return q, nil
}

// after is the cursor behind the last of entries.
func (q auditPage) after(entries []audit.Entry) *string {
	place, security := q.events.Before, q.security
	for _, e := range entries {
		if e.Log == securityLog {
			security = e.Position
		} else {
			p := e.Place()
			place = &p
		}
	}
	if place == nil { // no event was shown yet: behind nothing
		place = &audit.Place{At: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)}
	}
	return cursor("audit", strings.Join([]string{
		place.At.UTC().Format(time.RFC3339Nano), place.Log, strconv.FormatInt(place.Position, 10), strconv.FormatInt(security, 10),
	}, "|"))
}

// withSecurity merges the security log in, newest first.
func (s *server) withSecurity(ctx context.Context, q auditPage, entries []audit.Entry) ([]audit.Entry, error) {
	before := q.security
	for found := 0; found <= q.limit; {
		rows, err := s.Accounts.SecurityLog(ctx, q.events.Organization, before, q.limit+1)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			before = row.ID
			if e, ok := q.securityEntry(row); ok {
				entries = append(entries, e)
				found++
			}
		}
		if len(rows) <= q.limit || rows[len(rows)-1].At.Before(q.events.From) {
			break
		}
	}
	slices.SortStableFunc(entries, func(a, b audit.Entry) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.Log, a.Log), cmp.Compare(b.Position, a.Position))
	})
	return entries, nil
}

// securityEntry is the row as an entry, where the query wants it.
func (q auditPage) securityEntry(row accounts.SecurityEntry) (audit.Entry, bool) {
	actor := ""
	if row.MemberID != uuid.Nil {
		actor = row.MemberID.String()
	}
	wanted := !row.At.Before(q.events.From) && (q.events.To.IsZero() || row.At.Before(q.events.To)) &&
		(len(q.events.Types) == 0 || slices.Contains(q.events.Types, row.Type)) &&
		(len(q.events.Actors) == 0 || slices.Contains(q.events.Actors, actor))
	if !wanted {
		return audit.Entry{}, false
	}
	data := map[string]string{"requestId": row.RequestID}
	if row.Detail != "" {
		data["detail"] = row.Detail
	}
	if row.IP != "" {
		data["ip"] = row.IP
	}
	text, err := json.Marshal(data)
	return audit.Entry{Log: securityLog, Position: row.ID, At: row.At, Type: row.Type, ActorID: actor, Data: text}, err == nil
}
