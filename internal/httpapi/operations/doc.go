// Package operations answers for the service's own state: projections, jobs, dead
// letters, the outbox, the audit list, health and readiness, figures, and the contract
// as a file. Door answers for a process that is without the API, Starting for one that is not
// ready to answer yet.
//
// The audit list joins two records that are kept apart: events of the logs, which form
// a chain, and the security log of sign-ins and refusals, which anybody at the door can
// make longer.
package operations
