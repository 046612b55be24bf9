//! The definition of `blocked-transaction`, said again in the plainest way. On purpose without anything of the checkers
//! but the events.

use super::brute_force::{completion, requests, told};
use crate::liveness::{bound, node, recovery};
use zooquake_history::{Event, EventType, Process, Record};

pub fn blocked(record: &Record, tx: &str) -> bool {
    let events = &record.history.events;
    let Some((recovered, end)) = recovery(events) else {
        return false;
    };
    let is = |event: &Event, f: &str, node_of: &str| {
        event.f == f && node(event) == node_of && matches!(event.process, Process::Name(_))
    };
    let down = |client: &str| {
        let exit = (0..=end).rev().find(|&at| is(&events[at], "exit", client));
        exit.is_some_and(|exit| !events[exit..=end].iter().any(|event| is(event, "hello", client)))
    };
    let began = |event: &Event| {
        ["begin", "vote"].contains(&event.f.as_str()) && event.kind == EventType::Ok && event.tx() == Some(tx)
    };
    let last = record.tree.as_ref().and_then(|tree| tree.readings.last());
    let stands = last.is_some_and(|last| last.znodes.iter().any(|znode| znode.path == format!("/app/{tx}")));
    if ["c1", "c2", "c3"].into_iter().any(down) || !(stands || events.iter().any(began)) {
        return false;
    }
    let durations = (0..events.len())
        .filter(|&at| events[at].f == "decided" && events[at].kind == EventType::Invoke)
        .filter_map(|at| Some((at, completion(events, at)?)))
        .filter(|&(_, answer)| answer < end && events[answer].kind == EventType::Ok)
        .map(|(at, end)| events[end].time - events[at].time);
    let bound = bound(durations);
    let pending = |asked: usize| {
        let event = &events[asked];
        let decides = ["decide", "decided"].contains(&event.f.as_str()) && event.kind == EventType::Invoke;
        if !decides || event.tx() != Some(tx) {
            return false;
        }
        let done = completion(events, asked);
        let until = match done.filter(|&done| done <= end) {
            Some(done) if done > recovered && events[done].kind != EventType::Ok => done,
            Some(_) => return false,
            None => end,
        };
        let dies = (asked..=done.unwrap_or(end).min(end)).any(|at| is(&events[at], "exit", node(event)));
        !dies && events[until].time.saturating_sub(events[asked.max(recovered)].time) >= bound
    };
    (0..end).any(pending)
        || ["c1", "c2", "c3"].iter().any(|who| {
            ["decide", "decided"]
                .iter()
                .any(|f| in_turn(record, (*who, *f, tx), (recovered, end), bound))
        })
}

/// Whether a client was asked at least twice over the bound, each time without knowing the decision: it failed each
/// time, or all of it was before or all of it after the first such answer to any client.
fn in_turn(record: &Record, (who, f, tx): (&str, &str, &str), (recovered, end): (usize, usize), bound: u64) -> bool {
    let events = &record.history.events;
    let exits = |from: usize, to: usize| {
        let exit = |event: &Event| event.f == "exit" && node(event) == who;
        events[from..=to].iter().any(exit)
    };
    let asked = requests(&events[..end], f, tx).filter(|&at| node(&events[at]) == who);
    let ends = asked.filter_map(|at| {
        let done = completion(events, at).filter(|&done| done <= end);
        let dies = exits(at, done.unwrap_or(end));
        (!dies && done.is_none_or(|done| done > recovered)).then_some((at, done))
    });
    let ends: Vec<(usize, Option<usize>)> = ends.collect();
    // A question whose last answer names the decision was not blocked.
    let known = |(_, done): &(usize, Option<usize>)| done.is_some_and(|done| events[done].kind == EventType::Ok);
    let last = ends.iter().rposition(known).map_or(0, |at| at + 1);
    let told = ["decide", "decided"].iter().flat_map(|f| told(record, f, tx));
    let told = told.map(|(at, ..)| at).min().unwrap_or(usize::MAX);
    // One that is pending, and the end of the process, begins a new series.
    let mut all: Vec<Vec<(usize, usize)>> = vec![vec![]];
    for &(at, done) in &ends[last..] {
        let series = all.last_mut().expect("one");
        match (done, series.last()) {
            (None, _) => all.push(vec![]),
            (Some(done), Some(&(_, before))) if exits(before, at) => all.push(vec![(at, done)]),
            (Some(done), _) => series.push((at, done)),
        }
    }
    all.iter().any(|series| {
        let over = |round: Vec<(usize, usize)>| {
            let (Some(first), Some(last)) = (round.first(), round.last()) else {
                return false;
            };
            let lasted = events[last.1].time.saturating_sub(events[first.0.max(recovered)].time);
            round.len() > 1 && lasted >= bound
        };
        let of = |which: &dyn Fn(&(usize, usize)) -> bool| series.iter().copied().filter(|one| which(one)).collect();
        if series.iter().all(|(_, done)| events[*done].kind == EventType::Fail) {
            return over(series.clone());
        }
        over(of(&|(_, done)| *done < told)) || over(of(&|(at, _)| *at > told))
    })
}
