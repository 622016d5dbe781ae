package e2e

import (
	"crypto/ed25519"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/internal/cli/command"
	"muster/internal/proof/attest"
)

// TestSignedKeys: a document of keys that was changed since it was signed is refused wherever
// one is read, and one without a signature is told apart.
func TestSignedKeys(t *testing.T) {
	t.Parallel()
	from := time.Date(2026, 10, 1, 8, 0, 0, 123456000, time.UTC)
	end := from.AddDate(0, 1, 0)
	public := func(seed byte) (ed25519.PrivateKey, attest.Key) {
		private := ed25519.NewKeyFromSeed([]byte(strings.Repeat(string(rune(seed)), ed25519.SeedSize)))
		key, err := attest.ReportKey(private.Public().(ed25519.PublicKey), from)
		if err != nil {
			t.Fatal(err)
		}
		return private, key
	}
	current, key := public('c')
	retired, old := public('o')
	stranger, theirs := public('s')
	old.ValidTo, old.RevokedAt, old.Reason = &end, &end, "in other hands"
	signed := func(by ed25519.PrivateKey, keys ...attest.Key) attest.Keys {
		document, err := attest.Keys{Installation: "0197", Head: "keys:3:ab", Keys: keys}.Sign(by)
		if err != nil {
			t.Fatal(err)
		}
		return document
	}
	changed := func(how func(*attest.Keys)) attest.Keys {
		document := signed(current, key, old)
		document.Keys = slices.Clone(document.Keys)
		how(&document)
		return document
	}
	const since, away, unsigned = "changed since it was signed", "its signature is missing", "has no signature"
	for name, c := range map[string]struct {
		document attest.Keys
		refused  string
		said     string
	}{
		"as it was published":             {document: signed(current, key, old)},
		"a revocation taken out":          {document: changed(func(k *attest.Keys) { k.Keys[1].RevokedAt = nil }), refused: since},
		"an end moved":                    {document: changed(func(k *attest.Keys) { k.Keys[1].ValidTo = &from }), refused: since},
		"a key of somebody else added":    {document: changed(func(k *attest.Keys) { k.Keys = append(k.Keys, theirs) }), refused: since},
		"a key left out":                  {document: changed(func(k *attest.Keys) { k.Keys = k.Keys[:1] }), refused: since},
		"signed by a revoked key":         {document: signed(retired, key, old), refused: since},
		"signed by a key that it has not": {document: signed(stranger, key, old), refused: since},
		"the signature taken away":        {document: changed(func(k *attest.Keys) { k.Signature = nil }), refused: away},
		"of a version that signed none":   {document: attest.Keys{Keys: []attest.Key{key, old}}, said: unsigned},
	} {
		text, err := json.Marshal(c.document)
		if err != nil {
			t.Fatal(err)
		}
		keys, report := fileWith(t, "keys.json", string(text)), fileWith(t, "report.pdf", "%PDF-1.7 none")
		for line, args := range map[string][]string{
			"trust init":       {"trust", "init", "--keys", keys},
			"verify --offline": {"verify", "--offline", "--keys", keys, report},
		} {
			got := muster(t, args...)
			all := got.out + got.errors
			if strings.Contains(all, "no keys document") != (c.refused != "") || !strings.Contains(all, c.refused) {
				t.Errorf("%s: %s ends with %d: %s, want %q", name, line, got.status, all, c.refused)
			}
			if strings.Contains(got.errors, unsigned) != (c.said != "") {
				t.Errorf("%s: %s says %s", name, line, got.errors)
			}
			if want := map[bool]int{true: command.ExitUsage, false: 0}[c.refused != ""]; line == "trust init" && got.status != want {
				t.Errorf("%s: trust init ends with %d, want %d", name, got.status, want)
			}
		}
	}
}
