package oracle

import "muster/internal/intake/sqltext"

// dialect: a password follows IDENTIFIED BY bare or in quotation marks, in GRANT, SET ROLE and
// CREATE TABLE, too. External tables have parameters in a language of their own.
var dialect = sqltext.Dialect{
	Kept:    sqltext.Words(`SELECT WITH INSERT UPDATE DELETE MERGE BEGIN DECLARE CALL EXPLAIN COMMIT ROLLBACK SAVEPOINT LOCK TRUNCATE`),
	Blocks:  sqltext.Words(`BEGIN DECLARE`),
	Alters:  sqltext.Words(`CREATE ALTER DROP`),
	Altered: sqltext.Words(`INDEX`),
	Cut:     sqltext.Words(`GRANT REVOKE AUDIT NOAUDIT ADMINISTER CONNECT CONN PASSWORD`),

	SecretAfter: "IDENTIFIED",
	Prefixes: map[string]sqltext.Prefix{
		"N": sqltext.Plain, "U": sqltext.Plain, "Q": sqltext.Alternative, "NQ": sqltext.Alternative,
	},
	Booleans:     true,
	ColonBinds:   true,
	FlatComments: true,
	Symbols:      "@{}",
}
