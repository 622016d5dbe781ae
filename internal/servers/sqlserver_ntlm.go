package servers

import (
	"encoding/binary"
	"errors"
	"strings"

	"github.com/microsoft/go-mssqldb/integratedauth"
	"github.com/microsoft/go-mssqldb/integratedauth/ntlm"
	"github.com/microsoft/go-mssqldb/msdsn"
)

// windowsUser is how an account of Windows is written.
const windowsUser = `DOMAIN\user (%5C in a URL)`

// checkWindows says whether the driver can sign in with an account of Windows.
func (t *Target) checkWindows() error {
	t.sqlServer.windows = true
	domain, user, _ := strings.Cut(t.User, `\`)
	switch {
	case domain == "" || user == "" || strings.Contains(user, `\`):
		return &DSNError{"an account of Windows is written " + windowsUser}
	case t.Password == "":
		return &DSNError{"it gives no password: Muster does not sign in with the account that it runs under"}
	case inUTF16(t.User+t.Password) != t.User+t.Password:
		return &DSNError{"its account of Windows has a character in its name or password that the driver cannot send (an emoji)"}
	}
	return nil
}

// errOldNTLM says that a server wants an answer from which a password can be guessed.
var errOldNTLM = errors.New("the server does not speak NTLMv2")

// ntlmVersion2 is the driver's name of a sign-in by NTLMv2 (MS-NLMP). The driver's own one answers a server that does not
// say that it speaks this version with the hash of LAN Manager, from which anybody on the way could guess the password.
// It is registered as the program starts, because connections read the driver's list without a lock.
var ntlmVersion2 = registerNTLMVersion2() //nolint:gochecknoglobals // the driver's list is one

func registerNTLMVersion2() string {
	const name = "ntlmv2"
	err := integratedauth.SetIntegratedAuthenticationProvider(name, integratedauth.ProviderFunc(
		func(config msdsn.Config) (integratedauth.IntegratedAuthenticator, error) {
			by, err := ntlm.AuthProvider.GetIntegratedAuthenticator(config)
			return onlyVersion2{by}, err
		}))
	if err != nil {
		panic(err) // only without a name
	}
	return name
}

type onlyVersion2 struct {
	integratedauth.IntegratedAuthenticator
}

// NextBytes answers a challenge. Its flags say what the server speaks (MS-NLMP 2.2.2.5).
func (o onlyVersion2) NextBytes(challenge []byte) ([]byte, error) {
	const at, extendedSecurity, targetInfo = 20, 0x00080000, 0x00800000
	if len(challenge) < at+4 {
		return nil, errOldNTLM
	}
	if flags := binary.LittleEndian.Uint32(challenge[at:]); flags&extendedSecurity == 0 || flags&targetInfo == 0 {
		return nil, errOldNTLM
	}
	return o.IntegratedAuthenticator.NextBytes(challenge)
}
