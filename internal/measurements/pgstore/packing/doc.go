// Package packing puts the raw samples of a series and hour into one compressed block, and takes
// such a block apart again: into samples, or into columns for a store by columns. It is pure.
//
// Samples of statements, of which most bytes are, are put in columns first (pack_statements.go).
// The samples themselves are bytes of package codec.
//
// # What may go wrong
//
// Bytes are cut off, or a disk changed them: rowbytes.ErrBytes. There is never a panic
// (FuzzUnpack), and no block is unpacked into more than maxPacked bytes.
package packing
