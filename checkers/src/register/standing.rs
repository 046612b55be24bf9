//! What a server was when it answered: a follower, the leader, or a leader that had been deposed.

use crate::evidence::ServerSample;
use crate::run::{Run, seconds};

/// A sentence on what a server was by what it and the others had last said of themselves at this time (nanoseconds since
/// the run began).
pub fn of(run: &Run<'_>, server: Option<&str>, time: u64) -> String {
    let unknown = || "What it was then, no sample of the servers tells.".to_owned();
    let samples = run.record.servers.as_deref().unwrap_or_default();
    let Some(server) = server else { return unknown() };
    let until = || samples.iter().filter(|sample| sample.time <= time);
    let own = until().filter(|sample| sample.server == server);
    let Some(word) = own
        .filter(|sample| sample.mode != "silent")
        .max_by_key(|sample| sample.time)
    else {
        return unknown();
    };
    let leads = |sample: &&ServerSample| sample.mode == "leader" && sample.server != server;
    let highest = until().filter(leads).max_by_key(|sample| (sample.epoch, sample.time));
    let said = seconds(word.time);
    match highest {
        Some(leader) if word.mode == "leader" && leader.epoch > word.epoch => format!(
            "{server} was a deposed leader: its last word, at {said}, was to be the leader of epoch {}, while {} led epoch {} \
             (at {}).",
            word.epoch,
            leader.server,
            leader.epoch,
            seconds(leader.time)
        ),
        Some(leader) if word.mode != "leader" && leader.zxid > word.zxid => format!(
            "{server} was lagging: its last word, at {said}, was to be a {} at transaction 0x{:x}; the leader {} was at 0x{:x} \
             (at {}).",
            word.mode,
            word.zxid,
            leader.server,
            leader.zxid,
            seconds(leader.time)
        ),
        _ => format!(
            "The last word of {server}, at {said}, was to be a {} in epoch {} at transaction 0x{:x}.",
            word.mode, word.epoch, word.zxid
        ),
    }
}
