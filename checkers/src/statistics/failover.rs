//! How long nobody led after a fault had struck the leader; of a lock, how long until the next grant. Where others may
//! hold beside the one that was struck nothing is measured.

use crate::analysis::{Analysis, Grant, InjectedFault};
use crate::results::WindowResult;
use crate::statistics::milliseconds;
use serde::Serialize;
use zooquake_history::operation::Mode;

/// What came after a fault that struck the leader.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Failover<'a> {
    /// The number of the fault window in the plan.
    pub window: usize,
    /// The kind of its fault.
    pub fault: &'a str,
    /// Milliseconds until the next grant; `None` if there was none.
    pub ms: Option<f64>,
    /// The same in session timeouts, to hundredths.
    pub session_timeouts: Option<f64>,
}

/// One for each window that struck a leader who did not lead on after it, in the order of the plan.
///
/// The time begins when the fault took effect, or, if that was later, with the last moment at which the leader
/// certainly led: the sending of the last request that it answered as leader. It ends with the next grant, of whichever
/// client. A window that the leader outlived is left out: nobody was missing.
pub fn failovers<'a>(run: &'a Analysis<'_>) -> Vec<Failover<'a>> {
    let read = run.grants.read();
    let session = run.record.plan.cluster.timing.session_ms as f64;
    let each = |window: &'a WindowResult| {
        let injected = run.injected.get(&i64::try_from(window.id).ok()?)?;
        let ms = until_next(run, &read, window, injected)?;
        Some(Failover {
            window: window.id,
            fault: &window.fault,
            ms,
            session_timeouts: ms
                .filter(|_| session > 0.0)
                .map(|ms| (ms / session * 100.0).round() / 100.0),
        })
    };
    run.windows.iter().filter_map(each).collect()
}

/// Milliseconds until the next grant, if there was one; `None` if the window struck no leader, or one that outlived it.
fn until_next(
    run: &Analysis<'_>,
    read: &[usize],
    window: &WindowResult,
    injected: &InjectedFault<'_>,
) -> Option<Option<f64>> {
    let grants = &run.grants.all;
    let on = injected.on?;
    // Whoever was granted last, if it was among those who were struck and its term had not ended.
    let struck = read.partition_point(|&grant| grants[grant].read < Some(on));
    let leader = &grants[*read[..struck].last()?];
    if !run.single() || leader.mode != Some(Mode::Exclusive) {
        return None;
    }
    let ended_before = leader.end.is_some_and(|end| end < injected.begin.unwrap_or(on));
    let hit = window.target.split(',').any(|node| node.trim() == leader.node);
    if ended_before || !hit {
        return None;
    }
    let next = read.get(struck).and_then(|&grant| grants[grant].read);
    let sure = run.time(last_sure(leader, next));
    if window.until.is_some_and(|until| sure >= until) {
        return None;
    }
    let from = sure.max(run.time(on));
    Some(next.map(|next| milliseconds(run.time(next).saturating_sub(from))))
}

/// The event before `next` up to which the leader certainly led.
fn last_sure(leader: &Grant<'_>, next: Option<usize>) -> usize {
    let before = |at: &usize| next.is_none_or(|next| *at < next);
    let answered = leader.answers.partition_point(|answer| before(&answer.sent));
    let answered = leader.answers[..answered].last().map(|answer| answer.sent);
    let resigned = leader.release.filter(|_| leader.released.is_some()).filter(before);
    answered.max(resigned).or(leader.read).unwrap_or_default()
}
