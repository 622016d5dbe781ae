package servers

import (
	"bytes"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// sentence is a connection that has only this to say.
type sentence struct {
	io.Reader
	net.Conn
}

func (s sentence) Read(p []byte) (int, error) { return s.Reader.Read(p) }

func packet(kind byte, body ...byte) []byte {
	n := 8 + len(body)
	return append([]byte{byte(n >> 8), byte(n), 0, 0, kind, 0, 0, 0}, body...)
}

// acceptance has a version, and as many bytes after its 32 as tail has.
func acceptance(version byte, tail int) []byte {
	body := make([]byte, 24+tail)
	body[0], body[1], body[13] = 1, version, byte(32+tail)
	return packet(tnsAccept, body...)
}

func TestAWirePassesOnlyOraclesProtocol(t *testing.T) {
	t.Parallel()
	wide := []byte{0, 0, 0, 12, tnsData, 0, 0, 0, 0, 0, 7, 7}
	for name, test := range map[string]struct {
		said   []byte
		passes int // bytes
		err    error
	}{
		"a refusal":                      {packet(tnsRefuse, 1, 2, 3), 11, io.EOF},
		"a redirect and where to":        {append(packet(tnsRedirect, 0, 0), packet(tnsData, 0, 0, 'x')...), 21, io.EOF},
		"data that nobody asked for":     {packet(tnsData, 0, 0, 'x'), 0, errNotOracle},
		"data after a resend":            {append(packet(tnsResend), packet(tnsData, 0, 0)...), 8, errNotOracle},
		"accepted, with short lengths":   {append(acceptance(58, 0), packet(tnsData, 0, 0, 7, 7)...), 44, io.EOF},
		"accepted, with long ones":       {append(acceptance(61, 8), wide...), 52, io.EOF},
		"accepted, in less than it says": {acceptance(61, 0), 0, errNotOracle},
		"accepted twice":                 {append(acceptance(58, 0), acceptance(58, 0)...), 32, errNotOracle},
		"a type that is none":            {append(acceptance(58, 0), packet(20)...), 32, errNotOracle},
		"a packet of four gigabytes":     {append(acceptance(61, 8), 0xFF, 0xFF, 0xFF, 0xFF, tnsData, 0, 0, 0), 40, errNotOracle},
		"a packet longer than we asked":  {append(acceptance(61, 8), 0, 3, 0, 0, tnsData, 0, 0, 0), 40, errNotOracle},
		"a packet that breaks off":       {packet(tnsRefuse, 1, 2, 3)[:10], 10, io.EOF},
		"a header that breaks off":       {packet(tnsRefuse)[:5], 0, io.ErrUnexpectedEOF},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &wire{Conn: sentence{Reader: bytes.NewReader(test.said)}, spare: 1 << 20}
			got, err := io.ReadAll(struct{ io.Reader }{w})
			if err == nil {
				err = io.EOF
			}
			if len(got) != test.passes || !bytes.Equal(got, test.said[:len(got)]) || !errors.Is(err, test.err) || !errors.Is(w.failure(), test.err) {
				t.Errorf("%d bytes pass, %v; it keeps %v", len(got), err, w.failure())
			}
		})
	}
}

func TestAWireCounts(t *testing.T) {
	t.Parallel()
	for _, tls := range []bool{false, true} {
		w := &wire{Conn: sentence{Reader: strings.NewReader(string(packet(tnsRefuse, make([]byte, 5000)...)))}, tls: tls}
		w.allow(1000)
		if got, err := io.ReadAll(struct{ io.Reader }{w}); !errors.Is(err, ErrTooMuch) || len(got) > 1000 {
			t.Errorf("%d bytes pass, %v", len(got), err)
		}
	}
}

// TestDeadlinesOfTheDriverAreIgnored: it would take ours away before each packet.
func TestDeadlinesOfTheDriverAreIgnored(t *testing.T) {
	t.Parallel()
	ours, theirs := net.Pipe()
	t.Cleanup(func() { _, _ = ours.Close(), theirs.Close() })
	w := &wire{Conn: ours, spare: 1 << 20}
	if err := w.Conn.SetDeadline(time.Now().Add(-time.Second)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.SetDeadline(time.Time{}), w.SetReadDeadline(time.Time{}), w.SetWriteDeadline(time.Time{})); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Read(make([]byte, 8)); !isTimeout(err) {
		t.Errorf("got %v", err)
	}
}
