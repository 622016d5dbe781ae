package tdstest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// Login is what a client signed in with.
type Login struct {
	User, Password, Database string
	Application, Host        string
	ReadOnly                 bool   // ApplicationIntent=ReadOnly
	Token                    string // of federated authentication

	negotiate []byte // what a sign-in by NTLM begins with
}

// Errors of a login that was refused.
var (
	LoginFailed     = Error{Number: 18456, State: 1, Class: 14, Text: "Login failed for user."}
	LoginLocked     = Error{Number: 18486, State: 1, Class: 14, Text: "Login failed for user because the account is currently locked out."}
	PasswordExpired = Error{Number: 18487, State: 1, Class: 14, Text: "Login failed for user. Reason: The password of the account has expired."}
	PasswordMust    = Error{Number: 18488, State: 1, Class: 14, Text: "Login failed for user. Reason: The password of the account must be changed."}
	CannotOpen      = Error{Number: 4060, State: 1, Class: 11, Text: "Cannot open database requested by the login. The login failed."}
	Recovering      = Error{Number: 922, State: 2, Class: 14, Text: "Database is being recovered. Waiting until recovery is finished."}
	Restoring       = Error{Number: 927, State: 2, Class: 14, Text: "Database cannot be opened. It is in the middle of a restore."}
	Offline         = Error{Number: 942, State: 4, Class: 14, Text: "Database cannot be opened because it is offline."}
	NotReadable     = Error{Number: 978, State: 1, Class: 14, Text: "The target database is in an availability group and is currently accessible for connections when the application intent is set to read only."}
	NotForSelect    = Error{Number: 229, State: 5, Class: 14, Text: "The SELECT permission was denied on the object."}
	NoServerState   = Error{Number: 300, State: 1, Class: 14, Text: "VIEW SERVER STATE permission was denied on object 'server', database 'master'."}
	NoDatabaseState = Error{Number: 262, State: 1, Class: 14, Text: "VIEW DATABASE STATE permission denied in database."}
	NoSuchObject    = Error{Number: 208, State: 1, Class: 16, Text: "Invalid object name."}
	NoSuchColumn    = Error{Number: 207, State: 1, Class: 16, Text: "Invalid column name."}
	LockTimeout     = Error{Number: 1222, State: 51, Class: 16, Text: "Lock request time out period exceeded."}
)

// parseLogin reads LOGIN7 (2.2.6.4): where each text lies is in a table of offsets.
func parseLogin(body []byte) (Login, error) {
	const tableEnd = 94
	if len(body) < tableEnd {
		return Login{}, errors.New("a login is too short")
	}
	var failed error
	part := func(entry, width int) []byte {
		at := int(binary.LittleEndian.Uint16(body[entry:]))
		size := width * int(binary.LittleEndian.Uint16(body[entry+2:]))
		if at+size > len(body) {
			failed = fmt.Errorf("a login has a text that ends beyond it, at %d", at+size)
			return nil
		}
		return body[at : at+size]
	}
	text := func(entry int) []byte { return part(entry, 2) }
	raw := func(entry int) []byte { return part(entry, 1) }
	password := slices.Clone(text(44))
	for i, b := range password {
		b ^= 0xA5
		password[i] = b<<4 | b>>4
	}
	const extended = 0x10
	token := ""
	if extension := raw(56); body[27]&extended != 0 && len(extension) == 4 {
		token = federated(body[min(int(binary.LittleEndian.Uint32(extension)), len(body)):])
	}
	return Login{
		Token: token, negotiate: raw(78),
		Host: fromUCS2(text(36)), User: fromUCS2(text(40)), Password: fromUCS2(password),
		Application: fromUCS2(text(48)), Database: fromUCS2(text(68)), ReadOnly: body[26]&0x20 != 0,
	}, failed
}

// judge says why a login is refused; nil: it is not.
func (o Options) judge(l Login) []Error {
	switch {
	case o.Refuse != nil:
		return []Error{*o.Refuse}
	case o.Token != "":
		if l.Token != o.Token || l.User != "" || l.Password != "" {
			return []Error{LoginFailed}
		}
	case l.User != o.User || l.Password != o.Password:
		return []Error{LoginFailed}
	}
	if l.Database != "" && !slices.Contains(o.Databases, l.Database) {
		return []Error{CannotOpen, LoginFailed} // SQL Server says both
	}
	return nil
}

// Encryption as PRELOGIN tells it (2.2.6.5).
const (
	encryptionOff      = 0 // of all but the login
	encryptionOn       = 1
	encryptionMissing  = 2
	encryptionRequired = 3
)

func preloginReply(encryption byte) []byte {
	const version, encryptionOption, end = 0, 1, 0xFF
	const table = 2*5 + 1
	return []byte{
		version, 0, table, 0, 6,
		encryptionOption, 0, table + 6, 0, 1,
		end,
		16, 0, 0x10, 0, 0, 0,
		encryption,
	}
}

// clientEncryption is what a client's PRELOGIN says of its own.
func clientEncryption(body []byte) byte {
	for at := 0; at+5 <= len(body) && body[at] != 0xFF; at += 5 {
		offset := int(binary.BigEndian.Uint16(body[at+1:]))
		if body[at] == 1 && offset < len(body) {
			return body[offset]
		}
	}
	return encryptionMissing
}
