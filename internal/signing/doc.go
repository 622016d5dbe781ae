// Package signing holds the identity under which an installation signs: its id, and the
// public halves of its keys, as auditors get them.
//
// The secret keys are those of package secrets, and of the operator, who may bring a
// certificate for PDFs (LoadCertificate). What signs now is always computed from them. The
// log keys adds since when each was there, and the keys that have gone: what they signed is
// checked with them for ever.
//
// # The log of the keys
//
// It has one stream and an event a change, each with the signatures of the report keys that
// answer for it: the key before, and of a rotation the new one, too (signChange). A change
// names the digest of the event before it, so a signature of a key of ours vouches for all
// before it. Nothing behind the last event that a key of the key file signed is believed.
// Whatever stands there, Publish appends keys.found with what was believed, and goes on.
//
// The first event of an installation from before this log takes over the table
// published_keys, which nothing writes any more: keys.found, for nobody signed these rows.
// That is done where no checkpoint of the log lies beside the secret key (checkpoint.Beside).
//
// # What may go wrong
//
//   - Somebody with the database appends to the log, or changes it: what our keys vouched
//     for stays published, and the events behind it do not count. Where the first event
//     was changed, only the current keys are left, valid from then on.
//   - Somebody takes the end of the log away, a revocation with it: package checkpoint
//     finds that by what was signed of the log, and what lies beside the key.
//   - Somebody takes the whole log away, and everything beside the key is gone, too: rows
//     that they put into published_keys are taken over. So auditors keep the document of
//     keys (GET /.well-known/muster-keys.json) where nobody else writes.
//   - Two processes find a change missing: one appends it, and the other reads again.
//   - Keys are rotated and retired by a program from before this log: no key of the file
//     vouches for its end. The log begins anew, and what those keys were can be checked
//     with the documents of then.
//   - A key is in other hands: Revoke says so of all that come from the same secret key. It
//     cannot be taken back, and a later time cannot take the place of an earlier one.
//   - Keys are rotated while processes run: each of them reads the key file again, signs
//     with the new key, and publishes it with the next document that is asked for.
//   - A process has an old copy of the key file: it does not start (secrets.CheckKeys), and
//     where it runs already, it publishes nothing and hands out no document
//     (secrets.Ring.Outdated). It believes nothing that the others append: two such processes
//     would begin the log anew in turns.
//   - Somebody asks for the document of keys very often: Published reads the log once in
//     PublishedAge, and appends nothing.
//   - The operator's certificate ends: no process starts with it any more, and one that
//     runs signs no PDF with it: reports wait for their signature until there is another.
//     What it has signed can be checked as before.
package signing
