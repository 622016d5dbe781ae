package cluster

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// Account is the operating-system account that PostgreSQL's programs run as.
// The zero Account is our own.
type Account struct {
	uid, gid uint32
	other    bool
}

// DefaultAccount is our own account, or that of user postgres when we are root,
// because PostgreSQL refuses to run as root.
func DefaultAccount() (Account, error) {
	if os.Geteuid() != 0 {
		return Account{}, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return Account{}, fmt.Errorf("PostgreSQL does not run as root and there is no user postgres "+
			"(the Debian package postgresql makes one): %w", err)
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return Account{}, fmt.Errorf("user id of postgres: %w", err)
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return Account{}, fmt.Errorf("group id of postgres: %w", err)
	}
	return Account{uid: uint32(uid), gid: uint32(gid), other: true}, nil
}

// Other says whether the account is not our own.
func (a Account) Other() bool { return a.other }

// Own gives a file or directory to the account.
func (a Account) Own(path string) error {
	if !a.other {
		return nil
	}
	return os.Chown(path, int(a.uid), int(a.gid))
}

// apply makes a command run as the account, in a process group of its own: a
// Ctrl-C in the terminal is ours to turn into an orderly stop.
func (a Account) apply(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if a.other {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: a.uid, Gid: a.gid}
	}
}
