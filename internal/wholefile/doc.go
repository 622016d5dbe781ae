// Package wholefile writes small files that are there whole or not at all, also after a power cut.
//
// A file is written aside, in its own directory, and flushed. Then it is moved into its place, and
// the directory is flushed. Whoever reads at that moment reads the old file or the new one.
//
// What may go wrong:
//   - A process dies, or the disk is full: a file aside may be left over, whose name begins with a
//     dot and is never read. The file itself is as it was, or as it is to be.
//   - Two write at once: Replace leaves the later one, Create the earlier one (fs.ErrExist).
//   - Nothing can be made in the directory: the error is the *fs.PathError of an open.
package wholefile
