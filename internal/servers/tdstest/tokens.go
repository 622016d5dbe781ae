package tdstest

import (
	"encoding/binary"
	"fmt"
	"math"
	"net"
	"unicode/utf16"
)

// Status of a DONE token (2.2.7.6).
const (
	doneError     = 0x02
	doneCount     = 0x10
	doneAttention = 0x20
)

// Error is an error of SQL Server.
type Error struct {
	Number int32
	State  byte
	Class  byte // its severity; 20 and more end the connection
	Text   string
}

func (e Error) token() []byte {
	class := e.Class
	if class == 0 {
		class = 16
	}
	body := binary.LittleEndian.AppendUint32(nil, uint32(e.Number))
	body = append(body, e.State, class)
	body = append(body, usVarChar(e.Text)...)
	body = append(body, bVarChar("STUB")...)
	body = append(body, bVarChar("")...)
	body = binary.LittleEndian.AppendUint32(body, 1) // line
	return sized(0xAA, body)
}

func done(status uint16, rows int) []byte {
	token := binary.LittleEndian.AppendUint16([]byte{0xFD}, status)
	token = binary.LittleEndian.AppendUint16(token, 0xC1) // SELECT
	return binary.LittleEndian.AppendUint64(token, uint64(rows))
}

// loginAck accepts a login, and says that the database is another one now.
func loginAck(database string) []byte {
	change := append([]byte{1}, bVarChar(database)...)
	change = append(change, bVarChar("master")...)
	ack := append([]byte{1, 0x74, 0, 0, 4}, bVarChar("Microsoft SQL Server")...)
	ack = append(ack, 16, 0, 0x10, 0)
	return append(sized(0xE3, change), sized(0xAD, ack)...)
}

// routing sends the client to another server (ENVCHANGE 20).
func routing(to *net.TCPAddr) []byte {
	data := binary.LittleEndian.AppendUint16([]byte{0}, uint16(to.Port)) // TCP
	data = append(data, usVarChar(to.IP.String())...)
	body := binary.LittleEndian.AppendUint16([]byte{20}, uint16(len(data)))
	body = append(body, data...)
	return sized(0xE3, append(body, 0, 0))
}

// typesOf are the types of columns, each by the first value that it has.
func typesOf(names []string, rows [][]any) [][]byte {
	types := make([][]byte, len(names))
	if len(rows) > 0 {
		types = make([][]byte, len(rows[0]))
	}
	for i := range types {
		types[i] = typeOf(rows, i)
	}
	return types
}

// columns describe rows.
func columns(names []string, types [][]byte) []byte {
	token := binary.LittleEndian.AppendUint16([]byte{0x81}, uint16(len(types)))
	for i := range types {
		token = append(token, 0, 0, 0, 0, 1, 0) // no user type; may be NULL
		token = append(token, types[i]...)
		name := fmt.Sprintf("c%d", i)
		if i < len(names) {
			name = names[i]
		}
		token = append(token, bVarChar(name)...)
	}
	return token
}

var (
	bigintType    = []byte{0x26, 8}
	floatType     = []byte{0x6D, 8}
	bitType       = []byte{0x68, 1}
	varbinaryType = []byte{0xA5, 0xFF, 0xFF}
	// nvarcharType is nvarchar(max) in the collation SQL_Latin1_General_CP1_CI_AS.
	nvarcharType = []byte{0xE7, 0xFF, 0xFF, 0x09, 0x04, 0xD0, 0x00, 0x34}
)

func typeOf(rows [][]any, column int) []byte {
	for _, row := range rows {
		switch row[column].(type) {
		case int64, int:
			return bigintType
		case float64:
			return floatType
		case bool:
			return bitType
		case []byte:
			return varbinaryType
		case string:
			return nvarcharType
		}
	}
	return nvarcharType // NULL in all of them
}

func rowToken(types [][]byte, row []any) ([]byte, error) {
	token := []byte{0xD1}
	for i, value := range row {
		fixed := len(types[i]) == len(bigintType)
		switch v := value.(type) {
		case nil:
			if fixed {
				token = append(token, 0)
			} else {
				token = binary.LittleEndian.AppendUint64(token, math.MaxUint64)
			}
		case int:
			token = binary.LittleEndian.AppendUint64(append(token, 8), uint64(v))
		case int64:
			token = binary.LittleEndian.AppendUint64(append(token, 8), uint64(v))
		case float64:
			token = binary.LittleEndian.AppendUint64(append(token, 8), math.Float64bits(v))
		case bool:
			token = append(token, 1, map[bool]byte{true: 1}[v])
		case []byte:
			token = append(token, chunks(v)...)
		case string:
			token = append(token, chunks(ucs2(v))...)
		default:
			return nil, fmt.Errorf("column %d has a value of the type %T", i, value)
		}
	}
	return token, nil
}

// chunks is a value of a type with (max), in one piece (2.2.5.2.3).
func chunks(value []byte) []byte {
	out := binary.LittleEndian.AppendUint64(nil, uint64(len(value)))
	if len(value) > 0 {
		out = binary.LittleEndian.AppendUint32(out, uint32(len(value)))
		out = append(out, value...)
	}
	return binary.LittleEndian.AppendUint32(out, 0)
}

// sized is a token that says how long it is.
func sized(token byte, body []byte) []byte {
	return append(binary.LittleEndian.AppendUint16([]byte{token}, uint16(len(body))), body...)
}

func ucs2(text string) []byte {
	var out []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		out = binary.LittleEndian.AppendUint16(out, unit)
	}
	return out
}

func fromUCS2(b []byte) string {
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = binary.LittleEndian.Uint16(b[2*i:])
	}
	return string(utf16.Decode(units))
}

func bVarChar(text string) []byte {
	b := ucs2(text)
	return append([]byte{byte(len(b) / 2)}, b...)
}

func usVarChar(text string) []byte {
	b := ucs2(text)
	return append(binary.LittleEndian.AppendUint16(nil, uint16(len(b)/2)), b...)
}
