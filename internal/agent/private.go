package agent

import (
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"muster/internal/intake/ownhost"
	"muster/internal/process/unixonly"
)

// Modes that a file with a secret must not have.
const (
	ofOthers fs.FileMode = 0o007
	ofGroup  fs.FileMode = 0o070
)

// exposed says why a file must hold no secret: others than the agent may read or change it. Two
// ways of handing one over give the group the right to read, and pass: systemd's credentials, whose
// mode shows the rights of an access list, and a file of root that an agent without root's rights
// reads by its group, as Kubernetes mounts a Secret (fsGroup). Where files have no such modes, as
// on Windows, it says nothing.
func exposed(path string, info fs.FileInfo) string {
	owner, _, known := unixonly.Owner(info)
	mode := info.Mode().Perm()
	switch {
	case !known || mode&(ofOthers|ofGroup) == 0:
		return ""
	case mode&(ofOthers|0o030) == 0 && (isCredential(path) || owner == 0 && os.Geteuid() != 0):
		return ""
	}
	return fmt.Sprintf("has mode %04o, so that others may read or change it: chmod 600 %s", mode, path)
}

// isCredential says whether systemd passes a file to the unit alone.
func isCredential(path string) bool {
	directory := os.Getenv("CREDENTIALS_DIRECTORY")
	return directory != "" && filepath.Dir(path) == filepath.Clean(directory)
}

// mostToken is more than any token has.
const mostToken = 4 << 10

// ReadToken reads the token. A file that others may read is refused, and says what to run.
func ReadToken(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
	if why := exposed(path, info); why != "" {
		return "", fmt.Errorf("%s %s", path, why)
	}
	content, err := io.ReadAll(io.LimitReader(file, mostToken))
	return strings.TrimSpace(string(content)), err
}

// Clear says what a server's URL exposes; empty: nothing. What is sent over http:// to another
// machine, everybody between can read: the token, and all that is found.
func Clear(server *url.URL) string {
	if server.Scheme != "http" || isThisMachine(server.Hostname()) {
		return ""
	}
	return "the token and all that is found are sent to " + server.Host + " unencrypted: use https://"
}

// isThisMachine says whether a host is the agent's own, without a look-up.
func isThisMachine(host string) bool {
	if name := strings.ToLower(strings.TrimSuffix(host, ".")); name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	address, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	address = address.Unmap().WithZone("")
	if address.IsLoopback() {
		return true
	}
	machine, err := ownhost.ThisMachine()
	return err == nil && machine.HasAddress(address)
}
