// Package pair has the replication of the demo: a primary, a standby that follows it by the lag that it is given, and a slot
// whose consumer has been gone for nine hours when the demo is made. It is a pure function of times.
package pair
