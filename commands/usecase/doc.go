// Package usecase is what all use cases of the write side share: on whose behalf a command runs
// (Actor) and where its write ended up (Mark), the errors of refusals, and the way from a stream
// to new events behind it: Fold or Decide under LockStream, then Append, last in a transaction.
// Registry has the names of all events. The order of locks is that of package commands.
package usecase
