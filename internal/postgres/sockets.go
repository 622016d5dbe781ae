package postgres

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"muster/internal/postgres/cluster"
)

// socketsBelow is short whatever TMPDIR says: on macOS that has 50 characters.
const socketsBelow = "/tmp"

// sockets is the directory for the server's socket, made if need be: always the
// same for one home, so that a connection string survives a restart, unless
// somebody else has taken that name.
func (h *home) sockets() (string, error) {
	record := filepath.Join(h.dir, "sockets")
	named, err := os.ReadFile(record)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read where the socket is: %w", err)
	}
	dir := strings.TrimSpace(string(named))
	if dir == "" {
		sum := sha256.Sum256([]byte(h.dir))
		dir = filepath.Join(socketsBelow, fmt.Sprintf("muster-%x", sum[:5]))
	}
	if err := h.own(dir); err != nil {
		// A name in /tmp that anybody can foresee, anybody can take.
		if dir, err = os.MkdirTemp(socketsBelow, "muster-"); err != nil {
			return "", fmt.Errorf("make a directory for the socket: %w", err)
		}
		if err := h.own(dir); err != nil {
			return "", err
		}
	}
	if err := writeWhole(record, dir+"\n"); err != nil {
		return "", fmt.Errorf("record where the socket is: %w", err)
	}
	return dir, nil
}

// own makes dir, or takes it if it is there and really the account's.
func (h *home) own(dir string) error {
	err := os.Mkdir(dir, 0o700)
	if err == nil {
		err = h.account.Own(dir)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make a directory for the socket: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("look at the directory for the socket: %w", err)
	}
	owner, err := cluster.AccountOf(dir)
	if err != nil {
		return fmt.Errorf("look at the directory for the socket: %w", err)
	}
	if !info.IsDir() || info.Mode().Perm() != 0o700 || !owner.Same(h.account) {
		return fmt.Errorf("%s belongs to somebody else", dir)
	}
	return nil
}
