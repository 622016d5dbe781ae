package sqltext

import "strings"

// Dialect is how an engine's statements are read, and which of them are kept.
type Dialect struct {
	// By their first words. All other statements are cut to their leading keywords.
	Kept    Set // whole, without literals
	Blocks  Set // of these, the words that begin a block of statements
	Calls   Set // with the procedure's name, without arguments
	Copies  Set // with a query in brackets, without what follows that
	Alters  Set // where an object of Altered follows
	Altered Set
	Cut     Set // also within a block

	SecretAfter     string // a word that a password follows without quotes; empty: none
	Batches         bool   // a batch may go on with any statement, without a semicolon before it
	ListsParameters bool   // the server writes the parameters of a prepared statement before it

	// Literals and names.
	Prefixes           map[string]Prefix // by the word, in capitals, that touches a string
	Booleans           bool              // TRUE and FALSE are literals
	BackslashMayEscape bool              // in a string without a prefix, by a setting that no text tells
	DollarQuotes       bool              // $tag$…$tag$, and $1
	UnicodeEscapes     bool              // U&'…' and U&"…"
	QuotesHoldStrings  bool              // "…" may be a string
	BracketsHoldNames  bool              // […] is a name
	Money              bool              // $1.50
	AtVariables        bool              // @name
	ColonBinds         bool              // :name
	SignsBeginWords    bool              // #name, $action
	HashIsOperator     bool              // # is no part of a word

	// White space, comments and punctuation.
	OnlyASCIIBlanks bool // all beyond ASCII are letters
	ReturnEndsLine  bool // a carriage return ends a line, and no other sign but the line feed does
	FlatComments    bool // a comment ends at the first */
	Symbols         string
}

// Prefix is how the string after a prefix is read.
type Prefix int

// The ways to read a string. A word that is no prefix has none of them.
const (
	Plain       Prefix = iota + 1 // as a string without a prefix
	Escaped                       // with backslashes that escape
	Alternative                   // with delimiters of its own: q'[…]'
)

// Set is a set of words in capitals.
type Set map[string]bool

// Words returns the words of a list as a set.
func Words(list string) Set {
	s := Set{}
	for _, w := range strings.Fields(list) {
		s[w] = true
	}
	return s
}

// modifiers may stand between CREATE and what is created.
var modifiers = Words(`OR REPLACE UNIQUE BITMAP CLUSTERED NONCLUSTERED COLUMNSTORE TEMP TEMPORARY UNLOGGED GLOBAL LOCAL MATERIALIZED RECURSIVE`)

// leading are the keywords that say what a statement does. No name and no value is
// among what is left of a text that is cut.
var leading = Words(`SELECT WITH INSERT INTO UPDATE DELETE FROM MERGE VALUES TABLE EXPLAIN PREPARE EXECUTE DEALLOCATE DECLARE FETCH MOVE CLOSE
	BEGIN START TRANSACTION COMMIT END ROLLBACK ABORT SAVEPOINT RELEASE LOCK TRUNCATE VACUUM ANALYZE ANALYSE REINDEX CLUSTER REFRESH
	CHECKPOINT DISCARD CALL SHOW CREATE ALTER DROP OR REPLACE UNIQUE INDEX VIEW MATERIALIZED TEMP TEMPORARY SEQUENCE STATISTICS
	USER ROLE LOGIN GROUP PROFILE DATABASE SCHEMA SYSTEM SESSION LINK PUBLIC SHARED SUBSCRIPTION PUBLICATION SERVER FOREIGN DATA WRAPPER
	MAPPING EXTENSION FUNCTION PROCEDURE PROC PACKAGE BODY TRIGGER EVENT TYPE DOMAIN AGGREGATE OPERATOR RULE POLICY LANGUAGE COLLATION
	TABLESPACE CREDENTIAL CERTIFICATE MASTER SYMMETRIC ASYMMETRIC KEY ENDPOINT AUDIT NOAUDIT EXTERNAL APPLICATION SOURCE
	SYNONYM DIRECTORY LIBRARY JAVA CONTEXT PLUGGABLE ADMINISTER MANAGEMENT KEYSTORE
	SET RESET LOCAL CONSTRAINTS AUTHORIZATION CHARACTERISTICS COPY DO COMMENT ON SECURITY LABEL LISTEN UNLISTEN NOTIFY LOAD IMPORT
	GRANT REVOKE DENY REASSIGN OWNED BACKUP RESTORE LOG DBCC EXEC USE KILL BULK IF WHILE SAVE OPEN RETURN PRINT RAISERROR THROW WAITFOR
	RECONFIGURE SHUTDOWN PURGE FLASHBACK RENAME ASSOCIATE DISASSOCIATE`)
