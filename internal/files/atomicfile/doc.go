// Package atomicfile writes small files completely or not at all, also across a power failure.
//
// A file is written aside, in its own directory, and flushed. Then it is moved into its place,
// and the directory is flushed. A reader at that moment reads the old file or the new one.
//
// What may go wrong:
//
//   - A process dies, or the disk is full: a file aside may be left over, whose name begins with
//     a dot and is never read. The file itself has its old or its new content.
//   - Two processes write at once: Replace leaves the later one, Create the earlier one
//     (fs.ErrExist).
//   - Nothing can be created in the directory: the error is the *fs.PathError of an open.
package atomicfile
