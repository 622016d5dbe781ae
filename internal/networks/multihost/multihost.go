package multihost

import (
	"net/url"
	"strings"
)

// Parse is url.Parse for a URL whose Host may be a list, with ports or without. Errors are
// those of url.Parse, which repeat the text.
func Parse(text string) (*url.URL, error) {
	scheme, rest, _ := strings.Cut(text, "://")
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	hosts := strings.LastIndexByte(rest[:end], '@') + 1
	if !strings.Contains(rest[hosts:end], ",") {
		return url.Parse(text)
	}
	u, err := url.Parse(scheme + "://" + rest[:hosts] + "hosts" + rest[end:])
	if err == nil {
		u.Host = rest[hosts:end]
	}
	return u, err
}

// Several says whether the URL of a PostgreSQL names several hosts, in its place for hosts
// or in its query.
func Several(u *url.URL) bool {
	return strings.Contains(u.Host, ",") || strings.Contains(u.Query().Get("host"), ",")
}
