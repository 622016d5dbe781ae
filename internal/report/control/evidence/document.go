package evidence

import (
	"time"

	"github.com/google/uuid"

	"muster/internal/report/control"
)

// formatV1 names the layout of a document.
const formatV1 = "muster-evidence-1"

// Document is what is signed.
type Document struct {
	Format       string       `json:"format"`
	ID           uuid.UUID    `json:"id"` // of the stream in the log organization that records it
	Organization Named        `json:"organization"`
	Check        Control      `json:"check"`
	From         time.Time    `json:"from"`
	To           time.Time    `json:"to"`
	AsOf         time.Time    `json:"asOf"`
	InstanceIDs  []uuid.UUID  `json:"instanceIds"` // the servers that were asked for; null: all of the check's engine
	Witnesses    []string     `json:"witnesses"`   // heads of the logs at AsOf, as `muster events verify --witness` takes them
	Checkpoints  []Checkpoint `json:"checkpoints"` // signed trees that cover the witnesses
	// KeysFingerprint is the fingerprint of the document of keys (attest.Keys) when it was
	// made; absent in earlier evidence.
	KeysFingerprint string      `json:"keysFingerprint,omitempty"`
	Exceptions      []Exception `json:"exceptions"`
	Items           []Item      `json:"items"`
}

// Checkpoint is the installation's signed word on a log: its first Size events have this root.
type Checkpoint struct {
	Log       string `json:"log"`
	Size      int64  `json:"size"`
	Note      string `json:"note"`      // C2SP tlog-checkpoint
	Timestamp []byte `json:"timestamp"` // RFC 3161 token over the SHA-256 of the note's text; null: there is none
}

// Named is something by id and the name that it has today.
type Named struct {
	ID   uuid.UUID `json:"id"`
	Name string    `json:"name"`
}

// Control is what was looked for, by the catalogue of today.
type Control struct {
	ID        string `json:"id"`
	Title     string `json:"title"`
	Engine    string `json:"engine"`
	Severity  string `json:"severity"`
	Catalogue string `json:"catalogue"` // version
	SHA256    string `json:"catalogueSha256"`
}

// Exception was in force at some time of the period.
type Exception struct {
	ID          uuid.UUID  `json:"id"`
	InstanceID  *uuid.UUID `json:"instanceId"`
	DatabaseID  *uuid.UUID `json:"databaseId"`
	Object      string     `json:"object"`
	Reason      string     `json:"reason"`
	Until       time.Time  `json:"until"`
	RequestedBy Named      `json:"requestedBy"`
	GrantedBy   Named      `json:"grantedBy"`
	GrantedAt   time.Time  `json:"grantedAt"`
	GrantedIn   int64      `json:"grantedIn"` // position in the log organization
	RevokedBy   *Named     `json:"revokedBy"`
	RevokedAt   *time.Time `json:"revokedAt"`
	RevokedIn   *int64     `json:"revokedIn"`
}

// Item is one server.
type Item struct {
	Instance          Named        `json:"instance"`
	Removed           bool         `json:"removed"`
	Population        []LifeEvent  `json:"population"` // when the server joined, left and was inactive, the oldest first
	Periods           []Period     `json:"periods"`
	PassedShare       float64      `json:"passedShare"`
	LongestGapSeconds float64      `json:"longestGapSeconds"`
	Assessments       []Assessment `json:"assessments"`
	// BackupDays counts the days of the control of backups; null in evidence of a check.
	BackupDays *BackupDays `json:"backupDays,omitempty"`
}

// BackupDays counts the days (UTC) on which a server was active by the ages of its backups.
type BackupDays struct {
	RPOSeconds int64 `json:"rpoSeconds"` // the objective when the evidence was made
	Kept       int   `json:"kept"`       // no backup was older
	Late       int   `json:"late"`
	Unknown    int   `json:"unknown"`
}

// Period is a time in which a state did not change.
type Period struct {
	From        time.Time     `json:"from"`
	To          time.Time     `json:"to"`
	State       control.State `json:"state"`
	ExceptionID *uuid.UUID    `json:"exceptionId"`
	Assessments int           `json:"assessments"`
	Reasons     []string      `json:"reasons"`
	// What the check was, as the assessments of the period say; another period begins where
	// either changes.
	Catalogue string `json:"catalogueVersion"`
	Threshold string `json:"threshold"`
}

// LifeEvent says that a server joined, left, or was activated or deactivated, and who did it.
type LifeEvent struct {
	What   string    `json:"what"` // joined, activated, deactivated, engineChanged, left
	At     time.Time `json:"at"`   // when it was recorded
	Since  time.Time `json:"since,omitzero"`
	Engine string    `json:"engine"`
	By     string    `json:"by"`    // member, token, muster
	Who    *Named    `json:"who"`   // the member; null: a token or the program
	Event  int64     `json:"event"` // position in the log fleet
}

// Assessment is an assessment that was read, including those of the day before the period.
type Assessment struct {
	ID         uuid.UUID  `json:"id"`
	At         time.Time  `json:"at"`         // of the assessment: for one from a feed, the sender's time
	RecordedAt *time.Time `json:"recordedAt"` // of its event; null: it has none
	SHA256     string     `json:"factsSha256"`
	Event      *int64     `json:"event"` // position in the log fleet; null: a version before marks kept it, and it differed in nothing from the one before
	Late       bool       `json:"late"`  // recorded too late to count for its time
	Altered    string     `json:"altered"`
	Erased     bool       `json:"erased"` // its facts were erased when their retention ended
	Catalogue  string     `json:"catalogueVersion"`
}

// About is what a document says beside the answer.
type About struct {
	ID           uuid.UUID
	Organization Named
	Check        Control
	Instances    []uuid.UUID // that were asked for
	Checkpoints  []Checkpoint
	Keys         string // fingerprint
	People       map[uuid.UUID]string
}

// New writes an answer down.
func New(e control.Evidence, about About) Document {
	d := Document{
		Format: formatV1, ID: about.ID, Organization: about.Organization, Check: about.Check, From: e.From.UTC(), To: e.To.UTC(), AsOf: e.AsOf.UTC(),
		InstanceIDs: about.Instances, Checkpoints: append([]Checkpoint{}, about.Checkpoints...), KeysFingerprint: about.Keys,
		Witnesses: []string{e.Organization.String(), e.Fleet.String()}, Exceptions: []Exception{}, Items: []Item{},
	}
	person := func(id uuid.UUID) Named { return Named{id, about.People[id]} }
	for _, g := range e.Exceptions {
		x := Exception{
			ID: g.ID, InstanceID: g.Instance, DatabaseID: g.DatabaseID, Object: g.Object, Reason: g.Reason, Until: g.Until,
			RequestedBy: person(g.RequestedBy), GrantedBy: person(g.GrantedBy), GrantedAt: g.From, GrantedIn: g.GrantedIn, RevokedAt: g.RevokedAt,
		}
		if g.RevokedBy != nil {
			who := person(*g.RevokedBy)
			x.RevokedBy, x.RevokedIn = &who, &g.RevokedIn
		}
		d.Exceptions = append(d.Exceptions, x)
	}
	for _, item := range e.Items {
		d.Items = append(d.Items, itemOf(item, about))
	}
	return d
}

func itemOf(item control.Item, about About) Item {
	out := Item{
		Instance: Named{item.Instance, item.Name}, Removed: item.Removed, PassedShare: item.Course.PassedShare(),
		LongestGapSeconds: item.Course.LongestGap.Seconds(), Periods: []Period{}, Assessments: []Assessment{}, Population: []LifeEvent{},
	}
	if b := item.Backups; b != nil {
		out.BackupDays = &BackupDays{RPOSeconds: int64(b.RPO / time.Second), Kept: b.Kept, Late: b.Late, Unknown: b.Unknown}
	}
	for _, e := range item.Events {
		happened := LifeEvent{What: e.What, At: e.At, Since: e.Since, Engine: string(e.Engine), By: e.ByKind, Event: e.Position}
		if e.ByKind == control.ByMember {
			happened.Who = &Named{e.ByID, about.People[e.ByID]}
		}
		out.Population = append(out.Population, happened)
	}
	for _, p := range item.Course.Periods {
		out.Periods = append(out.Periods, Period{
			From: p.From, To: p.To, State: p.State, ExceptionID: p.Exception, Assessments: p.Looks, Reasons: append([]string{}, p.Reasons...),
			Catalogue: p.Catalogue, Threshold: p.Threshold,
		})
	}
	for _, l := range item.Looks {
		a := Assessment{ID: l.ID, At: l.At, SHA256: l.SHA256, Late: l.Late, Altered: l.Altered, Erased: l.Erased, Catalogue: l.Catalogue}
		if l.Event > 0 {
			a.Event, a.RecordedAt = &l.Event, &l.RecordedAt
		}
		out.Assessments = append(out.Assessments, a)
	}
	return out
}
