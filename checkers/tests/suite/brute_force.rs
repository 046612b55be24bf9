//! Exhaustive searches: is there any order of what really happened that fits a history?
//!
//! Written from the definitions and on purpose without anything of the checkers but the events.

use crate::liveness::node;
use std::collections::{BTreeSet, HashSet};
use zooquake_history::{Event, EventType, Record, plan::Resource};

/// A grant: whose, where it was asked for and read, and from where to where each `confirm` of it was open.
struct ConfirmedGrant<'a> {
    node: &'a str,
    shared: bool,
    asked: usize,
    read: usize,
    spans: Vec<(usize, usize)>,
}

/// Where the request was sent that the event at `at` answers.
pub fn sent(events: &[Event], at: usize) -> Option<usize> {
    let same = |event: &Event| event.process == events[at].process && event.f == events[at].f;
    let before = (0..at).rev().find(|&other| same(&events[other]))?;
    (events[before].kind == EventType::Invoke).then_some(before)
}

/// Where the grant of this name was read.
pub fn read(events: &[Event], name: &str) -> Option<usize> {
    let grant = |event: &Event| event.f == "acquire" && event.kind == EventType::Ok && event.grant() == Some(name);
    events.iter().position(grant)
}

/// Names of the grants that were read.
pub fn names(events: &[Event]) -> Vec<&str> {
    let granted = |event: &&Event| event.f == "acquire" && event.kind == EventType::Ok;
    events
        .iter()
        .filter(granted)
        .filter_map(|event| event.grant())
        .collect()
}

/// Answers to `confirm` that report the grant as held, sent after it was read and before its release was sent, of a
/// client that had not reported before that it no longer holds, nor died.
pub fn confirms(events: &[Event], name: &str) -> Vec<(usize, usize)> {
    let Some(read) = read(events, name) else { return vec![] };
    let release =
        |event: &Event| event.f == "release" && event.kind == EventType::Invoke && event.grant() == Some(name);
    let released = events.iter().position(release).unwrap_or(usize::MAX);
    let own = |event: &Event| node(event) == node(&events[read]);
    let yes = |event: &Event| {
        let ok = event.f == "confirm" && event.kind == EventType::Ok && event.holds() == Some(true);
        ok && event.grant() == Some(name) && own(event)
    };
    let denies = |at: usize| {
        let event = &events[at];
        let no = event
            .error
            .as_deref()
            .is_some_and(|error| error.starts_with("not-held"));
        let disclaims = event.f == "confirm" && event.holds() == Some(false) && sent(events, at) > Some(read);
        let says = event.grant() == Some(name) && (no || event.f == "lost");
        own(event) && (says || disclaims || event.f == "exit")
    };
    (0..events.len())
        .filter(|&at| yes(&events[at]) && !(read..at).any(denies))
        .filter_map(|at| Some((sent(events, at)?, at)))
        .filter(|&(sent, _)| sent > read && sent < released)
        .collect()
}

/// Whether the grant of this name was asked to be shared.
pub fn shared(events: &[Event], name: &str) -> bool {
    let asked = |event: &&Event| event.f == "acquire" && event.kind == EventType::Invoke && event.grant() == Some(name);
    let asked = events.iter().find(asked);
    asked.is_some_and(|event| event.value["mode"] == "shared")
}

/// How many clients may hold exclusively.
pub fn capacity(record: &Record) -> usize {
    let capabilities = record.plan.workload.capabilities;
    capabilities.map_or(1, |capabilities| capabilities.capacity.get())
}

/// Whether the grants that were confirmed can have been held without one that others excluded, and so can any one that
/// was not, beside any one of those, and, where it is exclusive, beside exclusive ones of different clients. (That
/// holds which do not exclude each other, one after the other, leave no moment for it is not looked for.) Of two that
/// were not confirmed each may have ended before the other began.
///
/// Between any two events any grant may begin (after it was asked for, before it is read) and end (a release takes
/// effect, a session expires), each once. An exclusive one may be held only while no other client's shared one is, and
/// exclusive ones of fewer others than the capacity; a shared one only while no other client's exclusive one is. At
/// some moment of each `confirm` its grant is held.
pub fn exclusive(record: &Record) -> bool {
    let events = &record.history.events;
    let grants = names(events).into_iter().filter_map(|name| {
        let read = read(events, name)?;
        Some(ConfirmedGrant {
            node: node(&events[read]),
            shared: shared(events, name),
            asked: sent(events, read)?,
            read,
            spans: confirms(events, name),
        })
    });
    let (confirmed, others): (Vec<_>, Vec<_>) = grants.partition(|grant| !grant.spans.is_empty());
    let all: Vec<&ConfirmedGrant<'_>> = confirmed.iter().collect();
    let beside = |other: &ConfirmedGrant<'_>| {
        let exclusive: Vec<&ConfirmedGrant<'_>> = all.iter().copied().filter(|grant| !grant.shared).collect();
        let several = if other.shared {
            Vec::new()
        } else {
            one_of_each(&exclusive)
        };
        let chosen = all.iter().map(|grant| vec![*grant]).chain(several);
        chosen
            .into_iter()
            .all(|some| possible(record, &[&some[..], &[other]].concat()))
    };
    possible(record, &all) && others.iter().all(beside)
}

/// All choices of one grant of each client.
fn one_of_each<'r, 'a>(all: &[&'r ConfirmedGrant<'a>]) -> Vec<Vec<&'r ConfirmedGrant<'a>>> {
    let clients: BTreeSet<&str> = all.iter().map(|grant| grant.node).collect();
    clients.into_iter().fold(vec![vec![]], |chosen, client| {
        let own = all.iter().filter(|grant| grant.node == client);
        let with = |grant: &&'r ConfirmedGrant<'a>| chosen.iter().map(|some| [&some[..], &[*grant]].concat()).collect();
        own.flat_map(|grant| -> Vec<_> { with(grant) }).collect()
    })
}

/// Whether these grants can have been held so.
fn possible(record: &Record, grants: &[&ConfirmedGrant<'_>]) -> bool {
    let events = &record.history.events;
    if grants.len() < 2 {
        return true;
    }
    let mut states = HashSet::from([HoldersState {
        begun: 0,
        ended: 0,
        met: 0,
    }]);
    for at in 0..=events.len() {
        states = closure(grants, capacity(record), states, at);
        states.retain(|state| fits(grants, *state, at));
        if states.is_empty() {
            return false;
        }
    }
    true
}

/// How many grants were confirmed.
pub fn confirmed(record: &Record) -> usize {
    let events = &record.history.events;
    let confirmed = |name: &&str| !confirms(events, name).is_empty();
    names(events).into_iter().filter(confirmed).count()
}

/// Sets as bits: grants that have begun and ended, and confirms that their grant has met.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct HoldersState {
    begun: u32,
    ended: u32,
    met: u64,
}

/// All states that can be reached without an event, just before the event at `at`.
fn closure(
    grants: &[&ConfirmedGrant<'_>],
    capacity: usize,
    states: HashSet<HoldersState>,
    at: usize,
) -> HashSet<HoldersState> {
    let mut all = HashSet::new();
    let mut todo: Vec<HoldersState> = states.into_iter().collect();
    while let Some(mut state) = todo.pop() {
        let held = |grant: usize| state.begun & !state.ended & (1 << grant) != 0;
        let mut bit = 0;
        for (grant, confirmed) in grants.iter().enumerate() {
            for &(sent, answered) in &confirmed.spans {
                if held(grant) && sent < at && at <= answered {
                    state.met |= 1 << bit;
                }
                bit += 1;
            }
        }
        if !all.insert(state) {
            continue;
        }
        for (grant, confirmed) in grants.iter().enumerate() {
            let others = || {
                let all = grants.iter().enumerate();
                all.filter(|(other, of)| held(*other) && of.node != confirmed.node)
            };
            let shared = others().any(|(_, of)| of.shared);
            let exclusive: BTreeSet<&str> = others().filter(|(_, of)| !of.shared).map(|(_, of)| of.node).collect();
            let fits = match confirmed.shared {
                true => exclusive.is_empty(),
                false => !shared && exclusive.len() < capacity,
            };
            if state.begun & (1 << grant) == 0 && confirmed.asked < at && fits {
                todo.push(HoldersState {
                    begun: state.begun | 1 << grant,
                    ..state
                });
            }
            if held(grant) {
                todo.push(HoldersState {
                    ended: state.ended | 1 << grant,
                    ..state
                });
            }
        }
    }
    all
}

/// Whether the event at `at` can happen in a state.
fn fits(grants: &[&ConfirmedGrant<'_>], state: HoldersState, at: usize) -> bool {
    let mut bit = 0;
    for (grant, confirmed) in grants.iter().enumerate() {
        if confirmed.read == at && state.begun & (1 << grant) == 0 {
            return false;
        }
        for &(_, answered) in &confirmed.spans {
            if answered == at && state.met & (1 << bit) == 0 {
                return false;
            }
            bit += 1;
        }
    }
    true
}

/// Whether two grants exclude each other: a shared one and an exclusive one of different clients, or two exclusive ones
/// where one client may hold.
pub fn excludes(record: &Record, one: &str, other: &str) -> bool {
    let events = &record.history.events;
    let node = |name: &str| read(events, name).map(|at| node(&events[at]));
    match (shared(events, one), shared(events, other)) {
        (true, true) => false,
        (false, false) => capacity(record) == 1,
        _ => node(one) != node(other),
    }
}

/// Names of the grants of the accepted writes, in the order in which the resource took these.
fn written(record: &Record) -> Vec<&str> {
    let events = &record.history.events;
    let accepted = |event: &&Event| event.f == "write" && event.kind == EventType::Ok;
    let mut writes: Vec<&Event> = events.iter().filter(accepted).collect();
    if record.plan.workload.resource == Resource::Zookeeper {
        writes.sort_by_key(|event| event.mzxid());
    }
    writes.iter().filter_map(|event| event.grant()).collect()
}

/// Whether the accepted writes of no two grants that exclude each other are mixed, nor come before those of an older
/// exclusive one.
pub fn unmixed(record: &Record) -> bool {
    let events = &record.history.events;
    let sequence = written(record);
    let age = |name: &str| read(events, name).and_then(|at| events[at].czxid());
    let places = |of: &str| -> Vec<usize> { (0..sequence.len()).filter(|&at| sequence[at] == of).collect() };
    let fits = |old: &str, new: &str| {
        let (own, others) = (places(old), places(new));
        let (first, last) = (own[0], own[own.len() - 1]);
        let mixed = others.iter().any(|at| (first..last).contains(at));
        let older = matches!((age(old), age(new)), (Some(old), Some(new)) if old < new) && !shared(events, old);
        !(mixed || older && others[0] < last)
    };
    let pair = |one: &str, other: &str| one == other || !excludes(record, one, other) || fits(one, other);
    sequence.iter().all(|one| sequence.iter().all(|other| pair(one, other)))
}

/// Whether some order of all grants that respects their ages puts the accepted writes in order.
pub fn ordered(record: &Record) -> bool {
    let events = &record.history.events;
    let sequence = written(record);
    let grants: Vec<&str> = BTreeSet::from_iter(sequence.iter().copied()).into_iter().collect();
    let age = |name: &str| read(events, name).and_then(|at| events[at].czxid());
    let ages: Vec<Option<i64>> = grants.iter().map(|grant| age(grant)).collect();
    let place_of = |name: &&str| grants.iter().position(|grant| grant == name);
    let sequence: Vec<usize> = sequence.iter().filter_map(place_of).collect();
    place(&ages, &sequence, &mut vec![])
}

/// Tries every order that begins with `order`.
fn place(ages: &[Option<i64>], sequence: &[usize], order: &mut Vec<usize>) -> bool {
    if order.len() == ages.len() {
        let rank = |grant: usize| order.iter().position(|&other| other == grant);
        return sequence.windows(2).all(|pair| rank(pair[0]) <= rank(pair[1]));
    }
    for next in 0..ages.len() {
        let older = |&&placed: &&usize| matches!((ages[next], ages[placed]), (Some(new), Some(old)) if new < old);
        if !order.contains(&next) && order.iter().find(older).is_none() {
            order.push(next);
            let fits = place(ages, sequence, order);
            order.pop();
            if fits {
                return true;
            }
        }
    }
    false
}
