// Package places finds the instances and databases that messages name, for hosts, alerts
// and feeds alike, and everything that one message names in one go.
//
// There are three questions. FindPlaces: what does a feed mean by its own ids? The write
// side's index of the log answers, so that what the same sender registered a moment ago
// is known. Labelled: what do an agent's labels mean? They may be an id, an external id,
// a name or a host, with a port or without; hosts are found in any spelling (fleet.Hosts).
// The fleet's read model has all of these, and Directory.Find decides. Claims: whom does a
// sample of a host concern? Those that it names, and those that run there by whatever says
// so: the samples that came before and what was registered, by either form of the host's
// name, less what was removed since.
//
// # What may go wrong
//
//   - Several instances fit: the database decides, then what the token is limited to, then
//     who was registered first, and the answer counts it as ambiguous. To be renamed
//     attracts nothing: ids beat names, and an address means hosts before names. What is
//     measured by an address alone is nobody's where several fit.
//   - The read model lags: Engines waits for it, and says so where it does not follow
//     (*intake.LaggingError). Labels find the instance with their next message.
//   - Text holds U+0000, which PostgreSQL cannot: it is not looked up, and means nothing.
package places
