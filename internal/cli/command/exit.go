package command

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"muster/domain/printable"
)

// Exit statuses besides 0.
const (
	ExitFailed = 1
	ExitUsage  = 2
	// ExitCannotTell is the status of a question that has no answer.
	ExitCannotTell = 3
)

// ExitError ends the program with a status of its own.
type ExitError struct {
	Status int
	Err    error // nil: everything was said on standard output
}

func (e *ExitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit status %d", e.Status)
	}
	return e.Err.Error()
}

func (e *ExitError) Unwrap() error { return e.Err }

// Unread says that a command ended because nobody reads its output any more.
func Unread(err error) bool {
	var write *fs.PathError
	return errors.As(err, &write) && write.Path == os.Stdout.Name() && errors.Is(write, syscall.EPIPE)
}

// PrintError prints one line, whatever the error holds.
func PrintError(w io.Writer, err error) {
	fmt.Fprintln(w, "muster: "+printable.Clean(strings.Join(strings.Fields(err.Error()), " ")))
}

// Usage is a usage error of all that is wrong; nil where nothing is.
func Usage(wrong []string) error {
	if len(wrong) == 0 {
		return nil
	}
	return &ExitError{Status: ExitUsage, Err: errors.New(strings.Join(wrong, "; "))}
}
