// Package letter puts the page of a daily digest into its mail: the same words, section by section.
//
// Kept reads digest.json of a built report, and checks it against the digest that report.ready recorded. So a mail
// says what the log attests. If the file is missing or was changed, the mail is not sent, and the job is tried again.
//
// Names and texts on a page come from machines. Package mail escapes them.
package letter
