// Package fleet is what an organization monitors: its instances (database servers) and the
// databases on them.
//
// An Instance and a Database each have a stream of their own, from which they are folded
// (Apply), so an instance with 10,000 databases can still be loaded. A decision returns the
// events to append and changes nothing. If the state is already as requested, it returns no
// events. So a feed that sends the same fleet every minute adds no events.
//
// A removed instance stays removed. If the same server is registered again, it is a new instance
// with a new id and its own history. A decision about a removed instance is a *RemovedError.
// Removing an instance also removes its databases: there is no DatabaseRemoved for each of them,
// and readers drop them on InstanceRemoved.
//
// The result of an assessment is recorded in a second stream of the instance (InstanceAssessed).
// No decision reads that stream: an assessment is recorded as it is. A third stream has the
// assessments that found nothing new (AssessmentKept). Each assessment has one of these two
// events, with its digests, so that a later change of the stored assessment is detected.
//
// What may go wrong, and what then happens: two feeds that send the same server at the same time
// take turns, because the caller holds the lock of the external key. The later one wins, field
// by field. The sender's clock sets CreatedAt only, and the caller refuses a CreatedAt in the
// future.
package fleet
