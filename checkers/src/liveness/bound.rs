//! The bound of liveness: how long an operation may stay unfinished after recovery before that convicts.

use crate::analysis::Analysis;
use crate::analysis::recovery::RecoverySpan;
use crate::text::seconds;
use std::time::Duration;
use zooquake_history::operation::{Role, family, role};
use zooquake_history::{EventType, liveness::AnsweredDurations};

/// The bounds of a run's unfinished operations.
pub struct LivenessBounds(AnsweredDurations);

impl LivenessBounds {
    /// The bounds by the operations that were answered `ok` before the span's end. An answer that is the history's last
    /// event shows only how long others waited.
    pub fn new(run: &Analysis<'_>, span: RecoverySpan) -> Self {
        let mut answered = AnsweredDurations::default();
        // Work under a grant takes as long as it is asked to.
        let grants = family(&run.record.plan.workload.family).is_some_and(|family| family.grants);
        let works = |f: &str| grants && matches!(role(f), Role::Take | Role::Work);
        for op in run.ops.work.iter().filter(|op| !works(op.f)) {
            let ok = |&end: &usize| end < span.end && run.events[end].kind == EventType::Ok;
            let Some(end) = op.end.filter(ok) else { continue };
            // One whose request is missing may have been sent at any time.
            let sent = op.sent().map_or(0, |at| run.time(at));
            answered.add(op.f, Duration::from_nanos(run.time(end).saturating_sub(sent)));
        }
        Self(answered)
    }

    /// The bound of an unfinished operation of this name, in nanoseconds.
    pub fn bound(&self, f: &str) -> u64 {
        u64::try_from(self.0.bound(f).as_nanos()).unwrap_or(u64::MAX)
    }
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
