package tnstest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Types of a packet.
const (
	connect  = 1
	accept   = 2
	refuse   = 4
	redirect = 5
	data     = 6
	marker   = 12
)

// receive reads a packet. What a client sends beside a connect packet that is full comes
// in one of data, and is no matter.
func receive(r io.Reader) (kind byte, body []byte, err error) {
	head := make([]byte, 8)
	if _, err := io.ReadFull(r, head); err != nil {
		return 0, nil, err
	}
	length := int(binary.BigEndian.Uint16(head))
	if length < len(head) {
		return 0, nil, errors.New("a packet that is shorter than its header")
	}
	body = make([]byte, length-len(head))
	if _, err := io.ReadFull(r, body); err != nil {
		return 0, nil, err
	}
	if head[4] == connect && len(body) == 62 { // what it asks for follows
		if _, _, err := receive(r); err != nil {
			return 0, nil, err
		}
	}
	return head[4], body, nil
}

func send(w io.Writer, kind byte, body []byte) error {
	packet := append(binary.BigEndian.AppendUint16(nil, uint16(8+len(body))), 0, 0, kind, 0, 0, 0)
	_, err := w.Write(append(packet, body...))
	return err
}

// sendData sends a message, in one packet.
func sendData(w io.Writer, message []byte) error {
	return send(w, data, append([]byte{0, 0}, message...))
}

func sized(text []byte) []byte {
	return append(binary.BigEndian.AppendUint16(nil, uint16(len(text))), text...)
}

// refusal is how a listener names the number it refuses with, beside what it says of
// itself.
func refusal(number int) []byte {
	text := fmt.Sprintf("(DESCRIPTION=(TMP=)(VSNNUM=318767104)(ERR=%d)(ERROR_STACK=(ERROR=(CODE=%d)(EMFI=4))))", number, number)
	return append([]byte{4, 4}, sized([]byte(text))...)
}

// acceptance accepts a client with version 314, units of 8 KiB, and a negotiation of services or none.
func acceptance(services bool) []byte {
	body := make([]byte, 24)
	binary.BigEndian.PutUint16(body[0:], 314)
	binary.BigEndian.PutUint16(body[4:], 8192)
	binary.BigEndian.PutUint16(body[6:], 8192)
	binary.BigEndian.PutUint16(body[8:], 1)
	binary.BigEndian.PutUint16(body[12:], 32) // where data would begin
	if services {
		body[14] = 1
	}
	return body
}

// servicesRefused ends a negotiation of services with a number.
func servicesRefused(number int) []byte {
	const magic, services = 0xDEADBEEF, 1
	body := binary.BigEndian.AppendUint32(nil, magic)
	body = append(body, 0, 21, 19, 0, 0, 0, 0, services, 0) // length, version, how many, flags
	body = append(body, 0, 4, 0, 0)                         // the supervisor's, without fields
	return binary.BigEndian.AppendUint32(body, uint32(number))
}

// message is one of TTC as it is written.
type message struct{ bytes.Buffer }

func (m *message) raw(b ...byte) { m.Write(b) }

// number writes an integer as its bytes, without leading zeros, after how many they are.
func (m *message) number(n int) {
	digits := bytes.TrimLeft(binary.BigEndian.AppendUint64(nil, uint64(n)), "\x00")
	m.WriteByte(byte(len(digits)))
	m.Write(digits)
}

// text writes a text after its length; a long one in a chunk of its own.
func (m *message) text(s string) {
	if len(s) <= 252 {
		m.WriteByte(byte(len(s)))
		m.WriteString(s)
		return
	}
	m.WriteByte(254)
	m.number(len(s))
	m.WriteString(s)
	m.WriteByte(0)
}

// long writes a text after its length, and that again.
func (m *message) long(s string) {
	m.number(len(s))
	if s != "" {
		m.text(s)
	}
}

func (m *message) pair(key, value string, flag int) {
	m.long(key)
	m.long(value)
	m.number(flag)
}

// summary ends an answer: with a number that is not 0, in an error whose text quotes data
// as Oracle's do.
func (m *message) summary(number, cursor int) {
	m.raw(4)
	m.number(0)
	m.number(number)
	m.raw(0, 0)
	m.number(cursor)
	m.raw(make([]byte, 7)...)  // where the error is, and of what
	m.raw(make([]byte, 10)...) // the row it is in
	m.raw(0, 0, 0, 0)          // no further texts
	if number != 0 {
		m.text(fmt.Sprintf("ORA-%05d: secret-of-the-server \"SCOTT\".\"CARDS\"\n", number))
	}
}

// FirstLine is what a query is known by.
func FirstLine(query string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(query), "\n")
	return strings.TrimSpace(line)
}
