package servers

import (
	"crypto/tls"
	"crypto/x509"
	"strings"

	"muster/domain/fleet"
)

// tlsWords are how a connection string asks for TLS, for the sentences about a handshake that failed.
type tlsWords struct {
	mode   string // as in encrypt=true
	anyone string // accepts any certificate; empty: nothing does
	named  string // names the certificate's host; empty: nothing does
	client string // gives a client certificate; empty: nothing does
}

// tlsCauses are why a TLS handshake fails, the most telling first, by the texts of Go's crypto/tls and crypto/x509,
// and of the drivers. They are known by text because a driver keeps nothing else of an error.
var tlsCauses = []struct {
	cause    string // from a closed list: it names nothing of the server
	texts    []string
	sentence string
}{
	{
		"unknown authority",
		[]string{"certificate signed by unknown authority", "certificate is not trusted", "certificate is not standards compliant"},
		"The certificate of @server does not verify: this machine does not know the authority that signed it. Install the authority's certificate here@anyone.",
	},
	{
		"other name",
		[]string{"certificate is valid for", "certificate is not valid for", "doesn't contain any IP SANs", "legacy Common Name", "certificate is not authorized to sign"},
		"The certificate of @server does not verify: it is for another host name. Register the server by the name of its certificate@named@anyone.",
	},
	{
		"expired",
		[]string{"certificate has expired or is not yet valid"},
		"The certificate of @server does not verify: it has expired or is not valid yet. Install a new one there@anyone.",
	},
	{
		"SHA-1",
		[]string{"insecure algorithm", "SHA1", "signature algorithm", "signature scheme"},
		"The certificate of @server or its handshake is signed with SHA-1, which Muster does not accept. Install a certificate with SHA-256 there.",
	},
	{
		"unreadable certificate",
		[]string{"failed to parse certificate", "x509: invalid", "x509: malformed", "negative serial"},
		"The certificate of @server cannot be read, so no setting makes Muster accept it. Install another one there.",
	},
	{
		"client certificate",
		[]string{"tls: certificate required", "tls: bad certificate"},
		"@server asks for a client certificate (mutual TLS), and Muster has none that it knows. Register an address of it that does not@client.",
	},
	{
		"old version",
		[]string{"unsupported protocol version", "protocol version not supported", "no supported versions"},
		"@server offers only TLS 1.0 or 1.1, and Muster asks for 1.2 or newer. Enable TLS 1.2 there.",
	},
	{
		"handshake refused",
		[]string{"tls: handshake failure", "unconfigured cipher suite", "insufficient security"},
		"@server refused the TLS handshake: it has no cipher in common with Muster, or asks for a client certificate. Enable a cipher with AES-GCM there@client.",
	},
	{
		"no TLS",
		[]string{"does not look like a TLS handshake", "refused TLS", "does not support encryption", "server does not support SSL"},
		"@server does not speak TLS with @mode: TLS is off there.",
	},
	{
		"cut",
		[]string{"EOF", "connection reset", "broken pipe"},
		"@server broke off the TLS handshake with @mode. Servers do so that have only TLS 1.0, or no TLS at this port.",
	},
}

// tlsFailed says why a TLS handshake failed.
func (t Target) tlsFailed(words tlsWords, err error) *ConnectionError {
	optional := func(what string) string {
		if what == "" {
			return ""
		}
		return ", or " + what
	}
	fill := strings.NewReplacer("@server", t.Address(), "@mode", words.mode, "@named", optional(words.named), "@anyone", optional(words.anyone), "@client", optional(words.client))
	text := err.Error()
	for _, known := range tlsCauses {
		for _, part := range known.texts {
			if strings.Contains(text, part) {
				return &ConnectionError{Class: ClassTLS, Cause: known.cause, Sentence: fill.Replace(known.sentence)}
			}
		}
	}
	return &ConnectionError{Class: ClassTLS, Sentence: fill.Replace("@server and Muster did not agree on TLS with @mode.")}
}

// sslWords are those of connection strings with a parameter sslmode.
func (t Target) sslWords() tlsWords {
	words := tlsWords{mode: "sslmode=" + t.TLS}
	if t.TLS != TLSRequire {
		words.anyone = "accept any certificate with sslmode=" + TLSRequire
	}
	if t.Engine == fleet.Oracle && t.oracle.wallet == nil {
		words.client = "give a client certificate with wallet=…"
	}
	return words
}

// isTLS reports whether a TLS handshake failed. A driver's own refusal has no type, so its text tells.
func isTLS(err error) bool {
	text := err.Error()
	return is[tls.RecordHeaderError](err) || is[tls.AlertError](err) || is[*tls.CertificateVerificationError](err) ||
		is[x509.UnknownAuthorityError](err) || is[x509.HostnameError](err) || is[x509.CertificateInvalidError](err) ||
		strings.Contains(text, "refused TLS") || strings.Contains(text, "tls:") || strings.Contains(text, "x509:")
}

// suites are the cipher suites for database servers: Go's own, and, for a server that has nothing else, those with
// the key exchange of RSA and AES. Amazon RDS offers no others to some versions of Oracle, and Windows Server 2012
// none to SQL Server. They keep no forward secrecy, so they are chosen last.
func suites() (ids []uint16) {
	for _, s := range tls.CipherSuites() {
		ids = append(ids, s.ID)
	}
	return append(ids, tls.TLS_RSA_WITH_AES_256_GCM_SHA384, tls.TLS_RSA_WITH_AES_128_GCM_SHA256, tls.TLS_RSA_WITH_AES_256_CBC_SHA,
		tls.TLS_RSA_WITH_AES_128_CBC_SHA)
}
