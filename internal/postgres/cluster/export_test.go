package cluster

// FindAmong is Find among given installations.
var FindAmong = find
