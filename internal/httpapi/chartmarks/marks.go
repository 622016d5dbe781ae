package chartmarks

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
	markDeploy      = "deploy"
	markMaintenance = "maintenance"
	markSetting     = "setting"
	markVersion     = "version"
	markRelease     = "release"
	markFailover    = "failover"
	markRestart     = "restart"
	markRegistered  = "registered"
	markRetired     = "retired"
)

// ListMarks lists what happened in a window: the marks that were set, and what Muster knows itself.
func (s *MarkRoutes) ListMarks(ctx context.Context, r api.ListMarksRequestObject) (api.ListMarksResponseObject, error) {
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
	about := s.markedServers(ctx, scope)
	rows, err := marks.Between(ctx, s.DB, wire.Caller(ctx).Organization.ID, w.From, w.To, maxMarks+1, about.visible)
	if err != nil {
		return nil, err
	}
	complete := len(rows) <= maxMarks
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
	answer.Items = fit(answer.Items)
	answer.Unavailable = side.Unavailable()
	return answer, nil
}

// fit is as many of the marks, the newest of which is first, as an answer has. Maintenance windows give way to all others:
// three a day are a thousand in a year.
func fit(marks []api.Mark) []api.Mark {
	isWindow := func(m api.Mark) bool { return m.Kind == markMaintenance }
	room := maxMarks
	for _, m := range marks {
		if !isWindow(m) {
			room--
		}
	}
	marks = slices.DeleteFunc(marks, func(m api.Mark) bool {
		if isWindow(m) {
			room--
		}
		return isWindow(m) && room < 0
	})
	return marks[:min(len(marks), maxMarks)]
}

// showMarks shows marks that were set; about counts the servers that one is about. The names of tokens are side figures.
func (s *MarkRoutes) showMarks(ctx context.Context, rows []marks.Row, about *markedServers, side *wire.Side) ([]api.Mark, error) {
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
			n, err := about.count(m)
			if err != nil {
				return nil, err
			}
			one.InstanceCount = &n
		}
		shown = append(shown, one)
	}
	return shown, nil
}

// markedServers are the servers in scope that marks are about.
type markedServers struct {
	read    func() ([]domain.Tags, error)
	servers []domain.Tags
	counted map[string]int // by the tags of marks: many deployments have the same; nil: the servers are not read yet
}

func (s *MarkRoutes) markedServers(ctx context.Context, scope domain.Scope) *markedServers {
	return &markedServers{read: func() ([]domain.Tags, error) { return s.Fleet.TagsIn(ctx, wire.Caller(ctx).Organization.ID, scope) }}
}

// count is how many servers in scope have the tags of a mark.
func (s *markedServers) count(m marks.Row) (n int, err error) {
	if s.counted == nil {
		if s.servers, err = s.read(); err != nil {
			return 0, err
		}
		s.counted = map[string]int{}
	}
	filter := mark.FilterOf(m.Tags)
	key := strings.Join(filter.Words(), "\n")
	n, known := s.counted[key]
	if !known {
		for _, tags := range s.servers {
			if filter.Passes(tags) {
				n++
			}
		}
		s.counted[key] = n
	}
	return n, nil
}

// visible leaves the marks that are about a server in scope, or about the whole organization.
func (s *markedServers) visible(rows []marks.Row) (seen []marks.Row, err error) {
	for _, m := range rows {
		n := 1
		if len(m.Tags) > 0 {
			n, err = s.count(m)
		}
		if err != nil {
			return nil, err
		}
		if n > 0 {
			seen = append(seen, m)
		}
	}
	return seen, nil
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
func (s *MarkRoutes) CreateMark(ctx context.Context, r api.CreateMarkRequestObject) (api.CreateMarkResponseObject, error) {
	id := wire.CallOf(ctx).Made
	if id == uuid.Nil {
		id = uuid.Must(uuid.NewV7())
	}
	m := mark.Mark{At: s.Now(), Text: r.Body.Text, Tags: wire.Value(r.Body.Tags)}
	if r.Body.At != nil {
		m.At = *r.Body.At
	}
	row, written, err := s.Commands.SetMark(ctx, wire.Actor(ctx), id, m)
	if err != nil {
		return nil, err
	}
	wire.Settle(ctx, s.Waiter, written)
	var side wire.Side // an answer that lacks the token's name is one all the same
	shown, err := s.showMarks(ctx, []marks.Row{row}, s.markedServers(ctx, wire.Caller(ctx).Scope()), &side)
	if err != nil {
		return nil, err
	}
	return api.CreateMark201JSONResponse{Body: shown[0], Headers: api.CreateMark201ResponseHeaders{Location: marksPath + row.ID.String()}}, nil
}

// RemoveMark removes a mark that was set. One that the caller neither sees nor could set is unknown.
func (s *MarkRoutes) RemoveMark(ctx context.Context, r api.RemoveMarkRequestObject) (api.RemoveMarkResponseObject, error) {
	row, ok, err := marks.Find(ctx, s.DB, wire.Caller(ctx).Organization.ID, r.MarkId)
	if err := wire.Found(ok, err, "mark"); err != nil {
		return nil, err
	}
	may, err := mayRemove(ctx)
	if err != nil {
		return nil, err
	}
	seen, err := s.markedServers(ctx, wire.Caller(ctx).Scope()).visible([]marks.Row{row})
	if err != nil {
		return nil, err
	}
	if len(seen) == 0 && !may(row.Tags) {
		return nil, wire.Found(false, nil, "mark")
	}
	written, err := s.Commands.RemoveMark(ctx, wire.Actor(ctx), r.MarkId)
	if err != nil {
		return nil, err
	}
	wire.Settle(ctx, s.Waiter, written)
	return api.RemoveMark204Response{}, nil
}
