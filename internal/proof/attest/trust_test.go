package attest_test

import (
	"errors"
	"strings"
	"testing"

	"muster/internal/proof/attest"
	"muster/internal/proof/attest/attesttest"
)

// TestATrustFile is read as it was written, and refused if it requires something impossible.
func TestATrustFile(t *testing.T) {
	t.Parallel()
	const witness = "witness.example/w+75cef7f1+AZGUvF5Uvb3bAgbzUTcDzSRBYgEqbBCzQCsOqPtFEWwA"
	keys := attesttest.New(t, "ours").Keys().Keys
	text, err := attest.TrustFile{Keys: keys}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	read, err := attest.ParseTrust(text)
	if err != nil || len(read.Keys.Keys) != 2 || read.TSA != nil || read.Needed != 0 {
		t.Errorf("%+v, %v", read, err)
	}
	replaced := func(old, by string) string {
		changed := strings.Replace(string(text), old, by, 1)
		if changed == string(text) {
			t.Fatalf("there is no %s", old)
		}
		return changed
	}
	for name, c := range map[string]struct{ document, says string }{
		"no JSON":                            {"x", "this is no trust document"},
		"another format":                     {replaced("muster-trust-1", "muster-trust-2"), "muster-trust-2"},
		"a demand of later":                  {replaced(`"witnesses"`, `"monitors": ["x"], "witnesses"`), "monitors"},
		"a name twice":                       {replaced(`"witnesses"`, `"Witnesses": [], "witnesses"`), "twice"},
		"no keys":                            {`{"format":"muster-trust-1","keys":[]}`, "/keys: "},
		"no certificate":                     {replaced(`"tsaCertificates": ""`, `"tsaCertificates": "x"`), "/tsaCertificates: "},
		"a witness that is none":             {replaced(`"witnesses": []`, `"witnesses": ["x"]`), "/witnesses/0: "},
		"more than there are":                {replaced(`"witnessesNeeded": 0`, `"witnessesNeeded": 1`), "/witnessesNeeded: 1 of 0"},
		"witnesses, and none of them needed": {replaced(`"witnesses": []`, `"witnesses": ["`+witness+`"]`), "/witnesses"},
	} {
		_, err := attest.ParseTrust([]byte(c.document))
		var malformed *attest.MalformedError
		if !errors.As(err, &malformed) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
