// Package unixonly has the functions of Unix that the server needs and Windows lacks.
//
// The agent runs on Windows, too, and is the same program. There everything here fails
// with errors.ErrUnsupported, or knows nothing: no command that an agent needs comes here,
// and serve ends at once with that error.
//
// What may go wrong: a file system without locks (some network ones) answers Lock with an
// error that is not ErrLocked.
package unixonly

import "errors"

// ErrLocked says that somebody else holds a lock.
var ErrLocked = errors.New("locked by another process")
