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
