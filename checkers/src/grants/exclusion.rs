//! Mutual exclusion: no two clients hold at the same time in ways that exclude each other, and no more clients hold
//! exclusively than the workload's capacity.
//!
//! A client may believe that it holds when it does not; that is what leases are like. So a violation needs clients to
//! report that they hold after each has read from a quorum, to requests sent before its own release was. Either all of
//! them do, to requests sent after all their grants were read: at the earliest of these sendings all of them held
//! ([`crate::analysis::grants`] has the argument). Or all but the one whose grant was read last do, to requests sent
//! after that, and their grants had been read before it was asked for: by the same argument they held from before the
//! request until after the answer, and in between it was let in, whatever its client answers later. Any other overlap
//! of certain holds is an observation.

use super::holding_clients::HoldingClients;
use super::leases;
use crate::analysis::{Analysis, Grant, HolderAnswer};
use crate::cause::Cause;
use crate::cause::removal::Removals;
use crate::findings::{Finding, Findings};
use crate::text::count;
use std::cell::LazyCell;
use std::collections::HashSet;
use zooquake_history::operation::Mode;

/// The anomaly of more clients than may hold.
const OVER: &str = "over-capacity";

/// What is broken: mutual exclusion, of a semaphore k-exclusion (Fischer, Lynch, Burns, Borodin 1979).
fn property(run: &Analysis<'_>) -> &'static str {
    match run.names.double {
        OVER => "k-exclusion",
        _ => "mutual exclusion",
    }
}

/// Looks for grants that overlap. Those of leases that last for a time are judged by that.
pub fn check(run: &Analysis<'_>, out: &mut Findings) {
    if let Some(term) = run.term {
        return leases::check(run, term, out);
    }
    let read = run.grants.read();
    let mut convicted = HashSet::new();
    let removals = LazyCell::new(|| Removals::new(run));
    let admissions = admissions(run, &read);
    // The requests that name modes are in a witness of two confirms, too: then one of these may be left out.
    let shorter = |overlap: &Overlap| {
        let same = |other: &Overlap| (other.later, other.earlier.len()) == (overlap.later, 1);
        !run.single() && overlap.earlier.len() == 1 && admissions.iter().any(same)
    };
    let confirmed = overlaps(run, &read, |grant| grant.confirms.last().copied()).into_iter();
    for overlap in confirmed.filter(|overlap| !shorter(overlap)) {
        convicted.insert((overlap.later, kind(run, &overlap)));
        violation(run, &overlap, &removals, out);
    }
    for overlap in &admissions {
        if convicted.insert((overlap.later, kind(run, overlap))) {
            admitted(run, overlap, &removals, out);
        }
    }
    let convicted: HashSet<usize> = convicted.into_iter().map(|(later, _)| later).collect();
    for overlap in overlaps(run, &read, |grant| grant.answers.last().copied()) {
        if !convicted.contains(&overlap.later) {
            stale(run, &overlap, &removals, out);
        }
    }
    if !run.single() {
        out.ran(OVER, read.len());
    }
    if run.single() || run.grants.moded {
        out.ran(run.names.double, read.len());
    }
    out.ran(run.names.stale_holder, read.len());
}

/// The anomaly of an overlap.
fn kind(run: &Analysis<'_>, overlap: &Overlap) -> &'static str {
    match overlap.earlier.len() {
        1 => run.names.double,
        _ => OVER,
    }
}

/// One of the grants of an overlap: where it was read, and the first answer to a request sent after all of them were.
struct ConfirmedGrant<'r, 'a> {
    grant: &'r Grant<'a>,
    number: usize,
    read: usize,
    answer: HolderAnswer,
}

/// For each of these grants of an overlap, in their order, its first answer as holder whose request was sent after the
/// later grant was read; `None` if a grant has no such answer.
fn said<'r, 'a>(
    run: &'r Analysis<'a>,
    (overlap, of): (&Overlap, impl Iterator<Item = usize>),
    answers: impl for<'g> Fn(&'g Grant<'a>) -> &'g [HolderAnswer],
) -> Option<Vec<ConfirmedGrant<'r, 'a>>> {
    let all = &run.grants.all;
    let after = all[overlap.later].read?;
    let said = |number: usize| {
        let grant = &all[number];
        let answers = answers(grant);
        let first = answers.partition_point(|answer| answer.sent <= after);
        Some(ConfirmedGrant {
            grant,
            number,
            read: grant.read?,
            answer: *answers.get(first)?,
        })
    };
    of.map(said).collect()
}

/// The events that prove an overlap.
fn witness(run: &Analysis<'_>, said: &[ConfirmedGrant<'_, '_>]) -> Vec<usize> {
    let events = said.iter().flat_map(|one| [one.read, one.answer.sent, one.answer.read]);
    let mut witness: Vec<usize> = events.collect();
    if let [a, b] = said {
        witness.extend(run.telling_modes([a.number, b.number]));
    }
    witness
}

/// What had ended one of two grants in the ensemble when the other one's client answered.
fn cause(overlap: &Overlap, removals: &Removals<'_, '_>) -> Option<Cause> {
    let [earlier] = overlap.earlier[..] else { return None };
    let ended = |one: usize, other: usize| removals.of_grant(one, other);
    ended(earlier, overlap.later).or_else(|| ended(overlap.later, earlier))
}

/// `grant g1 of c1, read at 0.100 s, …`: each grant of an overlap and the request answered under it.
fn listed(
    run: &Analysis<'_>,
    said: &[ConfirmedGrant<'_, '_>],
    how: impl Fn(&ConfirmedGrant<'_, '_>) -> String,
) -> String {
    let each = said.iter().map(|one| {
        format!(
            "{}, read at {} ({} sent at {}, answered at {})",
            run.grant(one.number),
            run.at(one.read),
            how(one),
            run.at(one.answer.sent),
            run.at(one.answer.read),
        )
    });
    each.collect::<Vec<_>>().join("; ")
}

fn violation(run: &Analysis<'_>, overlap: &Overlap, removals: &Removals<'_, '_>, out: &mut Findings) {
    let Some(said) = said(run, (overlap, overlap.all()), |grant| &grant.confirms) else {
        return;
    };
    let why = match &said[..] {
        [a, b] if run.names.double != OVER => double(run, a, b),
        all => over(run, all),
    };
    let found = Finding::new(kind(run, overlap), property(run), witness(run, &said), why);
    out.add(run, found.caused(cause(overlap, removals)));
}

/// A grant that was given while others held all that may be held.
fn admitted(run: &Analysis<'_>, overlap: &Overlap, removals: &Removals<'_, '_>, out: &mut Findings) {
    let later = &run.grants.all[overlap.later];
    let of = (overlap, overlap.earlier.iter().copied());
    let holders = said(run, of, |grant| &grant.confirms);
    let (Some(holders), Some(asked), Some(read)) = (holders, later.requested, later.read) else {
        return;
    };
    let events = holders
        .iter()
        .flat_map(|one| [one.read, one.answer.sent, one.answer.read]);
    let mut witness: Vec<usize> = events.chain([asked, read]).collect();
    let taken = format!(
        "{} was asked at {} to take {}, and {} was read at {}",
        later.node,
        run.at(asked),
        run.names.thing,
        run.grant(overlap.later),
        run.at(read),
    );
    let ends = format!("whatever {} answers and whenever it releases", later.node);
    let why = match &holders[..] {
        [one] if run.names.double != OVER => {
            witness.extend(run.telling_modes([one.number, overlap.later]));
            // The later request, which is in the witness, shows that grants may be shared: that this one is not has to
            // be.
            witness.extend(one.grant.asked.filter(|_| later.mode != Some(Mode::Exclusive)));
            format!(
                "{} was read at {}. After that {taken}. Then {} confirmed by a quorum write that it holds {}, to a request sent at {}, \
                 before it was asked to release, and answered at {}. It wrote in its session before it looked at its belief in a grant, \
                 which ends once: it held all the time until {}, and {} was let in meanwhile, {ends}.{}",
                run.grant(one.number),
                run.at(one.read),
                one.grant.node,
                run.names.thing,
                run.at(one.answer.sent),
                run.at(one.answer.read),
                run.at(one.answer.sent),
                later.node,
                one_shared(one.grant, later),
            )
        }
        all => format!(
            "At most {} may hold {} at a time. After the grants of {} had been read {taken}. Then each of the former confirmed by a \
             quorum write that it holds: {}. Each request was sent before its client was asked to release, and each client wrote in its \
             session before it looked at its belief in a grant, which ends once: all of them held while {} was let in, {ends}.",
            count(run.capacity.get(), "client"),
            run.names.thing,
            count(all.len(), "client"),
            listed(run, all, |_| "confirm".to_owned()),
            later.node,
        ),
    };
    let found = Finding::new(kind(run, overlap), property(run), witness, why);
    out.add(run, found.caused(cause(overlap, removals)));
}

fn double(run: &Analysis<'_>, a: &ConfirmedGrant<'_, '_>, b: &ConfirmedGrant<'_, '_>) -> String {
    format!(
        "{} was read at {} and {} at {}, and after that both clients confirmed by a quorum write that each holds {}: \
         {} to a request sent at {} and answered at {}, {} to one sent at {} and answered at {}. Each request was sent \
         before its client was asked to release, and each client wrote in its session before it looked at its belief \
         in a grant, which ends once. So at {} both held, no matter when these answers were written and which client \
         released first.{}",
        run.grant(a.number),
        run.at(a.read),
        run.grant(b.number),
        run.at(b.read),
        run.names.thing,
        a.grant.node,
        run.at(a.answer.sent),
        run.at(a.answer.read),
        b.grant.node,
        run.at(b.answer.sent),
        run.at(b.answer.read),
        run.at(a.answer.sent.min(b.answer.sent)),
        one_shared(a.grant, b.grant),
    )
}

/// That one of two holds is shared, if one is.
fn one_shared(a: &Grant<'_>, b: &Grant<'_>) -> String {
    let exclusive = if a.mode == Some(Mode::Exclusive) { a } else { b };
    match a.mode == b.mode {
        true => String::new(),
        false => format!(
            " One of the two holds is exclusive, that of {}, so no other may exist beside it, not even a shared one.",
            exclusive.node
        ),
    }
}

fn over(run: &Analysis<'_>, all: &[ConfirmedGrant<'_, '_>]) -> String {
    let first = all.iter().map(|one| one.answer.sent).min();
    format!(
        "At most {} may hold {} at a time. After the grants of {} clients had been read, each of these confirmed by a \
         quorum write that it holds: {}. Each request was sent before its client was asked to release, and each client wrote in its \
         session before it looked at its belief in a grant, which ends once. So at {} all of them held.",
        count(run.capacity.get(), "client"),
        run.names.thing,
        all.len(),
        listed(run, all, |_| "confirm".to_owned()),
        first.map(|sent| run.at(sent)).unwrap_or_default(),
    )
}

fn stale(run: &Analysis<'_>, overlap: &Overlap, removals: &Removals<'_, '_>, out: &mut Findings) {
    let Some(said) = said(run, (overlap, overlap.all()), |grant| &grant.answers) else {
        return;
    };
    let why = match &said[..] {
        [a, b] => format!(
            "{} was read at {}, and {} still answered as the holder to {} sent at {}; {} was read in between, at {}, and {} \
             too answered as the holder to {} sent at {}. Both believed that they held {}; what counts is whether the resource \
             was damaged, so this is an observation and no violation.{}",
            run.grant(a.number),
            run.at(a.read),
            a.grant.node,
            request(run, a.answer),
            run.at(a.answer.sent),
            run.grant(b.number),
            run.at(b.read),
            b.grant.node,
            request(run, b.answer),
            run.at(b.answer.sent),
            run.names.thing,
            one_shared(a.grant, b.grant),
        ),
        all => format!(
            "At most {} clients may hold {} at a time. After the grants of {} clients had been read, each of these answered as a \
             holder: {}. All of them believed that they held; what counts is whether the resource was damaged, so this is an \
             observation and no violation.",
            run.capacity,
            run.names.thing,
            all.len(),
            listed(run, all, |one| request(run, one.answer)),
        ),
    };
    let found = Finding::new(run.names.stale_holder, property(run), witness(run, &said), why);
    out.add(run, found.advisory(true).caused(cause(overlap, removals)));
}

fn request(run: &Analysis<'_>, answer: HolderAnswer) -> String {
    format!("a {}", run.events[answer.sent].f)
}

/// Grants of as many clients that may not hold together, and did when the last of them was read: two that exclude each
/// other, or one more than the capacity.
#[derive(Debug)]
struct Overlap {
    /// The other ones, the longest first.
    earlier: Vec<usize>,
    /// The one that was read last.
    later: usize,
}

impl Overlap {
    /// All its grants; the one that was read last comes last.
    fn all(&self) -> impl Iterator<Item = usize> {
        self.earlier.iter().copied().chain([self.later])
    }
}

/// The overlaps with earlier grants of other clients that are there when each grant is read, of the longest ones: at
/// most one with as many exclusive grants as may be held, and one of two grants that exclude each other.
///
/// A hold reaches from the reading of its grant to the sending of its last answered request, which `last` gives. In
/// time proportional to n log n and to what is found.
fn overlaps(run: &Analysis<'_>, read: &[usize], last: impl Fn(&Grant<'_>) -> Option<HolderAnswer>) -> Vec<Overlap> {
    let mut holding = HoldingGrants::new(run);
    let mut found = Vec::new();
    for &later in read {
        let grant = &run.grants.all[later];
        let (Some(end), Some(begin)) = (last(grant).map(|answer| answer.sent), grant.read) else {
            continue;
        };
        holding.overlaps(later, begin, &mut found);
        holding.insert(later, end);
    }
    found
}

/// The overlaps of grants with those that their clients confirmed in spite of them: all the earlier ones were read
/// before the later one was asked for, and confirmed to requests sent after it was read. At most as many for each grant
/// as of [`overlaps`], in the same time.
fn admissions(run: &Analysis<'_>, read: &[usize]) -> Vec<Overlap> {
    let all = &run.grants.all;
    let mut asked: Vec<(usize, usize)> = read
        .iter()
        .filter_map(|&later| Some((all[later].requested?, later)))
        .collect();
    asked.sort_unstable();
    let mut earlier = read.iter().copied().peekable();
    let mut holding = HoldingGrants::new(run);
    let mut found = Vec::new();
    for (requested, later) in asked {
        while let Some(number) = earlier.next_if(|&number| all[number].read < Some(requested)) {
            let last = all[number].confirms.last();
            last.into_iter()
                .for_each(|confirm| holding.insert(number, confirm.sent));
        }
        let begin = all[later].read.unwrap_or(usize::MAX);
        holding.overlaps(later, begin, &mut found);
    }
    found.sort_by_key(|overlap| all[overlap.later].read);
    found
}

/// The clients that hold, by the mode in which they do.
struct HoldingGrants<'r, 'a> {
    run: &'r Analysis<'a>,
    exclusive: HoldingClients<'r, 'a, usize>,
    shared: HoldingClients<'r, 'a, usize>,
}

impl<'r, 'a> HoldingGrants<'r, 'a> {
    fn new(run: &'r Analysis<'a>) -> Self {
        Self {
            run,
            exclusive: HoldingClients::new(run),
            shared: HoldingClients::new(run),
        }
    }

    /// Adds a grant whose hold ends there.
    fn insert(&mut self, grant: usize, end: usize) {
        match self.run.judged_mode(grant) {
            Some(Mode::Exclusive) => self.exclusive.insert(grant, end),
            Some(Mode::Shared) => self.shared.insert(grant, end),
            None => {}
        }
    }

    /// Adds the overlaps of a grant with holds that end after an event.
    fn overlaps(&self, later: usize, after: usize, found: &mut Vec<Overlap>) {
        let node = self.run.grants.all[later].node;
        let mut add = |earlier: Option<Vec<usize>>| found.extend(earlier.map(|earlier| Overlap { earlier, later }));
        match self.run.judged_mode(later) {
            Some(Mode::Exclusive) => {
                let all = self.exclusive.others(node, self.run.capacity.get(), after);
                let one = self.shared.others(node, 1, after);
                match (all, one) {
                    (Some(all), Some(one)) if self.run.single() => {
                        let longer = self.exclusive.end(all[0]) < self.shared.end(one[0]);
                        add(Some(if longer { one } else { all }));
                    }
                    (all, one) => {
                        add(all);
                        add(one);
                    }
                }
            }
            Some(Mode::Shared) => add(self.exclusive.others(node, 1, after)),
            None => {}
        }
    }
}
