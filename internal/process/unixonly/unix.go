//go:build unix

package unixonly

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"syscall"
)

// Lock takes the lock of an open file, or changes how it is held, without waiting. The
// kernel drops it with the process. Error: ErrLocked.
func Lock(file *os.File, exclusive bool) error {
	mode := syscall.LOCK_SH
	if exclusive {
		mode = syscall.LOCK_EX
	}
	for {
		err := syscall.Flock(int(file.Fd()), mode|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EWOULDBLOCK):
			return ErrLocked
		}
		return err
	}
}

// Kill sends a signal to a process; 0 asks whether it is there.
func Kill(pid int, signal syscall.Signal) error { return syscall.Kill(pid, signal) }

// Owner is the owner of a file; ok is false if that cannot be told.
func Owner(info fs.FileInfo) (uid, gid uint32, ok bool) {
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return owner.Uid, owner.Gid, true
}

// OwnSession makes a command run in a session of its own, where a Ctrl-C of ours does not
// reach it.
func OwnSession(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// RunAs makes a command of OwnSession run as another account.
func RunAs(cmd *exec.Cmd, uid, gid uint32) {
	cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uid, Gid: gid}
}
