//! The bound of liveness: how long an operation may stay unfinished after recovery before that convicts.

use crate::analysis::Analysis;
use crate::analysis::ops::Op;
use crate::analysis::recovery::RecoverySpan;
use crate::history::EventType;
use crate::text::seconds;
use std::time::Duration;
use zooquake_history::liveness;

/// The bound ([`liveness::bound`]) of the operations of this name that were answered before the span's end, in
/// nanoseconds. An answer that is the history's last event shows only how long others waited.
pub fn median_bound(run: &Analysis<'_>, f: &str, span: RecoverySpan) -> u64 {
    let ok = |end: usize| end < span.end && run.events[end].kind == EventType::Ok;
    let answered = |op: &&Op<'_>| op.f == f && op.end.is_some_and(ok);
    // One whose request is missing may have been sent at any time.
    let sent = |op: &Op<'_>| op.sent().map_or(0, |at| run.time(at));
    let duration = |op: &Op<'_>| Some(Duration::from_nanos(run.time(op.end?).saturating_sub(sent(op))));
    let mut durations: Vec<Duration> = run.ops.work.iter().filter(answered).filter_map(duration).collect();
    u64::try_from(liveness::bound(&mut durations).as_nanos()).unwrap_or(u64::MAX)
}

/// How long something went on, in nanoseconds, beside the bound that convicts, in words.
pub fn bound_words(waited: u64, bound: u64) -> String {
    match waited < bound {
        true => format!(
            "only {} of the {} after which that convicts",
            seconds(waited),
            seconds(bound)
        ),
        false => format!("{}, where {} convict", seconds(waited), seconds(bound)),
    }
}
