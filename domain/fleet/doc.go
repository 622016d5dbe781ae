// Package fleet is what an organization monitors: its instances, which are
// database servers, and the databases on them.
//
// An Instance and a Database are each folded from the events of a stream of
// their own (Apply), so that an instance with 10,000 databases stays loadable. A
// decision returns the events to append and changes nothing; where the world is
// already as asked, it returns none. So a feed that sends the same fleet every
// minute costs no event.
//
// What is removed stays removed: the same server registered again is a new
// instance with a new id and a history of its own, and a decision about the old
// one is a *RemovedError. With an instance its databases are gone too; readers
// drop them on InstanceRemoved, there is no DatabaseRemoved for each.
//
// What an assessment came to is a fact of a stream beside the instance's
// (InstanceAssessed), which no decision reads: an assessment is taken as it is. A third
// stream has those that came to nothing new (AssessmentKept). Each assessment has one of the
// two events, with its digests, so that nobody uses one that was changed since.
//
// What may go wrong, and what then happens: two feeds that name the same server
// at once come one after the other, because the caller holds the lock of the
// external key; the later one wins, field by field. A sender's clock decides
// CreatedAt only, and the caller refuses one that lies in the future.
package fleet
