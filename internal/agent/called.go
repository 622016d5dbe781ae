package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"muster/internal/httpapi/api"
)

// called are the fields of an instance that a limited token may not change, as the server has
// them; nil: it has what the configuration says.
type called struct{ name, host *string }

// isCalledOtherwise notes what the server calls an instance whose announcement it refused for
// that alone. The announcement is then sent again with it: a server's databases are its agent's
// to tell, whatever an administrator calls it.
func (a *Agent) isCalledOtherwise(ctx context.Context, r record, p *Problem) bool {
	if r.Kind != fleetFact || p.Code != "outside_token" {
		return false
	}
	by, differs := a.called[r.Server], []string{}
	for _, e := range p.Errors {
		is, isText := e.Params.Is.(string)
		field, of := map[string]**string{"#/instances/0/name": &by.name, "#/instances/0/host": &by.host}[e.Pointer]
		if !of || !isText || *field != nil && **field == is { // else it would be sent for ever
			return false
		}
		*field = &is
		differs = append(differs, fmt.Sprintf("%s %q", e.Pointer[strings.LastIndex(e.Pointer, "/")+1:], is))
	}
	if len(differs) == 0 {
		return false
	}
	a.called[r.Server] = by
	text := strings.Join(differs, ", ")
	a.names.Failed(ctx, r.what(), text, "Muster has "+text)
	return true
}

// asCalled is an announcement with what the server calls the instance.
func (a *Agent) asCalled(r record) []byte {
	by, otherwise := a.called[r.Server]
	var batch api.FleetBatch
	if !otherwise || json.Unmarshal(r.Body, &batch) != nil {
		return r.Body
	}
	for i := range batch.Instances {
		if by.name != nil {
			batch.Instances[i].Name = *by.name
		}
		if by.host != nil {
			batch.Instances[i].Host = by.host
		}
	}
	body, err := marshal(batch)
	if err != nil {
		return r.Body
	}
	return body
}
