package servers

import (
	"context"
	"crypto/tls"
	"errors"
	"strings"
	"time"
	"unicode/utf16"

	mssql "github.com/microsoft/go-mssqldb"
	"github.com/microsoft/go-mssqldb/msdsn"
)

// sqlServerSettings begin each statement, and end with it: they are set within
// sp_executesql, after which the server restores what was set before. A proxy that shares
// connections to the server, such as that of Amazon RDS, gives the next client none of them.
//
// It reads what is committed, though READ UNCOMMITTED would never wait: a look at the
// query store while it is written to disk could find a row twice or not at all, and what is
// counted would be wrong without anybody saying so. A query that has to wait gives up after
// half a second, and its part is missing. In a deadlock we are the one to give way.
const sqlServerSettings = `SET NOCOUNT ON; SET LOCK_TIMEOUT 500; SET DEADLOCK_PRIORITY LOW;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED; SET IMPLICIT_TRANSACTIONS OFF;
SET ANSI_NULLS, ANSI_PADDING, ANSI_WARNINGS, ARITHABORT, CONCAT_NULL_YIELDS_NULL, QUOTED_IDENTIFIER ON;
SET NUMERIC_ROUNDABORT OFF; SET ROWCOUNT 0; SET LANGUAGE us_english;
`

// openSQLServer opens a session. SQL Server has no read-only session: our queries, and the
// rights of our login, keep it so.
func openSQLServer(ctx context.Context, t Target, database string, timeout time.Duration) (Session, error) {
	if t.sqlServer.instance != "" {
		port, err := t.browse(ctx)
		if err != nil {
			return nil, t.classifySQLServer(database, err)
		}
		t.Port = port
	}
	token, err := t.entraToken(ctx)
	if err != nil {
		return nil, t.classifySQLServer(database, err)
	}
	login, ctx, end := newLogin(ctx)
	defer end()
	dialer := &sqlServerDialer{target: t, login: login}
	// The driver heeds its context while it dials, and not while it greets and signs in.
	stop := context.AfterFunc(ctx, dialer.cut)
	conn, err := signIn(ctx, t.sqlServerConnector(database, token), dialer)
	if err == nil {
		s := &sqlServerSession{database: database, timeout: timeout, conn: conn, raw: dialer.last()}
		if stop() {
			return s, nil
		}
	}
	stop()
	dialer.cut()
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return nil, t.classifySQLServer(database, err)
}

// signIn connects, and survives a server that makes the driver panic: it trusts some
// lengths that a server of another kind may say anything about.
func signIn(ctx context.Context, connector *mssql.Connector, dialer *sqlServerDialer) (conn *mssql.Conn, err error) {
	defer func() {
		if problem := recover(); problem != nil {
			err = errors.New("the server's greeting is of another protocol")
		}
	}()
	connector.Dialer = dialer
	opened, err := connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return opened.(*mssql.Conn), nil
}

// sqlServerConnector signs in as the connection string says, with a token if it is not empty.
func (t Target) sqlServerConnector(database, token string) *mssql.Connector {
	config := t.sqlServerConfig(database)
	if token == "" {
		return mssql.NewConnectorConfig(config)
	}
	config.User, config.Password = "", ""
	connector, err := mssql.NewSecurityTokenConnector(config, func(context.Context) (string, error) { return token, nil })
	if err != nil {
		panic(err) // only without a provider
	}
	return connector
}

func (t Target) sqlServerConfig(database string) msdsn.Config {
	encryption := map[string]msdsn.Encryption{
		EncryptStrict: msdsn.EncryptionStrict, EncryptTrue: msdsn.EncryptionRequired, EncryptLogin: msdsn.EncryptionOff, EncryptDisable: msdsn.EncryptionDisabled,
	}[t.TLS]
	config := msdsn.Config{
		Host: t.Host, Port: uint64(t.Port), Protocols: []string{"tcp"},
		User: inUTF16(t.User), Password: inUTF16(t.Password), Database: inUTF16(database),
		AppName: ApplicationName, ReadOnlyIntent: t.sqlServer.readOnly,
		DisableRetry: true, DialTimeout: LoginTimeout,
		Encryption: encryption, HostInCertificateProvided: t.sqlServer.certificate != "",
		TLSConfig: &tls.Config{
			ServerName: t.Host, InsecureSkipVerify: t.sqlServer.trust, //nolint:gosec // G402: where whoever registered it wants so
			MinVersion: tls.VersionTLS12, DynamicRecordSizingDisabled: true, // as the driver's own
			CipherSuites: suites(),
		},
	}
	if t.sqlServer.windows {
		config.User, config.Password = t.User, t.Password // NTLM does not send them
		config.Parameters = map[string]string{"authenticator": ntlmVersion2}
	}
	if t.sqlServer.certificate != "" {
		config.TLSConfig.ServerName = t.sqlServer.certificate
	}
	if t.reach != nil {
		config.TLSConfig.RootCAs = t.reach.Authorities
	}
	return config
}

// inUTF16 lengthens a text that is sent with a login: the driver sends it in UTF-16 and counts
// it in runes, so that a server would miss the end of one with an emoji in it. The addition
// lies beyond the length that is sent.
func inUTF16(text string) string {
	missing := len(utf16.Encode([]rune(text))) - len([]rune(text))
	return text + strings.Repeat(" ", missing)
}
