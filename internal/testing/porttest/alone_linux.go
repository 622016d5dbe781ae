package porttest

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"syscall"
)

// Alone gives a program a network of its own when it starts, in which no interface is up. If its start ends
// with an error that is NotAlone, this machine gives no process one.
func Alone(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
	}
}

// NotAlone says whether a program of Alone has not started because there is no network for it.
func NotAlone(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOSPC)
}
