package fleet

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/google/uuid"

	"muster/commands/marks"
	domain "muster/domain/fleet"
	"muster/domain/mark"
	"muster/domain/organization"
	"muster/internal/accounts"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
)

const (
	marksPath = "/api/v1/marks/"
	// maxMarks is how many marks an answer has at most.
	maxMarks = 1000
)

// Kinds of marks.
const (
	markDeploy     = "deploy"
	markSetting    = "setting"
	markVersion    = "version"
	markFailover   = "failover"
	markRestart    = "restart"
	markRegistered = "registered"
	markRetired    = "retired"
)

// ListMarks lists what happened in a window: the marks that were set, and what Muster knows itself.
func (s *ServerRoutes) ListMarks(ctx context.Context, r api.ListMarksRequestObject) (api.ListMarksResponseObject, error) {
	p := r.Params
	w, broken := wire.SpanAt(s.Now(), p.From, p.To)
	scope, err := wire.FleetScope(ctx, s.Fleet, wire.Filter{IDs: p.InstanceId, Tags: p.Tag, Owner: p.Owner}, broken)
	if err != nil {
		return nil, err
	}
	answer := api.ListMarks200JSONResponse{From: w.From, To: w.To, Items: []api.Mark{}, Complete: true, Unavailable: []api.UnavailableFigure{}}
	if scope.Filtered && len(scope.Instances) == 0 {
		return answer, nil
	}
	rows, err := marks.Between(ctx, s.DB, wire.Caller(ctx).Organization.ID, w.From, w.To, maxMarks+1)
	if err != nil {
		return nil, err
	}
	about, err := s.markedServers(ctx, scope, rows)
	if err != nil {
		return nil, err
	}
	complete := len(rows) <= maxMarks
	rows = slices.DeleteFunc(rows, func(m marks.Row) bool { return len(m.Tags) > 0 && about(m) == 0 })
	var side wire.Side
	set, err := s.showMarks(ctx, rows, about, &side)
	if err != nil {
		return nil, err
	}
	known := s.knownMarks(ctx, scope, w.From, w.To, &side)
	answer.Items = wire.NeverNull(slices.Concat(set, known.marks))
	slices.SortFunc(answer.Items, func(a, b api.Mark) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Id.String(), b.Id.String()))
	})
	answer.Complete = complete && known.whole && len(answer.Items) <= maxMarks
	answer.Items = answer.Items[:min(len(answer.Items), maxMarks)]
	answer.Unavailable = side.Unavailable()
	return answer, nil
}

// showMarks shows marks that were set; about counts the servers that one is about. The names of tokens are side figures.
func (s *ServerRoutes) showMarks(ctx context.Context, rows []marks.Row, about func(marks.Row) int, side *wire.Side) ([]api.Mark, error) {
	shown := []api.Mark{}
	if len(rows) == 0 {
		return shown, nil
	}
	var members, tokens []uuid.UUID
	for _, m := range rows {
		if m.MemberID.Valid {
			members = append(members, m.MemberID.UUID)
		}
		if m.TokenID.Valid {
			tokens = append(tokens, m.TokenID.UUID)
		}
	}
	names, err := wire.MemberNames(ctx, s.Accounts, members)
	if err != nil {
		return nil, err
	}
	called, err := s.Accounts.TokenNames(ctx, wire.Caller(ctx).Organization.ID, tokens)
	side.Lacks(ctx, err, "items.token")
	may, err := mayRemove(ctx)
	if err != nil {
		return nil, err
	}
	for _, m := range rows {
		one := api.Mark{Id: m.ID, At: m.At.UTC(), Kind: markDeploy, Text: m.Text, Tags: m.Tags, MayRemove: may(m.Tags)}
		if name := names[m.MemberID.UUID]; name != "" { // else they were erased
			one.By = &api.Person{Id: m.MemberID.UUID, Name: name}
		}
		if name, there := called[m.TokenID.UUID]; there {
			one.Token = &api.Reference{Id: m.TokenID.UUID, Name: name}
		}
		if len(m.Tags) > 0 {
			n := about(m)
			one.InstanceCount = &n
		}
		shown = append(shown, one)
	}
	return shown, nil
}

// markedServers counts the servers in scope that a mark is about.
func (s *ServerRoutes) markedServers(ctx context.Context, scope domain.Scope, rows []marks.Row) (func(marks.Row) int, error) {
	var servers []domain.Tags
	if slices.ContainsFunc(rows, func(m marks.Row) bool { return len(m.Tags) > 0 }) {
		var err error
		if servers, err = s.Fleet.TagsIn(ctx, wire.Caller(ctx).Organization.ID, scope); err != nil {
			return nil, err
		}
	}
	counted := map[string]int{} // many deployments have the same tags
	return func(m marks.Row) int {
		filter := mark.FilterOf(m.Tags)
		key := strings.Join(filter.Words(), "\n")
		n, known := counted[key]
		if !known {
			for _, tags := range servers {
				if filter.Passes(tags) {
					n++
				}
			}
			counted[key] = n
		}
		return n
	}, nil
}

// mayRemove says of a mark's tags whether the caller may remove the mark.
func mayRemove(ctx context.Context) (func(tags map[string]string) bool, error) {
	caller := wire.Caller(ctx)
	if !caller.Can(organization.ScopeMarksWrite) || caller.World == nil {
		may := caller.Can(organization.ScopeMarksWrite)
		return func(map[string]string) bool { return may }, nil
	}
	teams, err := wire.Teams(ctx)
	if err != nil {
		return nil, err
	}
	_, acting := accounts.Belongs(teams, caller.Member.ID)
	selectors := accounts.Selectors(acting)
	return func(tags map[string]string) bool { return mark.Within(tags, selectors) }, nil
}

// CreateMark sets a mark.
func (s *ServerRoutes) CreateMark(ctx context.Context, r api.CreateMarkRequestObject) (api.CreateMarkResponseObject, error) {
	id := wire.CallOf(ctx).Made
	if id == uuid.Nil {
		id = uuid.Must(uuid.NewV7())
	}
	m := mark.Mark{At: s.Now(), Text: r.Body.Text, Tags: wire.Value(r.Body.Tags)}
	if r.Body.At != nil {
		m.At = *r.Body.At
	}
	written, err := s.Commands.SetMark(ctx, wire.Actor(ctx), id, m)
	if err != nil {
		return nil, err
	}
	wire.Settle(ctx, s.Waiter, written)
	row, about, err := s.findMark(ctx, id)
	if err != nil {
		return nil, err
	}
	var side wire.Side // an answer that lacks the token's name is one all the same
	shown, err := s.showMarks(ctx, []marks.Row{row}, about, &side)
	if err != nil {
		return nil, err
	}
	return api.CreateMark201JSONResponse{Body: shown[0], Headers: api.CreateMark201ResponseHeaders{Location: marksPath + id.String()}}, nil
}

// findMark is a mark of the caller's organization, and what counts the servers that they see which it is about.
func (s *ServerRoutes) findMark(ctx context.Context, id uuid.UUID) (marks.Row, func(marks.Row) int, error) {
	row, ok, err := marks.Find(ctx, s.DB, wire.Caller(ctx).Organization.ID, id)
	if err := wire.Found(ok, err, "mark"); err != nil {
		return row, nil, err
	}
	about, err := s.markedServers(ctx, wire.Caller(ctx).Scope(), []marks.Row{row})
	return row, about, err
}

// RemoveMark removes a mark that was set. One that the caller neither sees nor could set is unknown.
func (s *ServerRoutes) RemoveMark(ctx context.Context, r api.RemoveMarkRequestObject) (api.RemoveMarkResponseObject, error) {
	row, about, err := s.findMark(ctx, r.MarkId)
	if err != nil {
		return nil, err
	}
	may, err := mayRemove(ctx)
	if err != nil {
		return nil, err
	}
	if seen := len(row.Tags) == 0 || about(row) > 0; !seen && !may(row.Tags) {
		return nil, wire.Found(false, nil, "mark")
	}
	written, err := s.Commands.RemoveMark(ctx, wire.Actor(ctx), r.MarkId)
	if err != nil {
		return nil, err
	}
	wire.Settle(ctx, s.Waiter, written)
	return api.RemoveMark204Response{}, nil
}
