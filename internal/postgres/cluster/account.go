package cluster

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strconv"

	"muster/internal/process/unixonly"
)

// Account is the operating-system account that PostgreSQL's programs run as.
// The zero Account is our own.
type Account struct {
	uid, gid uint32
	other    bool
}

// DefaultAccount is our own account. As root, it is another one, because PostgreSQL refuses to
// run as root: that of user postgres, which packages of PostgreSQL create, or nobody's if none
// is installed.
func DefaultAccount() (Account, error) {
	if os.Geteuid() != 0 {
		return Account{}, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		u, err = user.Lookup("nobody")
	}
	if err != nil {
		return Account{}, fmt.Errorf("PostgreSQL does not run as root and there is no user postgres "+
			"(the Debian package postgresql makes one): %w", err)
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return Account{}, fmt.Errorf("user id of %s: %w", u.Username, err)
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return Account{}, fmt.Errorf("group id of %s: %w", u.Username, err)
	}
	return Account{uid: uint32(uid), gid: uint32(gid), other: true}, nil
}

// AccountOf is the account that owns an existing cluster: PostgreSQL runs as no
// other.
func AccountOf(dir string) (Account, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return Account{}, err
	}
	uid, gid, ok := unixonly.Owner(info)
	if !ok || int(uid) == os.Geteuid() {
		return Account{}, nil
	}
	return Account{uid: uid, gid: gid, other: true}, nil
}

// Own gives a file or directory to the account.
func (a Account) Own(path string) error {
	if !a.other {
		return nil
	}
	return os.Chown(path, int(a.uid), int(a.gid))
}

// Admit lets the account's group, and nobody else, pass through a directory that was closed to
// everybody but us. It does not change other directories, because their group has been given to
// somebody.
func (a Account) Admit(dir string) error {
	if !a.other {
		return nil
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if info.Mode().Perm() != 0o700 {
		return nil
	}
	if err := os.Chown(dir, -1, int(a.gid)); err != nil {
		return err
	}
	return os.Chmod(dir, 0o710)
}

// CanEnter tries whether the account reaches a directory, which modes alone do
// not tell: there are access lists, mounts and every parent.
func (a Account) CanEnter(ctx context.Context, inst Installation, dir string) bool {
	cmd := exec.CommandContext(ctx, inst.Program("postgres"), "--version")
	a.apply(cmd)
	cmd.Dir = dir // entered after the change of user
	return cmd.Run() == nil
}

// Command is a command that runs as the account, with Environment, and in a directory
// that every account may enter, as ours may not be.
func (a Account) Command(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	a.apply(cmd)
	cmd.Dir = "/"
	cmd.Env = Environment()
	return cmd
}

// apply makes a command run as the account, in a session of its own: a Ctrl-C or
// the end of the terminal is ours to turn into an orderly stop.
func (a Account) apply(cmd *exec.Cmd) {
	unixonly.OwnSession(cmd)
	if a.other {
		unixonly.RunAs(cmd, a.uid, a.gid)
	}
}

// Same says whether two accounts are one user.
func (a Account) Same(b Account) bool { return a.other == b.other && a.uid == b.uid }
