// Package unixonly has the functions of Unix that the server needs and Windows lacks.
//
// The agent also runs on Windows, and is the same program. There everything here fails with
// errors.ErrUnsupported, or returns that nothing is known. No command that an agent needs uses
// this package, and serve ends at once with that error.
//
// What may go wrong: a file system without locks (some network ones) answers Lock with an error
// that is not ErrLocked.
package unixonly

import "errors"

// ErrLocked says that somebody else holds a lock.
var ErrLocked = errors.New("locked by another process")
