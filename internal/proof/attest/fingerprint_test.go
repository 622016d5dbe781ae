package attest_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"muster/internal/proof/attest"
	"muster/internal/proof/attest/attesttest"
)

// TestTheFingerprintOfKeys is one for the document of keys and the trust file made from it,
// in any order of the keys, and another one after each change of a key.
func TestTheFingerprintOfKeys(t *testing.T) {
	t.Parallel()
	keys := attesttest.New(t, "ours").Keys()
	// By the ten lines of Python in docs/auditors.md.
	const want = "b10959df5d60d4f4007c779fe69ac1d449136f59f2cb904d86a5b238df6c11b5"
	if got := keys.Fingerprint(); got != want {
		t.Errorf("the fingerprint is %s, want %s", got, want)
	}
	text, err := attest.TrustFile{Keys: keys.Keys}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	trust, err := attest.ParseTrust(text)
	if err != nil || trust.Keys.Fingerprint() != want {
		t.Errorf("the trust file has the fingerprint %s, %v", trust.Keys.Fingerprint(), err)
	}
	end := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		change func(*attest.Keys)
		same   bool
	}{
		"in another order":         {func(k *attest.Keys) { slices.Reverse(k.Keys) }, true},
		"with a head":              {func(k *attest.Keys) { k.Installation, k.Head = "0197", "keys:3:ab" }, true},
		"a key retired":            {func(k *attest.Keys) { k.Keys[0].ValidTo = &end }, false},
		"a key revoked":            {func(k *attest.Keys) { k.Keys[1].RevokedAt = &end }, false},
		"another reason":           {func(k *attest.Keys) { k.Keys[1].Reason = "lost" }, false},
		"a beginning moved":        {func(k *attest.Keys) { k.Keys[1].ValidFrom = end }, false},
		"another installation's":   {func(k *attest.Keys) { k.Keys = attesttest.New(t, "theirs").Keys().Keys }, false},
		"a key left out":           {func(k *attest.Keys) { k.Keys = k.Keys[:1] }, false},
		"the same key, other bits": {func(k *attest.Keys) { k.Keys[1].PublicKey = append(slices.Clone(k.Keys[1].PublicKey), 0) }, false},
	} {
		document, err := json.Marshal(keys)
		if err != nil {
			t.Fatal(err)
		}
		var changed attest.Keys
		if err := json.Unmarshal(document, &changed); err != nil {
			t.Fatal(err)
		}
		c.change(&changed)
		if got := changed.Fingerprint(); (got == want) != c.same {
			t.Errorf("%s: the fingerprint is %s", name, got)
		}
	}
}
