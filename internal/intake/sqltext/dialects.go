package sqltext

import (
	"strings"

	"muster/domain/fleet"
)

// dialect says which statements of an engine are kept, by their first words. All others
// are cut to their leading keywords.
type dialect struct {
	kept    set // whole, without literals
	blocks  set // of these, what begins a block of statements
	calls   set // with the procedure's name, without arguments
	copies  set // with a query in brackets, without what follows that
	alters  set // where an object of altered follows
	altered set
	cut     set // also within a block
}

type set map[string]bool

func words(list string) set {
	s := set{}
	for _, w := range strings.Fields(list) {
		s[w] = true
	}
	return s
}

var dialects = map[fleet.Engine]dialect{
	// SET, ALTER SYSTEM and COPY take values without quotes, but not in COPY (query). Bodies and connection
	// strings are literals, but those of CREATE FUNCTION ... BEGIN ATOMIC are not.
	fleet.PostgreSQL: {
		kept: words(`SELECT WITH INSERT UPDATE DELETE MERGE VALUES TABLE EXPLAIN PREPARE EXECUTE DEALLOCATE DECLARE FETCH MOVE CLOSE
			BEGIN START COMMIT END ROLLBACK ABORT SAVEPOINT RELEASE LOCK TRUNCATE VACUUM ANALYZE ANALYSE REINDEX CLUSTER REFRESH
			CHECKPOINT DISCARD CALL SHOW`),
		copies:  words(`COPY`),
		alters:  words(`CREATE ALTER DROP`),
		altered: words(`TABLE INDEX VIEW SEQUENCE STATISTICS`),
	},
	// EXEC takes strings without quotes, and so does a batch that begins with the name
	// of a procedure.
	fleet.SQLServer: {
		kept: words(`SELECT WITH INSERT UPDATE DELETE MERGE DECLARE SET IF WHILE BEGIN COMMIT ROLLBACK SAVE TRUNCATE FETCH OPEN CLOSE
			DEALLOCATE RETURN PRINT RAISERROR THROW WAITFOR`),
		calls:   words(`EXEC EXECUTE CALL`),
		alters:  words(`CREATE ALTER DROP`),
		altered: words(`TABLE INDEX VIEW STATISTICS COLUMN CONSTRAINT`),
		cut:     words(`GRANT DENY REVOKE BACKUP RESTORE DBCC`),
	},
	// A password follows IDENTIFIED BY bare or in quotation marks, in GRANT, SET ROLE and
	// CREATE TABLE, too. External tables have parameters in a language of their own.
	fleet.Oracle: {
		kept:    words(`SELECT WITH INSERT UPDATE DELETE MERGE BEGIN DECLARE CALL EXPLAIN COMMIT ROLLBACK SAVEPOINT LOCK TRUNCATE`),
		blocks:  words(`BEGIN DECLARE`),
		alters:  words(`CREATE ALTER DROP`),
		altered: words(`INDEX`),
		cut:     words(`GRANT REVOKE AUDIT NOAUDIT ADMINISTER CONNECT CONN PASSWORD`),
	},
}

// modifiers may stand between CREATE and what is created.
var modifiers = words(`OR REPLACE UNIQUE BITMAP CLUSTERED NONCLUSTERED COLUMNSTORE TEMP TEMPORARY UNLOGGED GLOBAL LOCAL MATERIALIZED RECURSIVE`)

// leading are the keywords that say what a statement does. No name and no value is
// among what is left of a text that is cut.
var leading = words(`SELECT WITH INSERT INTO UPDATE DELETE FROM MERGE VALUES TABLE EXPLAIN PREPARE EXECUTE DEALLOCATE DECLARE FETCH MOVE CLOSE
	BEGIN START TRANSACTION COMMIT END ROLLBACK ABORT SAVEPOINT RELEASE LOCK TRUNCATE VACUUM ANALYZE ANALYSE REINDEX CLUSTER REFRESH
	CHECKPOINT DISCARD CALL SHOW CREATE ALTER DROP OR REPLACE UNIQUE INDEX VIEW MATERIALIZED TEMP TEMPORARY SEQUENCE STATISTICS
	USER ROLE LOGIN GROUP PROFILE DATABASE SCHEMA SYSTEM SESSION LINK PUBLIC SHARED SUBSCRIPTION PUBLICATION SERVER FOREIGN DATA WRAPPER
	MAPPING EXTENSION FUNCTION PROCEDURE PROC PACKAGE BODY TRIGGER EVENT TYPE DOMAIN AGGREGATE OPERATOR RULE POLICY LANGUAGE COLLATION
	TABLESPACE CREDENTIAL CERTIFICATE MASTER SYMMETRIC ASYMMETRIC KEY ENDPOINT AUDIT NOAUDIT EXTERNAL APPLICATION SOURCE
	SYNONYM DIRECTORY LIBRARY JAVA CONTEXT PLUGGABLE ADMINISTER MANAGEMENT KEYSTORE
	SET RESET LOCAL CONSTRAINTS AUTHORIZATION CHARACTERISTICS COPY DO COMMENT ON SECURITY LABEL LISTEN UNLISTEN NOTIFY LOAD IMPORT
	GRANT REVOKE DENY REASSIGN OWNED BACKUP RESTORE LOG DBCC EXEC USE KILL BULK IF WHILE SAVE OPEN RETURN PRINT RAISERROR THROW WAITFOR
	RECONFIGURE SHUTDOWN PURGE FLASHBACK RENAME ASSOCIATE DISASSOCIATE`)
