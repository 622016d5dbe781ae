package clickhouse

import (
	"fmt"
	"net"
	"regexp"
	"strings"

	"muster/internal/networks/multihost"
)

// Address is where the store is: a clickhouse:// URL, read.
type Address struct {
	Hosts          []string // with their ports
	User, Password string
	Database       string
	Cluster        string // empty: one server by itself
	Secure         bool   // TLS
}

// Place is where blocks are, as a ledger notes it: cluster/database, and neither hosts nor
// account, which may change.
func (a Address) Place() string { return a.Cluster + "/" + a.Database }

// AddressError says what is wrong with a URL, without the URL: it has a password.
type AddressError struct{ Reason string }

func (e *AddressError) Error() string {
	return "the address of ClickHouse " + e.Reason + ": it is clickhouse://user:password@host:9000[,host…]/database[?cluster=NAME&secure=true]"
}

// name is what databases and clusters may be called: it stands in statements as it is.
var name = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

const (
	plainPort  = "9000"
	securePort = "9440"
)

// ParseAddress reads a URL; the error is an *AddressError.
func ParseAddress(text string) (Address, error) {
	if !strings.HasPrefix(text, "clickhouse://") {
		return Address{}, &AddressError{"does not begin with clickhouse://"}
	}
	u, err := multihost.Parse(text)
	if err != nil {
		return Address{}, &AddressError{"cannot be read (are special characters of the password written as %XX?)"}
	}
	a := Address{User: u.User.Username(), Database: strings.Trim(u.Path, "/")}
	a.Password, _ = u.User.Password()
	for key, values := range u.Query() {
		switch {
		case key == "cluster" && len(values) == 1 && name.MatchString(values[0]):
			a.Cluster = values[0]
		case key == "cluster":
			return Address{}, &AddressError{"has a cluster whose name is not one of letters, digits and _"}
		case key == "secure" && len(values) == 1 && (values[0] == "true" || values[0] == "false"):
			a.Secure = values[0] == "true"
		default:
			return Address{}, &AddressError{fmt.Sprintf("has %q, which nobody knows", key)}
		}
	}
	if a.User == "" {
		a.User = "default"
	}
	if !name.MatchString(a.Database) {
		return Address{}, &AddressError{"has no database whose name is one of letters, digits and _"}
	}
	for host := range strings.SplitSeq(u.Host, ",") {
		if host == "" {
			return Address{}, &AddressError{"has no host"}
		}
		a.Hosts = append(a.Hosts, a.withPort(host))
	}
	if len(a.Hosts) > 1 && a.Cluster == "" {
		return Address{}, &AddressError{"has several hosts and no cluster that they belong to"}
	}
	return a, nil
}

func (a Address) withPort(host string) string {
	if _, _, err := net.SplitHostPort(host); err == nil {
		return host
	}
	port := plainPort
	if a.Secure {
		port = securePort
	}
	return net.JoinHostPort(strings.Trim(host, "[]"), port)
}
