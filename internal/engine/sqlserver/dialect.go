package sqlserver

import "muster/internal/intake/sqltext"

// dialect: EXEC takes strings without quotes, and so does a batch that begins with the name
// of a procedure.
var dialect = sqltext.Dialect{
	Kept: sqltext.Words(`SELECT WITH INSERT UPDATE DELETE MERGE DECLARE SET IF WHILE BEGIN COMMIT ROLLBACK SAVE TRUNCATE FETCH OPEN CLOSE
		DEALLOCATE RETURN PRINT RAISERROR THROW WAITFOR`),
	Calls:   sqltext.Words(`EXEC EXECUTE CALL`),
	Alters:  sqltext.Words(`CREATE ALTER DROP`),
	Altered: sqltext.Words(`TABLE INDEX VIEW STATISTICS COLUMN CONSTRAINT`),
	Cut:     sqltext.Words(`GRANT DENY REVOKE BACKUP RESTORE DBCC`),

	Batches:           true,
	ListsParameters:   true,
	Prefixes:          map[string]sqltext.Prefix{"N": sqltext.Plain},
	QuotesHoldStrings: true, // where QUOTED_IDENTIFIER is off
	BracketsHoldNames: true,
	Money:             true,
	AtVariables:       true,
	SignsBeginWords:   true,
	Symbols:           "{}",
}
