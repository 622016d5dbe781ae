package servers

import (
	"context"
	_ "embed" // the query
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"muster/internal/servers/tns"
)

// mostAddresses is how many addresses a connection string of Oracle may have.
const mostAddresses = 8

// oracleOptions are what a connection string of Oracle says beside.
type oracleOptions struct {
	bySID    bool   // the database is a SID
	instance string // of a cluster; empty: any
	// further are the addresses beside the first, as host:port, with commas between: those of a pair of Data Guard, or
	// of a cluster whose name does not stand for all of them.
	further string
	wallet  *tns.Wallet
}

// addresses are the target at each of its addresses.
func (t Target) addresses() []Target {
	all := []Target{t}
	for address := range strings.SplitSeq(t.oracle.further, ",") {
		if at, err := t.at(address); err == nil {
			all = append(all, at)
		}
	}
	return all
}

// splitAddresses reads the hosts of a connection string: each may have a port of its own.
func (t *Target) splitAddresses(hosts string) error {
	var further []string
	for i, one := range strings.Split(hosts, ",") {
		host, port := one, strconv.Itoa(int(t.Port))
		if at := strings.LastIndexByte(one, ':'); at >= 0 && (strings.Count(one, ":") == 1 || strings.HasSuffix(one[:at], "]")) {
			host, port = one[:at], one[at+1:]
		}
		host = strings.Trim(host, "[]")
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return &DSNError{"its port is not a number from 1 to 65535"}
		}
		if err := isHost(host); err != nil {
			return err
		}
		if i == 0 {
			t.Host, t.Port = host, uint16(n)
		} else {
			further = append(further, net.JoinHostPort(host, port))
		}
	}
	if len(further) >= mostAddresses {
		return &DSNError{fmt.Sprintf("it has more than %d addresses", mostAddresses)}
	}
	t.oracle.further = strings.Join(further, ",")
	return nil
}

//go:embed sql/oracle/role.sql
var roleSQL string

// openOracle opens a session at the target's address. Of several ones it is that of the primary: the listener of a
// standby refuses, or leads to a database in another role. So a session that a switchover or failover ends is
// opened again where the primary is now. A wrong password is not tried at a second address: it would count twice
// against the account, which both databases share.
func openOracle(ctx context.Context, t Target, database string, timeout time.Duration) (Session, error) {
	addresses := t.addresses()
	if len(addresses) == 1 {
		return openOracleAt(ctx, t, database, timeout)
	}
	var standby, failed *ConnectionError
	for _, at := range addresses {
		s, err := openOracleAt(ctx, at, database, timeout)
		if err == nil {
			role, roleErr := Row(ctx, s, 1, roleSQL)
			if roleErr == nil && role[0] == "PRIMARY" {
				return s, nil
			}
			s.Close(ctx)
			if roleErr == nil {
				standby = unreached(ClassDatabase, "%s is not a primary.", at.Address())
				continue
			}
			err = unreached(ClassDatabase, "%s does not say whether it is a primary.", at.Address())
		}
		if refused, ok := errors.AsType[*ConnectionError](err); ok && (failed == nil || refused.Class == ClassAuthentication || failed.Stage() == StageDial && refused.Stage() != StageDial) {
			failed = refused
		}
		if failed.Class == ClassAuthentication || ctx.Err() != nil {
			return nil, failed
		}
	}
	switch {
	case standby == nil:
		return nil, failed
	case failed == nil:
		return nil, unreached(ClassDatabase, "None of the %d addresses of %s leads to a primary.", len(addresses), t.Address())
	}
	standby.Sentence += " The other address: " + failed.Sentence
	return nil, standby
}
