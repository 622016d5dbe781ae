// Package prooftest makes what proves reports, for tests.
package prooftest
