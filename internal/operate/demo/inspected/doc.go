// Package inspected is what agents find on the demo's servers that exist on paper only: failed checks, accounts, settings
// and databases, over time. It is a pure function of assessments.yaml and of times.
package inspected
