package tdstest

import (
	"crypto/hmac"
	"crypto/md5" //nolint:gosec // NTLM is made of it
	"encoding/binary"
	"errors"
	"net"
	"strings"

	"golang.org/x/crypto/md4" //nolint:staticcheck,gosec // likewise
)

// Flags of NTLM (MS-NLMP 2.2.2.5).
const (
	ntlmUnicode          = 0x00000001
	ntlmItself           = 0x00000200
	ntlmExtendedSecurity = 0x00080000
	ntlmTargetInfo       = 0x00800000
)

// challenge asks who signs in (CHALLENGE_MESSAGE, 2.2.1.2), and reads the answer (AUTHENTICATE_MESSAGE, 2.2.1.3). The
// login gets its user, and the password only if the answer was made with the server's.
func (s *Server) challenge(conn net.Conn, l *Login) error {
	nonce := []byte("01234567")
	flags := uint32(ntlmUnicode | ntlmItself | ntlmExtendedSecurity | ntlmTargetInfo)
	if s.OldNTLM {
		flags = ntlmUnicode | ntlmItself
	}
	const fixed = 48
	info := []byte{0, 0, 0, 0} // the end of a list
	m := append([]byte("NTLMSSP\x00"), 2, 0, 0, 0)
	m = append(m, 0, 0, 0, 0, fixed, 0, 0, 0) // no target's name
	m = binary.LittleEndian.AppendUint32(m, flags)
	m = append(append(m, nonce...), make([]byte, 8)...)
	m = append(m, byte(len(info)), 0, byte(len(info)), 0, fixed, 0, 0, 0)
	r := &reply{w: conn}
	r.add(sized(0xED, append(m, info...)))
	if err := r.flush(true); err != nil {
		return err
	}
	answer, err := readMessage(conn)
	if err != nil {
		return err
	}
	const fields = 64
	if answer.kind != packetSSPI || len(answer.body) < fields {
		return errors.New("the answer to a challenge of NTLM is none")
	}
	field := func(at int) []byte {
		size, from := int(binary.LittleEndian.Uint16(answer.body[at:])), int(binary.LittleEndian.Uint32(answer.body[at+4:]))
		if from+size > len(answer.body) {
			return nil
		}
		return answer.body[from : from+size]
	}
	proof, domain, user := field(20), fromUCS2(field(28)), fromUCS2(field(36))
	l.User = domain + `\` + user
	if len(proof) > md5.Size && hmac.Equal(proof[:md5.Size], proofOf(s.Password, domain, user, nonce, proof[md5.Size:])) {
		l.Password = s.Password
	}
	return nil
}

// proofOf is what somebody sends who knows the password (NTProofStr, 3.3.2).
func proofOf(password, domain, user string, nonce, rest []byte) []byte {
	hash := md4.New()
	_, _ = hash.Write(ucs2(password))
	return keyed(keyed(hash.Sum(nil), ucs2(strings.ToUpper(user)+domain)), append(nonce, rest...))
}

func keyed(key, of []byte) []byte {
	mac := hmac.New(md5.New, key)
	_, _ = mac.Write(of)
	return mac.Sum(nil)
}

// federated is the token in the extensions of a login (2.2.6.4, FEDAUTH with a security token).
func federated(features []byte) string {
	const fedAuth, head, options = 2, 5, 1
	for len(features) > head {
		size := int(binary.LittleEndian.Uint32(features[1:]))
		if len(features) < head+size {
			return ""
		}
		if data := features[head : head+size]; features[0] == fedAuth && len(data) > options+4 {
			return fromUCS2(data[options+4:])
		}
		features = features[head+size:]
	}
	return ""
}
