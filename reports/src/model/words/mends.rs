//! What each anomaly is, and what a recipe or a protocol must do not to have it. `docs/anomalies.md` has the same at
//! length.

use zooquake_history::operation::consensus;

/// An anomaly in words.
#[derive(Debug, PartialEq)]
pub struct Mend {
    /// The names of the anomalies.
    kinds: &'static [&'static str],
    /// What happened, as a sentence.
    pub meaning: &'static str,
    /// What the recipe must do, as a sentence.
    pub sentence: &'static str,
}

impl Mend {
    /// The name of an anomaly of a run of a family, as it is written here, and its words. Some names mean something
    /// else in one of the families.
    pub fn by_family(family: &str, kind: &str) -> Option<(&'static str, &'static Self)> {
        let own = PROTOCOL_MENDS.iter().filter(|_| family == consensus::FAMILY.name);
        let found = own.flat_map(|mend| mend.kinds.iter().map(move |known| (*known, mend)));
        let mut found = found.filter(|(known, _)| *known == kind);
        found.next().or_else(|| Self::by_kind(kind))
    }

    /// The name of an anomaly, as it is written here, and its words; `None` for a name that no family has.
    pub fn by_kind(kind: &str) -> Option<(&'static str, &'static Self)> {
        let mut all = RECIPE_MENDS
            .iter()
            .flat_map(|mend| mend.kinds.iter().map(move |known| (*known, mend)));
        all.find(|(known, _)| *known == kind)
    }
}

const fn mend(kinds: &'static [&'static str], meaning: &'static str, sentence: &'static str) -> Mend {
    Mend {
        kinds,
        meaning,
        sentence,
    }
}

/// Anomalies of recipes in words, each name once.
const RECIPE_MENDS: &[Mend] = &[
    mend(
        &["double-grant", "two-leaders"],
        "Two clients held at once, and both had asked a quorum in between.",
        "Clear the grant when the session expires, sort by the sequence suffix, list the children again after each event, and hold only \
         if your znode is the lowest and its ephemeralOwner is the session that you have now.",
    ),
    mend(
        &["stale-write"],
        "The resource accepted a write of an older grant after one of a newer grant.",
        "Give every write a token that grows with each grant, such as the czxid of the grant's znode, and let the resource refuse a lower \
         token than it has seen.",
    ),
    mend(
        &["stale-holder", "stale-leader"],
        "Two clients believed that they held; it does no damage if the resource refuses older tokens.",
        "Stop work when the connection is lost, not when the session has expired, and fence the resource: no recipe on sessions can rule \
         this belief out.",
    ),
    mend(
        &["fencing-regression", "epoch-regression"],
        "A grant that was asked for after another had been read has no higher token.",
        "Take the token from what ZooKeeper orders (czxid, or a version raised in the multi that makes the grant), never from a clock, a \
         random number, or the sequence number of a parent that may be made anew.",
    ),
    mend(
        &["unowned-release"],
        "A release removed a znode that was not its grant's: the next holder lost the lock without notice.",
        "Delete by the exact path that your create returned, guarded by version or owner where names come again, and never by a fixed name \
         after a session has been lost.",
    ),
    mend(
        &["foreign-znode"],
        "A grant rests on a znode of another session than it names, and goes when that session ends.",
        "After a reconnect compare the znode's ephemeralOwner with your session; if it is another's, wait until the servers have removed it, \
         or delete it and create your own.",
    ),
    mend(
        &["stolen-znode"],
        "Another client deleted the znode by which a client held.",
        "Delete only the znode whose path your own create returned, never the first of the list or one that is found by its place in the queue.",
    ),
    mend(
        &["persistent-contender"],
        "The znode by which a client holds is not ephemeral, and stays when the client dies.",
        "Create it with the flag ephemeral; of a sequential znode, ephemeral sequential.",
    ),
    mend(
        &["over-capacity"],
        "More clients hold than the semaphore has leases.",
        "Create your own znode first and hold by its place among the others, or count and create under a lock. Of leases that last for a time: \
         write the end as exactly as you count it, from before the write, and take a lease that is over by the version that you have read.",
    ),
    mend(
        &["overdue-work"],
        "A client began work that its lease could not outlast.",
        "Look at the clock before each piece of work, and begin only what ends before the lease does, by your own clock less its margin.",
    ),
    mend(
        &["lost-wakeup", "no-leader"],
        "Everything is healed, nobody holds, and yet somebody waits.",
        "Set the watch with the look, look again if the predecessor is gone by then and after every reconnect, repeat a delete until it is \
         answered with ok or NoNode, and find the znode of a create without an answer by its GUID.",
    ),
    mend(
        &["idle-lock", "leaderless"],
        "For a long time somebody waited and nobody held, with no fault near that would explain it.",
        "Let an order decide, such as that of sequence numbers, so that nobody steps back; where candidates must, let them wait for different, \
         random times, and watch what you wait for instead of looking again.",
    ),
    mend(
        &["orphan-node"],
        "A znode of a session that lives on, which no client names as its own: what stands behind it waits.",
        "Put a GUID into the name, list the children after a create whose answer was lost, and remember across a lost connection what is \
         still to be deleted.",
    ),
    mend(
        &["unacknowledged-leader"],
        "A write was accepted before the leader had acknowledged its term.",
        "Write the acknowledgement first, in the session that leads, and begin to work when it is answered.",
    ),
    mend(
        &["lost-item"],
        "An item was enqueued for certain, nobody got it, and the queue is empty.",
        "Move the item in one multi to a place that bears your name, and delete it there when the work is done, so that a consumer that comes \
         back finds what was its own.",
    ),
    mend(
        &["duplicate-delivery"],
        "An item was delivered, or acknowledged, more often than the queue promises.",
        "Find out by a GUID whether an enqueue whose answer was lost was applied before it is sent again, and acknowledge with a multi that \
         checks the claim's version.",
    ),
    mend(
        &["stuck-queue"],
        "Everything is healed, an item lies in the queue, and a consumer is not given it; or an acknowledgement is never answered.",
        "Set the watch with the list, look again after each event, let what an owner has claimed go with its session, and give back in every \
         end of an operation what it has taken inside the client.",
    ),
    mend(
        &["stuck-item"],
        "A client claims an item as its own, and gives it to nobody, though it is asked for one.",
        "Look for what you have claimed before you look for more: a claim whose reply was lost, or that came too late for its dequeue, is the \
         next one's.",
    ),
    mend(
        &["phantom-item"],
        "An item was delivered that nobody had enqueued.",
        "Parse what was read of the znode that the list named, not what was sent.",
    ),
    mend(
        &["reordered"],
        "A later item was delivered before an earlier one.",
        "Take items in the order of the sequence suffix, compared as a number, of a list that was read after the last take.",
    ),
    mend(
        &["early-release"],
        "A member passed the barrier before all had come, or left before all had ended; or a client passed a gate that stood.",
        "Give each round a parent of its own, look after each event whether the barrier is open, and count members, not znodes. Write to a \
         quorum before you look at a gate, which is a persistent znode.",
    ),
    mend(
        &["stuck-barrier"],
        "All are there, or all have left, or the gate was lifted, and somebody still waits.",
        "Look at what is there with the request that sets the watch, again after each reconnect, watch the opening before you make your own znode \
         known, and let the opening stay until the last member has left.",
    ),
    mend(
        &["split-decision", "decision-flip"],
        "One site reports commit and another abort, or a decision changed after it had been reported.",
        "Create the decision once, never write it again, and take the one that is there; a site that has voted yes asks and waits, and does not \
         abort by itself.",
    ),
    mend(
        &["commit-without-votes"],
        "The decision is commit, though some site voted no, or had not voted.",
        "Begin with one multi that makes the transaction and every site's place, and commit only by votes for yes of all sites that the \
         transaction names.",
    ),
    mend(
        &["wrong-outcome"],
        "The coordinator reported another outcome to its caller than was decided.",
        "Read the decision after a create of it without an answer, or one that is answered with NodeExists, and report what is there; report an \
         unknown outcome as unknown.",
    ),
    mend(
        &["needless-abort"],
        "The decision is abort, though every yes had been acknowledged before, and no fault was on.",
        "Look whether all votes are there before a timeout is taken for a no.",
    ),
    mend(
        &["blocked-transaction"],
        "Everything is healed, every process runs again, and a transaction is undecided.",
        "Let any site decide from the votes, all of which are in ZooKeeper, by one znode that is created once.",
    ),
    mend(
        &["lost-increment", "duplicate-id"],
        "The counter went back, or one id was given twice.",
        "Write with the version that was read, never unconditionally, also when a write is repeated.",
    ),
    mend(
        &["phantom-increment"],
        "More was counted than was asked for.",
        "Put who wrote it into the data, and look before you count again: a repeated write that is refused for its version may have been applied \
         the first time.",
    ),
    mend(
        &["stale-read"],
        "A read missed a write that had been acknowledged: a follower, or a deposed leader, answered from what it had.",
        "Where a read must be fresh, write something first in the same session; sync alone is not a quorum operation (ZOOKEEPER-1675).",
    ),
    mend(
        &["not-linearizable", "session-order"],
        "No order of the operations fits, or a session read something older than it had read or written.",
        "No recipe does this by itself: look for a server that lost its data, for a majority that did, and for reads of two sessions that are \
         taken for one.",
    ),
    mend(
        &["stale-view"],
        "Everything is healed, nothing changes any more, and a client goes on showing a group that is not so.",
        "Set the watch with the read that is shown, read again after each event and all of it after each reconnect, and compare czxid and mzxid, \
         never a version alone.",
    ),
    mend(
        &["lost-member"],
        "A client takes itself for a member by a znode that is gone, or cannot become a member again.",
        "Create the entry anew in each new session, in a thread of its own, with the last value; delete a znode of another session that stands \
         there first.",
    ),
    mend(
        &["lost-update"],
        "An update was acknowledged that no transaction made.",
        "Answer when `setData` was answered, with the mzxid of its own answer; after an unknown outcome read the entry and write again.",
    ),
    mend(
        &["undone-update"],
        "A member wrote an older value of its own over a newer one that it had acknowledged.",
        "Remember what was written last, by an update too, before it is written; let a new session begin with that.",
    ),
    mend(
        &["refused-for-ever"],
        "Everything is healed, and a client refuses the same operation again and again, or ends it with an unknown outcome.",
        "Ask ZooKeeper rather than a flag of your own: work again when the connection is back, and open a new session when the old one is \
         over, outside of the callback that reports it.",
    ),
    mend(
        &["view-regression"],
        "Within one session a client showed an older entry after a newer one.",
        "Read in one thread, one read after the other, or keep of two results for a path the one with the higher mzxid; keep nothing of an old \
         session in the view of a new one.",
    ),
    mend(
        &["phantom-member"],
        "A member was shown that nobody made.",
        "Show what was read, never what is about to be written, and parse the data of the znode that the list named.",
    ),
    mend(
        &["client-crash"],
        "A client ended by itself without a fault that excuses it.",
        "Let the client outlive the loss of its connection and of its session; the last lines of its log are in the anomaly's text.",
    ),
    mend(
        &["disagreement"],
        "Two learners learned different values, or one learned two.",
        "Let any two quorums that decide meet, keep each promise on disk before it is answered, and propose what the highest vote of a \
         quorum has.",
    ),
    mend(
        &["invalid-value"],
        "A value was chosen that nobody had proposed.",
        "Propose only values that were asked for, and those that votes have.",
    ),
    mend(
        &["lost-message"],
        "A message was acknowledged, and a later leader does not have it.",
        "Elect leaders out of the in-sync replicas alone, acknowledge what each of them has written to its disk, and let followers cut \
         their logs off where the leader's epochs end.",
    ),
    mend(
        &["diverging-replicas"],
        "Two replicas that are in sync have different messages at one offset.",
        "Let a follower ask the leader where the epochs of its log end before it fetches, cut off what the leader's log does not have there, \
         and take no record but that which follows the end of its log.",
    ),
    mend(
        &["no-decision"],
        "Every fault was healed, and nothing was decided or acknowledged.",
        "Send again what may be lost, and let rivals wait for times that differ.",
    ),
    mend(
        &["two-ensemble-leaders", "ensemble-epoch-regression", "lesser-vote-won"],
        "ZooKeeper's own election did what it must not.",
        "No recipe can mend this: keep the servers' logs, and compare the version with ZooKeeper's list of known defects.",
    ),
    mend(
        &["diverging-logs"],
        "Servers of the ensemble logged different transactions under one zxid.",
        "No recipe can mend this: keep the servers' data, and look whether a majority of them lost theirs, or a log was changed from \
         outside.",
    ),
];

/// Anomalies of consensus protocols that have the names of those of recipes, each name once.
const PROTOCOL_MENDS: &[Mend] = &[
    mend(
        &["two-leaders"],
        "Two nodes took themselves for the leader at one moment.",
        "Give each term a number that a majority has acknowledged, and refuse what a leader of a lower one sends; a majority of votes \
         alone does not stop a leader that is frozen or cut off.",
    ),
    mend(
        &["two-ensemble-leaders"],
        "Two nodes led one epoch.",
        "Let a majority write an epoch to disk before its leader leads, and acknowledge none that is not higher.",
    ),
    mend(
        &["lesser-vote-won"],
        "A server was elected by one that had more than it.",
        "Compare epochs before zxids, and zxids before ids, and send a vote again when it changes.",
    ),
    mend(
        &["no-leader"],
        "Every fault was healed, and no one leader was followed by a majority.",
        "Let who has heard of no leader for a time look again, and send votes again until they are answered.",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use zooquake_checkers::{ensemble, families};

    /// Checkers that compare evidence or count, and raise no anomaly of their name.
    const NO_ANOMALIES: [&str; 4] = ["evidence", "second-opinion", "scenes", "observers"];

    #[test]
    fn every_anomaly_of_every_family_has_a_sentence_that_mends_it() {
        let own = families::FAMILIES.iter().flat_map(|family| family.checkers);
        let all = own.chain(ensemble::CHECKERS).copied();
        let mut missing: Vec<&str> = all.filter(|kind| !NO_ANOMALIES.contains(kind)).collect();
        missing.retain(|kind| Mend::by_kind(kind).is_none());
        assert_eq!(missing, Vec::<&str>::new());
    }

    #[test]
    fn every_anomaly_of_the_documents_has_one_and_no_other_has() {
        let text = include_str!("../../../../docs/anomalies.md");
        let headings = text.lines().filter_map(|line| line.strip_prefix("### "));
        let mut documented: Vec<&str> = headings.flat_map(|heading| heading.split(", ")).collect();
        // The last section names those of the ensemble and of clients in a sentence.
        documented.extend(ensemble::CHECKERS);
        documented.push("client-crash");
        let mut known: Vec<&str> = RECIPE_MENDS.iter().flat_map(|mend| mend.kinds).copied().collect();
        documented.sort_unstable();
        known.sort_unstable();
        assert_eq!(known, documented);
    }

    #[test]
    fn words_are_sentences() {
        for mend in RECIPE_MENDS.iter().chain(PROTOCOL_MENDS) {
            for words in [mend.meaning, mend.sentence] {
                assert!(words.ends_with('.') && words.starts_with(char::is_uppercase), "{words}");
            }
        }
    }
}
