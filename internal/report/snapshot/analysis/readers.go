package analysis

import (
	"slices"
	"strings"

	"muster/internal/engine"
	"muster/internal/report/snapshot"
)

// TableReaders is who can read a table.
type TableReaders struct {
	Readers  []snapshot.Reader // those most worth a look first
	Unlisted int
	// Sent: a feed told of it. Grants that its sender did not look at are not in it.
	Sent bool
	// Unknown is why the readers are unknown; empty: they are known.
	Unknown string
}

// ReadersOf is who can read a table of an instance: the ways that an assessment found, or
// what a feed told of readers with the accounts that it says are members of one.
func ReadersOf(in *snapshot.Instance, t snapshot.ClassifiedTable) TableReaders {
	switch {
	case len(t.ReaderPaths)+t.ReadersUnlisted > 0:
		r := TableReaders{Readers: slices.Clone(t.ReaderPaths), Unlisted: t.ReadersUnlisted}
		sortReaders(r.Readers)
		return r
	case in.Collected && !engine.ConnectedOf(in.Engine).FollowsRoles:
		return TableReaders{Unknown: "Muster counts grants on a table of " + EngineName(in.Engine) + " and does not follow roles"}
	case in.Collected:
		return TableReaders{Unknown: "an older version classified it and did not look"}
	case t.AccessUnknown:
		return TableReaders{Sent: true, Unknown: "the feed did not say"}
	}
	r := TableReaders{Sent: true}
	for _, name := range t.Readers {
		reader := snapshot.Reader{Role: name, Path: name + " → SELECT"}
		if strings.EqualFold(name, snapshot.Public) {
			reader.Role = snapshot.Public
		}
		r.Readers = append(r.Readers, reader)
	}
	if a := in.Assessment; a != nil {
		for _, account := range a.Roles {
			if path := sentPath(account, t.Readers); path != "" {
				r.Readers = append(r.Readers, snapshot.Reader{Role: account.Name, Login: account.Login, Path: path})
			}
		}
	}
	sortReaders(r.Readers)
	return r
}

// sentPath is how an account reaches a table by what a feed told; empty: it does not, or
// is named as a reader itself.
func sentPath(account snapshot.DatabaseRole, readers []string) string {
	if slices.Contains(readers, account.Name) {
		return ""
	}
	for _, path := range account.MemberOf {
		groups := strings.Split(path, " → ")
		if group := groups[len(groups)-1]; slices.Contains(readers, group) {
			if groups[0] == account.Name {
				groups = groups[1:]
			}
			return account.Name + " → " + strings.Join(groups, " → ") + " → SELECT"
		}
	}
	if account.Superuser {
		return account.Name + " → superuser"
	}
	return ""
}

func sortReaders(all []snapshot.Reader) {
	slices.SortStableFunc(all, func(a, b snapshot.Reader) int {
		if a.Rank() != b.Rank() {
			return a.Rank() - b.Rank()
		}
		return strings.Compare(a.Role, b.Role)
	})
}
