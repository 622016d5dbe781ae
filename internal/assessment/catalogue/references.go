package catalogue

import (
	"fmt"
	"net/url"
	"path"
	"strings"
)

// Sources of a reference.
const (
	SourceCIS    = "CIS"
	SourceVendor = "vendor"
	SourceIETF   = "IETF"
	SourceOther  = "other" // a form that nobody has described
)

// Reference is where a check comes from, as a reader follows it.
type Reference struct {
	Source  string
	Version string // empty: not said
	ID      string
	URL     string // empty: there is none
}

// edition is a published text that checks refer to by a key and an id in it.
type edition struct {
	source, version string
	url             string // with %s, the id in lower case; without, of the text as a whole
}

// editions are the texts that were consulted, and in doc.go from where they are known.
var editions = map[string]edition{
	"cis-oracle19":   {SourceCIS, "Oracle Database 19c Benchmark 1.0.0", "https://www.cisecurity.org/benchmark/oracle_database"},
	"oracle-refrn12": {SourceVendor, "Database Reference 12.2", "https://docs.oracle.com/en/database/oracle/oracle-database/12.2/refrn/%s.html"},
	"oracle-refrn19": {SourceVendor, "Database Reference 19c", "https://docs.oracle.com/en/database/oracle/oracle-database/19/refrn/%s.html"},
	"oracle-asoag19": {SourceVendor, "Advanced Security Guide 19c", "https://docs.oracle.com/en/database/oracle/oracle-database/19/asoag/%s.html"},
}

// Cited are a check's references, read.
func (c Check) Cited() []Reference {
	out := make([]Reference, len(c.References))
	for i, text := range c.References {
		out[i] = cited(text)
	}
	return out
}

func cited(text string) Reference {
	key, id, _ := strings.Cut(text, " ")
	if e, known := editions[key]; known && id != "" {
		r := Reference{Source: e.source, Version: e.version, ID: id, URL: e.url}
		if strings.Contains(e.url, "%s") {
			r.URL = fmt.Sprintf(e.url, id)
		}
		return r
	}
	if id, ok := strings.CutPrefix(text, "CIS "); ok {
		return Reference{Source: SourceCIS, ID: id, URL: "https://www.cisecurity.org/benchmark/postgresql"}
	}
	if strings.HasPrefix(text, "CVE-") {
		return Reference{Source: SourceVendor, ID: text, URL: "https://www.postgresql.org/support/security/" + text + "/"}
	}
	if number, ok := strings.CutPrefix(text, "RFC "); ok {
		return Reference{Source: SourceIETF, ID: text, URL: "https://www.rfc-editor.org/rfc/rfc" + number}
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return Reference{Source: SourceOther, ID: text}
	}
	r := Reference{Source: SourceVendor, URL: text, ID: u.Host + strings.TrimSuffix(u.Path, "/")}
	if page, ok := strings.CutPrefix(u.Path, "/docs/"); ok {
		r.Version, r.ID = path.Dir(page), strings.TrimSuffix(path.Base(page), ".html")
	}
	return r
}

// printed is a reference as documents carry it: what was written, or the name of the
// edition and the place in it.
func printed(text string) string {
	key, id, _ := strings.Cut(text, " ")
	e, known := editions[key]
	switch {
	case !known:
		return text
	case e.source == SourceVendor:
		return cited(text).URL
	default:
		return e.source + " " + e.version + ", " + id
	}
}
