package postgres

import (
	"os"
	"strconv"
	"strings"
	"time"

	"muster/internal/networks/multihost"
)

// hostTimeout is how long one of several hosts may take to answer: a host that lost its power
// does not answer, and must not keep us from the one that took over.
const hostTimeout = 3 * time.Second

// Bounded is a database URL in which no host holds up the others: if it names several and has
// no connect_timeout, each has hostTimeout. Without one, pgx waits for the kernel, which tries
// for two minutes.
func Bounded(address string) string {
	u, err := multihost.Parse(address)
	if err != nil { // whoever connects says so
		return address
	}
	if !multihost.Several(u) || u.Query().Has("connect_timeout") || os.Getenv("PGCONNECT_TIMEOUT") != "" {
		return address
	}
	separator := "?"
	if strings.Contains(address, "?") {
		separator = "&"
	}
	return address + separator + "connect_timeout=" + strconv.Itoa(int(hostTimeout.Seconds()))
}
