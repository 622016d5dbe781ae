package servers

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"syscall"

	"muster/domain/fleet"
)

// Numbers of Oracle that are asked for by name.
const (
	oraInterrupted  = 1013
	oraNoPDB        = 65011
	oraNoEncryption = 12650 // no common algorithm of encryption or of checksums
)

// The answers of a server or its listener to a connection, by number (Oracle Database Error
// Messages). Unlisted numbers are of the class database.
var (
	oraLogin     = []int{1004, 1005, 1017, 1045, 28009, 28030, 28041, 28043}
	oraLocked    = []int{28000}
	oraExpired   = []int{28001}
	oraNoService = []int{12504, 12505, 12514, 12521, 12523, 12545}
	oraFull      = []int{18, 20, 2391, 12516, 12518, 12519, 12520}
	oraStarting  = []int{1033, 1034, 1035, 1089, 1109, 1090, 1092, 12526, 12527, 12528}
	oraDown      = []int{12541, 12542, 12543}
	oraFiltered  = []int{12506, 12564}
	oraCut       = []int{28, 1012, 3113, 3114, 3135, 12537, 12547, 12571}
	oraSlow      = []int{3136, 12170, 12535, 12606, 12608, 12609}
	oraTrigger   = []int{604, 4088, 16000}
	oraServices  = []int{12631, 12637, 12638, 12639, 12641}
	oraEncrypted = []int{12268, 12269, oraNoEncryption, 12660}
	oraTLS       = []int{28759, 28860, 28861, 28862, 28864, 28865, 29024}
)

// refusedByOracle is why a server or its listener did not let us in.
func (t Target) refusedByOracle(database string, number int) *ConnectionError {
	at := t.Address()
	unreached := func(class, format string, args ...any) *ConnectionError {
		e := unreached(class, format, args...)
		e.Code = fmt.Sprintf("ORA-%05d", number)
		return e
	}
	among := func(numbers []int) bool { return slices.Contains(numbers, number) }
	switch {
	case among(oraLocked):
		return unreached(ClassAuthentication, "%s does not let user %q in: the account is locked.", at, t.User)
	case among(oraExpired):
		return unreached(ClassAuthentication, "%s does not let user %q in: the password has expired.", at, t.User)
	case number == 1045:
		return unreached(ClassAuthentication, "%s does not let user %q in: CREATE SESSION is not granted.", at, t.User)
	case among(oraLogin):
		return unreached(ClassAuthentication,
			"%s does not let user %q in: wrong user or password, or the account has no password version that Muster's driver speaks (ORA-%05d).", at, t.User, number)
	case number == 28040:
		return unreached(ClassAuthentication, "%s accepts newer clients only than Muster's driver: SQLNET.ALLOWED_LOGON_VERSION_SERVER there decides (ORA-28040).", at)
	case among(oraTrigger) || number >= 20000 && number < 21000:
		return unreached(ClassAuthentication,
			"A trigger at %s refused the sign-in of user %q. Ask its owner to let program %q in (ORA-%05d).", at, t.User, ApplicationName, number)
	case among(oraServices):
		return unreached(ClassAuthentication,
			"%s and Muster agree on no way to authenticate: SQLNET.AUTHENTICATION_SERVICES there must admit passwords (ORA-%05d).", at, number)
	case among(oraEncrypted):
		return unreached(ClassTLS,
			"%s requires native network encryption of a kind that Muster's driver does not have (ORA-%05d). Register an address with TLS (TCPS), with sslmode=%s.",
			at, number, TLSVerifyFull)
	case among(oraNoService):
		return unreached(ClassDatabase, "The listener at %s knows no %s %q (ORA-%05d).", at, t.databaseKind(), t.Database, number)
	case among(oraFull):
		return unreached(ClassRefused, "%s refuses connections: there are too many (ORA-%05d).", at, number)
	case among(oraStarting):
		return unreached(ClassRefused, "%s refuses connections: it is starting, stopping, mounted only or restricted (ORA-%05d).", at, number)
	case among(oraDown):
		return unreached(ClassRefused, "Connection refused at %s: wrong host or port, or the listener is down.", at)
	case among(oraFiltered):
		return unreached(ClassRefused, "The listener at %s does not take connections from here (ORA-%05d).", at, number)
	case among(oraCut):
		return unreached(ClassRefused, "%s took the connection and closed it before anybody could sign in (ORA-%05d).", at, number)
	case among(oraSlow):
		return unreached(ClassTimeout, "%s did not answer in time (ORA-%05d).", at, number)
	case among(oraTLS):
		return unreached(ClassTLS, "%s and Muster did not agree on TLS with sslmode=%s (ORA-%05d).", at, t.TLS, number)
	}
	return unreached(ClassDatabase, "%s does not let user %q connect to %q: it does not exist, is not open, or SET CONTAINER on it is not granted (ORA-%05d).", at, t.User, database, number)
}

func (t Target) databaseKind() string {
	if t.oracle.bySID {
		return "sid"
	}
	return "service"
}

// oracleRefusal is why a server refused a query. ORA-00942 says that a view is absent or
// that we may not read it, and nothing tells the two apart for an account that may not;
// but a query reads documented views only, of the versions it is sent to, so that they are
// there.
func oracleRefusal(number int) *Refusal {
	refusal := &Refusal{Engine: fleet.Oracle, Code: fmt.Sprintf("ORA-%05d", number), Reason: Failed}
	switch number {
	case 942, 1031, 41900: // 41900: 23ai names the privilege that is missing
		refusal.Reason = Denied
	case 904, 4043, 6553, 6575: // no such column, object, function
		refusal.Reason = Absent
	case oraInterrupted, 40, 51, 54, 4021, 30006: // canceled, or a resource was waited for too long
		refusal.Reason = TimedOut
	}
	return refusal
}

// unreached is a *ConnectionError.
func unreached(class, format string, args ...any) *ConnectionError {
	return &ConnectionError{Class: class, Sentence: fmt.Sprintf(format, args...)}
}

// isCut says whether the other end closed a connection. The driver says so in a word where
// a server announced it by a number.
func isCut(err error) bool {
	return errors.Is(err, driver.ErrBadConn) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}
