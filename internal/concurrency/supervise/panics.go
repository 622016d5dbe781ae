package supervise

import (
	"fmt"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
)

// PanicError is a panic that was recovered.
type PanicError struct {
	Value any
	Place string // the function and line that panicked
	Stack []byte // of the goroutine that panicked
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v in %s", e.Value, e.Place) }

// Unwrap returns the error that the code panicked with; nil: it was no error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// Recover is deferred where a panic is to become an error, a *PanicError.
func Recover(err *error) {
	switch p := recover().(type) {
	case nil:
	case *PanicError: // a member of a group's, which Join passed on
		*err = p
	default:
		*err = &PanicError{Value: p, Place: place(), Stack: debug.Stack()}
	}
}

// place is where the goroutine panicked, for a log's line that has no room for a stack.
func place() string {
	calls := make([]uintptr, 16)
	frames := runtime.CallersFrames(calls[:runtime.Callers(3, calls)]) // behind Recover
	for {
		frame, more := frames.Next()
		if !strings.HasPrefix(frame.Function, "runtime.") {
			return fmt.Sprintf("%s (%s:%d)", frame.Function, filepath.Base(frame.File), frame.Line)
		}
		if !more {
			return "an unknown place"
		}
	}
}

// Call calls f. Where f panics, the error is a *PanicError.
func Call(f func() error) (err error) {
	defer Recover(&err)
	return f()
}

// Value is Call for a function with a result.
func Value[T any](f func() (T, error)) (value T, err error) {
	defer Recover(&err)
	return f()
}
