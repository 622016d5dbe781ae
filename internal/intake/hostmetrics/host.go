package hostmetrics

import (
	"bytes"
	"net"
	"unicode/utf8"

	"muster/internal/intake"
)

// Lengths of names, in bytes.
const (
	maxName  = 255 // of a host, as the name service has it, and of an instance
	maxMount = 1024
)

func hostOf(l *Labels) ([]byte, intake.Reason) {
	name := l.Host
	if len(name) == 0 {
		if len(l.Address) > 2*maxName { // no port is so long
			return nil, intake.TooLong
		}
		name = withoutPort(l.Address)
	}
	if len(name) == 0 {
		return nil, intake.NoHost
	}
	return name, keepable(name, maxName)
}

// withoutPort is the host of an address: db01:9100, [::1]:9100, db01, ::1.
func withoutPort(address []byte) []byte {
	if bytes.IndexByte(address, '[') < 0 && bytes.Count(address, []byte(":")) <= 1 {
		host, _, _ := bytes.Cut(address, []byte(":"))
		return host
	}
	host, _, err := net.SplitHostPort(string(address))
	if err != nil { // several colons, or brackets without a port
		return bytes.TrimSuffix(bytes.TrimPrefix(address, []byte("[")), []byte("]"))
	}
	return []byte(host)
}

// keepable says why a text cannot be kept; "" where it can.
func keepable(text []byte, most int) intake.Reason {
	switch {
	case len(text) > most:
		return intake.TooLong
	case !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0:
		return intake.Malformed
	}
	return ""
}
