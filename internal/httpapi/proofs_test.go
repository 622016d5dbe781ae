package httpapi

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"muster/domain/organization"
	"muster/eventstore"
	"muster/eventstore/tree"
	"muster/internal/proof/attest"
)

// logged has so many events in a log, behind those that are there.
func (w *world) logged(log eventstore.Log, n int) {
	w.t.Helper()
	batch := eventstore.Append{Organization: uuid.New(), StreamType: "x", Stream: uuid.New()}
	for range n {
		batch.Events = append(batch.Events, eventstore.NewEvent{Type: "x", Data: []byte("{}")})
	}
	_, err := w.deps.Events.Append(w.t.Context(), log, batch)
	must(w.t, err)
}

// tileClient reads a log as C2SP's tlog-tiles has it: tlog, which runs Go's checksum
// database, checks every tile against the checkpoint before it is used.
type tileClient struct {
	w     *world
	log   eventstore.Log
	token string
	seen  map[string][]byte
}

func (c tileClient) get(path string) []byte {
	c.w.t.Helper()
	return c.w.do(request{method: "GET", path: "/proof/" + string(c.log) + "/" + path, token: c.token}).is(200).Body.Bytes()
}

func (tileClient) Height() int                     { return 8 }
func (tileClient) SaveTiles([]tlog.Tile, [][]byte) {}
func (c tileClient) ReadTiles(tiles []tlog.Tile) (out [][]byte, err error) {
	for _, t := range tiles {
		path := strings.Replace(t.Path(), "tile/8/", "tile/", 1)
		if c.seen[path] == nil {
			c.seen[path] = c.get(path)
		}
		out = append(out, c.seen[path])
	}
	return out, nil
}

// TestAnotherClientReadsTheLog by its checkpoint, every entry and every tile.
func TestAnotherClientReadsTheLog(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.logged(eventstore.Reports, 900)
	head, err := w.deps.Events.Head(t.Context(), w.deps.DB, eventstore.Reports)
	must(t, err)
	_, err = w.deps.Checkpoints.Makes(t.Context(), eventstore.Reports, head.Position)
	must(t, err)
	client := tileClient{w, eventstore.Reports, w.token(w.ours.auditor, "audit:read"), map[string][]byte{}}

	published, err := attest.ParseKeys(w.do(request{method: "GET", path: "/.well-known/muster-keys.json"}).is(200).Body.Bytes())
	must(t, err)
	var verifiers []note.Verifier
	for _, k := range published.Of(attest.UseLog) {
		v, err := note.NewVerifier(k.VerifierKey)
		must(t, err)
		verifiers = append(verifiers, v)
	}
	signed, err := note.Open(client.get("checkpoint"), note.VerifierList(verifiers...))
	must(t, err)
	var origin, root string
	var size int64
	_, err = fmt.Sscan(signed.Text, &origin, &size, &root)
	must(t, err)
	if size != head.Position || !strings.HasSuffix(origin, "/reports") {
		t.Fatalf("the checkpoint is %q, the log has %d events", signed.Text, head.Position)
	}
	hash, err := tlog.ParseHash(root)
	must(t, err)
	checked := tlog.TileHashReader(tlog.Tree{N: size, Hash: hash}, client)
	for first := int64(0); first < size; first += 256 {
		path := fmt.Sprintf("tile/entries/%03d", first/256)
		if left := size - first; left < 256 {
			path += fmt.Sprintf(".p/%d", left)
		}
		bundle, at := client.get(path), first
		for ; len(bundle) > 0; at++ {
			n := binary.BigEndian.Uint16(bundle)
			leaf := bundle[2 : 2+n]
			bundle = bundle[2+n:]
			hashes, err := checked.ReadHashes([]int64{tlog.StoredHashIndex(0, at)})
			must(t, err)
			if n != tree.LeafSize || tlog.RecordHash(leaf) != hashes[0] {
				t.Fatalf("entry %d does not hash to the tree", at)
			}
		}
		if at != min(first+256, size) {
			t.Fatalf("a bundle ends at %d", at)
		}
	}
	caught, err := tlog.TreeHash(size, checked)
	must(t, err)
	if caught != hash {
		t.Errorf("the tiles have the root %v", caught)
	}
}

// TestTilesHaveOneAddressEach: an entry that the last checkpoint does not cover is not found, and neither is an
// address in another spelling. A member who may not read the record may not read the tree.
func TestTilesHaveOneAddressEach(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	get := func(path string) request {
		return request{method: "GET", path: "/proof/organization/" + path, as: w.ours.auditor}
	}
	if a := w.do(get("checkpoint")); a.Code != 404 {
		t.Errorf("a log without a checkpoint has %d", a.Code)
	}
	w.logged(eventstore.Organization, 300)
	head, err := w.deps.Events.Head(t.Context(), w.deps.DB, eventstore.Organization)
	must(t, err)
	_, err = w.deps.Checkpoints.Makes(t.Context(), eventstore.Organization, head.Position)
	must(t, err)
	w.logged(eventstore.Organization, 300) // there, and not signed
	beyond := head.Position - 256 + 1
	for path, want := range map[string]int{
		"checkpoint": 200, "tile/0/000": 200, fmt.Sprintf("tile/0/001.p/%d", beyond-1): 200, "tile/0/001.p/1": 200, "tile/1/000.p/1": 200, "tile/entries/000": 200, "tile/entries/001.p/3": 200,
		fmt.Sprintf("tile/0/001.p/%d", beyond): 404, "tile/0/001": 404, fmt.Sprintf("tile/entries/001.p/%d", beyond): 404, "tile/1/000.p/2": 404, "tile/2/000.p/1": 404, "tile/63/000.p/1": 404,
		"tile/64/000": 404, "tile/00/000": 404, "tile/-1/000": 404, "tile/x/000": 404, "tile/0/0": 404, "tile/0/x000/000": 404, "tile/0/x001/000": 404, "tile/0/000.p/0": 404, "tile/0/000.p/256": 404,
		"tile/0/000.p/01": 404, "tile/0/x001:000": 404, "tile/0/000:p/1": 404, "tile/0/x999/x999/x999/x999/x999/999": 404, "tile/0/": 404, "tile/0": 404, "tile/entries/x001/../000": 404,
	} {
		if a := w.do(get(path)); a.Code != want {
			t.Errorf("%s has %d, want %d", path, a.Code, want)
		}
	}
	tile := w.do(get("tile/0/000"))
	if tile.Body.Len() != 8192 || tile.Header().Get("Content-Type") != "application/octet-stream" || tile.Header().Get("Cache-Control") != "private, max-age=31536000, immutable" {
		t.Errorf("a tile has %d bytes, %v", tile.Body.Len(), tile.Header())
	}
	if note := w.do(get("checkpoint")); note.Header().Get("Content-Type") != "text/plain; charset=utf-8" || note.Header().Get("Cache-Control") != "private, no-cache" {
		t.Errorf("a checkpoint has %v", note.Header())
	}
	if a := w.do(request{method: "HEAD", path: "/proof/organization/tile/0/001.p/3", as: w.ours.auditor}); a.Code != 200 || a.Header().Get("Content-Length") != "96" {
		t.Errorf("HEAD has %d, %v", a.Code, a.Header())
	}
	w.do(request{method: "GET", path: "/proof/nothing/checkpoint", as: w.ours.auditor}).is(404)
	w.do(request{method: "GET", path: "/proof/organization/tile/0/000", as: w.ours.member}).is(403)
	w.do(request{method: "GET", path: "/proof/organization/tile/0/000", token: w.token(w.ours.admin, organization.ScopeReportsRead)}).is(403)
	w.do(request{method: "GET", path: "/proof/organization/checkpoint"}).is(401)
}

// TestATreeExtendsASmallerOne: with the answer, anybody compares two checkpoints. A checkpoint that was never
// signed is unknown.
func TestATreeExtendsASmallerOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.logged(eventstore.Reports, 300)
	of := func(size int64) (c attest.Tree) {
		root, err := tree.New(w.deps.DB).Root(t.Context(), eventstore.Reports, size)
		must(t, err)
		return attest.Tree{Origin: w.deps.Signing.Origin(eventstore.Reports), Size: size, Root: root}
	}
	last, err := w.deps.Checkpoints.Makes(t.Context(), eventstore.Reports, 300)
	must(t, err)
	asked := func(query string) attest.Consistency {
		t.Helper()
		c, err := attest.ParseConsistency(w.get(w.ours.auditor, "/proof/reports/consistency?"+query).is(200).Body.Bytes())
		must(t, err)
		return c
	}
	proof := attest.Proof{Checkpoint: last.Note, Event: attest.Event{Log: "reports"}}
	for _, size := range []int64{1, 255, 256, 257, last.Size} {
		step := attest.CheckKept(proof, of(size), []attest.Consistency{asked(fmt.Sprintf("from=%d", size))})
		if step.State != attest.Held {
			t.Errorf("from %d: %+v", size, step)
		}
	}
	if c := asked("from=7&to=256"); c.From != 7 || c.To != 256 || len(c.Hashes) == 0 {
		t.Errorf("%+v", c)
	}
	w.get(w.ours.auditor, "/proof/reports/consistency").problem(400, "missing_parameter")
	w.get(w.ours.auditor, "/proof/reports/consistency?from=0").problem(400, "invalid_parameter")
	w.get(w.ours.auditor, "/proof/reports/consistency?from=9&to=8").problem(422, "out_of_range")
	w.get(w.ours.auditor, "/proof/reports/consistency?from=100000").problem(404, "not_found")
	w.get(w.ours.auditor, "/proof/reports/consistency?from=1&to=100000").problem(404, "not_found")
	w.get(w.ours.auditor, "/proof/nothing/consistency?from=1").problem(404, "not_found")
	w.get(w.ours.auditor, "/proof/fleet/consistency?from=1000000").problem(404, "not_found")
	w.get(w.ours.member, "/proof/reports/consistency?from=1").problem(403, "forbidden")
}

// TestPublicTrees need no sign-in, and nothing else is opened with them.
func TestPublicTrees(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(d *Dependencies) { d.ProofPublic = true })
	w.logged(eventstore.Reports, 1)
	_, err := w.deps.Checkpoints.Makes(t.Context(), eventstore.Reports, 1)
	must(t, err)
	for _, path := range []string{"/proof/reports/checkpoint", "/proof/reports/tile/entries/000.p/1"} {
		if a := w.do(request{method: "GET", path: path}).is(200); !strings.HasPrefix(a.Header().Get("Cache-Control"), "public, ") {
			t.Errorf("%s has %s", path, a.Header().Get("Cache-Control"))
		}
	}
	w.do(request{method: "GET", path: "/api/v1/audit-events"}).is(401)
	w.do(request{method: "GET", path: "/metrics"}).is(401)
}
