package page

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"muster/internal/proof/attest"
	"muster/internal/proof/attest/offline"
)

// TestMutants: files, proofs and keys with bytes changed, cut out, doubled and cut off. For
// each, the page gives the program's answer, step by step, or says that it cannot read the
// proof or the keys, because it is stricter about their form. There is one exception, the
// certificates among the keys, which come from a source that the reader trusts: there the page
// continues where the program stops.
func TestMutants(t *testing.T) {
	t.Parallel()
	const size = 500
	r := rand.New(rand.NewPCG(16, 25))
	all := map[string]vector{}
	for _, v := range stored(t) {
		all[v.Name] = v
	}
	dir := t.TempDir()
	var questions []question
	var mutants []vector
	for n := range size {
		v := all[[]string{"signed", "base with its proof", "signed, and a proof beside it", "a time stamp"}[n%4]]
		keys := read(t, keysPath(v.Keys))
		switch {
		case n%7 == 0:
			keys = mutant(r, keys)
		case v.Proof && n%3 > 0:
			v.proof = mutant(r, v.proof)
		default:
			v.file = mutant(r, v.file)
		}
		v.Name = strconv.Itoa(n)
		path := func(what string, content []byte) string {
			p := filepath.Join(dir, v.Name+what)
			must(t, os.WriteFile(p, content, 0o600))
			return p
		}
		q := question{Name: v.Name, File: path(".pdf", v.file), Keys: path(".keys", keys)}
		if v.Proof {
			q.Proof = path(".proof", v.proof)
		}
		questions, mutants = append(questions, q), append(mutants, v)
	}
	answers := ask(t, questions)
	held := 0
	for i, v := range mutants {
		want, wantStates := attest.CannotTell, ""
		keys, err := attest.ParseKeys(read(t, questions[i].Keys))
		var beside *attest.Proof
		if v.Proof && err == nil {
			var p attest.Proof
			if p, err = attest.ParseProof(v.proof); err == nil {
				beside = &p
			}
		}
		if err == nil {
			a := offline.Check(v.file, beside, v.trust(keys))
			want, wantStates = a.Verdict, states(a.Steps)
		}
		got := answers[v.Name]
		if got.Verdict == attest.Holds {
			held++
		}
		unread := got.Verdict == attest.CannotTell && len(got.Steps) == 0
		keysUnread := wantStates == "" && i%7 == 0
		if !unread && !keysUnread && (got.Verdict != want || states(got.Steps) != wantStates) {
			t.Errorf("%s: the page says %s, %s (%s)\nthe program %s, %s %v", v.Name, got.Verdict, states(got.Steps), got.Sentence, want, wantStates, err)
		}
	}
	t.Logf("%d of %d hold", held, len(mutants))
}

// mutant is content with something done to it.
func mutant(r *rand.Rand, content []byte) []byte {
	at := r.IntN(len(content))
	end := min(len(content), at+1+r.IntN(8))
	switch r.IntN(5) {
	case 0:
		return bytes.Clone(content[:at])
	case 1:
		return append(bytes.Clone(content[:at]), content[end:]...)
	case 2:
		return append(bytes.Clone(content[:end]), content[at:]...)
	default:
		changed := bytes.Clone(content)
		changed[at] ^= 1 << r.IntN(8)
		return changed
	}
}
