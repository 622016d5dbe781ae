package statement

import (
	"reflect"

	"github.com/google/uuid"
)

// Columns turns rows into the arguments of an unnest: an array for each field of T, in
// their order, which is that of the statement's parameters; an embedded struct counts as
// its fields. The fields are exported.
// Ids go as [16]byte, which pgx writes as they are, where a uuid.UUID takes its way
// through the text of each; that cost a third of the time of a rebuild's Go part.
//
// A row as one JSON document would need no order, and was slower: 1,000 alerts of 15
// columns took 92 ms by json_populate_recordset and 104 by jsonb's, where arrays took
// 51 (medians of 40 in turn, two busy cores, PostgreSQL 15, 2026-11-22).
func Columns[T any](rows []T) []any {
	all := reflect.ValueOf(rows)
	var columns []any
	for _, field := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		if field.Anonymous {
			continue
		}
		sent := sentAs(field.Type)
		column := reflect.MakeSlice(reflect.SliceOf(sent), len(rows), len(rows))
		for r := range rows {
			send(column.Index(r), all.Index(r).FieldByIndex(field.Index))
		}
		columns = append(columns, column.Interface())
	}
	return columns
}

// send sets a field in the type that it is sent as. Convert alone would do, and takes
// memory for each.
func send(to, field reflect.Value) {
	switch {
	case to.Type() == field.Type():
		to.Set(field)
	case to.Kind() == reflect.String:
		to.SetString(field.String())
	case to.Kind() == reflect.Array:
		reflect.Copy(to, field)
	default:
		to.Set(field.Convert(to.Type()))
	}
}

// IDs are ids as an argument, in the type that pgx writes fastest (see Columns).
func IDs(ids []uuid.UUID) [][16]byte {
	raw := make([][16]byte, len(ids))
	for i, id := range ids {
		raw[i] = id
	}
	return raw
}

// sentAs is the type of a field's array: plain for what has a name of its own.
func sentAs(field reflect.Type) reflect.Type {
	switch {
	case field == reflect.TypeFor[uuid.UUID]():
		return reflect.TypeFor[[16]byte]()
	case field == reflect.TypeFor[*uuid.UUID]():
		return reflect.TypeFor[*[16]byte]()
	case field.Kind() == reflect.String:
		return reflect.TypeFor[string]()
	}
	return field
}
