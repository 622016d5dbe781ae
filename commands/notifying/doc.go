// Package notifying has the use cases of notifications: the channels with the addresses that are
// no member's, the rules, and the rule of the beginning.
//
// A channel's address is a secret, sealed for its channel; reseal_channels.go seals all of them
// again under a new key. An address that is no member's gets nothing but the question whether it
// agrees, until it has agreed.
//
// # What may go wrong
//
//   - A channel is removed while a rule that names it is saved: the rule locks the channel's row.
//     The second finds it removed, or in use.
//   - Two members ask the same address at once: the second waits for the organization's lock and
//     counts the mail of the first.
//   - A channel is saved while all are sealed again: it waits, and is sealed under the new key.
package notifying
