package installation

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// unusable says of a place that cannot be written to what to do about it, and which
// setting names it. Other errors stay as they are.
func unusable(setting string, err error) error {
	var remedy string
	switch {
	case errors.Is(err, syscall.EROFS):
		remedy = "its file system is mounted to be read only: mount it for writing"
	case errors.Is(err, fs.ErrPermission):
		remedy = fmt.Sprintf("it is not this account's (user id %d): have it given with chown", os.Getuid())
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		remedy = "its disk is full: make room"
	default:
		return err
	}
	return fmt.Errorf("%w; %s, or name another place with --%s", err, remedy, setting)
}
