// Package resolve resolves the names in messages to instances and databases: for hosts, alerts
// and feeds alike, and for a whole message at once.
//
// It answers three questions:
//
//   - FindPlaces: which instances do a feed's own ids mean? The write side's index of the log
//     answers, so instances that the same sender registered a moment ago are known.
//   - Labelled: which instances do an agent's labels mean? A label may be an id, an external id,
//     a name or a host, with or without a port. Hosts are found in any spelling (fleet.Hosts).
//     The fleet's read model has all of these, and Directory.Find decides.
//   - Claims: which instances does a sample of a host concern? The ones that it names, and the
//     ones known to run there from earlier samples and from registrations, by either form of the
//     host's name, without those that were removed since.
//
// # What may go wrong
//
//   - Several instances match: the database decides, then the token's limit, then the earliest
//     registration, and the answer counts the name as ambiguous. Renaming an instance attracts
//     no samples: ids take precedence over names, and an address means hosts before names. If a
//     sample has only an address and several instances match, it belongs to none.
//   - The read model lags: Engines waits for it, and returns *intake.LaggingError if it does not
//     catch up. Labels find the instance with their next message.
//   - Text contains U+0000, which PostgreSQL cannot store: it is not looked up, and matches
//     nothing.
package resolve
