// Package sections has page 1 of the Security report and the sections that reports of several
// kinds print: findings, exceptions, versions, CVEs, accounts, the remediation plan and the
// coverage.
//
// # What may go wrong
//
// An input is missing: the section says what was not assessed and why, and prints no 0 for it.
package sections
