package tnstest

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
)

// Calls of a client, after the byte that says it is one.
const (
	callFetch    = 0x05
	callLogoff   = 0x09
	callVersion  = 0x3B
	callExecute  = 0x5E
	callPassword = 0x73
	callUser     = 0x76
)

// session is a client that was accepted.
type session struct {
	*Listener
	conn net.Conn
	rest *Answer // of what was sent in part: the client fetches it
}

// atOnce is how many rows come in one message.
const atOnce = 1000

func (s *session) serve() error {
	for {
		kind, body, err := receive(s.conn)
		if err != nil {
			return err
		}
		if kind != data || len(body) < 3 {
			continue // goodbye, or an interrupt of what was complete
		}
		reply, fault := s.reply(body[2:])
		if err := s.sendAll(reply); err != nil {
			return err
		}
		if err := s.fail(fault); err != nil {
			return err
		}
	}
}

// sendAll sends a message in packets of the unit that was agreed on.
func (s *session) sendAll(message []byte) error {
	const unit = 8192 - 10
	for len(message) > 0 {
		n := min(unit, len(message))
		if err := sendData(s.conn, message[:n]); err != nil {
			return err
		}
		message = message[n:]
	}
	return nil
}

// reply answers a message: protocol, types, a call, or the close of cursors before a ping.
func (s *session) reply(request []byte) ([]byte, Fault) {
	var m message
	switch {
	case request[0] == 1:
		protocol(&m)
	case request[0] == 2:
		m.raw(2, 128, 0, 0, 0, 60, 60, 60, 128, 0, 0, 0) // the server's time zone: UTC
		m.raw(0)                                         // no types beside
	case request[0] != 3 || len(request) < 3:
		m.raw(9)
	case request[1] == callUser && s.Login != 0:
		m.summary(s.Login, 0)
	case request[1] == callUser:
		m.raw(8)
		m.number(2)
		m.pair("AUTH_SESSKEY", strings.Repeat("5A", 48), 0)
		m.pair("AUTH_VFR_DATA", strings.Repeat("C3", 10), 6949) // salt of an 11g verifier
		m.summary(0, 0)
	case request[1] == callPassword:
		m.raw(8)
		m.number(2)
		m.pair("AUTH_SESSION_ID", "17", 0)
		m.pair("AUTH_SERIAL_NUM", "4711", 0)
		m.raw(9)
	case request[1] == callVersion:
		const banner = "Oracle Database 19c"
		m.raw(8)
		m.number(len(banner))
		m.text(banner)
		m.number(19 << 24)
	case request[1] == callExecute:
		return s.execute(statement(request))
	case request[1] == callFetch && s.rest != nil:
		return s.some(&m)
	case request[1] == callFetch:
		m.summary(1002, 0) // out of sequence
	default: // commit, rollback, ping, logoff
		m.raw(9)
	}
	return m.Bytes(), None
}

// execute answers a statement. Each begins with Muster's name, but for the block by which the driver asks for NLS settings.
func (s *session) execute(text string) ([]byte, Fault) {
	text, ours := strings.CutPrefix(text, "/* muster */ ")
	if !ours && !strings.HasPrefix(text, "BEGIN\n") {
		s.t.Errorf("%q does not say whose it is", text)
	}
	s.mu.Lock()
	s.asked = append(s.asked, text)
	a, known := s.answers[FirstLine(text)]
	s.mu.Unlock()
	if !known && strings.Contains(text, "d.db_unique_name") { // which server this is
		a, known = Answer{Columns: 3, Rows: [][]string{{fmt.Sprint(s.Port()), "ORCL/CDB$ROOT", "primary"}}}, true
	}
	var m message
	switch {
	case strings.HasPrefix(text, "ALTER SESSION"):
		m.summary(s.Settings, 0)
	case strings.Contains(text, "NLS_CALENDAR"): // the driver asks, and does without
		m.summary(6550, 0)
	case strings.HasPrefix(text, "BEGIN"):
		m.summary(s.Package, 0)
	case strings.HasPrefix(text, "SET TRANSACTION"):
		m.summary(0, 0)
	case !known:
		s.t.Errorf("nobody answers %q", text)
		m.summary(900, 0)
	default:
		describe(&m, a)
		s.rest = &a
		return s.some(&m)
	}
	return m.Bytes(), None
}

// some sends the next rows of an answer, and after the last ones what it ends with.
func (s *session) some(m *message) ([]byte, Fault) {
	part := *s.rest
	part.Rows = part.Rows[:min(atOnce, len(part.Rows))]
	rows(m, part)
	if s.rest.Rows = s.rest.Rows[len(part.Rows):]; len(s.rest.Rows) > 0 {
		m.summary(0, 1)
		return m.Bytes(), None
	}
	s.rest = nil
	if part.Then == None {
		m.summary(cmp.Or(part.Error, 1403), 1)
	}
	return m.Bytes(), part.Then
}

// fail does what an answer ends with that does not end as it should.
func (s *session) fail(f Fault) error {
	switch f {
	case Deaf:
		_, err := io.Copy(io.Discard, s.conn)
		return err
	case Cut:
		return s.conn.Close()
	case Nonsense:
		return sendData(s.conn, []byte{99, 1, 2, 3})
	case Stall:
		return s.interrupted()
	}
	return nil
}

// interrupted waits until the client interrupts its statement, and confirms: a marker for
// a marker, and the number of a statement that was cancelled.
func (s *session) interrupted() error {
	for range 2 { // that it wants no more, and, after our answer, that it begins anew
		kind, _, err := receive(s.conn)
		if err != nil {
			return err
		}
		if kind != marker {
			return fmt.Errorf("a packet of type %d, want a marker", kind)
		}
		if err := send(s.conn, marker, []byte{1, 0, 2}); err != nil {
			return err
		}
	}
	s.mu.Lock()
	s.interrupts++
	s.mu.Unlock()
	var m message
	m.summary(1013, 0)
	return s.sendAll(m.Bytes())
}

// protocol is what a server says of itself first: its version of the protocol, AL32UTF8,
// and few capabilities, so that messages are of their oldest form.
func protocol(m *message) {
	const utf8, utf16 = 873, 2000
	m.raw(1, 6, 0)
	m.WriteString("muster/tnstest")
	m.raw(0)
	m.Write(binary.LittleEndian.AppendUint16(nil, utf8))
	m.raw(0, 0, 0) // flags, and no further character sets
	national := make([]byte, 11)
	binary.BigEndian.PutUint16(national[9:], utf16)
	m.Write(sized(national))
	capabilities := make([]byte, 38)
	capabilities[7] = 3   // of the calls
	capabilities[37] = 32 // long texts come in one chunk
	m.raw(byte(len(capabilities)))
	m.Write(capabilities)
	m.raw(7, 2, 1, 0, 0, 0, 0, 0)
}

// describe says which columns come: texts of up to 4,000 bytes, and numbers.
func describe(m *message, a Answer) {
	m.raw(16, 0)
	m.number(4000 * a.Columns)
	m.number(a.Columns)
	m.raw(0)
	for i := range a.Columns {
		if slices.Contains(a.Numbers, i) {
			m.raw(2, 0, 0, 0) // a number, of any precision
			m.number(22)
		} else {
			m.raw(1, 0, 0, 0) // a text
			m.number(4000)
		}
		m.number(0)
		m.number(0)
		m.long("")
		m.number(0)
		m.number(873)
		m.raw(1)
		m.number(4000)
		m.raw(1, 0)
		m.long(fmt.Sprintf("C%d", i+1))
		m.long("")
		m.long("")
		m.number(0)
	}
	m.long("")
	m.number(0)
	m.number(0)
}

func rows(m *message, a Answer) {
	if len(a.Rows) == 0 {
		return
	}
	m.raw(6, 0)
	m.number(a.Columns)
	m.raw(0)
	m.number(len(a.Rows))
	m.raw(0, 0, 0)
	for _, row := range a.Rows {
		m.raw(7)
		for i, value := range row {
			if slices.Contains(a.Numbers, i) && value != "" {
				value = decimal(value)
			}
			m.text(value)
		}
	}
}

// decimal is a number as Oracle has it: an exponent to the base of 100 and the digits to
// that base, each one more than it is; of a negative one each is subtracted from 101, the
// exponent's bits turned, and 102 behind.
func decimal(value string) string {
	digits, negative := strings.CutPrefix(value, "-")
	whole, fraction, _ := strings.Cut(digits, ".")
	whole = strings.TrimLeft(whole, "0")
	if len(whole)%2 == 1 {
		whole = "0" + whole
	}
	if len(fraction)%2 == 1 {
		fraction += "0"
	}
	exponent, all := len(whole)/2, whole+fraction
	for ; strings.HasPrefix(all, "00"); exponent-- {
		all = all[2:]
	}
	for strings.HasSuffix(all, "00") {
		all = all[:len(all)-2]
	}
	if all == "" {
		return "\x80"
	}
	out := []byte{byte(192 + exponent)}
	for ; all != ""; all = all[2:] {
		digit := (all[0]-'0')*10 + all[1] - '0'
		if negative {
			out = append(out, 101-digit)
		} else {
			out = append(out, digit+1)
		}
	}
	if negative {
		out[0] = ^out[0]
		out = append(out, 102)
	}
	return string(out)
}

// statement is the text in a call: the first place where one begins, after how long it is.
func statement(request []byte) string {
	at := len(request)
	for _, verb := range []string{"/* muster */", "SELECT", "select", "WITH", "ALTER SESSION", "BEGIN", "SET TRANSACTION"} {
		if i := bytes.Index(request, []byte(verb)); i >= 0 {
			at = min(at, i)
		}
	}
	if at < 4 || at == len(request) {
		return ""
	}
	n := int(request[at-1])
	switch {
	case request[at-4] == 254 && request[at-3] == 2:
		n = int(binary.BigEndian.Uint16(request[at-2:]))
	case request[at-3] == 254 && request[at-2] == 1:
	}
	return string(request[at:min(at+n, len(request))])
}
