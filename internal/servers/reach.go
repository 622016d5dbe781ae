package servers

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"syscall"
	"time"

	"muster/domain/fleet"
	"muster/internal/networks"
)

// Reach says to which part of the network Muster connects for users who register servers. Every
// target that can be connected comes from one.
//
// The zero Reach has the default networks and no own server to avoid.
type Reach struct {
	// Networks are all that targets may be in; none: everywhere but link-local,
	// multicast and unspecified addresses.
	Networks []netip.Prefix
	// Own is the PostgreSQL that Muster itself runs on; nil: it is not known.
	Own *OwnServer
	// Authorities are those whose certificates SQL Servers are known by; nil: the machine's.
	Authorities *x509.CertPool
	// Directory is where applications of Microsoft Entra ID get their tokens; empty: from Microsoft.
	Directory string
	// Browser is the port by which SQL Server Browser is asked; 0: its own.
	Browser uint16
	// Lookup resolves a name; nil: as the machine does.
	Lookup func(ctx context.Context, name string) ([]netip.Addr, error)
}

// Target is the server of a connection string. Errors: *DSNError, *UnknownEngineError. Whether
// Muster may connect to it shows at the connection, because names change their meaning.
func (r *Reach) Target(e fleet.Engine, dsn string) (Target, error) {
	t, err := Parse(e, dsn)
	t.reach = r
	return t, err
}

// OwnTarget is Target for the operator of Muster: it is reached as its connection string says,
// through a Unix socket too. Never call it for a user's request.
func (r *Reach) OwnTarget(e fleet.Engine, dsn string) (Target, error) {
	t, err := r.Target(e, dsn)
	t.own = true
	return t, err
}

// notAllowed is the class of a target that Muster's settings exclude.
func notAllowed(format string, args ...any) *ConnectionError {
	return &ConnectionError{Class: ClassNotAllowed, Sentence: fmt.Sprintf(format, args...)}
}

// addresses are those of the target's host to which Muster may connect, at least one. A name is
// looked up here and never again for this connection, so the checked address is the dialed one.
// Errors: *ConnectionError of ClassNotAllowed, and the errors of the lookup.
func (r *Reach) addresses(ctx context.Context, t Target) ([]string, error) {
	found := []netip.Addr{}
	if literal, err := netip.ParseAddr(t.Host); err == nil {
		found = append(found, literal)
	} else if found, err = r.lookup(ctx, t.Host); err != nil {
		return nil, err
	}
	var allowed []string
	for _, a := range found {
		if r.allows(a) {
			allowed = append(allowed, a.Unmap().String())
		}
	}
	if len(allowed) == 0 {
		return nil, notAllowed("%s is in a network that this installation does not connect to (MUSTER_TARGET_NETWORKS).", t.Address())
	}
	return allowed, nil
}

func (r *Reach) lookup(ctx context.Context, name string) ([]netip.Addr, error) {
	if r.Lookup != nil {
		return r.Lookup(ctx, name)
	}
	return net.DefaultResolver.LookupNetIP(ctx, "ip", name)
}

// allows judges an address by what it leads to.
func (r *Reach) allows(a netip.Addr) bool { return networks.Reachable(r.Networks, a) }

// errNotDialled says that the last check, of the very address that is dialed, found one that is
// not allowed.
var errNotDialled = errors.New("the address is in no network that is allowed")

// dial connects to the target's host: to those of its addresses that are allowed, of which the
// first that answers wins, and to what the installation itself registered wherever that is. Errors:
// *ConnectionError of ClassNotAllowed, errNotDialled, and those of net.
func (t Target) dial(ctx context.Context) (net.Conn, error) {
	return t.dialBy(ctx, func(ctx context.Context, d *net.Dialer, host string) (net.Conn, error) {
		return d.DialContext(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(int(t.Port))))
	})
}

// dialBy is dial by a function that gets a dialer, and an address to use it for.
func (t Target) dialBy(ctx context.Context, by func(ctx context.Context, d *net.Dialer, host string) (net.Conn, error)) (net.Conn, error) {
	switch {
	case t.own:
		return by(ctx, new(net.Dialer), t.Host)
	case t.reach == nil:
		return nil, notAllowed("Nothing says whether Muster may connect to %s.", t.Address())
	}
	addresses, err := t.reach.addresses(ctx, t)
	if err != nil {
		return nil, err
	}
	return race(ctx, addresses, func(ctx context.Context, address string) (net.Conn, error) {
		return by(ctx, t.reach.dialer(), address)
	})
}

// dialer connects to addresses that are allowed and to nothing else.
func (r *Reach) dialer() *net.Dialer {
	return &net.Dialer{
		KeepAlive: 5 * time.Minute, // as pgconn's own
		Control: func(_, address string, _ syscall.RawConn) error {
			if at, err := netip.ParseAddrPort(address); err != nil || !r.allows(at.Addr()) {
				return errNotDialled
			}
			return nil
		},
	}
}
