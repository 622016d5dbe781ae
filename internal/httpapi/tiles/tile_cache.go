package tiles

import (
	"container/list"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"muster/internal/concurrency/supervise"
	"muster/internal/httpapi/wire"
)

const (
	// TileLife is how long a tile is answered as it was read (contract, §1.10).
	TileLife = 30 * time.Second
	// tileTimeout ends a reading, in time for whoever began it to hear of it.
	tileTimeout = wire.RequestTimeout * 2 / 3
	// What is kept at most. A tile of a day of minutes takes 0.1 MB, one of a week of
	// them 0.8 MB: there is room for two hundred dashboards of the first sort with
	// windows of their own, or for nearly thirty of the second.
	maxTiles     = 4_000
	maxTileBytes = 64 << 20
)

// tileCache keeps the tiles that were read in the last 30 seconds, and has each
// read once, however many ask for it meanwhile. Nothing but the key tells tiles
// apart: it names the organization.
//
// It has room for so many tiles and so many bytes; when there is no more, those
// that were read first go, which are those that would have aged first. Whoever asks
// for one of them has it read again. An error is not kept, and neither is a tile
// that an engine is missing in, or one of a time that goes on and has no value yet: it is
// read in no time, and somebody may be waiting for the first.
type tileCache struct {
	now func() time.Time
	log *slog.Logger

	flights singleflight.Group

	mu    sync.Mutex
	kept  map[string]*list.Element // of keptTile
	order list.List                // the one that was read first is in front
	bytes int
}

type keptTile struct {
	key string
	*tile
}

func (k keptTile) size() int { return len(k.key) + k.tile.size() }

func newTileCache(now func() time.Time, log *slog.Logger) *tileCache {
	return &tileCache{now: now, log: log, kept: map[string]*list.Element{}}
}

// get returns the tile of that key, from what is kept or else from read. Reading
// does not end with the caller who began it, whom others may have joined: it has
// the caller's values, and a time limit of its own. A caller whose context ends
// gets the context's error. A panic of read is logged and told as internal_error.
func (c *tileCache) get(ctx context.Context, key string, read func(context.Context) (*tile, error)) (*tile, error) {
	if t := c.find(key); t != nil {
		return t, nil
	}
	flight := c.flights.DoChan(key, func() (any, error) {
		if t := c.find(key); t != nil { // read while this one was on its way here
			return t, nil
		}
		detached, end := context.WithTimeout(context.WithoutCancel(ctx), tileTimeout)
		defer end()
		return c.survive(detached, func() (*tile, error) {
			t, err := read(detached)
			if err == nil && !t.incomplete && !t.awaited {
				c.keep(key, t)
			}
			return t, err
		})
	})
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case landed := <-flight:
		if landed.Err != nil {
			return nil, landed.Err
		}
		return landed.Val.(*tile), nil
	}
}

// survive makes a problem of a panic. It would end the process: this is nobody's
// request.
func (c *tileCache) survive(ctx context.Context, read func() (*tile, error)) (*tile, error) {
	t, err := supervise.Value(read)
	var panicked *supervise.PanicError
	if errors.As(err, &panicked) {
		c.log.ErrorContext(ctx, "panic", "cause", panicked.Value, "stack", string(panicked.Stack))
		return nil, &wire.Problem{Code: "internal_error", Detail: wire.InternalDetail}
	}
	return t, err
}

// find returns the tile of that key if there is one that is not too old.
func (c *tileCache) find(key string) *tile {
	c.mu.Lock()
	defer c.mu.Unlock()
	element := c.kept[key]
	if element == nil {
		return nil
	}
	k := element.Value.(keptTile)
	// Of an age below 0 the clock was put back: nobody knows how old it is.
	if age := c.now().Sub(k.readAt); age < 0 || age >= TileLife {
		c.drop(element)
		return nil
	}
	return k.tile
}

func (c *tileCache) keep(key string, t *tile) {
	k := keptTile{key, t}
	c.mu.Lock()
	defer c.mu.Unlock()
	if before := c.kept[key]; before != nil {
		c.drop(before)
	}
	c.kept[key] = c.order.PushBack(k)
	c.bytes += k.size()
	for len(c.kept) > maxTiles || c.bytes > maxTileBytes {
		c.drop(c.order.Front())
	}
}

func (c *tileCache) drop(element *list.Element) {
	k := c.order.Remove(element).(keptTile)
	delete(c.kept, k.key)
	c.bytes -= k.size()
}
