package hostmetrics

import (
	"bytes"
	"unicode/utf8"

	"muster/domain/fleet"
	"muster/domain/printable"
	"muster/internal/intake"
)

// Lengths of names, in bytes.
const (
	maxName  = 255 // of a host, as the name service has it, and of an instance
	maxMount = 1024

	maxAddress = 1024 // of an exporter, which may be a URL
)

// hostOf is the key of the host of a series, from host.name or else from the label instance.
func (m *Message) hostOf(l *Labels) (key string, reason intake.Reason) {
	said := l.Host
	if len(said) == 0 {
		said = l.Address
	}
	if known, ok := m.hosts[string(said)]; ok {
		return known, ""
	}
	if len(said) > maxAddress {
		return "", intake.TooLong
	}
	host := string(said)
	if len(l.Host) == 0 {
		host = fleet.HostOf(host)
	}
	if host == "" {
		return "", intake.NoHost
	}
	if reason := keepable([]byte(host), maxName); reason != "" {
		return "", reason
	}
	key = fleet.HostKey(printable.Clean(host))
	m.hosts[string(said)] = key
	return key, ""
}

// keepable says why a text cannot be stored; "" if it can.
func keepable(text []byte, most int) intake.Reason {
	switch {
	case len(text) > most:
		return intake.TooLong
	case !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0:
		return intake.Malformed
	}
	return ""
}
