package intake

// Names finds names that occur twice in one series or object. The zero value has none. It keeps
// the bytes that it is given. Beyond maxNames it reports every name as repeated: three million
// attributes of one object took 300 MiB.
type Names struct {
	few  [24][]byte // nearly every series has fewer; compared one by one
	n    int
	more map[string]struct{}
}

// maxNames is far more than what a series has labels, or an object attributes.
const maxNames = 1000

// Again adds a name, and is true if it was there before. An empty name is ignored.
func (s *Names) Again(name []byte) bool {
	if len(name) == 0 {
		return false
	}
	for _, known := range s.few[:s.n] {
		if string(known) == string(name) {
			return true
		}
	}
	if s.n < len(s.few) {
		s.few[s.n] = name
		s.n++
		return false
	}
	if _, known := s.more[string(name)]; known || len(s.more) == maxNames {
		return true
	}
	if s.more == nil {
		s.more = map[string]struct{}{}
	}
	s.more[string(name)] = struct{}{}
	return false
}
