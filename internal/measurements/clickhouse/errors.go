package clickhouse

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"slices"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"muster/internal/measurements/blocks"
)

// VersionError says that a server is too old.
type VersionError struct{ Host, Version string }

func (e *VersionError) Error() string {
	return fmt.Sprintf("ClickHouse on %s is %s: the oldest that keeps measurements is %d.%d, update it", e.Host, e.Version, leastMajor, leastMinor)
}

// ClusterError says why measurements cannot be kept in a cluster as it is laid out.
type ClusterError struct{ Cluster, Host, Reason string }

func (e *ClusterError) Error() string {
	return fmt.Sprintf("the cluster %q of ClickHouse, asked of %s, %s", e.Cluster, e.Host, e.Reason)
}

// TableError says that a table differs from the one that Muster created: somebody changed it by
// hand.
type TableError struct{ Host, Table, Reason string }

func (e *TableError) Error() string {
	return fmt.Sprintf("the table %s on %s %s; it was changed by hand", e.Table, e.Host, e.Reason)
}

// StatementError is a statement that a server refused, for another reason than that it is
// not well.
type StatementError struct {
	Host string
	Code int32 // of ClickHouse's list of errors
	Err  error
}

func (e *StatementError) Error() string {
	if e.Code == readOnly {
		return fmt.Sprintf("ClickHouse on %s refused, for the account may not change it: grant it what Muster needs of the database: %s", e.Host, e.Err)
	}
	return fmt.Sprintf("ClickHouse on %s refused: %s", e.Host, e.Err)
}

func (e *StatementError) Unwrap() error { return e.Err }

// BlockError is a block that cannot be kept as it is.
type BlockError struct {
	Block  blocks.Block
	Table  blocks.Table
	Reason error
}

func (e *BlockError) Error() string {
	return fmt.Sprintf("the block of %s of %s %s from %s: %s", e.Table, e.Block.Series.Kind, e.Block.Series.Subject, e.Block.Start, e.Reason)
}

func (e *BlockError) Unwrap() error { return e.Reason }

// readOnly is what ClickHouse says where an account's profile lets it read only.
const readOnly = 164

// notWell are errors of servers, by ClickHouse's codes, that pass or that the operator of the
// server can end: the statement is right.
var notWell = []int32{
	74, 75, 76, 243, // files cannot be read, written, opened; no space
	159, 160, 202, 209, 210, 241, 252, 279, // time, load, network, memory, too many parts
	192, 193, 194, 497, 516, // who may come in, and do what
	225, 242, 285, 286, 319, 999, // ZooKeeper, quorum
	236, 394, 735, // the query was cancelled, as a server does that stops
}

// judge says for an error from a host which part of the store cannot be reached, or what was
// refused. The end of the caller's own context is no fault of the store.
func judge(caller context.Context, host string, err error) error {
	if err == nil {
		return nil
	}
	if caller.Err() != nil && errors.Is(caller.Err(), context.Canceled) {
		return caller.Err()
	}
	var is *driver.Exception
	if errors.As(err, &is) && !slices.Contains(notWell, is.Code) {
		return &StatementError{host, is.Code, err}
	}
	if errors.Is(err, driver.ErrUnsupportedServerRevision) {
		return &VersionError{host, "too old to be spoken to"}
	}
	if untrusted := (*tls.CertificateVerificationError)(nil); errors.As(err, &untrusted) {
		err = fmt.Errorf("%w; have this machine trust who issued it", err)
	}
	return &blocks.UnavailableError{Part: "ClickHouse on " + host, Err: err}
}

// unavailable says whether another replica could know better.
func unavailable(err error) bool {
	var away *blocks.UnavailableError
	return errors.As(err, &away)
}
