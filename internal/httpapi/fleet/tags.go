package fleet

import (
	"context"
	"slices"

	"muster/commands"
	domain "muster/domain/fleet"
	"muster/domain/organization"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
)

// ListTags lists the tags that the organization's servers have.
func (s *ServerRoutes) ListTags(ctx context.Context, _ api.ListTagsRequestObject) (api.ListTagsResponseObject, error) {
	o := wire.Caller(ctx).Organization
	values, err := s.Fleet.TagValues(ctx, o.ID, domain.Scope{})
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
	outcomes, mark, err := s.Commands.TagInstances(ctx, wire.Actor(ctx), r.Body.Ids, change)
	if err != nil {
		return nil, err
	}
	wire.Settle(ctx, s.Waiter, mark)
	return api.TagInstances200JSONResponse(actedOn(outcomes, "instance")), nil
}

// allTags are all tags that a server is to have; nil: nothing is said of them.
func allTags(tags *api.Tags) *domain.ChangeTags {
	if tags == nil {
		return nil
	}
	return &domain.ChangeTags{Set: *tags, All: true}
}

// tagsAlone refuses a change of anything but tags to whoever does not administer.
func tagsAlone(who commands.Actor, body *api.ChangeInstance) error {
	changed := *body
	changed.Tags = nil
	if who.Administers || changed == (api.ChangeInstance{}) {
		return nil
	}
	return &wire.Problem{Code: "forbidden", Detail: "Only administrators change more of a server than its tags."}
}
