package tdstest

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
)

// Kinds of packets (2.2.3.1.1).
const (
	packetBatch     = 1
	packetRPC       = 3
	packetReply     = 4
	packetAttention = 6
	packetLogin     = 16
	packetSSPI      = 17
	packetPrelogin  = 18
)

const (
	headerSize = 8
	packetSize = 4096 // what the driver begins with, and nobody changes
	lastPacket = 1    // status of a message's last one
)

// message is what a client sent, in as many packets as it took.
type message struct {
	kind byte
	body []byte
}

func readMessage(r io.Reader) (message, error) {
	var m message
	for {
		header := make([]byte, headerSize)
		if _, err := io.ReadFull(r, header); err != nil {
			return m, err
		}
		size := int(binary.BigEndian.Uint16(header[2:]))
		if size < headerSize {
			return m, errors.New("a packet is shorter than its header")
		}
		body := make([]byte, size-headerSize)
		if _, err := io.ReadFull(r, body); err != nil {
			return m, err
		}
		m.kind, m.body = header[0], append(m.body, body...)
		if header[1]&lastPacket != 0 {
			return m, nil
		}
	}
}

// reply collects tokens and sends them in packets.
type reply struct {
	w       io.Writer
	pending []byte
	number  byte
}

func (r *reply) add(tokens ...[]byte) {
	for _, t := range tokens {
		r.pending = append(r.pending, t...)
	}
}

// flush sends whole packets only, or everything as the end of the message.
func (r *reply) flush(end bool) error {
	const room = packetSize - headerSize
	for len(r.pending) > room {
		if err := r.send(r.pending[:room], false); err != nil {
			return err
		}
		r.pending = r.pending[room:]
	}
	if !end {
		return nil
	}
	err := r.send(r.pending, true)
	r.pending = nil
	return err
}

// push sends what there is, though the message is not at its end.
func (r *reply) push() error {
	if err := r.flush(false); err != nil {
		return err
	}
	err := r.send(r.pending, false)
	r.pending = nil
	return err
}

func (r *reply) send(body []byte, last bool) error {
	r.number++
	_, err := r.w.Write(append(header(packetReply, last, len(body), r.number), body...))
	return err
}

func header(kind byte, last bool, size int, number byte) []byte {
	h := make([]byte, headerSize)
	h[0] = kind
	if last {
		h[1] = lastPacket
	}
	binary.BigEndian.PutUint16(h[2:], uint16(headerSize+size))
	h[6] = number
	return h
}

// handshake carries TLS within packets, as it is before a login (3.2.5.1).
type handshake struct {
	net.Conn
	plain bool // the handshake is over: TLS carries the packets
	rest  []byte
}

func (h *handshake) Read(p []byte) (int, error) {
	if h.plain {
		return h.Conn.Read(p)
	}
	if len(h.rest) == 0 {
		m, err := readMessage(h.Conn)
		if err != nil {
			return 0, err
		}
		h.rest = m.body
	}
	n := copy(p, h.rest)
	h.rest = h.rest[n:]
	return n, nil
}

func (h *handshake) Write(p []byte) (int, error) {
	if h.plain {
		return h.Conn.Write(p)
	}
	for sent := 0; sent < len(p); {
		part := p[sent:min(len(p), sent+packetSize-headerSize)]
		sent += len(part)
		if _, err := h.Conn.Write(append(header(packetPrelogin, sent == len(p), len(part), 0), part...)); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}
