package postgresql

import "muster/internal/intake/sqltext"

// dialect: SET, ALTER SYSTEM and COPY take values without quotes, but not in COPY (query). Bodies and connection
// strings are literals, but those of CREATE FUNCTION ... BEGIN ATOMIC are not.
var dialect = sqltext.Dialect{
	Kept: sqltext.Words(`SELECT WITH INSERT UPDATE DELETE MERGE VALUES TABLE EXPLAIN PREPARE EXECUTE DEALLOCATE DECLARE FETCH MOVE CLOSE
		BEGIN START COMMIT END ROLLBACK ABORT SAVEPOINT RELEASE LOCK TRUNCATE VACUUM ANALYZE ANALYSE REINDEX CLUSTER REFRESH
		CHECKPOINT DISCARD CALL SHOW`),
	Copies:  sqltext.Words(`COPY`),
	Alters:  sqltext.Words(`CREATE ALTER DROP`),
	Altered: sqltext.Words(`TABLE INDEX VIEW SEQUENCE STATISTICS`),

	Prefixes:           map[string]sqltext.Prefix{"E": sqltext.Escaped, "N": sqltext.Plain, "B": sqltext.Plain, "X": sqltext.Plain},
	Booleans:           true,
	BackslashMayEscape: true, // standard_conforming_strings says
	DollarQuotes:       true,
	UnicodeEscapes:     true,
	HashIsOperator:     true,
	OnlyASCIIBlanks:    true,
	ReturnEndsLine:     true,
	Symbols:            "@#`",
}
