package postgres

import (
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// hostTimeout is how long one of several hosts may take to answer: one that lost its power
// says nothing, and is not to keep us from the one that took over.
const hostTimeout = 3 * time.Second

// Bounded is a database URL in which no host holds up the others: where it names several
// and says no connect_timeout, each has hostTimeout. Without one pgx waits for the kernel,
// which tries for two minutes.
func Bounded(address string) string {
	u, err := parseURL(address)
	if err != nil { // whoever connects says so
		return address
	}
	query := u.Query()
	several := strings.Contains(u.Host, ",") || strings.Contains(query.Get("host"), ",")
	if !several || query.Has("connect_timeout") || os.Getenv("PGCONNECT_TIMEOUT") != "" {
		return address
	}
	separator := "?"
	if strings.Contains(address, "?") {
		separator = "&"
	}
	return address + separator + "connect_timeout=" + strconv.Itoa(int(hostTimeout.Seconds()))
}

// parseURL reads a URL that may have a list of hosts, with ports or without, which net/url
// does not take in every form.
func parseURL(text string) (*url.URL, error) {
	scheme, rest, _ := strings.Cut(text, "://")
	end := strings.IndexAny(rest, "/?")
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
