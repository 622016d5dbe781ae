package blocks

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/internal/measurements/pgstore/codec"
)

// Table is what sort of rows a block is one of.
type Table string

// The tables. A block of Raw has the samples of ten minutes (RawWidth, packing.Pack), of Minutes
// the slots of an hour's minutes, of Hours those of a day's hours, of Days those of a week's
// days. Details are the results of single statements and volumes. Closed ones are those of
// weeks from which nothing is made any more, and a bucket may have both.
const (
	Raw               Table = "raw"
	Minutes           Table = "minutes"
	Hours             Table = "hours"
	Days              Table = "days"
	HourDetails       Table = "hour_details"
	DayDetails        Table = "day_details"
	ClosedHourDetails Table = "closed_hour_details"
	ClosedDayDetails  Table = "closed_day_details"
)

// Tables are all of them.
func Tables() []Table {
	return []Table{Raw, Minutes, Hours, Days, HourDetails, DayDetails, ClosedHourDetails, ClosedDayDetails}
}

// AnyKind is all kinds of series.
const AnyKind = ""

// Apart says that blocks of a kind in a table can be forgotten before those of the other kinds.
func Apart(table Table, kind string) bool {
	return kind == codec.Activity && (table == Minutes || table == Hours || table == Days)
}

// RawWidth is the time that the samples of a block of Raw cover: a reader of one minute reads
// ten.
const RawWidth = 10 * time.Minute

// Series is whose blocks they are.
type Series struct {
	ID            int64 // of the ledger that is there now
	Organization  uuid.UUID
	Kind, Subject string       // codec.Hosts …; a host's name, or an instance's id
	Engine        fleet.Engine // of the instance
}

// Block is a row.
type Block struct {
	Series Series
	Start  time.Time // of its first bucket, UTC
	Body   []byte    // in the form of its table and kind (package codec); nil: there is none any more
}

// Range asks for the blocks of a series that start from From on and before To.
type Range struct {
	Series   Series
	From, To time.Time
	Front    bool // only the Front of each row is wanted
}

// Front is the visible part of a row of sessions, whose length is in its first two bytes: the
// smaller part of it. Other rows have none.
func Front(row []byte) []byte {
	if len(row) < 2 {
		return nil
	}
	return row[2:min(len(row), 2+int(binary.BigEndian.Uint16(row)))]
}

// Store keeps blocks. Package pgstore/tables has the one in PostgreSQL.
type Store interface {
	// Put stores blocks, each replacing the block with its series, table and start, durably
	// when tx, which holds their series, has committed. A Put that reaches the store later than
	// one that began after it changes nothing. The error is an *UnavailableError if the store,
	// or a part of it, cannot be reached.
	Put(ctx context.Context, tx *sqlx.Tx, table Table, of []Block) error

	// Each hands the blocks of ranges to take, with the place of the range, in the order
	// of ranges and, within one, of start. The body is good until take returns. tx is the
	// transaction that holds the series; nil where none does. The error is an
	// *UnavailableError where not all of them can be read.
	Each(ctx context.Context, tx *sqlx.Tx, table Table, ranges []Range, take func(place int, start time.Time, body []byte) error) error

	// Forget drops blocks of a table that start before a time, or some of them; it is
	// called again and again. A kind that is Apart has only its own dropped; AnyKind has all.
	// Series whose hours or weeks are still open are not excepted.
	Forget(ctx context.Context, table Table, kind string, before time.Time) error

	// DeleteOrganization drops all that an organization has, for good when it returns.
	DeleteOrganization(ctx context.Context, organization uuid.UUID) error
}

// UnavailableError says that a part of the store cannot be reached. Nothing is lost by it.
type UnavailableError struct {
	Part string // which: a host, a shard
	Err  error
}

func (e *UnavailableError) Error() string {
	return fmt.Sprintf("measurements on %s cannot be reached: %s", e.Part, e.Err)
}

func (e *UnavailableError) Unwrap() error { return e.Err }
