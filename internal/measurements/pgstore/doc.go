// Package pgstore keeps measurements: what is being measured in PostgreSQL, and what is
// over in blocks, there or elsewhere (package blocks). It is a measurements.Store.
//
// # Layout
//
// A series is a host, or the sessions, statements or busy time of an instance: a row of
// measured_series. A sample of it is one row of raw_samples, whatever it holds (the
// databases of an instance, the CPUs of a host, thousands of statements), in the
// encoding of its kind (package codec); the parts of a time that come in several messages
// are merged into that row, and what is there stays.
//
// Rollups have a row for many buckets: the 60 minutes of an hour, the 24 hours of a
// day, the 7 days of a week and the week. A read of a day at 1m touches 24 or 25 rows a
// series instead of 1,440, and a new sample rewrites three rows in place: a scrape of
// 1,000 hosts in ten messages is written in 0.06 s and rolled up in 0.15 s, and 20,000
// statements a second stay 2 s behind, on two cores that others use too. Of statements,
// details have each hour and day query by query, because the highest mean of a longer
// bucket cannot be made of shorter ones' (readings, 15).
//
// # Head and blocks
//
// Rows that every sample rewrites are the head: head_minutes, head_hours, head_days and the
// details beside them, of hours, days and weeks that are open. They are UNLOGGED: written
// ahead, they were half of 29 GB of WAL a day for 1,000 servers. Compact takes hours that
// are over and of which nothing has come for ten minutes, or whose series has waited for
// blocks: it packs their raw samples, ten minutes in a block (codec.Pack), puts their minutes
// and details and the present state of their days and weeks into blocks, and takes them out
// of the head; raw samples that came in time stay for a while (Parts). A sample that comes
// later marks its hour, which is rolled up from the samples in blocks and in the head, and
// compacted again.
//
// So the head is a function of what is written ahead: the raw samples of open hours, and
// blocks. Where it has a row, that counts and not the block. A crash of PostgreSQL empties
// it, head_state and dirty_hours too. The next Roll notices that, marks every hour that is
// not compacted, and makes them anew; until that is done reads are refused (measurements.RecoveringError),
// so that no tile shows a part. What is in the block of a week has a block of each of its
// days too, whatever is lost: a slot of a day that has no row would be taken for one whose
// hours are forgotten.
//
// What days are made of are the details of all their hours, of which the head has the open
// ones; what the others come to is kept beside those (head_rests) until another hour joins
// them, so that a roll does not read blocks. Likewise weeks.
//
// Raw samples of hours that came more than three days late are not packed: blocks of raw
// samples go by their own time, and those stay until they are sealed. Hours that were
// packed, and go on to be written to for a day longer than that, are unpacked.
//
// What a tile shows of a bucket stands in front, so that it is read without a look at
// the rest: of a host the means before their weights, of an instance's sessions the sums
// over its databases before the sums of each. Reading is what costs: 1,000 series and a
// day at 1m are 24,000 rows and up to 30 MB, some 30 ms of PostgreSQL and as many here, at
// the same time. So numbers of slots have 36 bits of fraction; from the minute to the
// week they are right to one part in 10¹⁰.
//
//	raw samples      72 hours after the last one of its hour arrived, and after its end: sealed
//	minutes           30 days
//	hours            400 days
//	days             for ever
//	details           hours for 35 days, days for 400; open until their week is over and sealed
//	measured_statements  401 days after the statement was last seen
//
// Each number is written once (retention.go, measurements.RawKept), and the statements take
// it as a parameter.
//
// # Parts
//
// A sample of the last hour, by the database's clock, goes into the part of its half hour
// (raw_samples_0 to 7, over and over; column part), any other into raw_samples_rest.
// Statements name raw_samples, which is all of them. Compacting deletes nothing from a part,
// and no VACUUM goes over it: when its half hour is over for an hour, and all in it is in
// blocks, Compact empties it as a whole (emptyParts: TRUNCATE). Of what is in no block yet,
// 5,000 samples are moved to the rest first; with more the part waits. From the rest samples
// are deleted when they are packed, from both when they are sealed.
//
// So for a while a sample is in the head and in a block, as one that came late to a packed
// hour always was: the head's counts. It says what the block says, and more where something
// of its time came since.
//
// With a checkpoint every five minutes, 1,000 servers wrote 21.2 GB a day ahead: 4.9 to delete
// raw samples, and 4.7 of their index, of which each leaf was written to after each
// checkpoint. Now it is 15.1: nothing to delete, and 2.5 of the indexes. Considered and not
// built: partitions by time, made ahead and dropped. What comes late wants a DEFAULT
// partition, and whoever makes another reads all of that while nobody else can: seconds for
// each GB that an import brought. Tables would come and go every half hour, too.
//
// Parts have no statistics (autovacuum is off), so the planner looks into their keys. A part
// that somebody analyzed while it was empty is emptied again, which takes that away.
//
// # Days
//
// Blocks of raw samples are in a table for each day (partitions of block_raw). Who puts makes
// those that are missing, and Forget drops one when all of it has to go, so what is not
// needed any more stays for up to a day. There is no DEFAULT partition, nor need of one: their
// starts are of the last days, whatever is imported (Head and blocks). What was there before
// there were days is one table (block_raw_before), which goes as a whole too. Blocks of all
// other tables are deleted row by row, and later ones take their room: an import of old
// samples puts some of any time, and there would be a table for each of its weeks.
//
// # From raw to rolled
//
// Write stores samples and marks, in the same transaction, which minutes of which hours
// they change (dirty_hours): their own, and of hosts the ten behind, because a sample
// that comes late cuts the interval of the next one in two. Roll takes marked hours in
// groups. It makes the marked minutes of them anew from raw, the hours from those or
// from their details, the days from the hours and the weeks from the days, writes all
// of it and takes the marks away, in one transaction. Nothing is ever added to a
// rollup, so whatever is done twice comes out once.
//
// Roll alternates between the newest hours and a round over all series, so that an
// import of two months neither delays what is fresh nor starves.
//
// Seal takes hours that are compacted and of which nothing has arrived for 72 hours, by the
// database's clock: it sets their bits in sealed_hours, and deletes their raw samples (but
// what the next hour looks back to, while that one is open) or leaves them to go with all
// blocks of their time. Samples of them are too late from then on. Any other hour accepts
// samples, however old.
//
// Who could not send for three days sends all of it when Muster is back, and there would
// be hours of which nothing arrived for 72 hours because nobody was there to take it. So
// each process that takes samples in notes that it does, once a minute (Attend); where
// that was not so for more than an hour, nothing is sealed in the six hours after it, nor
// meanwhile, by workers that have been there all the time. A first start, a start on a
// backup and one after an upgrade from before this was noted are as one after an absence.
//
// Should a sample come of an hour that never had one, in a week whose details are
// closed, or in a day whose hours are forgotten, the slots of the day and of the week as they
// were are kept as a rest beside the new hour, and count with it: means, sums and counts
// are exact. The maximum is then the greater one of what was and what is new, and an
// Oracle statement that was seen once before and once since contributes nothing.
//
// # The whole organization
//
// Most tiles are asked for without a filter, and then a row for each series and hour is
// what they cost. So what all series of an organization, a kind and an engine come to (a
// whole) has rows of its own: whole_rows. A row is like that of one series, or what is
// shown of one: hosts are one host, whose means are those over the hosts, instances one
// instance, whose sums are those over the instances. An hour's slot is made of the series'
// slots of that hour, and not of its minutes: a mean over hosts of the means of their hours
// is no mean of minutes. A tile of a day at 1m reads 24 or 25 rows of whatever fleet.
//
// How many hosts have a sample in a window is no sum. Each row of hosts has beside its
// slots which series have a sample in which of them (codec.Presence): a few kB for 10,000 hosts.
// Whole days of a window are looked up in rows of weeks, whole hours at its ends in rows of
// days, and minutes in rows of hours, six rows for any window within two weeks. So the
// count is exact without a look at any series, and it still knows hosts of a day whose
// minutes are forgotten.
//
// Roll notes in whole_marks which minutes of which hours it has made anew, in its
// transaction, and only adds rows there: several that roll up do not wait for each other.
// Whole takes the marks of a whole, reads those slots of all its series, sets them in
// its rows and commits all of that at once. Nothing is ever added to a slot. It holds the
// whole's row in wholes meanwhile (SKIP LOCKED), so one process at a time makes rows of
// it. The transaction is READ COMMITTED, and each of its statements sees what is committed
// when that begins:
//
//   - Marks are taken first. Whoever set one has committed what it is of, so the
//     statements after it, which find the series and read their slots, see that.
//   - Whoever commits after the marks were taken has set a mark that is still there:
//     marks are deleted by the statement that reads them. What was read of it already, or
//     of a part of it, is made anew by the next turn.
//   - Levels (minutes, hours, days) are read one after the other, and may differ by what
//     was committed between: then there is a mark, as before.
//   - The slots are read on another connection, as every reader of series does. It must
//     not begin earlier than the marks were taken, and need not be in the transaction.
//
// Whoever changes what is shown of a series must leave a mark in the same transaction.
// Rests, and rows that are forgotten, are none of that.
//
// The newest hours are made first, and a turn has a bound (60,000 rows of series, four
// hours at least), so that what is measured now does not wait for an import. Behind counts
// the marks from when the sample arrived.
//
// The four tables are not written ahead: each sample would write some kilobytes, for what
// can be made anew. After a crash PostgreSQL empties all four at once, after an upgrade
// they are empty too. A whole that is found then (findWholes, or by a mark) first notes in
// whole_missing of which days its series have anything; a day goes from there when it has
// been made, the newest first. An unfiltered read takes the rows of the whole where these
// have begun, no day of the window is missing and no mark of the window is older than five
// minutes, and else reads the series as with a filter. So it is right at any moment, and
// slow at worst. A binary from before there were marks cannot roll up beside this one, as
// the tables that it knows are not there any more (migration 00051).
//
// Wholes of fewer than 32 series have no rows: to read the series takes as long. What they
// have is kept as long as that of series, by the clock: 30 and 400 days, but while a series
// has raw samples of the hour, or of the day's week. An older row that a late sample
// changes is made of all its slots. Where it is not changed, it may have for some days what
// one of its series has forgotten.
//
// No statement of this joins tables of slots; slots are read by readRows and eachRow
// alone. Forgetting looks at measured_hours for what is open.
//
// # Who is behind a figure
//
// Contributors are read from the rollups where these know them: hosts and instances from
// slots, databases that wait from what is known of a row. Statements and volumes are
// read from raw samples by the minute, and from details by the hour and the day: of
// statements each one's executions under its database, of hosts the peak of each volume.
// An hour's peaks are added to as its minutes are rolled up, which what is known of a
// volume at a time never being changed makes right; a host's days are made of them when
// the week is closed, which rewrites less.
//
// One statement reads a span of all series, one after the other, and each is added up
// where the driver has its bytes (codec.Adder): a day of 1,000 instances with 200
// statements each, off the hour, is 340 MB, of which no more than one instance's sums are
// in memory. That takes 0.9 s of a core here and 1.1 s in PostgreSQL, at the same time;
// two fifths of ours are copying from the socket, and a larger buffer there does not help.
//
// Closing takes a week that is over and sealed: its slots become rests, its details are
// put with the closed ones and nothing is made of them any more. What comes for it later has open
// details beside the closed ones; readers add both, and the next closing joins them.
// Details from before their databases were noted have none; details_since says since
// when whoever asks for databases, statements or volumes gets an answer.
//
// How long an instance's databases executed is a series of its own (busy), so that the
// rows of statements, which the tile reads, are no longer for it. Its samples are kept
// with those of statements that are new, and with no other: what comes again with
// another content is dropped from both. Its hours are sealed for themselves; where only
// samples without busy time kept an hour of statements open, one with it is kept
// without.
//
// # What statements are called
//
// Bodies and details have a hash of each statement. measured_statements has what it is
// of: database, key, its text where the organization keeps texts, and when it was seen
// first and last. Write notes there what was executed in the samples that it keeps, and
// looks up which of that is new: a statement that goes on is written once an hour, so
// its last time may be an hour behind. The hours of each series begin at another second, or
// a fleet would write all its statements in the same minute. Rows go when they were not
// seen for 401 days, a day after the last of their details; once a day each is looked at,
// because an index by time would be written to with every row.
//
// What a process has looked up or written it need not look up again in that hour of the
// series (memory): that was more than half of what PostgreSQL did for statements that
// come in. What it remembers stays true whoever else writes: a row's first time only
// becomes earlier, its last only later, and nobody deletes what was seen within a day. So
// there is nothing to tell other processes, or to take back. It remembers after the commit,
// and of samples that are not older than what it knows. A statement with a text is looked
// up each time: texts may be deleted, and others may write another. Collectors name a text
// once a day.
//
// Texts are written under a share of the organization's row (KeepsTexts), which is taken
// before any row here is; who turns them off holds that row and deletes them in the
// same transaction (DropTexts). So no text is left, or comes back, once that has
// committed. A new text takes the place of the old one, which a digest beside it tells
// from it.
//
// # Whose turn it is
//
// Deltas of an instance's statements come from one sender at a time: two that compare the
// same counters would count everything twice. statement_turns has who sends them, until
// five minutes after its last batch that was kept, by the database's clock; another
// batch with statements of it is refused whole until then. Whoever takes a turn over
// counts from where the one before has sent to (since): a sample that begins earlier is
// dropped and counted in the receipt. So a turn may end at any time, for whatever reason:
//
//   - What the same sender sends again is a sample that is there.
//   - What somebody sends again after another has taken over waits until that one is gone,
//     and then begins before the turn: it is dropped, and it is there.
//   - What a sender counted and could not send while another had the turn, the other counted.
//     What lies between the two turns is taken from whoever has the next one and begins
//     behind the end of the one before; a sample across that end is lost, because half
//     of it has been counted. So a takeover loses one interval at most; taken_at, since and
//     resumed_at say which, and the instance's page shows it. The end of a turn is not in the
//     future, however far ahead its sender's clock is.
//
// A sender without a name takes no turn, and is refused what another holds. Where it and
// the first batch ever of a sender with a name come at once, both are kept: nobody had the
// turn when either looked. Muster's own collectors have claims instead (Batch.Guard).
//
// Hosts and sessions need no turns. Two senders of the same ones make more samples of the
// same: of a host's CPU and memory the mean counts, of its volumes the greatest, of sessions
// the latest for connections and the mean over samples for waits, so that none of them is a
// sum over samples. Two samples of the same time are one, of which the first content stays.
//
// # Of a part only
//
// Some senders cut their list of statements or of sessions, or count sessions without
// telling active ones from idle (SessionSample.Part). What they send is kept as any
// sample, and marked: a series has the first and the last time of a sample that is
// partial, and what is read between the two is said to be a part. So a whole sample
// between two of a part is said to be one, too, and not the other way round. The latest
// sample of a database's sessions has a mark of its own.
//
// # Locks
//
// Everything that is done to a series is done under the lock of its row in
// measured_series (FOR NO KEY UPDATE), but that minutes are forgotten. Those who write
// wait for it, all their series in the order of ids, after they have made the missing
// ones in the order of their keys and before they touch anything else of the store but
// the turns, which they take before that in the order of instances.
// Those who roll up, seal and forget pass over what is taken (SKIP LOCKED), but for the
// series that has been dirty for the longest time, five seconds at least: Roll waits for
// it, holding nothing else. Whoever forgets minutes passes over rows that are taken too.
// So whoever waits holds only what comes before in one order: no circle of them can
// close, no transaction needs to be tried again, and there is no mark of a sample that
// is not yet committed: who sees the mark sees the sample.
//
// Rows of measured_statements are locked in the order of series and hash, by writers
// under their series' locks and by whoever deletes texts without.
//
// The lock is taken by a statement of its own. What follows it sees whatever the one
// before it committed; what was found before it is looked at again.
//
// # Other than in the design
//
// A mark is a bit mask of the hour's minutes, under the lock of the series, where the
// design counts marks up to keep one that is set while another is worked off: nobody can
// set one meanwhile.
//
// # What may go wrong, and what then happens
//
//   - A process dies while it writes, rolls up, compacts or seals: its transaction never was.
//     The sender sends again; the marks are still there. What it has put into blocks
//     elsewhere does not count, for the hour is in the head, and is put again.
//   - PostgreSQL crashes, or a standby takes its place: the head is made anew, in seconds;
//     until then reads are refused, which callers are told as 503.
//   - A standby takes the place of a PostgreSQL and lacks the last statements that were
//     noted: they are not named until the next hour of their series, when they are noted
//     again.
//   - A batch comes twice, or two batches overlap, at once or one after the other: the
//     first content stays, part by part. What changes nothing marks nothing, and does
//     not keep an hour open either.
//   - A writer is slow to commit, or hangs: its series waits for it, the others do not.
//     Roll waits for no series longer than a second.
//   - Blocks of some series cannot be reached: their hours stay in the head, and the others
//     go on. series_away notes that a series has an hour that waits for them, and for how long
//     the oldest one has: an hour that is over and cannot be put there, or any that cannot be
//     rolled up without them (await). An hour that is put there while others wait takes the
//     note forward to the oldest that is left (clear_head); the note goes when none is left,
//     and not with the first that was put, or blocks that are back for a moment would give the
//     series another day. After 24 hours (HeadBound) samples of such a series are
//     refused, because PostgreSQL would fill up: it has to have room for a day, and senders
//     keep what is refused. Meanwhile nobody attends, so nothing is sealed until six hours after it.
//     A batch is refused whole. Hours that cannot be rolled up for another reason do not count.
//   - Blocks are moved to another store, or back (Move), under a process that has them where
//     they were: it takes samples in, and makes nothing of them any more, nor of blocks to
//     which others have added since. It says so once, and starts again only when it is set to
//     the other place. What it still shows is gone when what is left there is dropped (Drop).
//   - Two move blocks at once, or one drops what the other copies: the last that began may
//     note where they are, the others fail with an *OvertakenError.
//   - Two processes roll up at once: each takes what the other does not have.
//   - Somebody holds raw samples for hours, as a backup does: parts are tried every five
//     minutes, for a tenth of a second, in which readers and writers wait. Meanwhile they
//     are used again, and have more than one half hour each.
//   - Nothing is compacted for hours: likewise. A part goes when all in it has been.
//   - Somebody holds blocks of raw samples for hours, as a backup does: no day is dropped
//     meanwhile, which is tried every five minutes for a tenth of a second. Others read and
//     put, and make new days.
//   - An hour cannot be rolled up (a body that cannot be read): it is logged, stays
//     dirty, and is tried again after 2, 4, 8… seconds, at last every hour. The others go
//     on. Behind shows it.
//   - A large server's hour is rolled up at every sample: its raw samples are read again
//     as a whole, because the maximum needs them, and so are the details of its day and
//     week. A group stops at 16 MB of both.
//   - Samples of an instance arrive under another engine than before: the series stays
//     what it was, and a warning is logged.
//   - A sender's clock is off: the sample is in the bucket that it says. Sealing goes by
//     when samples arrived, and by the database's clock alone.
//   - The clock of the database jumps ahead by less than an hour: hours are sealed early
//     by as much, and what comes for them then is counted as too late. By more: nobody
//     seems to have been there, and nothing is sealed for six hours.
//   - Senders cannot reach Muster, which is there: what they send after 72 hours is too
//     late for the hours of which they had sent a part.
//   - A sender has more to send than it can in six hours: hours of which it has sent
//     nothing at all stay open, of the others the rest is too late.
//   - Rolling up stops, or is too slow: samples are kept and Connections is right, the
//     series end where it stopped. Nothing is sealed that is not rolled up.
//   - The rows of a whole cannot be made (a row of a series that cannot be read): it is
//     logged and tried again after 2, 4, 8… seconds, at last every five minutes; the other
//     wholes go on. Behind shows it, and after five minutes its reads take the series'
//     rows, and fail as these do.
package pgstore
