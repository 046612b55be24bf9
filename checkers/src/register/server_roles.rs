//! What a server was when it answered: a follower, the leader, or a leader that had been deposed.

use crate::analysis::Analysis;
use crate::text::seconds;
use std::collections::HashMap;
use zooquake_history::evidence::ServerSample;

/// The roles that the servers stated in their status answers, by time.
#[derive(Debug)]
pub struct Staleness<'a> {
    /// By server its answers, but for its silence.
    own: HashMap<&'a str, Vec<&'a ServerSample>>,
    /// Each answer as leader: its time, and of those up to it the one of the highest epoch, with the highest one of
    /// another server than that.
    leaders: Vec<(u64, [Option<&'a ServerSample>; 2])>,
}

impl<'a> Staleness<'a> {
    /// Sorts the samples of a run.
    pub fn new(run: &Analysis<'a>) -> Self {
        let mut samples: Vec<&ServerSample> = run.record.servers.into_iter().flatten().collect();
        samples.sort_by_key(|sample| sample.time);
        let mut staleness = Self {
            own: HashMap::new(),
            leaders: Vec::new(),
        };
        let mut highest: [Option<&ServerSample>; 2] = [None, None];
        for sample in samples.into_iter().filter(|sample| sample.mode != "silent") {
            staleness.own.entry(&sample.server).or_default().push(sample);
            if sample.mode == "leader" {
                let [first, second] = highest;
                // Of the same epoch the later one counts.
                let above = |other: Option<&ServerSample>| other.is_none_or(|other| other.epoch <= sample.epoch);
                let same = |other: Option<&ServerSample>| other.is_some_and(|other| other.server == sample.server);
                highest = match () {
                    () if above(first) && same(first) => [Some(sample), second],
                    () if above(first) => [Some(sample), first],
                    () if above(second) && !same(first) => [first, Some(sample)],
                    () => highest,
                };
                staleness.leaders.push((sample.time, highest));
            }
        }
        staleness
    }

    /// A sentence on a server's role at this time (nanoseconds since the run began), by the last status answers of it
    /// and of the others.
    pub fn sentence(&self, server: Option<&str>, time: u64) -> String {
        let own = server
            .and_then(|server| self.own.get(server))
            .map_or(&[][..], Vec::as_slice);
        let word = own[..own.partition_point(|sample| sample.time <= time)].last();
        let led = self.leaders.partition_point(|(at, _)| *at <= time);
        let leaders = led.checked_sub(1).map_or([None, None], |last| self.leaders[last].1);
        match word {
            Some(word) => {
                let mut others = leaders.into_iter().flatten();
                told(word, others.find(|leader| leader.server != word.server))
            }
            None => "No sample of the servers shows its role then.".to_owned(),
        }
    }
}

fn told(word: &ServerSample, highest: Option<&ServerSample>) -> String {
    let server = &word.server;
    let said = seconds(word.time);
    match highest {
        Some(leader) if word.mode == "leader" && leader.epoch > word.epoch => format!(
            "{server} was a deposed leader: its last sample, at {said}, shows it as leader of epoch {}, while {} led \
             epoch {} (at {}).",
            word.epoch,
            leader.server,
            leader.epoch,
            seconds(leader.time)
        ),
        Some(leader) if word.mode != "leader" && leader.zxid > word.zxid => format!(
            "{server} was lagging: its last sample, at {said}, shows it as {} at transaction 0x{:x}; the leader {} was \
             at 0x{:x} (at {}).",
            word.mode,
            word.zxid,
            leader.server,
            leader.zxid,
            seconds(leader.time)
        ),
        _ => format!(
            "The last sample of {server}, at {said}, shows it as {} in epoch {} at transaction 0x{:x}.",
            word.mode, word.epoch, word.zxid
        ),
    }
}
