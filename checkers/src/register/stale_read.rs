//! `stale-read`, advisory: a read found less than had been acknowledged when it was sent.
//!
//! Plain reads and reads after `sync` are allowed that; a variant that promises more is judged by `not-linearizable`.
//! One report for each episode: reads of one server, one after the other, all of them stale.

use super::accesses::{Access, Accesses, Action};
use super::contradictions::show;
use crate::analysis::Analysis;
use crate::analysis::search_trees::Ranks;
use crate::findings::{Finding, Findings};
use crate::statistics::milliseconds;
use crate::text::{count, if_any, seconds};
use std::collections::{BTreeMap, HashMap};
use zooquake_history::evidence::ServerSample;

/// A read that missed acknowledged writes.
#[derive(Debug, Clone, Copy)]
struct StaleRead<'r, 'a> {
    read: &'r Access<'a>,
    /// Where it was sent and answered.
    invoke: usize,
    end: usize,
    /// The first acknowledged write that it missed, and where that was read.
    missed: (usize, &'r Access<'a>),
    /// Among the writes by transaction the first that is newer than what it found.
    newer: usize,
    /// How many acknowledged writes it missed.
    behind: usize,
}

/// Looks for stale reads; returns how many there are.
pub fn check(run: &Analysis<'_>, accesses: &Accesses<'_>, out: &mut Findings) -> usize {
    let writes = Writes::new(&accesses.all);
    let mut servers: BTreeMap<&str, Vec<(usize, usize, &Access<'_>)>> = BTreeMap::new();
    let mut looked_at = 0;
    for access in &accesses.all {
        if let (Action::Read(_), Some(invoke), Some(end), Some(_)) =
            (access.action, access.invoke, access.end, access.mzxid)
        {
            let server = access.server.unwrap_or_default();
            servers.entry(server).or_default().push((end, invoke, access));
            looked_at += 1;
        }
    }
    let mut judged: Vec<Option<StaleRead<'_, '_>>> = Vec::new();
    for reads in servers.values_mut() {
        reads.sort_unstable_by_key(|&(end, ..)| end);
        judged.extend(reads.iter().map(|read| writes.missed_by(read)));
        // No episode goes on at another server.
        judged.push(None);
    }
    let stale = judged.iter().flatten();
    let queries: Vec<(usize, usize)> = stale.map(|stale| (stale.newer, stale.invoke)).collect();
    for (stale, behind) in judged.iter_mut().flatten().zip(writes.behind(&queries)) {
        stale.behind = behind;
    }
    let staleness = Staleness::new(run);
    for episode in judged.split(Option::is_none) {
        let episode: Vec<StaleRead<'_, '_>> = episode.iter().flatten().copied().collect();
        report(run, &staleness, &episode, out);
    }
    out.ran("stale-read", looked_at);
    queries.len()
}

/// Acknowledged writes by transaction.
struct Writes<'r, 'a> {
    /// Transaction, where it was acknowledged, the write; by transaction.
    all: Vec<(i64, usize, &'r Access<'a>)>,
    /// For each the one from there on that was acknowledged first.
    first: Vec<usize>,
}

impl<'r, 'a> Writes<'r, 'a> {
    fn new(accesses: &'r [Access<'a>]) -> Self {
        let acknowledged = |access: &'r Access<'a>| {
            access.action.written()?;
            Some((access.mzxid?, access.end?, access))
        };
        let mut all: Vec<(i64, usize, &Access<'_>)> = accesses.iter().filter_map(acknowledged).collect();
        all.sort_unstable_by_key(|&(mzxid, end, _)| (mzxid, end));
        let mut first: Vec<usize> = (0..all.len()).collect();
        for at in (0..all.len().saturating_sub(1)).rev() {
            if all[first[at + 1]].1 < all[at].1 {
                first[at] = first[at + 1];
            }
        }
        Self { all, first }
    }

    fn missed_by(&self, &(end, invoke, read): &(usize, usize, &'r Access<'a>)) -> Option<StaleRead<'r, 'a>> {
        let newer = self.all.partition_point(|&(mzxid, ..)| Some(mzxid) <= read.mzxid);
        let (_, acknowledged, missed) = self.all[*self.first.get(newer)?];
        (acknowledged < invoke).then_some(StaleRead {
            read,
            invoke,
            end,
            missed: (acknowledged, missed),
            newer,
            behind: 0,
        })
    }

    /// For each place and event how many writes from that place on had been acknowledged by that event.
    fn behind(&self, queries: &[(usize, usize)]) -> Vec<usize> {
        let mut acknowledged: Vec<(usize, usize)> =
            (0..self.all.len()).map(|place| (self.all[place].1, place)).collect();
        acknowledged.sort_unstable();
        let mut by_event: Vec<usize> = (0..queries.len()).collect();
        by_event.sort_by_key(|&query| queries[query].1);
        // By place, counted from the last.
        let mut later = Ranks::new(self.all.len());
        let (mut counted, mut behind) = (0, vec![0; queries.len()]);
        for query in by_event {
            let (from, event) = queries[query];
            while let Some(&(_, place)) = acknowledged.get(counted).filter(|&&(end, _)| end < event) {
                later.add(self.all.len() - 1 - place);
                counted += 1;
            }
            behind[query] = later.below(self.all.len() - from);
        }
        behind
    }
}

fn report(run: &Analysis<'_>, staleness: &Staleness<'_>, episode: &[StaleRead<'_, '_>], out: &mut Findings) {
    let (Some(first), Some(last)) = (episode.first(), episode.last()) else {
        return;
    };
    let Action::Read(value) = first.read.action else { return };
    let worst = episode.iter().map(|stale| stale.behind).max().unwrap_or_default();
    let (acknowledged, missed) = first.missed;
    let written = missed.action.written().flatten();
    let since = |from: usize, to: usize| milliseconds(run.time(to).saturating_sub(run.time(from)));
    let more = if_any(episode.len() - 1, |more| {
        format!(
            " {} of it went the same way in the {} ms after that, and none in between was fresh.",
            count(more, "more read"),
            since(first.end, last.end)
        )
    });
    let server = first.read.server.unwrap_or("a server that is not named");
    let why = format!(
        "{} sent a read at {}, and {server} answered {} (transaction 0x{:x}) at {}, though the write of {} by {} (transaction \
         0x{:x}) had been acknowledged {} ms before the read was sent.{more} At worst it was {} behind. {} Reads of \
         this variant are not promised to be fresh.",
        first.read.node,
        run.at(first.invoke),
        show(value),
        first.read.mzxid.unwrap_or_default(),
        run.at(first.end),
        show(written),
        missed.node,
        missed.mzxid.unwrap_or_default(),
        since(acknowledged, first.invoke),
        count(worst, "acknowledged write"),
        staleness.sentence(first.read.server, run.time(last.end)),
    );
    let witness = vec![acknowledged, first.invoke, first.end];
    let found = Finding::new("stale-read", "fresh reads", witness, why).advisory(true);
    out.add(run, found);
}

/// The roles that the servers stated in their status answers, by time: what a server was when it answered, a follower,
/// the leader, or a leader that had been deposed.
#[derive(Debug)]
struct Staleness<'a> {
    /// By server its answers, but for its silence.
    own: HashMap<&'a str, Vec<&'a ServerSample>>,
    /// Each answer as leader: its time, and of those up to it the one of the highest epoch, with the highest one of
    /// another server than that.
    leaders: Vec<(u64, [Option<&'a ServerSample>; 2])>,
}

impl<'a> Staleness<'a> {
    /// Sorts the samples of a run.
    fn new(run: &Analysis<'a>) -> Self {
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
    fn sentence(&self, server: Option<&str>, time: u64) -> String {
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
