//! `stuck-queue`: after recovery an acknowledge stays pending, or a dequeue while an item certainly lies in the queue
//! ([`super::item_presence`]), or such dequeues are refused again and again.
//!
//! The bound is ten times the median duration of the operations of that name answered before the drain, at least ten
//! seconds. What is answered only when the queue is drained after it has been pending until then. If the run cannot be
//! judged ([`crate::analysis::recovery`]) nobody is convicted.

use super::item_presence::{ItemPresence, ItemStay};
use super::items::Items;
use super::{ItemField, told};
use crate::analysis::recovery::RecoverySpan;
use crate::analysis::{Analysis, Op};
use crate::findings::{Finding, Findings};
use crate::liveness::refused_for_ever::RefusalJudge;
use crate::liveness::{
    LivenessBounds, UnfinishedOps, UnfinishedOutcome, bound_words, error_words, idle, open_clients, refused_for_ever,
    unfinished,
};
use crate::text::{count, few, seconds};
use zooquake_history::EventType;
use zooquake_history::operation::{control, queue};

/// When so many items have been looked at for witnesses, further stuck operations are only counted.
const MOST: usize = 1_000_000;

/// The judgement of a run.
struct StuckQueueJudge<'r, 'a> {
    run: &'r Analysis<'a>,
    span: RecoverySpan,
    /// Where the queue began to be drained, if it was: where the first `confirm` after recovery was sent.
    drain: Option<usize>,
    stock: ItemPresence,
    /// Nanoseconds for which a dequeue may be pending beside an item, and an acknowledge.
    bound: u64,
    acknowledging: u64,
}

/// From a sending to an end, or to the event up to which nothing came.
struct StuckSpell<'a> {
    node: &'a str,
    f: &'a str,
    asked: usize,
    until: usize,
    /// How often it was answered with no success, if it was, and how.
    refused: usize,
    words: &'static str,
    /// The events that show what its dequeues took, where the client cannot name that: pending ones may have taken any
    /// item.
    answers: Vec<usize>,
}

/// Looks for operations that are never answered. What did not finish and cannot be judged is a reason against `valid`.
pub fn check(run: &Analysis<'_>, items: &Items<'_>, out: &mut Findings) {
    let Some(span) = run.recovery.span else {
        out.ran(refused_for_ever::NAME, 0);
        return out.ran("stuck-queue", 0);
    };
    let drain = drain(run, span);
    // What is answered only then may have been pending for any time.
    let load = RecoverySpan {
        end: drain.unwrap_or(span.end),
        ..span
    };
    let bounds = LivenessBounds::new(run, load);
    let bound = bounds.bound(queue::f::DEQUEUE);
    let stuck = StuckQueueJudge {
        run,
        span,
        drain,
        stock: ItemPresence::new(run, items, bound),
        bound,
        acknowledging: bounds.bound(queue::f::ACKNOWLEDGE),
    };
    let all = unfinished(run, span);
    let judged = run.recovery.doubt().is_none();
    let (mut stuck_spells, mut reasons) = (Vec::new(), Vec::new());
    let mut refusals = RefusalJudge::new(run, load);
    for one in &all {
        if refused_for_ever::convicts(run, one.op.f) {
            refusals.check(one, out);
            continue;
        }
        match Some(spell(run, one)).filter(|spell| judged && stuck.convicts(spell)) {
            Some(spell) => stuck_spells.push(spell),
            None if one.made_up && !stuck.lasts(one) => {}
            None => reasons.push(one.reason(run, &stuck.why(one))),
        }
    }
    let late = stuck.answered_in_drain().into_iter();
    stuck_spells.extend(late.filter(|spell| judged && stuck.convicts(spell)));
    stuck.tell(&stuck_spells, out);
    out.reasons.extend(reasons);
    refusals.close(out);
    idle(run, span, open_clients(&all), false, out);
    out.ran("stuck-queue", stuck.asked());
}

fn drain(run: &Analysis<'_>, RecoverySpan { recovered, end, .. }: RecoverySpan) -> Option<usize> {
    let confirms = run.ops.control.iter().filter(|op| op.f == control::f::CONFIRM);
    confirms
        .filter_map(|op| op.invoke)
        .find(|&at| recovered < at && at < end)
}

/// Whether an operation is a dequeue of a client that cannot name what it takes.
fn nameless(run: &Analysis<'_>, op: &Op<'_>) -> bool {
    op.f == queue::f::DEQUEUE && run.declared.is_nameless(op.node)
}

fn spell<'a>(run: &Analysis<'_>, one: &UnfinishedOps<'_, 'a>) -> StuckSpell<'a> {
    let refused = if one.how == UnfinishedOutcome::Pending {
        0
    } else {
        one.attempts.len()
    };
    let answers = match (one.attempts.first(), one.attempts.last()) {
        (Some(first), Some(last)) if one.how == UnfinishedOutcome::Failed && nameless(run, one.op) => {
            vec![first.0, first.1, last.0, last.1]
        }
        _ => Vec::new(),
    };
    StuckSpell {
        node: one.op.node,
        f: one.op.f,
        asked: one.asked(),
        until: one.until(),
        refused,
        words: one.answers(),
        answers,
    }
}

impl<'a> StuckQueueJudge<'_, 'a> {
    fn waited(&self, spell: (usize, usize)) -> u64 {
        self.span.waited(self.run, spell)
    }

    /// Whether one lasted for its bound, whatever lay in the queue.
    fn lasts(&self, one: &UnfinishedOps<'_, '_>) -> bool {
        let bound = match one.op.f {
            queue::f::ACKNOWLEDGE => self.acknowledging,
            _ => self.bound,
        };
        self.waited(one.spell()) >= bound
    }

    /// Why one that did not finish convicts nobody, in words.
    fn why(&self, one: &UnfinishedOps<'_, '_>) -> String {
        match (one.op.f, self.waited(one.spell())) {
            (queue::f::ACKNOWLEDGE, waited) => format!(", for {}", bound_words(waited, self.acknowledging)),
            (queue::f::DEQUEUE, waited) if waited < self.bound => format!(", for {}", bound_words(waited, self.bound)),
            (queue::f::DEQUEUE, _) => format!(
                ", and it is not certain that an item lay in the queue for {} of that, which would convict",
                seconds(self.bound)
            ),
            _ => String::new(),
        }
    }

    /// The operations that were pending when the queue began to be drained, and were answered `ok` after that.
    fn answered_in_drain(&self) -> Vec<StuckSpell<'a>> {
        let run = self.run;
        let Some(drain) = self.drain else { return Vec::new() };
        let late = |op: &&Op<'a>| {
            let ok = |&read: &usize| drain < read && read <= self.span.end && run.events[read].kind == EventType::Ok;
            let asked = op.sent().filter(|&asked| asked < drain && run.ops.fits(asked));
            // What it found later does not show what it could have taken before.
            let nothing = |&read: &usize| nameless(run, op) && told(run, read) == Some(ItemField::Nothing);
            let ok = |read: &usize| ok(read) && !nothing(read);
            matches!(op.f, queue::f::DEQUEUE | queue::f::ACKNOWLEDGE)
                && asked.is_some()
                && op.end.as_ref().is_some_and(ok)
        };
        let spell = |op: &Op<'a>| StuckSpell {
            node: op.node,
            f: op.f,
            asked: op.invoke.unwrap_or(drain),
            until: drain,
            refused: 0,
            words: "",
            answers: match op.end {
                Some(read) if nameless(run, op) => vec![drain, read],
                _ => Vec::new(),
            },
        };
        run.ops.work.iter().filter(late).map(spell).collect()
    }

    /// How many operations were pending after recovery that would convict if they were for long.
    fn asked(&self) -> usize {
        let (run, RecoverySpan { recovered, clock, end }) = (self.run, self.span);
        let pending = |op: &&Op<'_>| {
            let over = op.end.into_iter().chain(op.cut).min();
            op.invoke.is_some_and(|asked| asked < end) && over.is_none_or(|over| over > recovered)
        };
        let asked = run.ops.work.iter().filter(pending).filter(|op| match op.f {
            queue::f::ACKNOWLEDGE => true,
            queue::f::DEQUEUE => op.invoke.is_some_and(|asked| self.stock.any(asked.max(clock))),
            _ => false,
        });
        asked.count()
    }

    /// Since when items lay in the queue beside a dequeue for its bound, and for how long.
    fn beside(&self, spell: &StuckSpell<'_>) -> Option<(usize, u64)> {
        self.stock
            .lasting(self.run, (spell.asked.max(self.span.clock), spell.until), self.bound)
    }

    fn convicts(&self, spell: &StuckSpell<'_>) -> bool {
        match spell.f {
            queue::f::ACKNOWLEDGE => self.waited((spell.asked, spell.until)) >= self.acknowledging,
            queue::f::DEQUEUE => self.beside(spell).is_some(),
            _ => false,
        }
    }

    /// Adds the anomalies that these spells are.
    fn tell(&self, spells: &[StuckSpell<'_>], out: &mut Findings) {
        let (mut room, mut untold) = (MOST, 0);
        for spell in spells {
            if room == 0 {
                untold += 1;
                continue;
            }
            let (bound, shown, what) = match self.beside(spell) {
                Some((since, lasted)) if spell.f == queue::f::DEQUEUE => {
                    // By then the bound has passed.
                    let least = self.run.time(since) + self.bound;
                    let until = self.run.events.partition_point(|event| event.time < least);
                    let (shown, looked_at) = self.stock.shown((since, until));
                    room = room.saturating_sub(looked_at);
                    let what = self.lay(&shown, (since, until), lasted);
                    (self.bound, shown, what)
                }
                _ => {
                    let waited = self.waited((spell.asked, spell.until));
                    (self.acknowledging, Vec::new(), format!("for {}", seconds(waited)))
                }
            };
            self.add(spell, &shown, (bound, &what), out);
        }
        if untold > 0 {
            out.reasons.push(format!(
                "note: {} more stuck in queues of many items, which are not listed",
                count(untold, "operation")
            ));
        }
    }

    fn add(&self, spell: &StuckSpell<'_>, shown: &[ItemStay], (bound, what): (u64, &str), out: &mut Findings) {
        let (run, span) = (self.run, self.span);
        let &StuckSpell { node, f, asked, .. } = spell;
        let why = format!(
            "{node} was sent `{f}` at {} and {}, though every fault was healed and the ensemble had recovered at {}: {what}. The \
             bound is {}: ten times the median of the `{f}` operations answered before the drain, at least ten seconds.",
            run.at(asked),
            self.unanswered(spell),
            run.at(span.recovered),
            seconds(bound),
        );
        let stored = shown.iter().map(|stay| stay.stored);
        let first = stored.clone().chain([asked]).min();
        let own = [asked, span.recovered, span.end].into_iter();
        let own = own.chain(spell.answers.iter().copied());
        let found = Finding::new("stuck-queue", "liveness", stored.chain(own).collect(), why);
        out.add_at_end(run, found, first.map(|first| run.time(first)));
    }

    fn unanswered(&self, spell: &StuckSpell<'_>) -> String {
        let until = self.run.at(spell.until);
        match spell.refused {
            2.. => format!(
                "was {} again and again until {until}{}",
                spell.words,
                error_words(self.run, spell.until)
            ),
            _ => format!("was not answered `ok` by {until}"),
        }
    }

    /// What lay in the queue meanwhile, in words.
    fn lay(&self, shown: &[ItemStay], (since, until): (usize, usize), lasted: u64) -> String {
        let run = self.run;
        let each = shown
            .iter()
            .map(|stay| format!("item {} at {}", stay.number, run.at(stay.stored)));
        let each: Vec<String> = each.collect();
        let takers = match self.stock.takers(until) {
            0 => String::new(),
            some => format!(
                ", while {} of clients that cannot name what they take can have taken one each",
                count(some, queue::f::DEQUEUE)
            ),
        };
        format!(
            "from {} on, for {}, an item certainly lay in the queue. Acknowledged had been the enqueues of {}, and until then no \
             dequeue had been sent that was answered with it or named it{takers}",
            run.at(since),
            seconds(lasted),
            few(&each),
        )
    }
}
