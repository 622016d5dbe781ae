package proofs

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"muster/eventstore"
	"muster/eventstore/tree"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/internal/proof/attest"
	"muster/internal/proof/checkpoint"
)

// fixed is an answer whose bytes are all there.
type fixed struct {
	handler http.Handler
	request *http.Request
}

func (f fixed) VisitGetKeysResponse(w http.ResponseWriter) error       { return f.write(w) }
func (f fixed) VisitGetCheckpointResponse(w http.ResponseWriter) error { return f.write(w) }
func (f fixed) VisitGetTileResponse(w http.ResponseWriter) error       { return f.write(w) }

func (f fixed) write(w http.ResponseWriter) error {
	f.handler.ServeHTTP(w, f.request)
	return nil
}

func answer(ctx context.Context, contentType, caching string, body []byte) fixed {
	return fixed{wire.Fixed(contentType, caching, body), wire.CallOf(ctx).Request}
}

func (s *ProofRoutes) GetKeys(ctx context.Context, _ api.GetKeysRequestObject) (api.GetKeysResponseObject, error) {
	keys, err := s.Keys.Published(ctx)
	if err != nil {
		return nil, err
	}
	document, err := json.Marshal(keys)
	if err != nil {
		return nil, fmt.Errorf("write the public keys: %w", err)
	}
	return answer(ctx, "application/json", "public, max-age=300", document), nil
}

// caching says how long an answer may be kept, by whoever may see it.
func (s *ProofRoutes) caching(how string) string {
	if s.Public {
		return "public, " + how
	}
	return "private, " + how
}

// latest is the last checkpoint of a log that somebody names.
func (s *ProofRoutes) latest(ctx context.Context, log eventstore.Log) (checkpoint.Checkpoint, error) {
	if err := wire.Found(slices.Contains(eventstore.Logs, log), nil, "log"); err != nil {
		return checkpoint.Checkpoint{}, err
	}
	last, ok, err := s.Checkpoints.Latest(ctx, log)
	return last, wire.Found(ok, err, "checkpoint")
}

func (s *ProofRoutes) GetCheckpoint(ctx context.Context, r api.GetCheckpointRequestObject) (api.GetCheckpointResponseObject, error) {
	last, err := s.latest(ctx, eventstore.Log(r.Log))
	if err != nil {
		return nil, err
	}
	return answer(ctx, "text/plain; charset=utf-8", s.caching("no-cache"), []byte(last.Note)), nil
}

// GetConsistency leads from one tree of a log to a larger one, as far as the last checkpoint
// covers it.
func (s *ProofRoutes) GetConsistency(ctx context.Context, r api.GetConsistencyRequestObject) (api.GetConsistencyResponseObject, error) {
	log := eventstore.Log(r.Log)
	last, err := s.latest(ctx, log)
	if err != nil {
		return nil, err
	}
	from, to := r.Params.From, last.Size
	if r.Params.To != nil {
		if to = *r.Params.To; from > to {
			return nil, wire.BadParameter(api.Query, "from", "out_of_range", "must not be more than to")
		}
	}
	if err := wire.Found(from <= to && to <= last.Size, nil, "checkpoint over so many events"); err != nil {
		return nil, err
	}
	proof, err := s.Trees.Consistency(ctx, log, from, to)
	if err != nil {
		return nil, err
	}
	signed, err := attest.ParseCheckpoint(last.Note)
	if err != nil {
		return nil, fmt.Errorf("read the checkpoint of log %s: %w", log, err)
	}
	answer := api.GetConsistency200JSONResponse{Origin: signed.Origin, From: from, To: to, Hashes: attest.NewLink(from, proof).Hashes}
	if to == last.Size {
		answer.Checkpoint = &last.Note
	}
	return answer, nil
}

// tilePath is what is behind the level of a tile's address: groups of three digits, of
// which all but the last begin with an x, and the width of one that is not whole.
var tilePath = regexp.MustCompile(`^((?:x\d{3}/)*\d{3})(?:\.p/([1-9]\d{0,2}))?$`)

const whole = 1 << tree.Height

// tileAt is where a tile is.
type tileAt struct {
	level   int
	entries bool
	index   int64
	width   int
}

func parseTile(level, path string) (at tileAt, ok bool) {
	parts := tilePath.FindStringSubmatch(path)
	if parts == nil || strings.HasPrefix(path, "x000/") {
		return at, false
	}
	at.width = whole
	if parts[2] != "" {
		at.width, _ = strconv.Atoi(parts[2])
		if at.width >= whole {
			return at, false
		}
	}
	digits := strings.NewReplacer("x", "", "/", "").Replace(parts[1])
	index, err := strconv.ParseInt(digits, 10, 40)
	if err != nil {
		return at, false
	}
	at.index = index
	if at.entries = level == "entries"; at.entries {
		return at, true
	}
	at.level, err = strconv.Atoi(level)
	return at, err == nil && at.level >= 0 && at.level < 64 && strconv.Itoa(at.level) == level
}

// covered says whether a log of so many events has the tile.
func (at tileAt) covered(size int64) bool {
	for range at.level {
		size /= whole
	}
	return at.index*whole+int64(at.width) <= size
}

func (s *ProofRoutes) GetTile(ctx context.Context, r api.GetTileRequestObject) (api.GetTileResponseObject, error) {
	log := eventstore.Log(r.Log)
	at, ok := parseTile(r.Level, strings.TrimPrefix(r.Tile, "/"))
	if err := wire.Found(ok && slices.Contains(eventstore.Logs, log), nil, "tile"); err != nil {
		return nil, err
	}
	last, ok, err := s.Checkpoints.Latest(ctx, log)
	if err := wire.Found(ok && at.covered(last.Size), err, "tile"); err != nil {
		return nil, err
	}
	data, err := s.read(ctx, log, at)
	if err != nil {
		return nil, err
	}
	return answer(ctx, "application/octet-stream", s.caching("max-age=31536000, immutable"), data), nil
}

func (s *ProofRoutes) read(ctx context.Context, log eventstore.Log, at tileAt) ([]byte, error) {
	if !at.entries {
		return s.Trees.Tile(ctx, log, at.level, at.index, at.width)
	}
	first := at.index * whole
	leaves, err := s.Trees.Leaves(ctx, log, first, first+int64(at.width))
	if err != nil {
		return nil, err
	}
	bundle := make([]byte, 0, at.width*(2+tree.LeafSize))
	for leaf := range slices.Chunk(leaves, tree.LeafSize) {
		bundle = append(binary.BigEndian.AppendUint16(bundle, tree.LeafSize), leaf...)
	}
	return bundle, nil
}
