package servers

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"strconv"
	"strings"
	"time"

	goora "github.com/sijms/go-ora/v2"
	"github.com/sijms/go-ora/v2/configurations"
	"github.com/sijms/go-ora/v2/network"
)

// oracleSettings make a session's answers the same on every server, whatever the server,
// its territory or a logon trigger would have them be.
var oracleSettings = []string{
	`ALTER SESSION SET NLS_NUMERIC_CHARACTERS = '.,' NLS_SORT = BINARY NLS_COMP = BINARY TIME_ZONE = '+00:00'`,
	`BEGIN DBMS_APPLICATION_INFO.SET_MODULE('` + ApplicationName + `', NULL); END;`,
}

// openOracleAt opens a session on the service or sid that the connection string names, or,
// where database is another one, on the pluggable database of that name.
func openOracleAt(ctx context.Context, t Target, database string, timeout time.Duration) (Session, error) {
	login, ctx, end := newLogin(ctx)
	defer end()
	dials := &oracleDials{ctx: ctx, target: t, login: login}
	defer dials.release()
	config := t.oracleConfig(dials)
	s := &oracleSession{database: database, timeout: timeout, dials: dials}
	err := s.call(func() (err error) {
		if s.conn, err = goora.NewConnection("", config); err != nil {
			return err
		}
		// With a context that ends, the driver would close the connection under its own
		// feet: dials ends it instead.
		return s.conn.OpenWithContext(context.WithoutCancel(ctx))
	})
	if err == nil {
		err = s.begin()
	}
	if err != nil {
		dials.close()
		return nil, t.classifyOracle(database, dials.failure(ctx, err))
	}
	return s, nil
}

// begin sets up a session.
func (s *oracleSession) begin() error {
	settings := oracleSettings
	if s.database != s.dials.target.Database {
		if strings.ContainsAny(s.database, "\"\x00") || s.database == "" {
			return &network.OracleError{ErrCode: oraNoPDB}
		}
		settings = append(settings[:len(settings):len(settings)], `ALTER SESSION SET CONTAINER = "`+s.database+`"`)
	}
	for _, setting := range settings {
		err := s.call(func() error {
			_, err := s.conn.Exec(ours + setting)
			return err
		})
		if is[*network.OracleError](err) && strings.HasPrefix(setting, "BEGIN") {
			err = nil // the package was taken from everybody: our sessions are known by their program, too
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// oracleConfig is the driver's complete configuration. It is made by hand, because the driver
// adds the machine's name, its user, and wallets to what it parses from a string.
func (t Target) oracleConfig(dials *oracleDials) *configurations.ConnectionConfig {
	c := &configurations.ConnectionConfig{
		PrefetchRows: 1000, // rows of a few hundred bytes: one round trip for most answers
		ClientInfo: configurations.ClientInfo{
			ProgramPath: ApplicationName, ProgramName: ApplicationName, OSUserName: ApplicationName, HostName: ApplicationName,
			DriverName: ApplicationName, Language: "AMERICAN", Territory: "AMERICA",
		},
		DatabaseInfo: configurations.DatabaseInfo{
			UserID: t.User, Password: t.Password, Location: "UTC",
			Servers: []configurations.ServerAddr{{Addr: t.Host, Port: int(t.Port)}},
		},
		SessionInfo: configurations.SessionInfo{
			SessionDataUnitSize: tnsUnit, TransportDataUnitSize: tnsUnit, Protocol: "tcp", SSLVerify: true, Dialer: dials,
		},
	}
	if t.oracle.bySID {
		c.SID = t.Database
	} else {
		c.ServiceName, c.InstanceName = t.Database, t.oracle.instance
	}
	if t.TLS != TLSDisable {
		c.SSL, c.Protocol = true, "tcps"
	}
	// Also where TLS is off: a listener may send us on to an address that has it.
	c.TLSConfig = &tls.Config{
		MinVersion: tls.VersionTLS12, CipherSuites: suites(),
		InsecureSkipVerify: t.TLS != TLSVerifyFull, //nolint:gosec // G402: sslmode=require says so
	}
	if t.reach != nil {
		c.TLSConfig.RootCAs = t.reach.Authorities
	}
	t.oracle.wallet.Secure(c.TLSConfig)
	return c
}

// oracleHops is how many addresses a listener may send us on to: a cluster's to one of its
// nodes, and that one's to a dispatcher.
const oracleHops = 4

// oracleDials connects the driver: to the target, and to the address to which its listener
// redirects us, each checked by the target's reach.
type oracleDials struct {
	ctx     context.Context //nolint:containedctx // the driver's has no end
	target  Target
	login   *login
	hops    int
	wire    *wire // the one in use
	unbound func()
}

// DialContext connects to an address that the driver names: the target's, or the one from a
// listener.
func (d *oracleDials) DialContext(_ context.Context, _, address string) (net.Conn, error) {
	d.close()
	if d.hops++; d.hops > oracleHops {
		return nil, errNotOracle
	}
	to, err := d.target.at(address)
	if err != nil {
		return nil, err
	}
	conn, err := d.login.hears(to.dial(d.ctx))
	if err != nil {
		return nil, d.said(err)
	}
	d.wire = &wire{Conn: conn, tls: d.target.TLS != TLSDisable, spare: loginAnswers}
	d.unbound = d.wire.bound(d.ctx)
	return d.wire, nil
}

// at is the target at another address.
func (t Target) at(address string) (Target, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return Target{}, errNotOracle
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 || host == "" {
		return Target{}, errNotOracle
	}
	t.Host, t.Port = host, uint16(n)
	return t, nil
}

// said keeps an address that a listener named out of what people read: it is the
// network's, and not of those who registered the server.
func (d *oracleDials) said(err error) error {
	if d.hops > 1 && is[*ConnectionError](err) {
		return notAllowed("%s sends us on to an address in a network that this installation does not connect to (MUSTER_TARGET_NETWORKS).", d.target.Address())
	}
	return err
}

// release ends what the context of the handshake bounds.
func (d *oracleDials) release() {
	if d.unbound != nil {
		d.unbound()
		d.unbound = nil
	}
}

func (d *oracleDials) close() {
	d.release()
	if d.wire != nil {
		_ = d.wire.Close()
	}
}

// failure is the cause of the driver's error: why reading or writing failed, and before that,
// that the caller's context has ended.
func (d *oracleDials) failure(ctx context.Context, err error) error {
	if is[*network.OracleError](err) || is[*ConnectionError](err) {
		return err
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if d.wire != nil {
		if cause := d.wire.failure(); cause != nil && isTimeout(cause) {
			return context.DeadlineExceeded // the socket's clock was first
		} else if cause != nil {
			return cause
		}
	}
	return err
}

// classifyOracle says in a class and a sentence why a server was not reached.
func (t Target) classifyOracle(database string, err error) *ConnectionError {
	if excluded, ok := errors.AsType[*ConnectionError](err); ok {
		return excluded
	}
	if errors.Is(err, errNotDialled) {
		return notAllowed("%s is in a network that this installation does not connect to (MUSTER_TARGET_NETWORKS).", t.Address())
	}
	if answer, ok := errors.AsType[*network.OracleError](err); ok {
		return t.refusedByOracle(database, answer.ErrCode)
	}
	if number, ok := negotiated(err); ok {
		return t.refusedByOracle(database, number)
	}
	if isTimeout(err) || errors.Is(err, context.Canceled) {
		return unreached(ClassTimeout, "%s did not answer within %s.", t.Address(), ConnectTimeout)
	}
	switch {
	case errors.Is(err, errSpeaksTLS):
		return unreached(ClassTLS, "%s expects TLS: register it with sslmode=%s.", t.Address(), TLSVerifyFull)
	case errors.Is(err, errSpeaksTCP):
		return unreached(ClassTLS, "%s sends us on to an address without TLS, and sslmode=%s wants it.", t.Address(), t.TLS)
	case isTLS(err):
		return t.tlsFailed(t.sslWords(), err)
	case is[*net.DNSError](err):
		return notFound(t.Address())
	case isDial(err):
		return unreached(ClassRefused, "Connection refused at %s: wrong host or port, or the listener is down.", t.Address())
	case isCut(err) && t.TLS == TLSDisable: // a listener that speaks TLS does not say so either
		return unreached(ClassRefused, "%s took the connection and closed it before anybody could sign in; if it expects TLS, register it with sslmode=%s.", t.Address(), TLSVerifyFull)
	case isCut(err):
		return unreached(ClassRefused, "%s took the connection and closed it before anybody could sign in.", t.Address())
	}
	return unreached(ClassDatabase, "%s answered, but not as an Oracle listener.", t.Address())
}

// negotiated is the number with which a server refused the services that the driver negotiates before a login, such
// as native network encryption. The driver has it in a text only.
func negotiated(err error) (number int, ok bool) {
	text := strings.ToLower(err.Error())
	if !strings.Contains(text, "advanced negotiation error") {
		return 0, false
	}
	if _, digits, found := strings.Cut(text, "ora-"); found {
		number, err = strconv.Atoi(digits)
		return number, err == nil
	}
	return oraNoEncryption, true
}

// isTimeout says whether the wait was too long.
func isTimeout(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout() || errors.Is(err, context.DeadlineExceeded)
}
