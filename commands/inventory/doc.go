// Package inventory has the use cases of instances, their databases and their tags: what people
// register and change, and what feeds and collectors report of a fleet.
//
// Feeds report whole fleets, and most items repeat what is known. A digest of each field is
// stored beside the external key of an instance or database, so an item that says nothing new is
// recognized without loading its stream. Each writer holds the lock of the external key. All
// trust these keys alone and no read model.
//
// What may go wrong, and what then happens:
//
//   - The same fleet is reported twice at once: the second waits for the keys, and then finds
//     that it says nothing new.
//   - An instance is removed and reported again: it is a new instance under the same key, and
//     its databases are new ones.
//   - A limited token names an instance that is not its own: it gets the error of an unknown one,
//     for the whole call, and learns nothing else.
//   - A feed changes what an administrator registered with a connection, or tags that are
//     protected: the call is refused (managed_by_connection), or the tags stay and the answer
//     names them.
package inventory
