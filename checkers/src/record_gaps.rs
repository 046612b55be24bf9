//! What the record of a run lacks of what its plan promises: files, samples of the servers' states at the beginning or
//! at the end, servers; and clients that the plan does not have.
//!
//! Absence proves nothing, so none of it convicts. It is a reason against `valid` where a checker that convicts has no
//! other source for what is missing, and a remark elsewhere. A run that was cut off never wrote some of its files: of a
//! history without the phase `done` files and samples are not missed, since that it lacks its end is a reason already.
//!
//! Every server is asked for its state 250 ms after all have answered, from before the first event until after the last
//! one, and one that does not answer is recorded as silent after two seconds. So a sample of each server lies near both
//! ends. The longest time between two samples of one server shows how slow this run was, where it was slower.
//!
//! Where the plan has servers of which the evidence has nothing, or the other way round, the plan does not state whose
//! majority decides. Of samples this is asked where the plan names their file: those of a record of format 1 may be of
//! one server alone. Of clients that the plan does not have it is not known what they were to do, and how many may hold
//! at a time.

use crate::analysis::{RecordView, ops};
use crate::ensemble::{DIVERGING_LOGS, LESSER_VOTE_WON};
use crate::text::{few, seconds};
use crate::verdict::NOTE;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use zooquake_history::plan::record_files::{SERVERS, TREE, TXNLOG, TXNLOGS, server_log};
use zooquake_history::{Process, ServerSample, Text};

/// What the families' checkers need of the files that are missing.
#[derive(Debug, Clone, Copy, Default)]
pub struct FileNeeds<'a> {
    /// What is left undone without the znode tree.
    pub tree: &'a str,
    /// The checkers that convict by the transaction logs, and by nothing else.
    pub logged: &'a [&'a str],
}

/// The checkers that convict by the samples of the servers' states what nothing else shows.
const SAMPLED: &[&str] = &["two-ensemble-leaders", "ensemble-epoch-regression"];

/// What the record of a run with an ensemble lacks, as reasons against `valid` and remarks.
pub fn reasons(record: &RecordView<'_>, needs: FileNeeds<'_>) -> Vec<String> {
    let mut reasons = file_reasons(record, needs);
    if record.whole {
        reasons.extend(unsampled_times(record));
        reasons.extend(other_servers(record));
    }
    reasons.extend(strange_clients(record));
    reasons
}

/// `foreign-znode needs it`; of several files `them`.
fn needed_by(checkers: &[&str], files: usize) -> String {
    let need = ["need", "needs"][usize::from(checkers.len() == 1)];
    let them = ["them", "it"][usize::from(files == 1)];
    let all = match checkers {
        [first @ .., last] if first.len() > 1 => format!("{} and {last}", first.join(", ")),
        few => few.join(" and "),
    };
    format!("{all} {need} {them}")
}

/// What is lost with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileLoss {
    /// What the znode tree shows.
    Tree,
    /// What checkers of the transaction logs convict by.
    TransactionLogs,
    /// What checkers of the samples convict by.
    Samples,
    /// What the checker of votes convicts by.
    ServerLogs,
    /// Nothing that a verdict rests on.
    NoVerdict,
}

impl FileLoss {
    fn from_file(file: &str) -> Self {
        match file {
            TREE => Self::Tree,
            TXNLOG | TXNLOGS => Self::TransactionLogs,
            SERVERS => Self::Samples,
            log if server_log(log).is_some() => Self::ServerLogs,
            _ => Self::NoVerdict,
        }
    }

    /// The reason that these files are missing.
    fn reason(self, files: &[&str], needs: FileNeeds<'_>) -> String {
        let are = ["are", "is"][usize::from(files.len() == 1)];
        let missing = format!("{} {are} missing, which the plan names", few(files));
        let logged = || [needs.logged, &[DIVERGING_LOGS]].concat();
        let lost = match self {
            Self::Tree => needs.tree.to_owned(),
            Self::TransactionLogs => needed_by(&logged(), files.len()),
            Self::Samples => needed_by(SAMPLED, files.len()),
            Self::ServerLogs => needed_by(&[LESSER_VOTE_WON], files.len()),
            Self::NoVerdict => return format!("{NOTE}{missing}; no verdict rests on that"),
        };
        format!("{missing}: {lost}")
    }
}

/// The files that the plan names and that are not there, as reasons against `valid` and remarks by what is lost with
/// them.
pub fn file_reasons(record: &RecordView<'_>, needs: FileNeeds<'_>) -> Vec<String> {
    if !record.whole {
        return Vec::new();
    }
    let mut losses: Vec<(FileLoss, Vec<&str>)> = Vec::new();
    for file in record.missing.iter().map(String::as_str) {
        let loss = FileLoss::from_file(file);
        match losses.iter_mut().find(|(known, _)| *known == loss) {
            Some((_, files)) => files.push(file),
            None => losses.push((loss, vec![file])),
        }
    }
    losses.iter().map(|(loss, files)| loss.reason(files, needs)).collect()
}

/// The longest time between two samples of one server in a run that nothing slows down: until its silence is recorded,
/// and until all are asked again, with a margin.
const LONGEST_GAP: Duration = Duration::from_millis(2_500);

/// From when to when a server was sampled, in nanoseconds since the run began.
#[derive(Debug, Clone, Copy)]
struct SampledSpan {
    first: u64,
    last: u64,
    longest_gap: u64,
}

/// A reason for each end of the run at which samples are missing, where the plan names their file.
fn unsampled_times(record: &RecordView<'_>) -> Vec<String> {
    let samples = record.servers.filter(|_| record.plan.names(SERVERS));
    let events = &record.history.events;
    let end = events.iter().position(|event| event.entered() == Some("done"));
    let last = end.and_then(|done| events[..done].last());
    let (Some(samples), Some(first), Some(last)) = (samples, events.first(), last) else {
        return Vec::new();
    };
    let (began, ended) = (first.time, last.time);
    let (mut late, mut early) = (Vec::new(), Vec::new());
    for (server, span) in spans(samples) {
        let allowed = span.longest_gap.max(LONGEST_GAP.as_nanos() as u64);
        if span.first > began.saturating_add(allowed) {
            late.push(format!("{server} is sampled from {} on", seconds(span.first)));
        }
        if span.last.saturating_add(allowed) < ended {
            early.push(format!("{server} is sampled until {}", seconds(span.last)));
        }
    }
    let reason = |end: &str, servers: &[String], run: String| {
        let needed = needed_by(SAMPLED, servers.len().max(2));
        let lacks = format!(
            "{SERVERS} lacks samples at its {end} ({}, and the run {run})",
            few(servers)
        );
        (!servers.is_empty()).then(|| format!("{lacks}: {needed}"))
    };
    let beginning = reason("beginning", &late, format!("began at {}", seconds(began)));
    let end = reason("end", &early, format!("went on until {}", seconds(ended)));
    beginning.into_iter().chain(end).collect()
}

/// By server, from when to when it was sampled.
fn spans(samples: &[ServerSample]) -> BTreeMap<&str, SampledSpan> {
    let mut spans: BTreeMap<&str, SampledSpan> = BTreeMap::new();
    for &ServerSample { time, ref server, .. } in samples {
        let new = SampledSpan {
            first: time,
            last: time,
            longest_gap: 0,
        };
        let span = spans.entry(server).or_insert(new);
        span.longest_gap = span.longest_gap.max(time.saturating_sub(span.last));
        span.first = span.first.min(time);
        span.last = span.last.max(time);
    }
    spans
}

/// A reason for each file of servers whose servers are not those of the plan.
fn other_servers(record: &RecordView<'_>) -> Vec<String> {
    if !record.plan.has_known_format() {
        return Vec::new();
    }
    let logs = record.server_txnlogs.map(|logs| {
        let servers = logs.iter().map(|log| log.server.as_str()).collect();
        let undecided = "what a majority of the voters logged is not known".to_owned();
        difference(record, TXNLOGS, servers, undecided)
    });
    let samples = record.servers.filter(|_| record.plan.names(SERVERS)).map(|samples| {
        let servers = samples.iter().map(|sample| sample.server.as_str()).collect();
        difference(record, SERVERS, servers, needed_by(SAMPLED, 2))
    });
    logs.into_iter().chain(samples).flatten().collect()
}

/// How the servers of a file differ from those of the plan, as reasons.
fn difference(record: &RecordView<'_>, file: &str, servers: BTreeSet<&str>, without: String) -> Vec<String> {
    let planned: Vec<Text> = record.plan.cluster.ensemble().iter().map(Text::from).collect();
    let planned = || planned.iter().map(Text::as_str);
    let lacking: Vec<&str> = planned().filter(|name| !servers.contains(name)).collect();
    let known: BTreeSet<&str> = planned().collect();
    let strange: Vec<&str> = servers.difference(&known).copied().collect();
    let mut reasons = Vec::new();
    if !lacking.is_empty() {
        reasons.push(format!(
            "{file} has nothing of {}, which the plan has: {without}",
            few(&lacking)
        ));
    }
    if !strange.is_empty() {
        reasons.push(format!(
            "{file} names {}, which the plan does not have: {without}",
            few(&strange)
        ));
    }
    reasons
}

/// A reason that names the clients that the plan does not have; `None` if there are none, of a plan that was not read,
/// and of scenes, which have no clients.
fn strange_clients(record: &RecordView<'_>) -> Option<String> {
    if !(record.plan.has_known_format() && record.plan.scenes.is_empty()) {
        return None;
    }
    let planned: BTreeSet<Text> = record.plan.cluster.client_nodes().iter().map(Text::from).collect();
    let events = record.history.events.iter();
    let clients = events.filter_map(|event| match event.process {
        Process::Number(_) => Some(ops::node(event)),
        Process::Name(_) => ops::named_client(event),
    });
    let strange: BTreeSet<&str> = clients.filter(|client| !planned.contains(*client)).collect();
    let strange: Vec<&str> = strange.into_iter().collect();
    (!strange.is_empty()).then(|| {
        format!(
            "the history has operations of {}, which the plan does not have",
            few(&strange)
        )
    })
}
