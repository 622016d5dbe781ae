package servers

import (
	"context"
	"net"
	"time"

	"muster/internal/concurrency/supervise"
)

// attemptDelay is how long an address has for itself before the next one is tried beside it (RFC 8305, section 5).
const attemptDelay = 250 * time.Millisecond

// dialed is what came of dialing one address.
type dialed struct {
	conn net.Conn
	err  error
	n    int // the place of the address
}

// race connects to the first of some addresses that answers. Each begins attemptDelay after the one before, or as soon
// as one has failed. So an address that swallows packets, as does that of a listener in the subnet where the listener
// is not, costs attemptDelay and not all the time there is. The error is that of the first address.
func race(ctx context.Context, addresses []string, dial func(context.Context, string) (net.Conn, error)) (net.Conn, error) {
	attempts, end := context.WithCancel(ctx)
	defer end() // of those that are not needed
	results, first := make(chan dialed), error(nil)
	next := time.NewTimer(0)
	defer next.Stop()
	for begun, failed := 0, 0; failed < len(addresses); {
		select {
		case <-next.C:
			if begun < len(addresses) {
				n := begun
				go func() {
					conn, err := supervise.Value(func() (net.Conn, error) { return dial(attempts, addresses[n]) })
					dialed{conn, err, n}.handOver(attempts, results)
				}()
				begun++
				next.Reset(attemptDelay)
			}
		case r := <-results:
			if r.err == nil {
				return r.conn, nil
			}
			if failed++; r.n == 0 {
				first = r.err
			}
			next.Reset(0)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return nil, first
}

// handOver tells the race what came of an address, or closes the connection if the race is over.
func (d dialed) handOver(ctx context.Context, results chan<- dialed) {
	select {
	case results <- d:
	case <-ctx.Done():
		if d.err == nil {
			_ = d.conn.Close()
		}
	}
}
