// Package blobs stores the files of reports in a directory or an object store: the PDFs, the
// tables that go with them, and the inputs documents from which they were made.
//
// # How it works
//
// A Store is a gocloud.dev bucket, named by a URL (file://, s3://). Files are written as streams
// and digested on the way. They appear whole or not at all, and never change afterwards. Their
// names hold the fence of the job that wrote them (PDFName, InputsName, CompanionName), so two
// workers never write the same file. The event that names a file decides alone which of a
// report's files counts.
//
// A store belongs to one installation: its file muster-store names it (Claim). A process that
// knows its installation (Expect) writes nothing to the store of another one. Before it reports
// a file as missing, it checks that the store is the right one.
//
// docs/operators.md describes the URL of a bucket; package s3test starts an object store for
// tests. The AWS library makes the requests, and tries up to three times if that may help.
// Uploads go in parts of 5 MiB, one after the other (upload.go says why).
//
// In a directory, a file is written beside its final place, flushed to the disk and renamed, and
// then the directory is flushed, too. An event that names a file is committed later than that,
// so the file survives everything that the event survives. Files and directories are readable
// for their owner only, and there are no attribute files beside them.
//
// Copy copies a file from another store as it is, for backups.
//
// Inputs documents are compressed with zstd, one block after the other with fixed settings.
// Their digest is that of the uncompressed bytes.
//
// # What may go wrong
//
// The disk or the bucket is full: Write returns a *FullError, and nothing is visible.
//
// The store does not carry out a request: *UnavailableError, which says whether waiting may
// help. If an object store refuses, the error has its reason and the remedy (*RefusedError).
//
// The store hangs: the caller gets an error after ten seconds without an answer, or thirty
// without progress (*TimeoutError). Progress is a byte read, a block taken, or each part of an
// upload. A call that hangs in the kernel, for example on a network file system that is away,
// cannot be ended. It goes on by itself, and its result is closed. At most 64 calls run at once,
// so a store that hangs for a day does not take one thread for each call. A file whose last step
// was given up may still appear; no event names it, so it is swept.
//
// The process dies while it writes: a temporary file stays in the directory. It is listed like
// any other file, and swept with the strays. Parts of an upload stay in an object store until
// the store's own rule removes them. If an upload fails for another reason than a lost
// connection to the store, its parts are removed.
//
// Somebody who can write to the store changes a file, or the disk does. Every reader that hands
// a file out, packs it into a backup or renders from it compares its digest with the event that
// names it. Checksums that a store keeps itself are not used. A file that the store returns only
// in part is a *DamagedFileError: a disk that cannot read it, or an answer that ends before its
// length, also after the rest was requested once more.
//
// Two processes use different stores, two installations use the same one, or a file system is
// not mounted: the file muster-store is missing or names another installation, and serve refuses
// to start (*OtherStoreError). A process that already runs writes nothing there. An object store
// counts as recognized for a second: a store that is swapped within that second gets the file.
package blobs
