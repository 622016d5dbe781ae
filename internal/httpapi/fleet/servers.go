package fleet

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/google/uuid"

	"muster/internal/assessment"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/projections/fleet"
)

// knownServer makes the refusal of a server that is registered already one that names the
// instance; any other error stays what it is.
func (s *ServerRoutes) knownServer(ctx context.Context, err error) error {
	known, ok := errors.AsType[*assessment.KnownServerError](err)
	if !ok {
		return err
	}
	row, there, err := s.Fleet.Instance(ctx, wire.Caller(ctx).Organization.ID, known.Instance)
	if err != nil {
		return err
	}
	name := "an instance that is being registered"
	if there {
		name = row.Name
	}
	detail := "The connection leads to the server of the instance " + name + "."
	if known.Pooled {
		detail = "The connection leads to the server of the instance " + name + ", one of the two through a connection pooler."
	}
	pointer := "#/dsn"
	return &wire.Problem{
		Code: "already_registered", Detail: detail + ` To register the server twice all the same, send "separate": true.`,
		Fields: []api.FieldError{{In: api.Body, Pointer: &pointer, Code: "already_registered", Detail: detail,
			Params: &map[string]any{"instanceId": known.Instance.String(), "instanceName": name}}},
	}
}

// nearServers are the servers of some instances, and the instances near them, by name.
type nearServers struct {
	seen  map[uuid.UUID]assessment.SeenServer
	names map[uuid.UUID]string
}

func (s *ServerRoutes) serversOf(ctx context.Context, rows []fleet.Instance) (near nearServers, err error) {
	if len(rows) == 0 {
		return near, nil
	}
	organization := wire.Caller(ctx).Organization.ID
	if near.seen, err = s.Servers.Servers(ctx, organization, idsOf(rows)); err != nil {
		return near, err
	}
	near.names = make(map[uuid.UUID]string, len(near.seen))
	for _, row := range rows {
		near.names[row.ID] = row.Name
	}
	var others []uuid.UUID
	for id := range near.seen {
		if _, named := near.names[id]; !named && wire.Sees(ctx, id) {
			others = append(others, id)
		}
	}
	if len(others) == 0 {
		return near, nil
	}
	named, _, err := s.Fleet.Instances(ctx, fleet.Query{Organization: organization, IDs: others, Page: 1, Size: len(others)})
	for _, row := range named {
		near.names[row.ID] = row.Name
	}
	return near, err
}

// show is the server that answers for an instance; nil: nobody has asked it yet.
func (n nearServers) show(id uuid.UUID) *api.AnsweringServer {
	is, known := n.seen[id]
	if !known || is.Process == "" {
		return nil
	}
	shown := &api.AnsweringServer{
		System: wire.Optional(is.System), Role: wire.Optional(is.Role), Pooler: wire.Optional(string(is.Pooling)), MovedAt: wire.UTC(is.MovedAt),
		SameAs: []api.KnownServer{}, Related: []api.KnownServer{},
	}
	for other, beside := range n.seen {
		name, there := n.names[other]
		if other == id || !there || !beside.CountsFor(is) {
			continue
		}
		one := api.KnownServer{Id: other, Name: name, Role: wire.Optional(beside.Role)}
		switch {
		case is.Same(beside.Identity):
			shown.SameAs = append(shown.SameAs, one)
		case is.Related(beside.Identity):
			shown.Related = append(shown.Related, one)
		}
	}
	byName := func(a, b api.KnownServer) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), bytes.Compare(a.Id[:], b.Id[:]))
	}
	slices.SortFunc(shown.SameAs, byName)
	slices.SortFunc(shown.Related, byName)
	return shown
}
