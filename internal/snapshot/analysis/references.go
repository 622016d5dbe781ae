package analysis

import (
	"net/url"
	"strings"
)

// Address is where a reader finds what a reference or the name of a CVE means; empty
// where no page is known. It looks nothing up: a document says the same for ever.
func Address(reference string) string {
	switch {
	case strings.HasPrefix(reference, "CVE-"):
		return "https://www.cve.org/CVERecord?id=" + url.QueryEscape(reference)
	case strings.HasPrefix(reference, "RFC "):
		return "https://www.rfc-editor.org/rfc/rfc" + url.PathEscape(strings.TrimPrefix(reference, "RFC "))
	case strings.HasPrefix(reference, "CIS "):
		return "https://www.cisecurity.org/cis-benchmarks"
	}
	if u, err := url.Parse(reference); err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" {
		return reference
	}
	return ""
}
