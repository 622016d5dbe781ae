package measure

import (
	"context"
	"time"

	"github.com/google/uuid"

	"muster/internal/concurrency/fairslots"
)

// connectTurn is after how long a handshake counts as hanging, and no longer among those
// that the gate lets through.
const connectTurn = time.Second

// Gate bounds the handshakes of one process: a thousand servers are there within seconds,
// and none of them costs us a spike. Organizations take turns.
type Gate struct{ turns *fairslots.Gate }

// NewGate returns a gate that lets so many of one organization through at once, and twice as
// many of all.
func NewGate(atOnce int) *Gate { return &Gate{turns: fairslots.NewGate(atOnce)} }

// pass waits for a turn, which next ends. A server that hangs keeps its turn for a moment only,
// because waiting for it costs nothing.
func (g *Gate) pass(ctx context.Context, organization uuid.UUID) (next func(), err error) {
	leave, err := g.turns.Pass(ctx, organization)
	if err != nil {
		return nil, err
	}
	hanging := time.AfterFunc(connectTurn, leave)
	return func() { hanging.Stop(); leave() }, nil
}
