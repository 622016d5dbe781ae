// Package mail sends mails about ready reports and about events that a notification rule
// matched, over SMTP or, if no server is set, into an outbox directory.
//
// # How it works
//
// Compose (of a report) and ComposeNotices (of a delivery) make one message for
// one recipient, so that no address shows to another, with a text and an HTML
// part that say the same. That of a report has the report's proof as an attachment. The mail holds links to pages that need sign-in, never
// a credential. A Transport delivers
// it: SMTP (smtp://, with STARTTLS where the server offers it, or smtps://) or
// Outbox (one .eml file a recipient).
//
// The Message-ID is made of the report's or delivery's and the member's id alone, so that a
// mail sent twice is recognized as one by whoever receives it. The file name in
// the outbox is made of the same, so there a second one replaces the first.
//
// # What may go wrong
//
// Delivery fails with a *DeliveryError. What the server answers to this very
// mail with 5xx is final. Everything else is temporary: 4xx (greylisting, a full
// mailbox), the network, and also the opening of the session, its greeting, TLS
// and sign-in, because those say something about the server or its settings and
// nothing about the recipient, and an operator can mend them within the day
// that a mail is tried for.
//
// The server takes the connection and says nothing, or stops in the middle: 30 seconds
// from connecting to the last answer are all that a mail gets. Check, for probes, only
// waits for the greeting.
//
// The connection breaks after the message and before the answer: nobody can
// know whether it was taken. It counts as temporary and is sent again under the
// same Message-ID.
//
// The server takes the mail and fails afterwards (RSET, QUIT): it was taken.
//
// Servers quote addresses in their answers, and names, in any form. Neither
// Reason nor Error of a *DeliveryError holds an answer's text, only its codes: the
// first goes into the event log, the second into our own.
package mail
