package servers

import (
	"context"
	"errors"
	"net"
	"strconv"
	"sync"
)

// maxHops are the registered server, and one to which it redirects us: Azure's gateways and the
// listeners of availability groups do.
const maxHops = 2

// errTooManyHops says that a server sends us to another, and that one on.
var errTooManyHops = errors.New("the server sends connections on and on")

// sqlServerDialer connects to where the target's Reach leads, and to nothing else. The
// driver asks it for the host, which is looked up here and not by the driver, and for the
// server that this one may send us to, by whatever name.
type sqlServerDialer struct {
	target Target
	login  *login

	mu    sync.Mutex
	conns []net.Conn
	ended bool
}

// HostName makes the driver leave the lookup to us.
func (d *sqlServerDialer) HostName() string { return d.target.Host }

// DialContext connects to a host and port. Errors: *ConnectionError, errNotDialled,
// errTooManyHops, and those of net.
func (d *sqlServerDialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	host, portText, err := net.SplitHostPort(address)
	port, portErr := strconv.ParseUint(portText, 10, 16)
	if network != "tcp" || err != nil || portErr != nil || port == 0 {
		return nil, errNotDialled // the driver asks for nothing of the kind
	}
	to, hop := d.target, d.hops()
	if hop == maxHops {
		return nil, errTooManyHops
	}
	to.Host, to.Port = host, uint16(port)
	conn, err := d.login.hears(to.dial(ctx))
	if hop > 0 && is[*ConnectionError](err) { // without the name that the server gave
		err = notAllowed("%s sends connections on to a server in a network that this installation does not connect to (MUSTER_TARGET_NETWORKS).", d.target.Address())
	}
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.conns = append(d.conns, conn)
	if d.ended {
		_ = conn.Close()
	}
	return conn, nil
}

func (d *sqlServerDialer) hops() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.conns)
}

// last is the connection that is in use.
func (d *sqlServerDialer) last() net.Conn {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.conns[len(d.conns)-1]
}

// cut ends every connection, and those to come.
func (d *sqlServerDialer) cut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended = true
	for _, conn := range d.conns {
		_ = conn.Close()
	}
}
