package catalogue

import (
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

// Cited are a check's references, read.
func (c Check) Cited() []Reference {
	out := make([]Reference, len(c.References))
	for i, text := range c.References {
		out[i] = cited(text)
	}
	return out
}

func cited(text string) Reference {
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
