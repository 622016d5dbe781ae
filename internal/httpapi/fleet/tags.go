package fleet

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"muster/commands/usecase"
	domain "muster/domain/fleet"
	"muster/domain/organization"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
)

// ListTags lists the tags that the organization's servers have.
func (s *ServerRoutes) ListTags(ctx context.Context, _ api.ListTagsRequestObject) (api.ListTagsResponseObject, error) {
	who := wire.Caller(ctx)
	o := who.Organization
	values, err := s.Fleet.TagValues(ctx, o.ID, who.Scope())
	if err != nil {
		return nil, err
	}
	protected := organization.SplitKeys(o.ProtectedTags)
	answer := api.ListTags200JSONResponse{Items: []api.TagKey{}}
	for _, v := range values {
		last := len(answer.Items) - 1
		if last < 0 || answer.Items[last].Key != v.Key {
			answer.Items = append(answer.Items, api.TagKey{Key: v.Key, Protected: slices.Contains(protected, v.Key)})
			last++
		}
		answer.Items[last].Values = append(answer.Items[last].Values, api.TagValue{Value: v.Value, Instances: v.Instances})
	}
	return answer, nil
}

// TagInstances sets and removes tags of many servers.
func (s *ServerRoutes) TagInstances(ctx context.Context, r api.TagInstancesRequestObject) (api.TagInstancesResponseObject, error) {
	change := domain.ChangeTags{Set: wire.Value(r.Body.SetTags), Remove: wire.Value(r.Body.RemoveTags)}
	outcomes, mark, err := onTheirs(ctx, r.Body.Ids, func(id uuid.UUID) (uuid.UUID, error) { return id, nil },
		func(ids []uuid.UUID) ([]usecase.Outcome, usecase.Mark, error) {
			return s.Commands.TagInstances(ctx, wire.Actor(ctx), ids, change)
		})
	if err != nil {
		return nil, err
	}
	wire.Settle(ctx, s.Waiter, mark)
	return api.TagInstances200JSONResponse(actedOn(outcomes, "instance")), nil
}

// onTheirs does with many things what a command does with them. Of somebody with the role team
// those of servers that they do not see are unknown, and those of servers that they may not change
// are refused; the command does not get them. instanceOf is the server that a thing belongs to.
func onTheirs(
	ctx context.Context, ids []uuid.UUID, instanceOf func(uuid.UUID) (uuid.UUID, error),
	act func(ids []uuid.UUID) ([]usecase.Outcome, usecase.Mark, error),
) ([]usecase.Outcome, usecase.Mark, error) {
	if wire.Caller(ctx).World == nil {
		return act(ids)
	}
	refused, theirs := map[uuid.UUID]error{}, []uuid.UUID{}
	for _, id := range ids {
		instance, err := instanceOf(id)
		switch {
		case err != nil:
			return nil, usecase.Mark{}, err
		case !wire.Sees(ctx, instance):
			refused[id] = &usecase.NotFoundError{}
		case !wire.Acts(ctx, instance):
			refused[id] = &usecase.RuleError{Code: "forbidden", Detail: usecase.OthersServer}
		default:
			theirs = append(theirs, id)
		}
	}
	done := map[uuid.UUID]usecase.Outcome{}
	var mark usecase.Mark
	if len(theirs) > 0 || len(ids) == 0 {
		outcomes, to, err := act(theirs)
		if err != nil {
			return nil, usecase.Mark{}, err
		}
		for _, o := range outcomes {
			done[o.ID] = o
		}
		mark = to
	}
	var all []usecase.Outcome
	for i, id := range ids {
		if slices.Contains(ids[:i], id) {
			continue
		}
		if err, not := refused[id]; not {
			all = append(all, usecase.Outcome{ID: id, Refusal: err})
		} else {
			all = append(all, done[id])
		}
	}
	return all, mark, nil
}

// allTags are all tags that a server is to have; nil: nothing is said of them.
func allTags(tags *api.Tags) *domain.ChangeTags {
	if tags == nil {
		return nil
	}
	return &domain.ChangeTags{Set: *tags, All: true}
}

// tagsAlone refuses a change of anything but tags to whoever does not administer.
func tagsAlone(who usecase.Actor, body *api.ChangeInstance) error {
	changed := *body
	changed.Tags = nil
	if who.Administers || changed == (api.ChangeInstance{}) {
		return nil
	}
	return &wire.Problem{Code: "forbidden", Detail: "Only administrators change more of a server than its tags."}
}
