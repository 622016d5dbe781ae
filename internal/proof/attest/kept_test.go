package attest_test

import (
	"strconv"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"muster/internal/proof/attest"
)

// grown is a log of leaves.
type grown struct{ hashes []tlog.Hash }

func (g *grown) ReadHashes(indexes []int64) (out []tlog.Hash, err error) {
	for _, i := range indexes {
		out = append(out, g.hashes[i])
	}
	return out, nil
}

func newGrown(t *testing.T, leaves string) *grown {
	t.Helper()
	g := &grown{}
	for i, leaf := range []byte(leaves) {
		stored, err := tlog.StoredHashes(int64(i), []byte{leaf}, g)
		must(t, err)
		g.hashes = append(g.hashes, stored...)
	}
	return g
}

func (g *grown) at(t *testing.T, size int64) attest.Tree {
	t.Helper()
	root, err := tlog.TreeHash(size, g)
	must(t, err)
	return attest.Tree{Origin: "muster/x/reports", Size: size, Root: root}
}

func (g *grown) link(t *testing.T, from, to int64) attest.Link {
	t.Helper()
	proof, err := tlog.ProveTree(to, from, g)
	must(t, err)
	return attest.NewLink(from, proof)
}

// proofOf is a proof over a tree, whose event is somewhere in it.
func proofOf(of attest.Tree, hash string, links ...attest.Link) attest.Proof {
	return attest.Proof{
		Checkpoint:  of.Origin + "\n" + tlogSize(of.Size) + "\n" + of.Root.String() + "\n\n\u2014 x y\n",
		Event:       attest.Event{Log: "reports", Position: 2, Hash: hash},
		Consistency: links,
	}
}

func tlogSize(n int64) string { return strconv.FormatInt(n, 10) }

// TestKeptCheckpoints: a link from one tree to another shows that both have one history;
// without a link, it cannot be told.
func TestKeptCheckpoints(t *testing.T) {
	t.Parallel()
	ours, theirs := newGrown(t, "abcdefgh"), newGrown(t, "abXdefgh")
	other := ours.at(t, 3)
	other.Origin = "muster/y/reports"
	between := func(g *grown, from, to int64) []attest.Consistency {
		return []attest.Consistency{{Origin: "muster/x/reports", To: to, Link: g.link(t, from, to)}}
	}
	for name, tc := range map[string]struct {
		proof attest.Proof
		kept  attest.Tree
		links []attest.Consistency
		want  attest.State
	}{
		"the same tree":                     {proofOf(ours.at(t, 5), "a"), ours.at(t, 5), nil, attest.Held},
		"another root of the size":          {proofOf(ours.at(t, 5), "a"), theirs.at(t, 5), nil, attest.Broken},
		"an older one, linked in the proof": {proofOf(ours.at(t, 5), "a", ours.link(t, 3, 5)), ours.at(t, 3), nil, attest.Held},
		"an older one of another history":   {proofOf(ours.at(t, 5), "a", ours.link(t, 3, 5)), theirs.at(t, 3), nil, attest.Broken},
		"an older one before the change":    {proofOf(theirs.at(t, 5), "a", theirs.link(t, 2, 5)), ours.at(t, 2), nil, attest.Held},
		"an older one, linked beside it":    {proofOf(ours.at(t, 5), "a"), ours.at(t, 4), between(ours, 4, 5), attest.Held},
		"nothing leads there":               {proofOf(ours.at(t, 5), "a", ours.link(t, 3, 5)), ours.at(t, 4), between(ours, 2, 5), attest.Untold},
		"a newer one":                       {proofOf(ours.at(t, 5), "a"), ours.at(t, 8), between(ours, 5, 8), attest.Held},
		"a newer one of another history":    {proofOf(ours.at(t, 5), "a"), theirs.at(t, 8), between(theirs, 5, 8), attest.Broken},
		"a newer one without a link":        {proofOf(ours.at(t, 5), "a"), ours.at(t, 8), nil, attest.Untold},
		"of another log":                    {proofOf(ours.at(t, 5), "a"), other, nil, attest.Untold},
	} {
		if step := attest.CheckKept(tc.proof, tc.kept, tc.links); step.State != tc.want || step.Name != attest.StepKept {
			t.Errorf("%s: %+v, want %s", name, step, tc.want)
		}
	}
}

// TestTwoHistoriesInTwoFiles: two roots of one size, two events at one position, and two trees
// that do not begin with each other.
func TestTwoHistoriesInTwoFiles(t *testing.T) {
	t.Parallel()
	ours, theirs := newGrown(t, "abcdefgh"), newGrown(t, "abXdefgh")
	for name, tc := range map[string]struct {
		a, b attest.Proof
		want string
	}{
		"one history":                   {proofOf(ours.at(t, 5), "a"), proofOf(ours.at(t, 5), "a"), ""},
		"two roots of one size":         {proofOf(ours.at(t, 5), "a"), proofOf(theirs.at(t, 5), "a"), "has two roots"},
		"two events at one position":    {proofOf(ours.at(t, 5), "a"), proofOf(theirs.at(t, 6), "b"), "two events reports:2"},
		"a link of the larger":          {proofOf(ours.at(t, 5), "a"), proofOf(theirs.at(t, 6), "a", theirs.link(t, 5, 6)), "continues the other"},
		"a link of one history":         {proofOf(ours.at(t, 5), "a"), proofOf(ours.at(t, 6), "a", ours.link(t, 5, 6)), ""},
		"nothing that tells them apart": {proofOf(ours.at(t, 5), "a"), proofOf(theirs.at(t, 6), "a"), ""},
	} {
		for _, why := range []string{attest.Parted(tc.a, tc.b), attest.Parted(tc.b, tc.a)} {
			if !strings.Contains(why, tc.want) || (why == "") != (tc.want == "") {
				t.Errorf("%s: %q, want %q", name, why, tc.want)
			}
		}
	}
}

func TestConsistencyDocuments(t *testing.T) {
	t.Parallel()
	for _, wrong := range []string{``, `{}`, `{"origin":"x","from":0,"to":1,"hashes":[]}`, `{"origin":"x","from":2,"to":1,"hashes":[]}`, `{"origin":"x","from":1,"to":2,"hashes":["YQ=="]}`, `{"from":1,"to":2,"hashes":[]}`} {
		if _, err := attest.ParseConsistency([]byte(wrong)); err == nil {
			t.Errorf("%s is taken", wrong)
		}
	}
}
