package ownhost

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/assessment"
	"muster/internal/servers"
)

// Machine is how connections may call the one we run on.
type Machine struct {
	Name      string
	addresses []netip.Addr
}

// ThisMachine is the one we run on, as it is called now.
func ThisMachine() (Machine, error) {
	name, err := os.Hostname()
	if err != nil {
		return Machine{}, fmt.Errorf("read the machine's name: %w", err)
	}
	addresses, err := localAddresses()
	if err != nil {
		return Machine{}, fmt.Errorf("read the machine's addresses: %w", err)
	}
	return Machine{name, addresses}, nil
}

// localAddresses are those of the machine's interfaces.
func localAddresses() ([]netip.Addr, error) {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	var addresses []netip.Addr
	for _, a := range all {
		if prefix, err := netip.ParsePrefix(a.String()); err == nil {
			addresses = append(addresses, prefix.Addr().Unmap())
		}
	}
	return addresses, nil
}

// Has says whether a connection ends on this machine. No name is looked up.
func (m Machine) Has(t servers.Target) bool {
	host, own := fleet.HostKey(t.Host), fleet.HostKey(m.Name)
	if t.Socket() || host == "localhost" || host == own {
		return true
	}
	if short, _, qualified := strings.Cut(own, "."); qualified && host == short {
		return true
	}
	address, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	return address.IsLoopback() || m.HasAddress(address)
}

// HasAddress says whether an address, without a zone, is one of the machine's interfaces.
func (m Machine) HasAddress(address netip.Addr) bool {
	return slices.ContainsFunc(m.addresses, func(own netip.Addr) bool { return own.WithZone("") == address })
}

// ownPlace is an organization that the machine belongs to, with its servers on it; nil:
// by name.
type ownPlace struct {
	organization uuid.UUID
	instances    []uuid.UUID
}

// places says whose host the machine is. Connections that were looked at are known by
// their revision.
func (h *Host) places(ctx context.Context, m Machine) ([]ownPlace, error) {
	registered, err := h.Connections.Registered(ctx)
	if err != nil {
		return nil, err
	}
	here := make(map[assessment.Registered]bool, len(registered))
	var found []ownPlace
	for _, r := range registered { // sorted by organization
		if here[r], err = h.isHere(ctx, m, r); err != nil {
			return nil, err
		}
		if !here[r] {
			continue
		}
		if last := len(found) - 1; last < 0 || found[last].organization != r.Organization {
			found = append(found, ownPlace{organization: r.Organization})
		}
		last := &found[len(found)-1]
		last.instances = append(last.instances, r.Instance)
	}
	h.here = here
	if len(found) > 0 {
		return found, nil
	}
	organizations, err := h.Organizations(ctx)
	if err != nil || len(organizations) != 1 {
		return nil, err
	}
	hosts, err := h.Hosts(ctx, organizations[0])
	if err != nil || len(hosts) > 0 && !slices.ContainsFunc(hosts, m.named) {
		return nil, err
	}
	return []ownPlace{{organization: organizations[0]}}, nil
}

// named says whether a server's host is called like the machine.
func (m Machine) named(host string) bool {
	return host != "" && fleet.HostKey(host) == fleet.HostKey(m.Name)
}

func (h *Host) isHere(ctx context.Context, m Machine, r assessment.Registered) (bool, error) {
	if here, known := h.here[r]; known {
		return here, nil
	}
	credentials, ok, err := h.Connections.Credentials(ctx, r.Organization, r.Instance)
	if err != nil || !ok {
		return false, err
	}
	target, err := servers.Parse(credentials.Engine, credentials.DSN)
	return err == nil && m.Has(target), nil // an unreadable address is nowhere
}
