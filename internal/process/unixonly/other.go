//go:build !unix

package unixonly

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"syscall"
)

// Lock is not there.
func Lock(*os.File, bool) error { return errors.ErrUnsupported }

// Kill is not there.
func Kill(int, syscall.Signal) error { return errors.ErrUnsupported }

// Owner knows no owner.
func Owner(fs.FileInfo) (uid, gid uint32, ok bool) { return 0, 0, false }

// OwnSession does nothing.
func OwnSession(*exec.Cmd) {}

// RunAs does nothing.
func RunAs(*exec.Cmd, uint32, uint32) {}
