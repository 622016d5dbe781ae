package servers

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"net"
	"strconv"
	"strings"
	"time"
)

const (
	browserPort     = 1434            // of SQL Server Browser, by UDP
	browserPatience = 3 * time.Second // for all of its answers: it is asked once a second
)

// errNoBrowser says that nothing told where a named instance listens. A browser does not answer for an instance that
// it does not know, either.
var errNoBrowser = errors.New("no answer of SQL Server Browser")

// browsed is a connection to a browser, after its answer.
type browsed struct {
	net.Conn
	port uint16
}

// browse asks SQL Server Browser for the port of the named instance, as its clients do (MC-SQLR, CLNT_UCAST_INST). The
// answer comes over an open line, so it decides about the port alone: the host stays that of the connection string,
// and the certificate is verified as always.
func (t Target) browse(ctx context.Context) (uint16, error) {
	ctx, cancel := context.WithTimeout(ctx, browserPatience)
	defer cancel()
	at := uint16(browserPort)
	if t.reach != nil {
		at = cmp.Or(t.reach.Browser, at)
	}
	conn, err := t.dialBy(ctx, func(ctx context.Context, d *net.Dialer, host string) (net.Conn, error) {
		conn, err := d.DialContext(ctx, "udp", net.JoinHostPort(host, strconv.Itoa(int(at))))
		if err != nil {
			return nil, err
		}
		port, err := askBrowser(ctx, conn, t.sqlServer.instance)
		if err != nil {
			_ = conn.Close()
			return nil, err
		}
		return browsed{conn, port}, nil
	})
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			return 0, errNoBrowser
		}
		return 0, err
	}
	defer func() { _ = conn.Close() }()
	return conn.(browsed).port, nil
}

// askBrowser asks once a second, because UDP may lose a question.
func askBrowser(ctx context.Context, conn net.Conn, instance string) (uint16, error) {
	answer := make([]byte, 1500)
	for {
		if _, err := conn.Write(append([]byte{4}, instance+"\x00"...)); err != nil {
			return 0, errNoBrowser // nothing listens, says the machine
		}
		_ = conn.SetReadDeadline(time.Now().Add(time.Second))
		n, err := conn.Read(answer)
		switch {
		case ctx.Err() != nil:
			return 0, errNoBrowser
		case err == nil:
			return portOf(answer[:n], instance)
		case !isTimeout(err):
			return 0, errNoBrowser
		}
	}
}

// portOf reads an answer (SVR_RESP): names and values, in turn.
func portOf(answer []byte, instance string) (uint16, error) {
	const head = 3
	if len(answer) < head || answer[0] != 5 {
		return 0, errNoBrowser
	}
	parts, named := strings.Split(string(bytes.TrimRight(answer[head:], "\x00")), ";"), ""
	for i := 0; i+1 < len(parts); i += 2 {
		switch value := parts[i+1]; strings.ToLower(parts[i]) {
		case "instancename":
			named = value
		case "tcp":
			if port, err := strconv.ParseUint(value, 10, 16); err == nil && port != 0 && strings.EqualFold(named, instance) {
				return uint16(port), nil
			}
		}
	}
	return 0, errNoBrowser
}
