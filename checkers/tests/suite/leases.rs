//! Leases that last for a time: each anomaly by one history, silence on its nearest innocent twins, and random
//! histories against the definitions taken literally and against all executions that fit.

use crate::brute_force;
use crate::expect::{self, explains, explains_all, guilty, innocent, kinds, none, one, proven_by};
use crate::liveness::node;
use crate::script::{self, changed};
use fastrand::Rng;
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use zooquake_checkers::check;
use zooquake_history::plan::Capabilities;
use zooquake_history::{Event, EventType, Record};

/// The duration of leases and the margin of their clients' clocks, in milliseconds.
#[derive(Clone, Copy)]
struct Term(u64, u64);

/// The record of a semaphore with so many leases that last so long.
fn leases(capacity: usize, Term(lease_ms, margin_ms): Term, text: &str) -> Record {
    let capabilities = Capabilities {
        capacity: NonZeroUsize::new(capacity).expect("a capacity"),
        lease_ms,
        margin_ms,
        ..Capabilities::NONE
    };
    changed(
        script::record("semaphore", "timed", &[], 3, script::history(text)),
        |record| record.plan.workload.capabilities = Some(capabilities),
    )
}

/// One lease of two seconds, by clocks that differ by 100 ms.
fn one_lease(text: &str) -> Record {
    leases(1, Term(2_000, 100), text)
}

const TWO: &str = "
    1.0 c1 acquire g1; 1.1 c1 granted g1
    2.8 c2 acquire g2; 2.85 c2 granted g2";

#[test]
fn the_clock_alone_convicts_leases_that_overlap() {
    let found = proven_by(&one_lease(TWO), "over-capacity", &[0, 1, 2, 3]);
    assert!(!found.advisory);
    explains_all(
        &found,
        &["g1 of c1 from 1.100 s to 2.900 s", "From 2.850 s to 2.900 s all 2 were"],
    );
    none(&leases(2, Term(2_000, 100), TWO));
    none(&leases(1, Term(1_800, 0), TWO));
    let table = "
        2.85 => 2.90 # its clock may have ended the lease by then
        2.8 c2 => 2.8 c1 | 2.85 c2 => 2.85 c1 # a client does not exclude itself
        1.0 c1 acquire g1 => 0.8 c1 acquire g1 # it may have begun long before it was read
        1.0 c1 acquire g1; => # nobody knows when it was asked for
        2.8 c2 => 2.7 c1 release g1; 2.8 c2
        2.8 c2 => 2.7 c1 lost g1; 2.8 c2
        2.8 c2 => 2.6 c1 work g1; 2.7 c1 failed work g1 not-held; 2.8 c2
        2.8 c2 => 2.6 c1 confirm; 2.7 c1 holds-not; 2.8 c2
        2.8 c2 => 2.6 c1 confirm; 2.8 c2 | 2.85 c2 granted g2 => 2.85 c2 granted g2; 5 c1 holds-not
        2.8 c2 => 2.7 c1 exit; 2.8 c2
        granted g1 => granted g1 session=0x1 # a lease that names a session ends with that
        granted g2 => granted g2 session=0x2
        2.85 c2 granted g2 => 2.85 c2 granted g2; 2.9 c2 lost g2
        2.85 c2 granted g2 => 2.85 c2 granted g2; 2.9 c2 exit # it may have died before its answer was read";
    innocent(one_lease, TWO, table);
    let table = "
        2.8 c2 => 2.7 c1 work g1; 2.75 c1 failed work g1 too-long; 2.8 c2 # that states that it holds on
        2.85 c2 granted g2 => 2.85 c2 granted g2; 2.86 c1 release g1
        2.85 c2 granted g2 => 2.85 c2 granted g2; 2.95 c1 work g1; 3 c1 failed work g1 not-held
        2.85 c2 granted g2 => 2.85 c2 granted g2; 2.95 c1 confirm; 3 c1 holds-not";
    guilty(one_lease, "over-capacity", TWO, table);
}

#[test]
fn one_lease_more_than_there_are_is_named_with_all_the_others() {
    let three = "
        1 c1 acquire g1; 1.1 c1 granted g1; 1.2 c2 acquire g2; 1.3 c2 granted g2
        1.4 c3 acquire g3; 1.5 c3 granted g3";
    let two_leases = |text: &str| leases(2, Term(2_000, 100), text);
    proven_by(&two_leases(three), "over-capacity", &[0, 1, 2, 3, 4, 5]);
    none(&leases(3, Term(2_000, 100), three));
    innocent(two_leases, three, "1.4 c3 => 1.35 c2 release g2; 1.4 c3");
}

/// What a client answered before its denial, or before it died, stands.
#[test]
fn a_lease_that_is_denied_was_held_when_its_client_last_answered_as_holder() {
    let worked = "
        1.0 c1 acquire g1; 1.1 c1 granted g1
        1.2 c2 acquire g2; 1.3 c2 granted g2
        1.4 c1 work g1; 1.5 c1 worked g1";
    let table = "worked g1 => worked g1; 1.6 c1 lost g1\n worked g1 => worked g1; 1.6 c1 exit";
    guilty(one_lease, "over-capacity", worked, table);
    // Alive, and no longer a holder.
    let pinged = "worked g1 => worked g1; 1.7 c1 exit | 1.4 c1 work g1 => 1.4 c1 release g1 | worked => released";
    guilty(one_lease, "over-capacity", worked, pinged);
}

#[test]
fn a_lease_that_names_a_session_is_certain_while_that_is_confirmed() {
    let sessions = "
        1.0 c1 acquire g1; 1.1 c1 granted g1 session=0x1
        1.2 c2 acquire g2; 1.3 c2 granted g2
        1.4 c1 confirm; 1.5 c1 holds g1";
    proven_by(&one_lease(sessions), "over-capacity", &[0, 1, 2, 3, 4, 5]);
    let table = "
        holds g1 => unconfirmed
        1.4 c1 => 1.25 c1 # it was asked before the other was granted
        granted g2 => granted g2 session=0x2";
    innocent(one_lease, sessions, table);
}

const LATE: &str = "1 c1 acquire g1; 1.1 c1 granted g1; 3.1 c1 work g1 work_ms=101; 3.3 c1 worked g1";

#[test]
fn work_that_its_lease_cannot_outlast_is_overdue() {
    let found = proven_by(&one_lease(LATE), "overdue-work", &[1, 2, 3]);
    explains(&found, "it was over at 3.200 s at the latest");
    let table = "
        work_ms=101 => work_ms=100
        3.3 c1 worked g1 => 9 c1 worked g1 | work_ms=101 => work_ms=100 # a frozen client answers late
        3.3 c1 worked g1 => 3.3 c1 failed work g1 too-long
        3.3 c1 worked g1 => 3.3 c1 failed work g1 not-held
        1.1 c1 granted g1 => 1.2 c1 granted g1 # its clock may have begun it as late as that
        3.3 c1 worked g1 => 3.3 c1 unknown work g1";
    innocent(one_lease, LATE, table);
    guilty(
        one_lease,
        "overdue-work",
        LATE,
        "3.1 c1 work g1 work_ms=101 => 3.21 c1 work g1 work_ms=0",
    );
}

/// Belief after a lease is over is none that others have to respect.
#[test]
fn who_confirms_a_lease_that_is_over_excludes_nobody() {
    none(&one_lease(
        "1 c1 acquire g1; 1.1 c1 granted g1; 3 c2 acquire g2; 3.1 c2 granted g2
         3.2 c1 confirm; 3.2 c2 confirm; 3.3 c1 holds g1; 3.3 c2 holds g2",
    ));
}

/// A lease that was given back may be in the way until its latest end, where nobody could give it back in ZooKeeper.
const REFUSED: &str = "
    0.9 c1 acquire g1; 1 c1 granted g1; 1.1 c1 release g1; 1.2 c1 released g1
    1.3 run recovered
    3.2 c2 acquire g2; 8 c2 failed acquire g2 held
    8.1 c2 acquire g3; 13.2 c2 failed acquire g3 held
    14 run audit";

#[test]
fn who_is_refused_while_no_lease_can_be_there_has_a_lost_wakeup() {
    let found = one(&one_lease(REFUSED), "lost-wakeup");
    explains(&found, "it was refused 2 times by 13.200 s (held)");
    let table = "
        3.2 c2 => 3.05 c2 # the lease may have been there then
        13.2 => 13.1
        1 c1 granted g1 => 1 c1 unknown acquire g1 | 1.1 c1 release g1; 1.2 c1 released g1 => 4 c1 acquire g4; 4.1 c1 unknown acquire g4
        13.2 c2 failed => 13.1 c2 granted g3; 13.2 c2 failed";
    innocent(one_lease, REFUSED, table);
}

/// A random history of three clients, in steps of a millisecond.
fn random(seed: u64) -> (Record, Term) {
    let mut rng = Rng::with_seed(seed);
    let term = Term(rng.u64(3..9), rng.u64(0..3));
    let capacity = rng.usize(1..3);
    let mut text = String::new();
    for client in 1..4 {
        let mut now = rng.u64(1..8);
        let mut say = |now: u64, what: String| text.push_str(&format!("0.{now:03} c{client} {what}\n"));
        for cycle in 0..rng.u64(1..3) {
            let grant = format!("g{client}{cycle}");
            let session = ["", "", "", " session=0x1"][rng.usize(0..4)];
            say(now, format!("acquire {grant}"));
            now += rng.u64(0..4);
            match rng.u8(0..8) {
                0 => say(now, format!("failed acquire {grant}")),
                1 => say(now, format!("unknown acquire {grant}")),
                _ => say(now, format!("granted {grant}{session}")),
            }
            for _ in 0..rng.u64(0..3) {
                now += rng.u64(0..4);
                let then = now + rng.u64(0..3);
                match rng.u8(0..10) {
                    0 => say(now, format!("lost {grant}")),
                    1 => say(now, "exit".to_owned()),
                    2 | 3 => {
                        say(now, format!("work {grant} work_ms={}", rng.u64(0..6)));
                        let answers = [
                            format!("worked {grant}"),
                            format!("failed work {grant} not-held"),
                            format!("failed work {grant} too-long"),
                        ];
                        say(then, answers[rng.usize(0..3)].clone());
                    }
                    4..8 => {
                        say(now, "confirm".to_owned());
                        say(
                            then,
                            [format!("holds {grant}"), "holds-not".to_owned()][rng.usize(0..2)].clone(),
                        );
                    }
                    _ => {
                        say(now, format!("work {grant}"));
                        say(then, format!("worked {grant}"));
                    }
                }
                now = then;
            }
            now += rng.u64(0..4);
            if rng.bool() {
                say(now, format!("release {grant}"));
                now += rng.u64(0..2);
                say(now, format!("released {grant}"));
            }
            now += rng.u64(0..6);
        }
    }
    (leases(capacity, term, &script::in_time(&text)), term)
}

const MS: u64 = 1_000_000;

/// What is certain of a lease, by the definition.
struct Certain<'a> {
    node: &'a str,
    asked: u64,
    /// The event, and its time.
    read: (usize, u64),
    /// When its release was sent.
    released: Option<u64>,
    /// Until when it was certainly not denied, its process lived and its session did; `None` if all that is certain to
    /// the end of its lease.
    alive: Option<u64>,
    /// When the clock ends it at the earliest.
    end: u64,
}

impl Certain<'_> {
    fn until(&self) -> u64 {
        [self.released, self.alive]
            .into_iter()
            .flatten()
            .fold(self.end, u64::min)
    }
}

fn certain<'a>(events: &'a [Event], name: &str, Term(lasts, margin): Term) -> Option<Certain<'a>> {
    let read = brute_force::read(events, name)?;
    let sent = |at: usize| brute_force::sent(events, at);
    let asked = events[sent(read)?].time;
    let end = asked + (lasts - margin) * MS;
    let own: Vec<usize> = (0..events.len())
        .filter(|&at| node(&events[at]) == node(&events[read]))
        .collect();
    let about = |at: usize| events[at].grant() == Some(name);
    let release = own
        .iter()
        .find(|&&at| events[at].f == "release" && events[at].kind == EventType::Invoke && about(at));
    let denies = |&&at: &&usize| {
        let event = &events[at];
        let early = sent(at).is_some_and(|sent| events[sent].time < end);
        let refuses = event.error.as_deref() == Some("not-held") && about(at) && early;
        let disclaims = event.f == "confirm" && event.holds() == Some(false) && early;
        let disclaims = disclaims && sent(at) > Some(read) && sent(at) < Some(release.copied().unwrap_or(usize::MAX));
        event.f == "lost" && about(at) || refuses || disclaims
    };
    let confirms = brute_force::confirms(events, name);
    let confirmed = confirms.iter().map(|&(sent, _)| events[sent].time).max().unwrap_or(0);
    let worked = own
        .iter()
        .filter(|&&at| events[at].f == "work" && events[at].kind == EventType::Ok && about(at));
    let worked = worked
        .filter_map(|&at| Some((sent(at)?, at)))
        .filter(|&(sent, _)| sent > read);
    let answers: Vec<(usize, usize)> = confirms.into_iter().chain(worked).collect();
    let answered = |denial: usize| {
        let before = answers.iter().filter(|&&(_, answer)| answer < denial);
        before.map(|&(sent, _)| events[sent].time).max().unwrap_or(0)
    };
    let exit = own.iter().find(|&&at| at > read && events[at].f == "exit");
    let last = exit.map(|exit| {
        let replies = own
            .iter()
            .filter(|&at| at < exit && matches!(events[*at].kind, EventType::Ok | EventType::Fail));
        replies
            .filter_map(|&at| Some(events[sent(at)?].time))
            .max()
            .unwrap_or(0)
    });
    let denied = own.iter().find(denies).map(|&denial| answered(denial));
    let session = events[read].session().map(|_| confirmed);
    Some(Certain {
        node: node(&events[read]),
        asked,
        read: (read, events[read].time),
        released: release.map(|&at| events[at].time),
        alive: [denied, last, session].into_iter().flatten().min(),
        end,
    })
}

/// By the definition: where each grant was read at which one client too many held.
fn overlaps(record: &Record, certain: &[Certain<'_>]) -> BTreeSet<usize> {
    let over = |last: &&Certain<'_>| {
        let at = last.read;
        let holds = |one: &&Certain<'_>| one.read <= at && at.1 < one.until();
        let holders: BTreeSet<&str> = certain.iter().filter(holds).map(|one| one.node).collect();
        holders.contains(last.node) && at.1 < last.until() && holders.len() > brute_force::capacity(record)
    };
    certain.iter().filter(over).map(|one| one.read.0).collect()
}

/// Whether some execution fits in which no more clients held than may: the clock of each began its lease at some moment
/// between its request and its grant, and may be fast or slow, and what may have ended earlier did at some moment.
fn innocent_execution(all: &[Certain<'_>], Term(lasts, margin): Term, capacity: usize) -> bool {
    fn place<'a>(
        all: &'a [Certain<'a>],
        term: (u64, u64),
        capacity: usize,
        placed: &mut Vec<(&'a str, u64, u64)>,
    ) -> bool {
        let Some((one, rest)) = all.split_first() else {
            return true;
        };
        let (lasts, margin) = term;
        for began in (one.asked / MS)..=(one.read.1 / MS) {
            let last = one.released.map_or(u64::MAX, |at| at / MS);
            let clock = (began + lasts - margin).min(last);
            let earliest = one.alive.map_or(clock, |alive| clock.min((alive / MS).max(began)));
            for end in earliest..=(began + lasts + margin).min(last) {
                let beside = |at: u64| {
                    let held = placed
                        .iter()
                        .filter(|(node, from, to)| *node != one.node && *from <= at && at < *to);
                    held.map(|(node, ..)| *node).collect::<BTreeSet<_>>().len()
                };
                if (began..end).all(|at| beside(at) < capacity) {
                    placed.push((one.node, began, end));
                    if place(rest, term, capacity, placed) {
                        return true;
                    }
                    placed.pop();
                }
            }
        }
        false
    }
    place(all, (lasts, margin), capacity, &mut Vec::new())
}

#[test]
fn the_clock_convicts_by_the_definition_alone_and_no_execution_is_innocent() {
    let all = crate::histories(10_000);
    let (mut convicted, mut late, mut minimal) = (0, 0, 0);
    for seed in 0..all {
        let (record, term) = random(seed);
        let events = &record.history.events;
        let results = check(&record);
        let names: BTreeSet<&str> = brute_force::names(events).into_iter().collect();
        let certain: Vec<Certain<'_>> = names.iter().filter_map(|name| certain(events, name, term)).collect();
        let granted = |at: &usize| events[*at].f == "acquire";
        let over = expect::of_kind(&results, "over-capacity");
        let found: BTreeSet<usize> = over
            .iter()
            .filter_map(|one| one.witness.iter().copied().rfind(granted))
            .collect();
        assert_eq!(found, overlaps(&record, &certain), "seed {seed}\n{events:#?}");
        if !found.is_empty() {
            convicted += 1;
            assert!(
                !innocent_execution(&certain, term, brute_force::capacity(&record)),
                "seed {seed}\n{events:#?}"
            );
        }
        let overdue = expect::of_kind(&results, "overdue-work");
        assert_eq!(overdue.len(), overdue_grants(events, term).len(), "seed {seed}");
        late += usize::from(!overdue.is_empty());
        for anomaly in over.into_iter().chain(overdue) {
            if minimal < 1_000 {
                expect::minimal(&record, anomaly);
                minimal += 1;
            }
        }
    }
    println!("{convicted} over capacity, {late} with overdue work, of {all}");
    assert!(
        convicted > all as usize / 100 && late > all as usize / 100,
        "{convicted} {late}"
    );
}

/// By the definition: the grants under which work was begun that its lease could not outlast.
fn overdue_grants(events: &[Event], term: Term) -> BTreeSet<&str> {
    fn overdue<'a>(events: &'a [Event], event: &'a Event, Term(lasts, margin): Term) -> Option<&'a str> {
        let name = event.grant()?;
        let (read, sent) = (
            brute_force::read(events, name)?,
            brute_force::sent(events, event.index)?,
        );
        let work_ms = events[sent].value["work_ms"].as_u64().unwrap_or(0);
        let over = events[sent].time + work_ms * MS > events[read].time + (lasts + margin) * MS;
        (sent > read && over && node(event) == node(&events[read])).then_some(name)
    }
    let worked = |event: &&Event| event.f == "work" && event.kind == EventType::Ok;
    events
        .iter()
        .filter(worked)
        .filter_map(|event| overdue(events, event, term))
        .collect()
}

/// Spoilt evidence: fields that are gone, and answers that pair with no request. Nothing more is found for it than in
/// the whole history, and what is found is proven by itself.
#[test]
fn what_is_spoilt_convicts_nobody_else() {
    for seed in 0..crate::histories(4_000) {
        let (mut record, _) = random(seed);
        let before = kinds(&check(&record)).len();
        let mut rng = Rng::with_seed(seed ^ 0x1ea5e);
        let granted = |event: &&Event| event.f == "acquire" && event.kind == EventType::Invoke;
        let asked: Vec<usize> = record
            .history
            .events
            .iter()
            .filter(granted)
            .map(|event| event.index)
            .collect();
        let at = asked[rng.usize(0..asked.len())];
        record.history.events.remove(at);
        script::number(&mut record.history.events);
        assert!(kinds(&check(&record)).len() <= before, "seed {seed}");
    }
}
