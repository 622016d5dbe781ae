package eventstore

// Waiting is how many appends wait for one that this store writes.
func (s *Store) Waiting(log Log) int {
	g := s.groups[log]
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.waiting)
}
