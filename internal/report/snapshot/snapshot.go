package snapshot

import (
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/internal/report/snapshot/day"
)

// SchemaVersion is the version of the document's form that this code writes.
const SchemaVersion = 3

// Document is everything from which a report is rendered, as of one instant. Rendering is a
// pure function of it: nothing else can be printed.
type Document struct {
	Schema          int             `json:"schema"`
	Kind            string          `json:"kind"` // a report.Kind
	ReportID        uuid.UUID       `json:"reportId"`
	Organization    Organization    `json:"organization"`
	Requester       Person          `json:"requester"`
	ScopeLabel      string          `json:"scopeLabel"`
	RequestedAt     time.Time       `json:"requestedAt"`
	AsOf            time.Time       `json:"asOf"`   // the instant the inputs were gathered; also the PDF's creation date
	Window          *Window         `json:"window"` // of a kind with a window
	Database        *DatabaseRef    `json:"database"`
	Witness         Witness         `json:"witness"`                   // the reports log's head at build time
	KeysFingerprint string          `json:"keysFingerprint,omitempty"` // of the document of keys when the inputs were gathered (attest.Keys); empty of before it was printed
	PublicURL       string          `json:"publicUrl"`
	Feed            Feed            `json:"feed"`
	Catalogue       Catalogue       `json:"catalogue"`
	Checks          []Check         `json:"checks"`                   // definitions of every check of the catalogue, sorted by id
	Instances       []Instance      `json:"instances"`                // in scope, sorted by name, then id; inactive ones too
	Exceptions      []Exception     `json:"exceptions"`               // in force, and about an instance below, sorted by id
	Alerts          *AlertHistory   `json:"alerts"`                   // scorecard only; nil: nobody has asked for them
	Utilization     *Utilization    `json:"utilization,omitempty"`    // scorecard only; nil: nobody has asked for it, as before there was any
	ScoreAtStart    *ScoreAtStart   `json:"scoreAtStart,omitempty"`   // scorecard of an instance only; nil: none is kept
	ScoreByDay      *ScoreByDay     `json:"scoreByDay,omitempty"`     // likewise; nil: nobody has asked for it
	Tuning          *Tuning         `json:"tuning,omitempty"`         // scorecard only; nil: nobody has asked for it
	Server          *Server         `json:"server,omitempty"`         // scorecard only; nil: nobody has asked for it
	Previous        *Previous       `json:"previous"`                 // the previous Ready report of the same kind and scope
	History         *History        `json:"history,omitempty"`        // of the findings; nil: nobody has asked for it
	Day             *day.Digest     `json:"day,omitempty"`            // digest only; nil: nobody has asked for it
	Risks           []RiskRecord    `json:"risks,omitempty"`          // inventory only: what is on record of the risks, sorted by id; none: nobody has asked for them
	AlertRecords    *AlertRecords   `json:"alertRecords,omitempty"`   // alerts summary only; nil: nobody has asked for them
	ServiceRecords  *ServiceRecords `json:"serviceRecords,omitempty"` // performance and SLA only; nil: nobody has asked for them
	Vulnerabilities []Vulnerability `json:"vulnerabilities"`          // every CVE that an instance below names, sorted by id
}

// Organization is whose report it is.
type Organization struct {
	ID        uuid.UUID   `json:"id"`
	Name      string      `json:"name"`
	Demo      bool        `json:"demo"`
	PaperSize string      `json:"paperSize"`         // A4 or Letter
	DueDays   *BySeverity `json:"dueDays,omitempty"` // after its first sight, in which a finding is due; nil: not gathered, as before there was the setting
}

// Person is a member by id, with the name known when the inputs were gathered.
type Person struct {
	ID   uuid.UUID `json:"id"`
	Name string    `json:"name"`
}

// Window is a half-open interval of time in UTC.
type Window struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

// DatabaseRef names the one database of a database-scoped scorecard.
type DatabaseRef struct {
	ID   uuid.UUID `json:"id"`
	Name string    `json:"name"`
}

// Witness is the head of the reports log when the inputs were gathered.
type Witness struct {
	Log      string `json:"log"`
	Position int64  `json:"position"`
	Hash     string `json:"hash"` // lower-case hex
}

// Feed says which release and CVE feed was consulted.
type Feed struct {
	Name   string    `json:"name"`
	Date   time.Time `json:"date"`
	Digest string    `json:"digest"` // SHA-256 of the embedded file, hex
	// ExploitedUntil is the day on which its list of exploited CVEs was released; nil: Date.
	ExploitedUntil *time.Time `json:"exploitedUntil,omitempty"`
}

// Catalogue says which version of the check catalogue was used.
type Catalogue struct {
	Version string `json:"version"`
	Digest  string `json:"digest"`
}

// Check is the definition of one check; the catalogue's files are YAML.
type Check struct {
	ID           string   `json:"id"`
	Engine       string   `json:"engine" yaml:"-"`
	Domain       string   `json:"domain"`   // Security, Performance, Configuration, Schema, Maintenance
	Severity     string   `json:"severity"` // Critical, High, Medium, Low
	Scope        string   `json:"scope"`    // instance or database
	Title        string   `json:"title"`    // says what is wrong where it fails
	Passed       string   `json:"passed"`   // says what is right where it passes, in a clause with a verb
	Rationale    string   `json:"rationale"`
	Pass         string   `json:"pass"`
	Remediation  string   `json:"remediation"` // what to do, in a sentence
	Impact       string   `json:"impact"`      // what that changes, and what to mind; may be empty
	Effort       string   `json:"effort"`      // S, M, L
	NeedsRestart bool     `json:"needsRestart" yaml:"restart"`
	References   []string `json:"references"`
	// Verify is how to see whether an object breaks the check; nil: no query says it, or,
	// in the inputs of a report, none of its objects does.
	Verify *Verification `json:"verify,omitempty" yaml:"-"`
}

// Verification is a statement around an object's name: it returns a row for as long as
// the object breaks the check.
type Verification struct {
	Before string `json:"before"`
	After  string `json:"after"`
}

// Statement is that about an object, whose name is quoted and whole (IsWhole).
func (v Verification) Statement(quoted string) string { return v.Before + quoted + v.After }

// Instance is one server in scope with what is known of it.
type Instance struct {
	ID        uuid.UUID `json:"id"`
	Name      string    `json:"name"`
	Engine    string    `json:"engine"`
	Version   string    `json:"version"`
	Host      string    `json:"host"`
	Active    bool      `json:"active"`
	CreatedAt time.Time `json:"createdAt"`
	Owner     *Owner    `json:"owner,omitempty"` // when the inputs were gathered; nil: no team, or a document of before owners
	Collected bool      `json:"collected"`       // has a DSN: Muster itself can assess it
	// Retention is how long its data is kept, by the instance's tag retention; empty: not said.
	Retention string `json:"retention,omitempty"`
	// OpenAlerts are those that are open and not muted; nil: not gathered.
	OpenAlerts *OpenAlerts `json:"openAlerts,omitempty"`
	Assessment *Assessment `json:"assessment"` // nil: never assessed (NotAssessed says why)
	// Logged is where the log has the assessment; nil if there is none, and in documents from
	// before this field.
	Logged *LoggedAssessment `json:"logged,omitempty"`
	// ClassifiedSHA256 is the digest of what the document says of the classification of the
	// databases, while it is gathered.
	ClassifiedSHA256 string `json:"-"`
	// NotAssessed is the reason in words where Assessment is nil: inactive, no
	// connection registered, engine without a collector.
	NotAssessed string        `json:"notAssessed"`
	Databases   []Database    `json:"databases"` // sorted by name
	Release     *Release      `json:"release"`   // nil: version unknown to the feed
	CVEs        []InstanceCVE `json:"cves"`      // sorted by id
}

// Owner is the team that owns an instance.
type Owner struct {
	ID   uuid.UUID `json:"id"`
	Name string    `json:"name"`
}

// OpenAlerts counts the alerts of an instance.
type OpenAlerts struct {
	Open     int `json:"open"`
	Critical int `json:"critical"` // of those
}

// LoggedAssessment names an assessment and its event in the fleet's log, so that a document can
// be compared with an export of that log.
type LoggedAssessment struct {
	ID          uuid.UUID `json:"id"`
	At          time.Time `json:"at"`          // of the assessment: of one that was sent, what the sender says
	FactsSHA256 string    `json:"factsSha256"` // as it is stored, and as its event says
	// Event is the position of its event in the log fleet, and RecordedAt its time. Zero and
	// nil if there is none: a version before marks stored it, and it was equal to the previous
	// one.
	Event      int64      `json:"event"`
	RecordedAt *time.Time `json:"recordedAt"`
	Late       bool       `json:"late,omitempty"` // recorded too late to count for its own time in a control
}

// Database is one database of an instance.
type Database struct {
	ID             uuid.UUID       `json:"id"`
	Name           string          `json:"name"`
	SizeBytes      *int64          `json:"sizeBytes"`
	Encrypted      *bool           `json:"encrypted,omitempty"` // its files, at rest; nil: not known
	Classification *Classification `json:"classification"`      // the last one, whatever its status
}

// Release is what the feed knows about a server's version.
type Release struct {
	Major        string     `json:"major"`
	Latest       string     `json:"latest"` // latest minor release of that major
	MinorsBehind int        `json:"minorsBehind"`
	EndOfLife    *time.Time `json:"endOfLife"`
	// LatestAt is the day on which the latest release came out; nil: not known.
	LatestAt *time.Time `json:"latestAt,omitempty"`
	// KnownUntil is the day on which the feed's list of the engine's releases ends; nil: not said.
	KnownUntil *time.Time `json:"knownUntil,omitempty"`
	Behind     bool       `json:"behind,omitempty"` // by how many releases is MinorsBehind where it can be counted
	// Target is the version to go to; empty: none needed. It is the lowest of the
	// same major that clears every CVE that is open or not ruled out, the latest build of
	// an engine that is known by builds, and of a major past its end of life the major
	// with the longest support.
	Target          string     `json:"target"`
	TargetEndOfLife *time.Time `json:"targetEndOfLife,omitempty"` // of the target's major; nil: not said before there was this field
	TargetMajor     string     `json:"targetMajor,omitempty"`     // empty: Target begins with its major
	TargetBuild     string     `json:"targetBuild,omitempty"`     // the latest known of another major; empty: not known
	Cost            string     `json:"cost,omitempty"`            // what going to Target takes, in words
	// Longest is the version with the longest support that clears all, where that is
	// another major than Target's; nil: none outlives it, or not said.
	Longest *LongestSupport `json:"longest,omitempty"`
	// CVEsUnknown: the feed knows the major's end of life and none of its CVEs, so that
	// no CVE is not a clean one.
	CVEsUnknown bool `json:"cvesUnknown,omitempty"`
	// CVEGap is what the feed lacks of the CVEs of this version, in words: no CVE is not
	// a clean one. Empty: nothing that is known of.
	CVEGap string `json:"cveGap,omitempty"`
	// RegisteredAs is the version in the fleet, if the server's answer has another one, which
	// was used. Empty: they agree.
	RegisteredAs string `json:"registeredAs,omitempty"`
}

// LongestSupport is the version that is supported longest.
type LongestSupport struct {
	Version   string    `json:"version"`
	Build     string    `json:"build,omitempty"` // the latest known
	EndOfLife time.Time `json:"endOfLife"`
	Cost      string    `json:"cost"` // what going there takes, in words
}

// How a CVE concerns an instance.
const (
	CVEOpen           = "open"
	CVENotExploitable = "not_exploitable"
	CVEUnknown        = "unknown" // not ruled out
)

// InstanceCVE says how one CVE concerns one instance.
type InstanceCVE struct {
	ID           string `json:"id"`
	Applies      string `json:"applies"`      // CVEOpen, CVENotExploitable or CVEUnknown
	Precondition string `json:"precondition"` // in words, with whether it holds here
}

// Vulnerability is one CVE of the feed.
type Vulnerability struct {
	ID        string   `json:"id"`
	CVSS      float64  `json:"cvss"` // CVSS 3.1 base score
	Vector    string   `json:"vector"`
	Title     string   `json:"title"`
	Component string   `json:"component"`
	FixedIn   []string `json:"fixedIn"`
	Source    string   `json:"source"`
	// Published is the day on which the CVE was published; nil: not known, as in documents from before this field.
	Published *time.Time `json:"published,omitempty"`
	// ExploitedSince is the day on which CISA listed it as exploited in the wild; nil: it is not on that list.
	ExploitedSince *time.Time `json:"exploitedSince,omitempty"`
	// ScoredBy is who gave the score; empty: not said.
	ScoredBy string `json:"scoredBy,omitempty"`
}

// Outcomes of an assessment.
const (
	OutcomeComplete    = "complete"    // every check that applies was run
	OutcomePartial     = "partial"     // some checks could not be run; each says why
	OutcomeUnreachable = "unreachable" // no connection; Checks is empty
)

// Assessment is one look at one instance over SQL.
type Assessment struct {
	StartedAt        time.Time      `json:"startedAt"`
	FinishedAt       time.Time      `json:"finishedAt"`
	Outcome          string         `json:"outcome"`
	ErrorClass       string         `json:"errorClass"` // refused, timeout, authentication, tls, database, not_allowed; empty: reached
	Error            string         `json:"error"`      // a sentence, never the driver's text
	CatalogueVersion string         `json:"catalogueVersion"`
	Sent             bool           `json:"sent,omitempty"`    // by a feed: another tool looked, and no role of Muster's signed in
	Edition          string         `json:"edition,omitempty"` // as the server or a feed tells it
	Role             string         `json:"role"`              // the monitoring role
	RoleIsSuperuser  bool           `json:"roleIsSuperuser"`
	VersionNum       int            `json:"versionNum"` // 150018
	VersionText      string         `json:"versionText"`
	ServerStartedAt  *time.Time     `json:"serverStartedAt"`
	InRecovery       bool           `json:"inRecovery"`
	Results          []CheckResult  `json:"results"`   // sorted by check id, then database
	Roles            []DatabaseRole `json:"roles"`     // privileged ones, sorted by power desc, remote desc, name
	RolesNote        string         `json:"rolesNote"` // what of the roles could not be read, in words
	Extensions       []Extension    `json:"extensions"`
	MissingGrants    []MissingGrant `json:"missingGrants"`
	Databases        []DatabaseFact `json:"databases"` // databases found, sorted by name
	TLSSessions      *int           `json:"tlsSessions"`
	ClientSessions   *int           `json:"clientSessions"`
	Upstream         string         `json:"upstream,omitempty"` // of a standby: host:port of who sends it changes, where known
}

// Statuses of a check. Accepted is what an exception makes of a failed one when
// the document is read; a collector that stored it would decide for people.
const (
	StatusPass          = "pass"
	StatusFail          = "fail"
	StatusNotAssessed   = "not_assessed"
	StatusNotApplicable = "not_applicable"
	StatusAccepted      = "accepted"
)

// Reason codes of a check that was not assessed or does not apply.
const (
	ReasonPermissionDenied    = "permission_denied"
	ReasonVersionTooOld       = "version_too_old"
	ReasonNotPresent          = "not_present" // the server has no such setting or column
	ReasonTimeout             = "timeout"
	ReasonQueryFailed         = "query_failed"
	ReasonDatabaseUnreachable = "database_unreachable"
	ReasonNotTold             = "not_told" // the server does not tell, whatever the account is granted
	ReasonPlatform            = "platform" // who runs the server lets nobody read it
	ReasonDeclined            = "declined" // the organization will not grant what it needs
	ReasonSent                = "sent"     // the feed says so, and why
	ReasonNotSent             = "not_sent" // the feed did not tell of the check
)

// CheckResult is one check on an instance or on one of its databases.
type CheckResult struct {
	CheckID      string      `json:"checkId"`
	Database     string      `json:"database"` // empty: instance-wide
	Status       string      `json:"status"`
	Severity     string      `json:"severity"`   // as judged here, where it depends on what was found (trust on TCP is worse than on a socket); empty: the check's own
	ReasonCode   string      `json:"reasonCode"` // one of the Reason constants; empty where assessed
	Reason       string      `json:"reason"`     // in words, naming the object and the grant
	Measured     string      `json:"measured"`   // what was found, short
	Threshold    string      `json:"threshold"`
	FailFraction float64     `json:"failFraction"` // share of assessed objects that fail, 1 for an instance-wide check
	Violations   []Violation `json:"violations"`   // at most MaxViolations, sorted
	Total        int         `json:"total"`        // violations found, also those not listed
	// FirstSeenAt applies to a result that names no object and fails, or was not assessed: the
	// first assessment of those that have had it since. Nil: unknown.
	FirstSeenAt *time.Time `json:"firstSeenAt,omitempty"`
}

// MaxViolations is how many violations of one check on one database are kept.
const MaxViolations = 500

// Violation is one object that breaks a check.
type Violation struct {
	Object   string `json:"object"`
	Evidence string `json:"evidence"`           // at most 200 characters
	Severity string `json:"severity,omitempty"` // of this one, where what was found decides it; empty: the result's
	Fix      *Fix   `json:"fix"`                // nil: what to do is the owner's to choose, or cannot be stated
	// FirstSeenAt is the first assessment that found it of those that have found it
	// since. Nil: not known.
	FirstSeenAt *time.Time `json:"firstSeenAt,omitempty"`
}

// Fix is what mends one violation and can be run as it stands, by a superuser.
type Fix struct {
	Database  string `json:"database"`  // where it is run; empty: in any
	Statement string `json:"statement"` // a statement a line, each run by itself
	// Rollback makes it as it was measured, in the same form; empty: that cannot be
	// stated, or there is nothing to take back.
	Rollback string `json:"rollback,omitempty"`
}

// DatabaseRole is a privileged account.
type DatabaseRole struct {
	Name         string     `json:"name"`
	Login        bool       `json:"login"`
	Superuser    bool       `json:"superuser"`
	Attributes   []string   `json:"attributes"`   // CREATEROLE, CREATEDB, BYPASSRLS, REPLICATION
	MemberOf     []string   `json:"memberOf"`     // membership paths, "app → dba → pg_write_server_files"
	PasswordKind string     `json:"passwordKind"` // scram-sha-256, md5, none, unknown (not readable)
	ValidUntil   *time.Time `json:"validUntil"`
	LastSeen     *time.Time `json:"lastSeen"`    // in sessions at assessment time; nil: not seen
	RemoteLogin  string     `json:"remoteLogin"` // yes, no, unknown (PostgreSQL: HBA rules not readable)
}

// Extension is an installed extension.
type Extension struct {
	Database string `json:"database"`
	Name     string `json:"name"`
	Version  string `json:"version"`
}

// MissingGrant is something the monitoring role lacks and what would give it.
type MissingGrant struct {
	Object    string   `json:"object"`
	Statement string   `json:"statement"`
	Checks    []string `json:"checks"`
	Declined  bool     `json:"declined,omitempty"` // the organization will not grant it
}

// DatabaseFact is a database as the assessment found it.
type DatabaseFact struct {
	Name       string `json:"name"`
	SizeBytes  *int64 `json:"sizeBytes"`
	Owner      string `json:"owner"`
	AllowsConn bool   `json:"allowsConn"`
	// Whether its files are encrypted, all of them; nil: not known, as over SQL of PostgreSQL.
	EncryptedAtRest *bool `json:"encryptedAtRest,omitempty"`
}

// Statuses of a classification.
const (
	ClassificationCompleted = "completed"
	ClassificationPartial   = "partial"
	ClassificationFailed    = "failed"
	ClassificationOff       = "off"
)

// Classification is one run over the columns of one database.
type Classification struct {
	StartedAt         time.Time         `json:"startedAt"`
	FinishedAt        time.Time         `json:"finishedAt"`
	Status            string            `json:"status"`
	Reason            string            `json:"reason"` // why partial, failed or off
	Mode              string            `json:"mode"`   // names or values
	RulesVersion      string            `json:"rulesVersion"`
	TablesSeen        int               `json:"tablesSeen"`
	TablesClassified  int               `json:"tablesClassified"`
	TablesSampled     int               `json:"tablesSampled"`
	ColumnsSeen       int               `json:"columnsSeen"`
	ColumnsClassified int               `json:"columnsClassified"`
	SampleRows        int               `json:"sampleRows"`
	Own               bool              `json:"own,omitempty"` // of the database that Muster keeps its own data in
	Tables            []ClassifiedTable `json:"tables"`        // those with a sensitive column, sorted by schema, name
	FailedTables      []FailedTable     `json:"failedTables"`
	// UnreadColumns are of tables that were sampled, and were classified by their names alone.
	UnreadColumns []UnreadColumns `json:"unreadColumns,omitempty"`
	// Failure is from a later look, which found nothing: everything else is the earlier
	// knowledge.
	Failure *ClassificationFailure `json:"failure,omitempty"`
	// Again says that what was in the way may be gone soon. It is not kept.
	Again bool `json:"-"`
}

// ClassificationFailure is a look that found nothing.
type ClassificationFailure struct {
	At     time.Time `json:"at"`
	Reason string    `json:"reason"`
}

// UnreadColumns are columns of a table whose content could not be read, all for one reason.
type UnreadColumns struct {
	Schema  string   `json:"schema"`
	Table   string   `json:"table"`
	Columns []string `json:"columns"` // in their order
	Reason  string   `json:"reason"`
}

// ClassifiedTable is a table with at least one sensitive column.
type ClassifiedTable struct {
	Schema        string   `json:"schema"`
	Name          string   `json:"name"`
	EstimatedRows int64    `json:"estimatedRows"`       // the planner's, 0 where it has none: see Rows
	RowsKnown     bool     `json:"rowsKnown,omitempty"` // a 0 is a figure; documents before it wrote 0 for an unknown number too
	SizeBytes     int64    `json:"sizeBytes"`
	PublicAccess  bool     `json:"publicAccess"`
	Grantees      int      `json:"grantees"`
	RowSecurity   bool     `json:"rowSecurity"`
	Encrypted     *bool    `json:"encrypted,omitempty"`     // its rows, at rest; nil: its database's matter, or not known
	Readers       []string `json:"readers,omitempty"`       // who may read it, sorted; none: not known by name
	AccessUnknown bool     `json:"accessUnknown,omitempty"` // a feed did not tell who may
	// ReaderPaths are the roles that can read it, each with its access path, sorted by role.
	// None: they were not determined, as in older classifications and those of feeds, or, if
	// ReadersUnlisted has a number, there was no room.
	ReaderPaths     []Reader           `json:"readerPaths,omitempty"`
	ReadersUnlisted int                `json:"readersUnlisted,omitempty"` // roles beyond those
	Columns         []ClassifiedColumn `json:"columns"`
}

// Public is the Role of a Reader that stands for every role.
const Public = "PUBLIC"

// Reader is a role that can read a table.
type Reader struct {
	Role  string `json:"role"`
	Login bool   `json:"login"`
	// Path is the access path: the memberships, the SET ROLE, and the right in the end:
	// "reporting → analysts → SELECT".
	Path         string   `json:"path"`
	Columns      []string `json:"columns,omitempty"`      // those alone, sorted; none: all
	PastPolicies bool     `json:"pastPolicies,omitempty"` // row security does not hold for it
}

// Rank puts who is most worth a look first: everybody, then roles that sign in, and of
// each those that were granted it before those that may read anything.
func (r Reader) Rank() int {
	rank := 1
	switch {
	case r.Role == Public:
		return 0
	case strings.HasSuffix(r.Path, "→ superuser"):
		rank = 3
	case strings.HasSuffix(r.Path, "→ every table"):
		rank = 2
	}
	if !r.Login {
		rank += 3
	}
	return rank
}

// Rows is the estimated number of rows; known is false if they were not counted, as on a table
// that was never analyzed.
func (t ClassifiedTable) Rows() (n int64, known bool) {
	return t.EstimatedRows, t.RowsKnown || t.EstimatedRows > 0
}

// leastRow is what a row takes at least: a header of 23 bytes, aligned, and its
// line pointer.
const leastRow = 24 + 4

// MayExceed says whether a table may have more than n rows. Where their number is
// not known, its size still bounds it.
func (t ClassifiedTable) MayExceed(n int64) bool {
	if rows, known := t.Rows(); known {
		return rows > n
	}
	return t.SizeBytes <= 0 || t.SizeBytes/leastRow > n
}

// FailedTable is a table that could not be classified.
type FailedTable struct {
	Schema string `json:"schema"`
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// ClassifiedColumn is a column that a rule matched. It never holds a value.
type ClassifiedColumn struct {
	Name         string   `json:"name"`
	DataType     string   `json:"dataType"`
	Category     string   `json:"category"`
	InfoType     string   `json:"infoType"`
	Regulation   string   `json:"regulation"`
	Confidence   string   `json:"confidence"`   // Low, Medium, High, Certain
	MatchedRatio *float64 `json:"matchedRatio"` // share of sampled values that fit; nil: names only
	RuleID       string   `json:"ruleId"`
	Weight       int      `json:"weight"` // 0-10
}

// Exception is findings that the organization decided to live with for a time.
// What is not named stands for all of them.
type Exception struct {
	ID          uuid.UUID    `json:"id"`
	CheckID     string       `json:"checkId"`
	InstanceID  *uuid.UUID   `json:"instanceId"` // nil: every instance
	Database    *DatabaseRef `json:"database"`   // nil: every database, and what is instance-wide
	Object      string       `json:"object"`     // empty: every object
	Reason      string       `json:"reason"`
	Until       time.Time    `json:"until"` // exclusive, after AsOf
	RequestedBy Person       `json:"requestedBy"`
	GrantedBy   Person       `json:"grantedBy"`
	GrantedAt   time.Time    `json:"grantedAt"`
}

// Previous is what the previous Ready report of the same kind and scope found.
type Previous struct {
	ReportID uuid.UUID    `json:"reportId"`
	AsOf     time.Time    `json:"asOf"`
	Findings []FindingKey `json:"findings"` // open, sorted
	Accepted []FindingKey `json:"accepted"` // by an exception, sorted
	// Risks are those of the register, sorted by id; none: it had none, or the report is no inventory.
	Risks []RiskScore `json:"risks,omitempty"`
}

// RiskRecord says since when a risk of the register is there.
type RiskRecord struct {
	ID              string     `json:"id"`
	FirstSeenAt     time.Time  `json:"firstSeenAt"`               // the first of the classifications that have found it since
	EverFirstSeenAt *time.Time `json:"everFirstSeenAt,omitempty"` // the very first one; nil: the risk never went and came back
	EarlierGoneAt   *time.Time `json:"earlierGoneAt,omitempty"`   // when it had gone
}

// RiskScore is what a risk was in an earlier report.
type RiskScore struct {
	ID    string `json:"id"`
	Score int    `json:"score"`
}

// History counts the findings that have gone: with those of the document, it gives the number at an earlier time.
type History struct {
	Since *time.Time     `json:"since"` // the first finding on record of the instances; nil: there is none
	Past  []PastFindings `json:"past"`  // the oldest first
}

// PastFindings are the findings that were there at a time and have gone since, by severity, worst first.
type PastFindings struct {
	At      time.Time  `json:"at"`
	Gone    BySeverity `json:"gone"`
	Overdue BySeverity `json:"overdue"` // of those: overdue at that time, by the days of the document
}

// BySeverity is a number for each severity.
type BySeverity struct {
	Critical int `json:"critical"`
	High     int `json:"high"`
	Medium   int `json:"medium"`
	Low      int `json:"low"`
}

// Of is the number of a severity, by its rank: 0 is Critical.
func (n *BySeverity) Of(rank int) *int {
	return [...]*int{&n.Critical, &n.High, &n.Medium, &n.Low}[rank]
}

// Grave is the sum over Critical and High.
func (n BySeverity) Grave() int { return n.Critical + n.High }

// FindingKey identifies a finding over time.
type FindingKey struct {
	InstanceID uuid.UUID `json:"instanceId"`
	Database   string    `json:"database"`
	CheckID    string    `json:"checkId"`
	Object     string    `json:"object"`
}
