package backuptool

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"muster/internal/measurements/backups"
)

// delta is in the name of a backup that is made over another one.
var delta = regexp.MustCompile(`_D_[0-9A-F]+$`)

var errNotJSON = errors.New("it is no JSON of that tool")

func (t Tool) parse(output []byte) (*told, error) {
	switch t.Source {
	case backups.PgBackRest:
		return pgBackRest(output, t.Name)
	case backups.Barman:
		return barman(output, t.Name)
	case backups.WALG:
		return walG(output)
	case backups.MSDB, backups.RMAN, backups.Archiver, backups.Feed:
	}
	return nil, fmt.Errorf("%s is no tool", t.Source)
}

// stanza is an entry of `pgbackrest info --output=json`. Times are seconds since 1970.
type stanza struct {
	Name   string `json:"name"`
	Status struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"status"`
	DB []struct {
		ID     int    `json:"id"`
		Repo   int    `json:"repo-key"`
		System uint64 `json:"system-id"`
	} `json:"db"`
	Backup []struct {
		Type     string `json:"type"`
		Error    *bool  `json:"error"`
		Database struct {
			ID   int `json:"id"`
			Repo int `json:"repo-key"`
		} `json:"database"`
		Timestamp struct{ Start, Stop int64 } `json:"timestamp"`
		Info      struct {
			Size  int64 `json:"size"`
			Delta int64 `json:"delta"`
		} `json:"info"`
	} `json:"backup"`
}

// statusNoBackup is a stanza without a backup, or without one that is whole: nothing is broken.
const statusNoBackup = 2

func pgBackRest(output []byte, name string) (*told, error) {
	var all []stanza
	if json.Unmarshal(output, &all) != nil {
		return nil, errNotJSON
	}
	s, err := only(all, func(s stanza) string { return s.Name }, name)
	if err != nil {
		return nil, err
	}
	t := &told{}
	if s.Status.Code != 0 && s.Status.Code != statusNoBackup {
		t.trouble = fmt.Sprintf("pgBackRest reports status %d (%s).", s.Status.Code, s.Status.Message)
	}
	for _, db := range s.DB {
		t.add(strconv.FormatUint(db.System, 10))
		for _, b := range s.Backup {
			if b.Database.ID != db.ID || b.Database.Repo != db.Repo || b.Error != nil && *b.Error {
				continue
			}
			kind, size := backups.Differential, b.Info.Delta
			if b.Type == "full" {
				kind, size = backups.Base, b.Info.Size
			}
			t.add(strconv.FormatUint(db.System, 10), backup(kind, b.Timestamp.Start, b.Timestamp.Stop, size, "pgBackRest"))
		}
	}
	return t, nil
}

// shown is an entry of `barman --format=json show-backup SERVER latest`, by the server's name.
type shown struct {
	Status string          `json:"status"`
	System json.RawMessage `json:"system_id"` // a text, or a number
	Type   string          `json:"backup_type"`
	Base   struct {
		Began json.Number `json:"begin_time_timestamp"`
		Ended json.Number `json:"end_time_timestamp"`
		Size  int64       `json:"backup_size_bytes"`
	} `json:"base_backup_information"`
}

// barman reads one backup. One that has ended well is DONE, or WAITING_FOR_WALS: the archiver tells of those.
func barman(output []byte, name string) (*told, error) {
	var all map[string]json.RawMessage
	if json.Unmarshal(output, &all) != nil {
		return nil, errNotJSON
	}
	var names []string
	for key := range all {
		if key != "" && key[0] != '_' { // _INFO, _WARNING, _ERROR are messages
			names = append(names, key)
		}
	}
	of, err := only(names, func(s string) string { return s }, name)
	if err != nil {
		return nil, err
	}
	var s shown
	if json.Unmarshal(all[of], &s) != nil {
		return nil, errNotJSON
	}
	var system string
	if json.Unmarshal(s.System, &system) != nil {
		system = string(s.System)
	}
	t := &told{}
	t.add(system)
	if s.Status != "DONE" && s.Status != "WAITING_FOR_WALS" {
		t.trouble = "The newest backup of barman has not ended well."
		return t, nil
	}
	began, err1 := s.Base.Began.Int64()
	ended, err2 := s.Base.Ended.Int64()
	if err1 != nil || err2 != nil {
		return nil, errNotJSON
	}
	kind := backups.Base
	if s.Type == "incremental" {
		kind = backups.Differential
	}
	t.add(system, backup(kind, began, ended, s.Base.Size, "barman"))
	return t, nil
}

// listed is an entry of `wal-g backup-list --detail --json`.
type listed struct {
	Started  time.Time `json:"start_time"`
	Finished time.Time `json:"finish_time"`
	System   *uint64   `json:"system_identifier"`
	Size     int64     `json:"compressed_size"`
	Name     string    `json:"backup_name"`
}

// walG reads backups. A delta backup is made over another one; its name says so (base_…_D_…).
func walG(output []byte) (*told, error) {
	var all []listed
	if json.Unmarshal(output, &all) != nil {
		return nil, errNotJSON
	}
	t := &told{}
	for _, b := range all {
		if b.System == nil || b.Finished.IsZero() {
			continue
		}
		kind := backups.Base
		if delta.MatchString(b.Name) {
			kind = backups.Differential
		}
		t.add(strconv.FormatUint(*b.System, 10), backup(kind, b.Started.Unix(), b.Finished.Unix(), b.Size, "WAL-G"))
	}
	return t, nil
}

func backup(kind backups.Kind, began, ended, size int64, tool string) backups.Backup {
	b := backups.Backup{Kind: kind, FinishedAt: time.Unix(ended, 0).UTC(), Tool: tool}
	if began > 0 {
		started := time.Unix(began, 0).UTC()
		b.StartedAt = &started
	}
	if size > 0 {
		b.SizeBytes = &size
	}
	return b
}

// only is the entry that has a name; without a name, the only one.
func only[T any](all []T, nameOf func(T) string, name string) (one T, err error) {
	if name == "" {
		if len(all) != 1 {
			return one, fmt.Errorf("it has %d entries, and the configuration names none", len(all))
		}
		return all[0], nil
	}
	for _, each := range all {
		if nameOf(each) == name {
			return each, nil
		}
	}
	return one, errors.New("it has no entry of the configured name")
}
