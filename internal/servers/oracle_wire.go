package servers

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"slices"
	"sync"
	"time"
)

// Errors of a wire. The driver passes them on as they are, or hides them behind one of its
// own, so that a wire keeps the first.
var (
	errNotOracle = errors.New("what answers does not speak as an Oracle listener does")
	errSpeaksTLS = errors.New("what answers speaks TLS")
	errSpeaksTCP = errors.New("the listener sends us on to an address without TLS")
)

// Types of a packet of TNS, by which a listener answers.
const (
	tnsAccept   = 2
	tnsRefuse   = 4
	tnsRedirect = 5
	tnsData     = 6
	tnsResend   = 11
	tnsHighest  = 19
)

const (
	// tnsUnit is how long a packet may be that we ask for.
	tnsUnit = 0xFFFF
	// tnsLongest leaves room for a server that counts its header apart.
	tnsLongest = 2 * tnsUnit
	// tnsWide is the version from which on an accepted connection has lengths of four bytes.
	tnsWide = 315
	// loginAnswers bounds what a server sends before it lets us in: some kilobytes do.
	loginAnswers = 1 << 20
)

// wire is a connection as the driver gets it. The driver waits forever, allocates what a header
// says and indexes packets without looking at their length, so everything that it reads goes
// through here first: deadlines are ours alone, the bytes of an answer are counted, and without
// TLS a packet is checked by its header before it is passed on. (With TLS the driver makes the
// handshake itself, in the middle of a connection too, and only the count and the deadlines are
// left.)
type wire struct {
	net.Conn
	until time.Time // zero: nothing ends
	tls   bool      // to have TLS; once something was written, whether it has

	mu    sync.Mutex
	err   error // the first that reading or writing had
	spare int64 // how many bytes more may be read

	pending []byte // of a packet that was judged, not read yet
	left    int    // bytes of it that are still on the socket
	wide    bool   // lengths have four bytes
	open    bool   // the listener accepted
	told    bool   // it redirected us, and data says where to
	spoken  bool   // we wrote something
}

// allow sets how many bytes more may be read.
func (w *wire) allow(bytes int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.spare = bytes
}

// bound ends all reading and writing with a context. Call the returned function when the
// context does not matter any more; the earlier deadlines then hold again.
func (w *wire) bound(ctx context.Context) (release func()) {
	before := w.until
	w.until, _ = ctx.Deadline()
	_ = w.Conn.SetDeadline(w.until)
	stop := context.AfterFunc(ctx, func() { _ = w.Conn.SetDeadline(time.Unix(1, 0)) })
	return func() {
		w.until = before
		if stop() {
			_ = w.Conn.SetDeadline(before)
		}
	}
}

// The driver sets deadlines before each packet, and none at all if it was not given one.

// SetDeadline does nothing: bound does.
func (w *wire) SetDeadline(time.Time) error { return nil }

// SetReadDeadline does nothing: bound does.
func (w *wire) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline does nothing: bound does.
func (w *wire) SetWriteDeadline(time.Time) error { return nil }

// failure is the first error that reading or writing had.
func (w *wire) failure() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

func (w *wire) failed(err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = err
	}
	return err
}

// Write writes to the socket. A connection that is to have TLS begins with a handshake of
// it, wherever a listener sent us on to.
func (w *wire) Write(p []byte) (int, error) {
	const handshake = 22 // a record's type
	if !w.spoken && len(p) > 0 {
		if w.tls && p[0] != handshake {
			return 0, w.failed(errSpeaksTCP)
		}
		w.spoken, w.tls = true, p[0] == handshake
	}
	n, err := w.Conn.Write(p)
	if err != nil {
		return n, w.failed(err)
	}
	return n, nil
}

// Read reads from the socket, without TLS no further than to the end of a packet.
func (w *wire) Read(p []byte) (int, error) {
	n, err := w.read(p)
	if err != nil {
		return n, w.failed(err)
	}
	return n, nil
}

func (w *wire) read(p []byte) (int, error) {
	if w.tls {
		return w.take(p)
	}
	if len(w.pending) == 0 && w.left == 0 {
		if err := w.next(); err != nil {
			return 0, err
		}
	}
	if len(w.pending) > 0 {
		n := copy(p, w.pending)
		w.pending = w.pending[n:]
		return n, nil
	}
	n, err := w.take(p[:min(len(p), w.left)])
	w.left -= n
	return n, err
}

// take reads what may be read, and counts it.
func (w *wire) take(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.spare -= int64(n); w.spare < 0 {
		return 0, ErrTooMuch
	}
	return n, err
}

// next reads the header of a packet and checks it. An accepting one is read completely, because
// it says how long the others may be.
func (w *wire) next() error {
	head := make([]byte, 8)
	if _, err := io.ReadFull(reader(w.take), head[:3]); err != nil {
		return err
	}
	const alert = 21 // a record's type
	if head[0] == alert && head[1] == 3 && !w.open {
		return errSpeaksTLS // it has seven bytes, and a header eight
	}
	if _, err := io.ReadFull(reader(w.take), head[3:]); err != nil {
		return err
	}
	length, kind := int(binary.BigEndian.Uint16(head)), head[4]
	if w.wide {
		length = int(binary.BigEndian.Uint32(head))
	}
	if length < len(head) || length > tnsLongest || !w.expects(kind) {
		return errNotOracle
	}
	w.pending, w.left = head, length-len(head)
	w.told = kind == tnsRedirect
	if kind != tnsAccept {
		return nil
	}
	return w.accept()
}

// expects says whether a packet of a type can come now.
func (w *wire) expects(kind byte) bool {
	if w.open {
		return kind > 0 && kind <= tnsHighest && kind != tnsAccept
	}
	return kind == tnsAccept || kind == tnsRefuse || kind == tnsRedirect || kind == tnsResend || kind == tnsData && w.told
}

// accept reads the packet that accepts us, and judges what the driver takes for granted
// of it.
func (w *wire) accept() error {
	packet := slices.Concat(w.pending, make([]byte, w.left))
	if _, err := io.ReadFull(reader(w.take), packet[len(w.pending):]); err != nil {
		return err
	}
	w.pending, w.left = packet, 0
	if len(packet) < 32 {
		return errNotOracle
	}
	w.wide = binary.BigEndian.Uint16(packet[8:]) >= tnsWide
	data := int(binary.BigEndian.Uint16(packet[20:]))
	if w.wide && len(packet) < 40 || data > len(packet) || int(binary.BigEndian.Uint16(packet[18:])) != len(packet)-data {
		return errNotOracle
	}
	w.open = true
	return nil
}

// reader is a function to read by.
type reader func(p []byte) (int, error)

func (r reader) Read(p []byte) (int, error) { return r(p) }
