// Package risks stores since when each table with sensitive columns is in the risk register of
// the Data Inventory.
//
// The id of a risk is made from the place of its table (snapshot.RiskID), so it is the same in
// every report, and a risk that comes back has its old id. Keep is called in the transaction
// that records a classification. A complete classification that no longer finds a table ends
// its series (gone_at). If the table comes back, a new series begins, and the row says when the
// risk was first seen and when it had gone. A classification in part, or a failed one, ends
// nothing: it could not look.
//
// A decision on a risk is an exception whose check is the id of the risk. So it has a requester,
// an administrator who granted it, a reason, and an end, and its events are in the log.
//
// # What may go wrong
//
//   - Two tables of an organization share an id (35 bits): they share a row, and a decision.
//   - A server was classified last before there was this table: its risks have no history until
//     its next classification, and nobody can accept them until then.
package risks
