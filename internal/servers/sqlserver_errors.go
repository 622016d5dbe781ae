package servers

import (
	"context"
	"errors"
	"net"
	"slices"
	"strconv"
	"strings"

	mssql "github.com/microsoft/go-mssqldb"

	"muster/domain/fleet"
)

// sqlServerLogins are the errors with which a SQL Server does not let us in, the most
// telling first: it may say two of them, and the last is always 18456. They are from its
// documentation, "Database Engine events and errors".
var sqlServerLogins = []struct {
	numbers         []int32
	class, sentence string
}{
	{[]int32{18487, 18488}, ClassAuthentication, "The password of login @login has expired at @server, or must be changed before it signs in."},
	{[]int32{18486}, ClassAuthentication, "Login @login is locked at @server, after too many wrong passwords."},
	{[]int32{18470}, ClassAuthentication, "Login @login is disabled at @server."},
	{
		[]int32{976, 978, 979, 982, 983}, ClassDatabase,
		"Database @database is on a secondary replica at @server that takes no such connections; where it takes readers, say applicationIntent=ReadOnly.",
	},
	{
		[]int32{921, 922, 923, 924, 926, 927, 942, 945, 946, 951, 952, 954}, ClassDatabase,
		"Database @database is away at @server: it is offline, being restored or recovered, or for one user alone.",
	},
	{[]int32{911, 916, 4060, 4064}, ClassDatabase, "@server does not let login @login connect to database @database: it does not exist, is away, or the login is no user of it."},
	{[]int32{40615, 40914}, ClassRefused, "The firewall of @server does not let Muster's address in."},
	{[]int32{47073}, ClassRefused, "@server takes no connections from public networks: register its private endpoint."},
	{[]int32{17892}, ClassAuthentication, "A logon trigger at @server refused login @login."},
	{[]int32{17809, 10928, 10929}, ClassRefused, "@server refuses connections: there are too many."},
	{[]int32{6005}, ClassRefused, "@server refuses connections: it is shutting down."},
	{[]int32{17142}, ClassRefused, "@server refuses connections: it is paused."},
	{[]int32{17187, 18401}, ClassRefused, "@server refuses connections: it is starting."},
	{[]int32{40197, 40501, 40613, 49918, 49919, 49920}, ClassRefused, "@server refuses connections: Azure says that it is busy or not available."},
	{[]int32{18450, 18451, 18452, 18456, 18458, 18459, 18460, 18461}, ClassAuthentication, "@server does not let @kind @login in: wrong name or password, or @perhaps."},
}

// classifySQLServer looks for what the server itself answered first.
func (t Target) classifySQLServer(database string, err error) *ConnectionError {
	if database == "" {
		database = "of the login"
	} else {
		database = strconv.Quote(database)
	}
	kind, perhaps := "login", "it takes accounts of Windows and Entra only"
	switch {
	case t.sqlServer.windows:
		kind, perhaps = "account", "it has no login for it, or does not trust its domain, or takes Kerberos only"
	case t.sqlServer.entra:
		kind, perhaps = "application", "it has no user for it, or does not take accounts of Entra"
	}
	fill := strings.NewReplacer("@server", t.Address(), "@login", strconv.Quote(t.User), "@database", database, "@kind", kind, "@perhaps", perhaps)
	say := func(class, sentence string) *ConnectionError {
		return &ConnectionError{Class: class, Sentence: fill.Replace(sentence)}
	}
	if excluded, ok := errors.AsType[*ConnectionError](err); ok {
		return excluded
	}
	if errors.Is(err, errNotDialled) {
		return notAllowed("%s is in a network that this installation does not connect to (MUSTER_TARGET_NETWORKS).", t.Address())
	}
	if numbers := sqlServerNumbers(err); len(numbers) > 0 {
		for _, known := range sqlServerLogins {
			if i := slices.IndexFunc(numbers, func(n int32) bool { return slices.Contains(known.numbers, n) }); i >= 0 {
				e := say(known.class, known.sentence)
				e.Code = strconv.Itoa(int(numbers[i]))
				return e
			}
		}
		code := strconv.Itoa(int(numbers[0]))
		e := say(ClassDatabase, "@server refuses to let login @login work on database @database, with error "+code+".")
		e.Code = code
		return e
	}
	var timeout net.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout():
		return say(ClassTimeout, "@server did not answer within "+ConnectTimeout.String()+".")
	case errors.Is(err, errNoBrowser):
		return say(ClassRefused, "SQL Server Browser (UDP port "+strconv.Itoa(browserPort)+") did not say where @server listens: it is stopped, a firewall is in between, or there is no "+
			"instance of that name with TCP/IP. Start it, or register the instance by its port (give it "+fixedPort+"). A database is named by ?database=….")
	case isTLS(err) || strings.HasPrefix(err.Error(), "TLS Handshake") || strings.Contains(err.Error(), "encrypt"):
		return t.tlsFailed(t.encryptWords(), err)
	case is[*net.DNSError](err):
		return notFound(t.Address())
	case isDial(err):
		sentence := "Connection refused at @server: wrong host or port, or the server is down."
		if t.Port != sqlServerPort {
			sentence += " A named instance may have another port since its last start: give it " + fixedPort + "."
		}
		return say(ClassRefused, sentence)
	case errors.Is(err, errOldNTLM):
		return say(ClassAuthentication, "@server asks for a kind of NTLM from which a password can be guessed. Muster signs in by NTLMv2 only.")
	case errors.Is(err, errTooManyHops):
		return say(ClassRefused, "@server sends connections on to a server that sends them on again.")
	}
	return say(ClassDatabase, "@server answered, but not as a SQL Server, or it broke off.")
}

// encryptWords are those of a connection string of SQL Server.
func (t Target) encryptWords() tlsWords {
	words := tlsWords{mode: "encrypt=" + t.TLS, named: "give that name with hostNameInCertificate"}
	if t.TLS != EncryptStrict && !t.sqlServer.trust {
		words.anyone = "accept any certificate with trustServerCertificate=true"
	}
	return words
}

// isDial tells a connection that failed to open from one that broke, which the driver may also
// call a *net.OpError.
func isDial(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}

// sqlServerNumbers are those of the errors that a server sent, in its order.
func sqlServerNumbers(err error) []int32 {
	answer, ok := errors.AsType[mssql.Error](err)
	if !ok {
		return nil
	}
	var numbers []int32
	for _, e := range answer.All {
		numbers = append(numbers, e.Number)
	}
	if len(numbers) == 0 {
		numbers = append(numbers, answer.Number)
	}
	return numbers
}

// sqlServerReasons are the errors of queries that say more than that they failed.
var sqlServerReasons = map[int32]Reason{
	229: Denied, 230: Denied, // on an object, on a column
	262: Denied, // VIEW DATABASE STATE and the like
	297: Denied, // which follows 262 and 300
	300: Denied, // VIEW SERVER STATE and the like
	371: Denied, // likewise, where an external policy could have granted it
	916: Denied, // the login is no user of the database

	195: Absent, 207: Absent, 208: Absent, // function, column, object
	2812: Absent, 4121: Absent, // procedure, function

	1205: TimedOut, 1222: TimedOut, // gave way in a deadlock, waited for a lock
}

// clientTimeout is the number under which the client libraries of SQL Server list their
// own deadline: the server knows none.
const clientTimeout = -2

// sqlServerRefusal is an error of a server without what it said.
func sqlServerRefusal(numbers []int32) *Refusal {
	number, reason := numbers[len(numbers)-1], Failed
	for _, n := range numbers {
		if known, ok := sqlServerReasons[n]; ok {
			number, reason = n, known
			break
		}
	}
	if number == clientTimeout {
		reason = TimedOut
	}
	return &Refusal{Engine: fleet.SQLServer, Code: "error " + strconv.Itoa(int(number)), Reason: reason}
}
