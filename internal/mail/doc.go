// Package mail sends mails about ready reports and about events that a notification rule
// matched. It uses SMTP or, if no server is configured, an outbox directory.
//
// # How it works
//
// Compose (for a report) and ComposeNotices (for a delivery) make one message for one recipient,
// so no address is shown to another recipient. The message has a text and an HTML part with the
// same content. The mail about a report has the report's proof as an attachment. The mail has
// links to pages that require sign-in, and never a credential. A Transport delivers it: SMTP
// (smtp://, with STARTTLS if the server offers it, or smtps://) or Outbox (one .eml file for
// each recipient).
//
// The Message-ID is made from the id of the report or delivery and the member's id alone, so the
// receiving system recognizes a mail that is sent twice as one. The file name in the outbox is
// made from the same ids, so a second mail replaces the first there.
//
// # What may go wrong
//
// Delivery fails with a *DeliveryError. A 5xx answer to the mail itself is final. Everything
// else is temporary: 4xx (greylisting, a full mailbox), the network, and also the opening of the
// session (greeting, TLS and sign-in). These concern the server or its settings and not the
// recipient, and an operator can fix them within the day for which a mail is tried.
//
// The server accepts the connection and does not answer, or stops in the middle: a mail has 30
// seconds from connecting to the last answer. Check, for probes, only waits for the greeting.
//
// The connection breaks after the message and before the answer: nobody can know whether the
// server accepted it. This counts as temporary, and the mail is sent again under the same
// Message-ID.
//
// The server accepts the mail and fails afterwards (RSET, QUIT): the mail was accepted.
//
// Servers quote addresses and names in their answers, in any form. Reason and Error of a
// *DeliveryError contain only the codes of an answer and never its text: Reason goes into the
// event log, and Error into our own log.
package mail
