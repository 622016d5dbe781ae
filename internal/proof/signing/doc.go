// Package signing holds the identity under which an installation signs: its id, and the public
// halves of its keys in the form in which auditors get them.
//
// The secret keys are those of package secrets, and of the operator, who may provide a
// certificate for PDFs (LoadCertificate). The current signing keys are always computed from
// them. The log keys adds when each key was introduced, and the keys that are gone: their
// signatures can be checked forever.
//
// # The log of the keys
//
// It has one stream and one event for each change. Each event has the signatures of the report
// keys that answer for it: the previous key, and for a rotation the new one, too (signChange). A
// change names the digest of the event before it, so a signature of one of our keys vouches for
// all earlier events. Events after the last one that a key of the key file signed are not
// believed. If there are any, Publish appends keys.found with the keys that were believed, and
// continues.
//
// The first event of an installation that is older than this log takes over the table
// published_keys, which is no longer written: keys.found, because nobody signed these rows. That
// is done if no checkpoint of the log exists beside the secret key (checkpoint.Beside).
//
// # What may go wrong
//
//   - A person with access to the database appends to the log, or changes it: keys for which our
//     keys vouched stay published, and the later events do not count. If the first event was
//     changed, only the current keys are left, valid from then on.
//   - A person removes the end of the log, and a revocation with it: package checkpoint detects
//     that from what was signed of the log, and from the file beside the key.
//   - A person removes the whole log, and everything beside the key is gone, too: rows that they
//     put into published_keys are taken over. So auditors keep the document of keys (GET
//     /.well-known/muster-keys.json) in a place where nobody else writes.
//   - Two processes find a change missing: one appends it, and the other reads again.
//   - A program that is older than this log rotates and retires keys: no key of the file vouches
//     for the end of the log. The log begins anew, and the former keys can be checked with
//     earlier documents.
//   - A key is in other hands: Revoke says so for all keys that come from the same secret key.
//     It cannot be undone, and a later time cannot replace an earlier one.
//   - Keys are rotated while processes run: each of them reads the key file again, signs with
//     the new key, and publishes it with the next document that is requested.
//   - A process has an old copy of the key file: it does not start (secrets.CheckKeys). If it
//     already runs, it publishes nothing and returns no document (secrets.Ring.Outdated). It
//     believes nothing that the others append, so two such processes would begin the log anew in
//     turns.
//   - The document of keys is requested very often: Published reads the log once in
//     PublishedAge, and appends nothing.
//   - The operator's certificate expires: no process starts with it any more, and a running one
//     signs no PDF with it. Reports wait for their signature until there is another certificate.
//     Earlier signatures can be checked as before.
package signing
