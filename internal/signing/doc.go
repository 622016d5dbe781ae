// Package signing is who signs for an installation: its id, which every signature is
// made under, and the public halves of its keys, as auditors get them.
//
// The secret keys are those of package secrets, and of the operator, who may bring a
// certificate for PDFs (LoadCertificate). What signs now is always computed from them. The
// table published_keys adds when each was published, and the keys that have gone: what
// they signed is checked with them for ever.
//
// # What may go wrong
//
//   - Somebody with the database swaps keys in published_keys: those that sign now are
//     published as they are, with their dates at most changed. Of retired ones a swap is
//     published; so auditors keep the document of keys (GET /.well-known/muster-keys.json)
//     where nobody else writes, and what they have kept checks, or does not.
//   - Somebody changes the installation's id: checkpoints then have another origin, which
//     no kept key is for.
//   - A key is in other hands: Revoke says so of all that come from the same secret key. It
//     cannot be taken back, and a later time cannot take the place of an earlier one.
//   - Keys are rotated while processes run: each of them reads the key file again, signs
//     with the new key, and publishes it with the next document that is asked for.
//   - A process is started with an old copy of the key file: it is refused
//     (secrets.CheckKeys) before it publishes anything.
//   - The operator's certificate ends: no process starts with it any more, and one that
//     runs signs no PDF with it: reports wait for their signature until there is another.
//     What it has signed can be checked as before.
package signing
