// Package records reads what an update of the release and CVE feed brings: records of
// OSV, and those that a CNA writes to the CVE list (JSON 5), as the PostgreSQL project
// does.
//
// A file holds one record, several after each other or a line each, an array of them, or
// is a zip archive of such files, as OSV.dev exports them. Both forms may be mixed.
//
// Taken are, of OSV, the packages postgresql, mongodb and mysql of the ecosystem Bitnami,
// whose versions are the project's own; of the CVE list the products PostgreSQL and
// MongoDB Server, each by its project. Packages of distributions have versions of their
// own, in which fixes are taken back to older releases, so they are passed over, and so is
// what is about anything else: it is counted, not refused. Records of Oracle and Microsoft
// in the CVE list say in words, or by the name of a product, what they affect; they are
// passed over, too.
//
// Of a CVE in the list, the record of its CNA counts, not what others have added. OSV
// gives no score, so it is computed from the vector, and where a record gives both, they
// have to agree.
//
// Read can be narrowed to engines. That is what a whole export of Bitnami's needs, as of
// August 2026: nine of its records about PostgreSQL are broken (fixed in 16.0.1, which is
// no release), and no other.
//
// # Who made it
//
// Digest holds a file against its SHA-256, as sha256sum writes it. Signed holds it against
// a signature of minisign. That was chosen over a bare Ed25519 signature from the standard
// library, which would be as strong, because there is a small tool for every system that
// makes and checks it, its signatures name the key that they are of, and a comment that is
// signed with the file can say what it is; the reading of it is forty lines of a library
// by its author. PGP would be a hundred times as much code for the same answer.
//
// # What may go wrong
//
//   - The file is broken, a zip that unpacks to more than MaxBytes, or not JSON: each is a
//     Problem that names the record by id or by its place in the file.
//   - Two records of one CVE and engine that differ contradict each other: neither is
//     taken. Equal ones count once.
//   - A range that begins after it ends, names no release of its major, or goes over
//     several majors of PostgreSQL without saying in which release each was fixed.
package records
