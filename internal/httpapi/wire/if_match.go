package wire

import "strings"

// StateTag is the ETag of something that a PATCH changes, a strong one: If-Match compares
// strongly (RFC 9110, §13.1.1). It names what a PATCH changes, and neither when
// monitoring started, which would refuse a change that nobody competes with, nor
// whether the answer is packed. Nothing keeps these answers (no-store), so nothing
// is revalidated by it, and no parts are put together under it.
func StateTag(of interface{ Digest() string }) string { return `"` + of.Digest() + `"` }

// StatesSeen are the digests of the states that If-Match names; nil where any will do. A weak tag
// never matches, and neither does what is no tag.
func StatesSeen(ifMatch string) []string {
	if strings.TrimSpace(ifMatch) == "*" {
		return nil
	}
	digests := []string{}
	for _, tag := range strings.Split(ifMatch, ",") {
		tag = strings.TrimSpace(tag)
		if digest := strings.Trim(tag, `"`); tag == `"`+digest+`"` {
			digests = append(digests, digest)
		}
	}
	return digests
}
