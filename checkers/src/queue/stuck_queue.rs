//! `stuck-queue`: after recovery an acknowledge stays pending, or a dequeue while an item certainly lies in the queue
//! ([`ItemPresence`]), or such dequeues are refused again and again.
//!
//! The bound is ten times the median duration of the operations of that name answered before the drain, at least ten
//! seconds. What is answered only when the queue is drained after it has been pending until then. If the run cannot be
//! judged ([`crate::analysis::recovery`]) nobody is convicted.

use super::items::{Items, QueueItem, outcome};
use super::{ItemField, told};
use crate::analysis::recovery::RecoverySpan;
use crate::analysis::{Analysis, Op, ops};
use crate::findings::{Finding, Findings};
use crate::liveness::refused_for_ever::RefusalJudge;
use crate::liveness::{
    LivenessBounds, UnfinishedOps, UnfinishedOutcome, bound_words, error_words, idle, open_clients, refused_for_ever,
    unfinished,
};
use crate::text::{count, few, seconds};
use std::collections::HashMap;
use zooquake_history::EventType;
use zooquake_history::operation::queue::f;
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

/// An item that lay in the queue, from one event until another; the greatest number if nobody took it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ItemStay {
    number: i64,
    /// Where its enqueue was answered.
    stored: usize,
    /// Where the first dequeue was sent that may have taken it.
    taken: usize,
}

/// What certainly lay in the queue, and when. Positions are those of events.
///
/// An item does from the answer `ok` to its enqueue until a dequeue is sent that may have taken it: one that was
/// answered with it or had named it, and did not fail. One that nobody was ever given does not, if a dequeue that was
/// sent later found the queue empty. Each dequeue that may have taken any item takes one away from its sending on.
/// Linear in the events, but for sorting.
#[derive(Debug, Default)]
struct ItemPresence {
    /// In the order of `stored`.
    stays: Vec<ItemStay>,
    /// For each place in that order the stay that lasts longest, of those up to it.
    longest: Vec<ItemStay>,
    /// Where the dequeues were sent that may have taken any item, in order.
    takers: Vec<usize>,
    /// From where to where some item lay there, in order.
    spells: Vec<(usize, usize)>,
    /// The spells that lasted long enough.
    long: Vec<(usize, usize)>,
}

impl ItemPresence {
    /// Reads what lay in the queue out of a history. Spells of `least` nanoseconds are long.
    fn new(run: &Analysis<'_>, items: &Items<'_>, least: u64) -> Self {
        let mut takers = items.free.clone();
        takers.extend(items.unreadable.iter().map(|taken| taken.sent.unwrap_or(0)));
        let named = named(run, &mut takers);
        takers.sort_unstable();
        let empty = found_empty(run);
        let stay = |(&number, item): (&i64, &QueueItem<'_>)| {
            let given = item.given.iter().map(|given| given.sent.unwrap_or(0)).min();
            let taken = given.into_iter().chain(named.get(&number).copied()).min();
            let stored = item.stored.filter(|_| judged(item))?;
            let there = given.is_some() || empty < Some(stored);
            let taken = taken.unwrap_or(usize::MAX);
            (there && stored < taken).then_some(ItemStay { number, stored, taken })
        };
        let mut stays: Vec<ItemStay> = match items.hidden_acknowledgement {
            true => Vec::new(),
            false => items.all.iter().filter_map(stay).collect(),
        };
        stays.sort_unstable_by_key(|stay| stay.stored);
        let mut longest = stays.clone();
        for at in 1..longest.len() {
            if longest[at].taken <= longest[at - 1].taken {
                longest[at] = longest[at - 1];
            }
        }
        let spells = spells(&stays, &takers);
        let last = run.events.len().saturating_sub(1);
        let lasts = |&(from, until): &(usize, usize)| run.time(until.min(last)).saturating_sub(run.time(from));
        Self {
            long: spells.iter().copied().filter(|spell| lasts(spell) >= least).collect(),
            spells,
            stays,
            longest,
            takers,
        }
    }

    /// Whether an item certainly lay there when an event was recorded.
    fn any(&self, at: usize) -> bool {
        let next = self.spells.partition_point(|&(_, until)| until <= at);
        self.spells.get(next).is_some_and(|&(from, _)| from <= at)
    }

    /// From where on items lay there for `least` nanoseconds or longer without a break, between two events, and for how
    /// long; `None` if they did not. `least` is that of [`Self::new`].
    fn lasting(&self, run: &Analysis<'_>, (from, until): (usize, usize), least: u64) -> Option<(usize, u64)> {
        let first = self.long.partition_point(|&(_, end)| end <= from);
        // All but the first and the last of them lie within.
        let within = self.long[first..].iter().take_while(|&&(begin, _)| begin < until);
        let lasts = |&(begin, end): &(usize, usize)| {
            let since = begin.max(from);
            (since, run.time(end.min(until)).saturating_sub(run.time(since)))
        };
        within.map(lasts).find(|&(_, lasted)| lasted >= least)
    }

    /// Items that show, from an event on and until another, that some lay there: of those that did the first ones, one
    /// more than dequeues may have taken by then. And how many were looked at for them.
    fn shown(&self, (from, until): (usize, usize)) -> (Vec<ItemStay>, usize) {
        let takers = self.takers(until);
        if takers == 0 {
            let before = self.stays.partition_point(|stay| stay.stored <= from);
            return (
                before
                    .checked_sub(1)
                    .map(|last| self.longest[last])
                    .into_iter()
                    .collect(),
                1,
            );
        }
        let looked_at = self.stays.partition_point(|stay| stay.stored < until);
        let there = self.stays[..looked_at].iter().filter(|stay| stay.taken > from);
        (there.take(takers + 1).copied().collect(), looked_at)
    }

    /// How many dequeues that may have taken any item were sent before an event.
    fn takers(&self, at: usize) -> usize {
        self.takers.partition_point(|&sent| sent < at)
    }
}

/// Whether what is known of an item is all certain, and its life was not over.
fn judged(item: &QueueItem<'_>) -> bool {
    !item.disputed && item.consumed.is_empty() && !item.maybe_consumed
}

/// The last dequeue that found the queue empty, by where it was sent; where that is not known, by its answer.
fn found_empty(run: &Analysis<'_>) -> Option<usize> {
    let dequeues = run.ops.work.iter().filter(|op| op.f == f::DEQUEUE);
    let empty = dequeues.filter_map(|op| {
        let read = op.end.filter(|_| outcome(run, op) == Some(EventType::Ok))?;
        (told(run, read) == Some(ItemField::Nothing)).then(|| op.sent().unwrap_or(read))
    });
    empty.max()
}

/// By item where the first dequeue was sent that named it, and did not fail; 0 where that is not known. One that named
/// something that cannot be read may have taken any item.
fn named(run: &Analysis<'_>, takers: &mut Vec<usize>) -> HashMap<i64, usize> {
    let mut dequeues: HashMap<&str, Vec<&Op<'_>>> = HashMap::new();
    for op in run.ops.work.iter().filter(|op| op.f == f::DEQUEUE) {
        dequeues.entry(op.node).or_default().push(op);
    }
    let mut named: HashMap<i64, usize> = HashMap::new();
    let notices = run.events.iter().enumerate().filter(|(_, event)| event.f == "taking");
    for (at, event, client) in notices.filter_map(|(at, event)| Some((at, event, ops::named_client(event)?))) {
        let own = dequeues.get(client).map_or(&[][..], Vec::as_slice);
        let last = own.partition_point(|op| op.invoke.or(op.end).unwrap_or(0) < at);
        let last = last.checked_sub(1).map(|last| own[last]);
        if last.is_some_and(|op| op.failed(run.events).is_some_and(|end| at < end)) {
            continue;
        }
        let sent = last.and_then(Op::sent).unwrap_or(0);
        match event.item() {
            Some(number) => {
                let first = named.entry(number).or_insert(sent);
                *first = sent.min(*first);
            }
            None => takers.push(sent),
        }
    }
    named
}

/// From where to where more items lay in the queue than dequeues may have taken.
fn spells(stays: &[ItemStay], takers: &[usize]) -> Vec<(usize, usize)> {
    // An item comes, or is taken or may have been.
    let mut changes: Vec<(usize, bool)> = stays.iter().map(|stay| (stay.stored, true)).collect();
    changes.extend(stays.iter().map(|stay| (stay.taken, false)));
    changes.extend(takers.iter().map(|&sent| (sent, false)));
    changes.sort_unstable();
    let (mut spells, mut since, mut certain) = (Vec::new(), None, 0_i64);
    for together in changes.chunk_by(|one, other| one.0 == other.0) {
        let at = together[0].0;
        certain += together
            .iter()
            .map(|&(_, comes)| if comes { 1 } else { -1 })
            .sum::<i64>();
        match (since, certain > 0) {
            (None, true) => since = Some(at),
            (Some(from), false) => {
                spells.push((from, at));
                since = None;
            }
            _ => {}
        }
    }
    spells.extend(since.map(|from| (from, usize::MAX)));
    spells
}
