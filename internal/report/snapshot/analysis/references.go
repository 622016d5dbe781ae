package analysis

import (
	"net/url"
	"strings"
)

// publishers are those who give their texts to who asks for them, and the page that says
// how; the catalogue names the edition and the place in it.
var publishers = []struct{ name, page string }{
	{"CIS", "https://www.cisecurity.org/cis-benchmarks"},
	{"DISA STIG", "https://public.cyber.mil/stigs/"},
	{"PCI DSS", "https://www.pcisecuritystandards.org/document_library/"},
	{"ISO/IEC 27001:2022", "https://www.iso.org/standard/27001"},
}

// Address is the page for a reference or the name of a CVE; empty if no page is known. It looks
// nothing up, so a document always has the same links.
func Address(reference string) string {
	switch {
	case strings.HasPrefix(reference, "CVE-"):
		return "https://www.cve.org/CVERecord?id=" + url.QueryEscape(reference)
	case strings.HasPrefix(reference, "RFC "):
		return "https://www.rfc-editor.org/rfc/rfc" + url.PathEscape(strings.TrimPrefix(reference, "RFC "))
	}
	for _, p := range publishers {
		if strings.HasPrefix(reference, p.name+" ") {
			return p.page
		}
	}
	if u, err := url.Parse(reference); err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" {
		return reference
	}
	return ""
}

// ShortReference is a reference as the foot of a page has it: without the words that every reference of its kind has.
func ShortReference(reference string) string {
	if strings.HasPrefix(reference, "https://") {
		return "vendor documentation"
	}
	return shortReferences.Replace(reference)
}

var shortReferences = strings.NewReplacer("ISO/IEC 27001:2022 Annex A, ", "ISO 27001 ", " Benchmark ", " ", "Microsoft ", "", "Crunchy Data ", "", " Instance ", " ", ", ", " ")

// postgresDocs begins the address of PostgreSQL's documentation of a major version, which a slash follows.
const postgresDocs = "https://www.postgresql.org/docs/"

// sqlServerView has the name that Microsoft's documentation has for each version of SQL Server.
var sqlServerView = map[string]string{"2016": "13", "2017": "14", "2019": "15", "2022": "16", "2025": "17"}

// AddressFor is Address, for documentation of the major version that a server runs; an empty major leaves the page that
// the catalogue names.
func AddressFor(reference, major string) string {
	address := Address(reference)
	if rest, ok := strings.CutPrefix(address, postgresDocs); ok && isNumber(major) {
		if _, page, found := strings.Cut(rest, "/"); found {
			return postgresDocs + major + "/" + page
		}
	}
	const view = "?view=sql-server-ver"
	if page, _, ok := strings.Cut(address, view); ok && sqlServerView[major] != "" {
		return page + view + sqlServerView[major]
	}
	return address
}

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
