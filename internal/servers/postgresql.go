package servers

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"muster/domain/printable"
)

const lockTimeout = 500 * time.Millisecond

// openPostgreSQL opens a session that waits for no lock and resolves names in pg_catalog
// alone. A server that turns out to be Muster's own is left before anything of it is read.
func openPostgreSQL(ctx context.Context, t Target, database string, timeout time.Duration) (Session, error) {
	config, err := t.config(database)
	if err != nil {
		return nil, &ConnectionError{Class: ClassDatabase, Sentence: "Muster could not prepare the connection to " + t.Address() + "."}
	}
	login, ctx, end := newLogin(ctx)
	defer end()
	failed := func(err error) error {
		if cause := context.Cause(ctx); errors.Is(cause, context.DeadlineExceeded) {
			err = cause
		}
		return t.classify(database, err)
	}
	if err := t.confine(ctx, config); err != nil {
		return nil, failed(err)
	}
	dial := config.DialFunc
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		return login.hears(dial(ctx, network, address))
	}
	conn, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return nil, failed(err)
	}
	s := &postgresSession{database: database, timeout: timeout, conn: conn}
	if err := t.begin(ctx, s); err != nil {
		err = failed(err)
		_ = conn.Close(ctx)
		return nil, err
	}
	return s, nil
}

// confine bounds where a connection may go. The installation's own server is
// reached as its connection string says.
func (t Target) confine(ctx context.Context, config *pgconn.Config) error {
	switch {
	case t.own:
		return nil
	case t.Socket():
		return notAllowed("Muster does not connect to Unix sockets; register the server by a host name or an address.")
	case t.reach == nil:
		return notAllowed("Nothing says whether Muster may connect to %s.", t.Address())
	}
	addresses, err := t.reach.addresses(ctx, t)
	if err != nil {
		return err
	}
	config.LookupFunc = func(context.Context, string) ([]string, error) { return addresses, nil }
	config.DialFunc = t.reach.dialer().DialContext
	return nil
}

// begin checks whether a server runs our transactions, and whether Muster may look at it.
func (t Target) begin(ctx context.Context, s *postgresSession) error {
	if err := s.greet(ctx); err != nil {
		if isStatementPooling(err) {
			return &ConnectionError{Class: ClassDatabase, Sentence: t.Address() + " is a connection pooler in statement mode, which runs no transactions, " +
				"and Muster reads in nothing else: register the server behind it, or a pool with pool_mode=session or transaction."}
		}
		return err
	}
	if t.own || t.reach.Own == nil {
		return nil
	}
	ours, err := t.reach.Own.answers(ctx, s)
	if err == nil && ours {
		err = notAllowed("%s is the PostgreSQL server that keeps Muster's own data, or a copy of it; Muster does not look at that for anybody.", t.Address())
	}
	return err
}

// neutral is a connection string that overrides every setting pgconn would
// otherwise take from the environment or the home directory, so that a stray
// PGPORT=x there cannot even make the parser fail. What matters is set on the
// parsed configuration afterwards.
const neutral = `host=localhost port=5432 user=nobody dbname=postgres password='' passfile='' ` +
	`sslcert='' sslkey='' sslrootcert='' sslcertmode=disable sslnegotiation=postgres sslsni=1 sslpassword='' ` +
	`connect_timeout=10 target_session_attrs=any min_protocol_version=3.0 max_protocol_version=3.0 ` +
	`channel_binding=prefer require_auth=''`

func (t Target) config(database string) (*pgconn.Config, error) {
	text, cleanup, err := neutralService()
	if err != nil {
		return nil, err
	}
	defer cleanup()
	mode := t.TLS
	if t.Socket() {
		mode = TLSDisable
	}
	config, err := pgconn.ParseConfig(text + " sslmode=" + mode)
	if err != nil {
		return nil, err
	}
	config.Host, config.Port = t.Host, t.Port
	config.User, config.Password, config.Database = t.User, t.Password, database
	config.RuntimeParams = map[string]string{} // a pooler keeps them on a connection that is not ours alone, or refuses them
	config.ConnectTimeout = LoginTimeout       // and less where the server is silent (login)
	attempts := []*tls.Config{config.TLSConfig}
	for _, fallback := range config.Fallbacks { // of allow and prefer, which try twice
		fallback.Host, fallback.Port = t.Host, t.Port
		attempts = append(attempts, fallback.TLSConfig)
	}
	for _, attempt := range attempts {
		if attempt != nil {
			attempt.ServerName = t.Host
		}
	}
	return config, nil
}

// neutralService works around PGSERVICE: if it is set, pgconn reads a service file whatever the
// connection string says, and fails if the file lacks the service. The only way around it is a
// service file of our own.
func neutralService() (text string, cleanup func(), err error) {
	if os.Getenv("PGSERVICE") == "" {
		return neutral, func() {}, nil
	}
	file, err := os.CreateTemp("", "muster-service-*")
	if err != nil {
		return "", nil, fmt.Errorf("shadow PGSERVICE: %w", err)
	}
	cleanup = func() { _ = os.Remove(file.Name()) }
	_, err = file.WriteString("[muster]\n")
	if err := errors.Join(err, file.Close()); err != nil {
		cleanup()
		return "", nil, fmt.Errorf("shadow PGSERVICE: %w", err)
	}
	return neutral + ` service=muster servicefile='` + strings.ReplaceAll(file.Name(), `'`, `\'`) + `'`, cleanup, nil
}

// classify looks for what the server itself answered first: with sslmode
// prefer, the driver joins the errors of both attempts.
func (t Target) classify(database string, err error) *ConnectionError {
	say := func(class, format string, args ...any) *ConnectionError {
		return &ConnectionError{Class: class, Sentence: fmt.Sprintf(format, args...)}
	}
	if excluded, ok := errors.AsType[*ConnectionError](err); ok {
		return excluded
	}
	if errors.Is(err, errNotDialled) {
		return notAllowed("%s is in a network that this installation does not connect to (MUSTER_TARGET_NETWORKS).", t.Address())
	}
	if answer, ok := errors.AsType[*pgconn.PgError](err); ok {
		say := func(class, format string, args ...any) *ConnectionError {
			return &ConnectionError{Class: class, Sentence: fmt.Sprintf(format, args...), Code: answer.Code}
		}
		switch {
		case strings.HasPrefix(answer.Code, "28"):
			return say(ClassAuthentication, "%s does not let user %q in: wrong user or password, or no pg_hba.conf line for this connection.", t.Address(), t.User)
		case answer.Code == "57P03" || answer.Code == "53300":
			return say(ClassRefused, "%s refuses connections: %s (%s).", t.Address(), plain(answer.Message), answer.Code)
		case answer.Code == "57014" || answer.Code == "55P03":
			return say(ClassTimeout, "%s did not answer in time.", t.Address())
		default:
			return say(ClassDatabase, "%s does not let user %q connect to database %q: it does not exist, or CONNECT on it is not granted.", t.Address(), t.User, database)
		}
	}
	if refusal, ok := errors.AsType[*Refusal](err); ok && refusal.Reason == TimedOut {
		return say(ClassTimeout, "%s did not answer in time.", t.Address())
	}
	var timeout net.Error
	if errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout() {
		return say(ClassTimeout, "%s did not answer within %s.", t.Address(), ConnectTimeout)
	}
	if isTLS(err) {
		return t.tlsFailed(t.sslWords(), err)
	}
	if strings.Contains(err.Error(), "SCRAM") || strings.Contains(err.Error(), "SASL") {
		return say(ClassAuthentication, "%s and Muster did not agree on how user %q signs in.", t.Address(), t.User)
	}
	if is[*net.DNSError](err) {
		return notFound(t.Address())
	}
	if is[*net.OpError](err) {
		return say(ClassRefused, "Connection refused at %s: wrong host or port, or the server is down.", t.Address())
	}
	return say(ClassDatabase, "%s answered, but not as a PostgreSQL server that lets user %q connect to database %q.", t.Address(), t.User, database)
}

// plain is a message of a server as part of a sentence: one line that ends somewhere.
func plain(message string) string {
	words := []rune(printable.Clean(message))
	if len(words) > 200 {
		words = append(words[:200], '…')
	}
	return strings.TrimSuffix(string(words), ".")
}

// isStatementPooling knows what poolers say to BEGIN that give a connection for one statement
// alone. PgBouncer's has no code of its own.
func isStatementPooling(err error) bool {
	answer, ok := errors.AsType[*pgconn.PgError](err)
	return ok && strings.Contains(answer.Message, "statement pooling")
}
