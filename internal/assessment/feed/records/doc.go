// Package records reads the records of an update of the release and CVE feed: OSV records, and
// records that a CNA writes to the CVE list (JSON 5), as the PostgreSQL project does.
//
// A file holds one record, several records after each other or one on each line, or an array of
// them. It may also be a zip archive of such files, as OSV.dev exports them. Both kinds of
// records may be mixed.
//
// From OSV, it takes the packages postgresql, mongodb and mysql of the ecosystem Bitnami, whose
// versions are the project's own. From the CVE list, it takes the products PostgreSQL and
// MongoDB Server, each from its own project. Packages of distributions have their own versions,
// in which fixes are backported to older releases, so they are skipped. Records about any other
// subject are skipped, too: they are counted and not refused. Records of Oracle and Microsoft in
// the CVE list describe the affected versions in prose or by a product name; they are also
// skipped.
//
// For a CVE in the list, the record of its CNA counts, and not what others have added. OSV gives
// no score, so the score is computed from the vector. If a record gives both, they have to
// agree.
//
// Read can be limited to some engines. A complete export of Bitnami needs that, as of August
// 2026: nine of its records about PostgreSQL are broken (fixed in 16.0.1, which is no release),
// and no others are.
//
// # Who made the file
//
// Digest compares a file with its SHA-256, as sha256sum writes it. Signed checks it against a
// minisign signature. Minisign was preferred to a bare Ed25519 signature from the standard
// library, which would be as strong. Every system has a small tool that makes and checks
// minisign signatures. Such a signature names its key, and its comment, which is signed with the
// file, can describe the file. Reading it takes forty lines of a library by minisign's author.
// PGP would take a hundred times as much code for the same answer.
//
// # What may go wrong
//
//   - The file is broken, is a zip that unpacks to more than MaxBytes, or is not JSON: each is a
//     Problem that names the record by its id or its place in the file.
//   - Two records of the same CVE and engine differ: they contradict each other, and neither is
//     taken. Equal records count once.
//   - A range begins after it ends, names no release of its major, or covers several majors of
//     PostgreSQL without saying in which release each was fixed: each is a Problem.
package records
