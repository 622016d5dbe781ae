package servers

import (
	"context"
	"net"
	"time"
)

// login bounds how long a server may be silent while we sign in: ConnectTimeout for each
// answer. A server that takes nine seconds for each is slow, and not down.
type login struct {
	ctx     context.Context //nolint:containedctx // it ends with the login
	silence *time.Timer
}

// newLogin returns a login, and its context, which ends with end. Its cause is
// context.DeadlineExceeded where the server was silent for too long.
func newLogin(ctx context.Context) (l *login, bounded context.Context, end func()) {
	ctx, late := context.WithTimeout(ctx, LoginTimeout)
	ctx, giveUp := context.WithCancelCause(ctx)
	l = &login{ctx: ctx, silence: time.AfterFunc(ConnectTimeout, func() { giveUp(context.DeadlineExceeded) })}
	return l, ctx, func() {
		l.silence.Stop()
		giveUp(nil)
		late()
	}
}

// hears returns a connection by which the login learns of answers.
func (l *login) hears(conn net.Conn, err error) (net.Conn, error) {
	if l == nil || err != nil {
		return conn, err
	}
	return &heard{conn, l}, nil
}

type heard struct {
	net.Conn
	login *login
}

func (h *heard) Read(into []byte) (int, error) {
	n, err := h.Conn.Read(into)
	if n > 0 && h.login.ctx.Err() == nil {
		h.login.silence.Reset(ConnectTimeout)
	}
	return n, err
}
