package agent

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"muster/internal/httpapi/api"
)

// withoutStrangers is a record's list as it is sent: a host names no instance that the
// server refuses, for what was measured of the host would be refused with it.
func (a *Agent) withoutStrangers(r record) []byte {
	if r.Kind != hosts || len(a.strangers) == 0 {
		return r.Body
	}
	items, err := a.hostItems(r)
	if err != nil {
		return r.Body
	}
	body, err := marshal(items)
	if err != nil {
		return r.Body
	}
	return body
}

func (a *Agent) hostItems(r record) (items []api.HostSample, err error) {
	err = json.Unmarshal(r.Body, &items)
	for i := range items {
		items[i].Instances = slices.DeleteFunc(items[i].Instances, func(id string) bool { return a.strangers[id] })
	}
	return items, err
}

// isStrange notes the instances on hosts that a problem refuses; false where there are
// none. What was measured is then sent again without them.
func (a *Agent) isStrange(ctx context.Context, records []record, p *Problem) (found bool) {
	var sent []api.HostSample
	for _, r := range records {
		if r.Kind == hosts {
			items, err := a.hostItems(r)
			if err != nil {
				return false
			}
			sent = append(sent, items...)
		}
	}
	var named []string
	var codes []string
	for _, e := range p.Errors {
		parts := strings.Split(strings.TrimPrefix(e.Pointer, "#/"), "/")
		if len(parts) != 4 || parts[0] != "hosts" || parts[2] != "instances" {
			continue
		}
		host, err := strconv.Atoi(parts[1])
		n, err2 := strconv.Atoi(parts[3])
		if err == nil && err2 == nil && host >= 0 && host < len(sent) && n >= 0 && n < len(sent[host].Instances) {
			named, codes = append(named, sent[host].Instances[n]), append(codes, e.Code)
		}
	}
	for i, id := range named {
		if a.strangers[id] {
			continue
		}
		a.strangers[id], found = true, true
		if codes[i] == "unknown_instance" {
			a.announceAgain(ctx, id)
		}
	}
	return found
}
