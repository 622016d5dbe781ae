package signin

import (
	"context"
	"fmt"
	"strings"

	"muster/commands/usecase"
	"muster/domain/printable"
	"muster/domain/rule"
	"muster/internal/accounts"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/internal/text/pageaddress"
)

const (
	viewsPath = "/api/v1/views/"
	// maxViewName is how many characters the name of a view has at most.
	maxViewName = 100
)

// ListViews lists the views of the caller, and those that others share.
func (s *MemberRoutes) ListViews(ctx context.Context, _ api.ListViewsRequestObject) (api.ListViewsResponseObject, error) {
	views, err := s.Accounts.Views(ctx, wire.Caller(ctx))
	if err != nil {
		return nil, err
	}
	return api.ListViews200JSONResponse{Items: wire.List(views, showView)}, nil
}

func showView(v accounts.View) api.View {
	shown := api.View{Id: v.ID, Name: v.Name, Query: v.Query, Shared: v.Shared, CreatedAt: v.CreatedAt.UTC()}
	if v.MemberID.Valid {
		shown.Author = &api.Person{Id: v.MemberID.UUID, Name: v.MemberName}
	}
	return shown
}

// CreateView keeps a page under a name.
func (s *MemberRoutes) CreateView(ctx context.Context, r api.CreateViewRequestObject) (api.CreateViewResponseObject, error) {
	name := strings.TrimSpace(r.Body.Name)
	if err := checkView(&name, &r.Body.Query); err != nil {
		return nil, err
	}
	view, err := s.Accounts.AddView(ctx, wire.Caller(ctx), accounts.View{Name: name, Query: r.Body.Query, Shared: wire.Value(r.Body.Shared)})
	if err != nil {
		return nil, fieldOf(err, accounts.CodeNameTaken, "#/name")
	}
	return api.CreateView201JSONResponse{
		Body: showView(view), Headers: api.CreateView201ResponseHeaders{Location: viewsPath + view.ID.String()},
	}, nil
}

// ChangeView changes what the body names of a view.
func (s *MemberRoutes) ChangeView(ctx context.Context, r api.ChangeViewRequestObject) (api.ChangeViewResponseObject, error) {
	change := accounts.ChangeView{Name: r.Body.Name, Query: r.Body.Query, Shared: r.Body.Shared}
	if change.Name != nil {
		name := strings.TrimSpace(*change.Name)
		change.Name = &name
	}
	if err := checkView(change.Name, change.Query); err != nil {
		return nil, err
	}
	view, ok, err := s.Accounts.ChangeView(ctx, wire.Caller(ctx), r.ViewId, change)
	if err = wire.Found(ok, err, "view"); err != nil {
		return nil, fieldOf(err, accounts.CodeNameTaken, "#/name")
	}
	return api.ChangeView200JSONResponse(showView(view)), nil
}

// RemoveView deletes a view.
func (s *MemberRoutes) RemoveView(ctx context.Context, r api.RemoveViewRequestObject) (api.RemoveViewResponseObject, error) {
	ok, err := s.Accounts.RemoveView(ctx, wire.Caller(ctx), r.ViewId)
	return api.RemoveView204Response{}, wire.Found(ok, err, "view")
}

// checkView refuses a name that cannot be read and an address that leads to no page of ours: a shared view is a link
// that others follow. Nil: nothing is said of it. The lengths are openapi.yaml's, but of a name that is trimmed.
func checkView(name, query *string) error {
	var broken rule.Set
	if name != nil && *name == "" {
		broken.Add("#/name", "out_of_range", fmt.Sprintf("must be 1 to %d characters", maxViewName))
	}
	if name != nil && !printable.Name(*name) {
		broken.Add("#/name", "invalid_name", printable.Rule)
	}
	if query != nil && (!printable.Name(*query) || !pageaddress.Is(*query)) {
		broken.Add("#/query", "url_not_allowed", "must be the path of a page of Muster, and its search")
	}
	if len(broken) == 0 {
		return nil
	}
	first := broken[0]
	return &usecase.RuleError{Code: first.Code, Detail: first.Pointer + " " + first.Detail + ".", Fields: broken}
}
