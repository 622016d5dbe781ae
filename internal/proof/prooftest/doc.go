// Package prooftest makes proofs of reports for tests.
package prooftest
