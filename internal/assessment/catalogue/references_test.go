package catalogue

import "testing"

func TestReferencesAreRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Reference{
		"CIS PostgreSQL 5.3": {SourceCIS, "", "PostgreSQL 5.3", "https://www.cisecurity.org/benchmark/postgresql"},
		"CVE-2018-1058":      {SourceVendor, "", "CVE-2018-1058", "https://www.postgresql.org/support/security/CVE-2018-1058/"},
		"RFC 8996":           {SourceIETF, "", "RFC 8996", "https://www.rfc-editor.org/rfc/rfc8996"},
		"https://www.postgresql.org/docs/current/auth-pg-hba-conf.html": {SourceVendor, "current", "auth-pg-hba-conf", "https://www.postgresql.org/docs/current/auth-pg-hba-conf.html"},
		"https://www.postgresql.org/support/versioning/":                {SourceVendor, "", "www.postgresql.org/support/versioning", "https://www.postgresql.org/support/versioning/"},
		"something else": {SourceOther, "", "something else", ""},
	} {
		if got := cited(text); got != want {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
	}
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, check := range c.Checks() {
		for _, r := range check.Cited() {
			if r.Source == SourceOther || r.ID == "" || r.URL == "" {
				t.Errorf("%s: %+v cannot be followed", check.ID, r)
			}
		}
	}
}

// TestVerifyNamesAWholeObject, or there is none: half a name would seem to be gone.
func TestVerifyNamesAWholeObject(t *testing.T) {
	t.Parallel()
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	index, _ := c.Check("PG-C04")
	for _, object := range []string{"", "a\uFFFDb", "public.very_long… #0a1b2c3d"} {
		if got := index.Verify(object); got != "" {
			t.Errorf("%q is verified by %s", object, got)
		}
	}
	if rule, _ := c.Check("PG-S30"); rule.Verify("PostgreSQL 12") != "" {
		t.Error("a rule is verified by a query")
	}
}
