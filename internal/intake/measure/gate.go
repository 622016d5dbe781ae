package measure

import (
	"context"
	"sync"
	"time"
)

// connectTurn is after how long a handshake counts as hanging, and no longer among those
// that the gate lets through.
const connectTurn = time.Second

// Gate bounds the handshakes of one process: a thousand servers are there within seconds,
// and none of them costs us a spike.
type Gate struct{ turns chan struct{} }

// NewGate returns a gate that lets so many through at once.
func NewGate(atOnce int) *Gate { return &Gate{turns: make(chan struct{}, atOnce)} }

// pass waits for a turn, which next ends. One that hangs keeps its turn for a moment
// only: to wait for it costs nothing.
func (g *Gate) pass(ctx context.Context) (next func(), err error) {
	select {
	case g.turns <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	leave := sync.OnceFunc(func() { <-g.turns })
	hanging := time.AfterFunc(connectTurn, leave)
	return func() { hanging.Stop(); leave() }, nil
}
