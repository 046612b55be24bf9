//! Plans that are a step smaller than one (fewer clients, fewer operations, shorter times), and the least part of a
//! list that still fails, by delta debugging.

use super::asked;
use crate::planning::admission;
use crate::planning::case::Case;
use anyhow::Result;
use zooquake_history::plan::{Plan, Target, Trigger, Window};
use zooquake_history::{Node, Record};

/// The plans that are smaller than that of a case in one way, the smallest first.
pub type Reduction = fn(&Case, &Record) -> Vec<Plan>;

/// All ways, those that take away most first.
pub const REDUCTIONS: &[Reduction] = &[clients, skipped, operations, work, windows];

/// Without one client. The others keep their order and are named anew.
fn clients(case: &Case, _: &Record) -> Vec<Plan> {
    let all = 0..case.plan().cluster.clients;
    let without = all.rev().filter_map(|number| without(case.plan(), number));
    let cases = without.map(|plan| case.replanned(plan));
    let admitted = cases.filter(|case| admission::check(case).is_ok());
    admitted.map(Case::into_plan).collect()
}

fn without(plan: &Plan, number: usize) -> Option<Plan> {
    let mut plan = plan.clone();
    if plan.cluster.clients < 2 || number >= plan.clients.len() {
        return None;
    }
    plan.cluster.clients -= 1;
    plan.clients.remove(number);
    // The first client of a commit coordinates, and each other one is a site.
    let site = number.checked_sub(1);
    for transaction in &mut plan.transactions {
        let site = site?;
        if site < transaction.votes.len() {
            transaction.votes.remove(site);
        }
        if site < transaction.work_ms.len() {
            transaction.work_ms.remove(site);
        }
    }
    for host in &mut plan.cluster.hosts {
        host.nodes = host.nodes.iter().filter_map(|node| renamed(node, number)).collect();
    }
    for window in &mut plan.windows {
        if let Target::Node(node) = &mut window.target {
            *node = renamed(node, number)?;
        }
        if let Trigger::Op { client, .. }
        | Trigger::State {
            client: Some(client), ..
        } = &mut window.trigger
        {
            *client = renamed(client, number)?;
        }
    }
    Some(plan)
}

/// A node once a client, counted from 0, is left out; `None` if it is that one.
fn renamed(node: &Node, left_out: usize) -> Option<Node> {
    match node.number().filter(|_| node.is_client()) {
        Some(own) if own == left_out + 1 => None,
        Some(own) if own > left_out + 1 => Some(Node::client(own - 1)),
        _ => Some(node.clone()),
    }
}

/// Without the first rounds of all clients, as many as each window that is pinned to an operation lets: half of them,
/// or one. A round is a transaction, or a cycle.
fn skipped(case: &Case, _: &Record) -> Vec<Plan> {
    let plan = case.plan();
    let moments = plan.windows.iter().filter_map(|window| match &window.trigger {
        Trigger::Op { nth, .. } => Some(*nth),
        _ => None,
    });
    let most = moments.min().unwrap_or(1).saturating_sub(1);
    let mut rounds = vec![most, most / 2, most.min(1)];
    rounds.dedup();
    rounds.retain(|rounds| *rounds > 0);
    rounds.into_iter().map(|rounds| without_first(plan, rounds)).collect()
}

fn without_first(plan: &Plan, rounds: u64) -> Plan {
    let mut plan = plan.clone();
    let skip = |length: usize| usize::try_from(rounds).map_or(0, |rounds| rounds % length.max(1));
    let first = skip(plan.transactions.len());
    plan.transactions.rotate_left(first);
    for client in &mut plan.clients {
        let first = skip(client.cycles.len());
        client.cycles.rotate_left(first);
        client.ops = client.ops.map(|ops| ops.saturating_sub(rounds));
    }
    for window in &mut plan.windows {
        if let Trigger::Op { nth, .. } = &mut window.trigger {
            *nth -= rounds;
        }
    }
    plan
}

/// With fewer operations: all clients with half of theirs, with one or two less than the busiest has, then one client
/// with none, with half of its own, with one less. Where they do a thing together, one client alone cannot do less of
/// it.
fn operations(case: &Case, record: &Record) -> Vec<Plan> {
    let plan = case.plan();
    let done = |number: usize| {
        let client = Node::client(number + 1);
        asked(record)
            .filter(|event| event.client().as_ref() == Some(&client))
            .count() as u64
    };
    let each: Vec<u64> = (0..plan.clients.len())
        .map(|number| plan.clients[number].ops.unwrap_or(u64::MAX).min(done(number)))
        .collect();
    let with = |ops: &[u64]| {
        let mut plan = plan.clone();
        for (client, ops) in plan.clients.iter_mut().zip(ops) {
            client.ops = Some(*ops);
        }
        plan
    };
    let most = each.iter().copied().max().unwrap_or(0);
    let at_most = |most: u64| with(&each.iter().map(|ops| most.min(*ops)).collect::<Vec<_>>());
    let mut smaller = vec![with(&each.iter().map(|ops| ops / 2).collect::<Vec<_>>()), with(&each)];
    smaller.extend([most / 2, most.saturating_sub(2), most.saturating_sub(1)].map(at_most));
    for (number, ops) in each.iter().enumerate() {
        for fewer in [0, ops / 2, ops.saturating_sub(1)] {
            let mut one = each.clone();
            one[number] = fewer;
            smaller.push(with(&one));
        }
    }
    smaller.retain(|smaller| total(smaller) < total(plan));
    smaller
}

/// Operations of a plan; more than any number where a client has as many as there is time for.
fn total(plan: &Plan) -> u64 {
    plan.clients
        .iter()
        .map(|client| client.ops.unwrap_or(u64::MAX))
        .fold(0, u64::saturating_add)
}

/// With clients that do not think, and work no longer than they must.
fn work(case: &Case, _: &Record) -> Vec<Plan> {
    let plan = case.plan();
    let changed = |change: &dyn Fn(&mut Plan)| {
        let mut smaller = plan.clone();
        change(&mut smaller);
        (smaller != *plan).then_some(smaller)
    };
    let cycles = |smaller: &mut Plan, think: bool, work: bool| {
        for cycle in smaller.clients.iter_mut().flat_map(|client| &mut client.cycles) {
            if think {
                cycle.think_ms = 0;
            }
            if work {
                cycle.writes.iter_mut().for_each(|ms| *ms = (*ms).min(1));
            }
        }
        for transaction in smaller.transactions.iter_mut().filter(|_| work) {
            transaction.work_ms.iter_mut().for_each(|ms| *ms = (*ms).min(1));
        }
    };
    let kept = |plan: &mut Plan| {
        for client in &mut plan.clients {
            let most = client
                .ops
                .and_then(|ops| usize::try_from(ops).ok())
                .unwrap_or(usize::MAX);
            client.cycles.truncate(most.max(1));
        }
        let rounds = plan.clients.iter().filter_map(|client| client.ops).max();
        let rounds = rounds.and_then(|rounds| usize::try_from(rounds).ok());
        plan.transactions.truncate(rounds.unwrap_or(usize::MAX).max(1));
    };
    let all = [
        changed(&|plan| cycles(plan, true, true)),
        changed(&|plan| cycles(plan, true, false)),
        changed(&|plan| cycles(plan, false, true)),
        changed(&kept),
    ];
    all.into_iter().flatten().collect()
}

/// With the windows that strike by the clock pinned to the operations that they struck in: another clock strikes at
/// another moment once something is left out. `pinned` is the plan with all windows pinned.
pub fn by_moments(plan: &Plan, pinned: &Plan) -> Option<Plan> {
    let mut smaller = plan.clone();
    for window in &mut smaller.windows {
        let moment = pinned.windows.iter().find(|other| other.id == window.id);
        if let (Trigger::At { .. }, Some(moment)) = (&window.trigger, moment) {
            window.trigger = moment.trigger.clone();
        }
    }
    (smaller != *plan).then_some(smaller)
}

/// The shortest that a window is made, in milliseconds.
const SHORTEST_MS: u64 = 50;

/// With one window that strikes as soon as it can, or lasts half as long.
fn windows(case: &Case, _: &Record) -> Vec<Plan> {
    let plan = case.plan();
    let mut smaller = Vec::new();
    for number in 0..plan.windows.len() {
        for change in [at_once, shorter] {
            let mut plan = plan.clone();
            if change(&mut plan.windows[number]) {
                smaller.push(plan);
            }
        }
    }
    smaller
}

fn at_once(window: &mut Window) -> bool {
    let before = window.trigger.clone();
    match &mut window.trigger {
        Trigger::At { .. } | Trigger::Op { .. } | Trigger::Count { .. } => {}
        Trigger::State { from_ms, after_ms, .. } => (*from_ms, *after_ms) = (0, 0),
    }
    window.trigger != before
}

fn shorter(window: &mut Window) -> bool {
    let half = (window.duration_ms / 2).max(SHORTEST_MS);
    let is_shorter = half < window.duration_ms;
    window.duration_ms = half.min(window.duration_ms);
    is_shorter
}

/// Reduces a list that fails to one that does, such that it does not without any one of its elements. `fails` returns
/// whether a part does; the whole does.
///
/// # Errors
/// The first one of `fails`.
pub fn minimize<T: Clone>(all: &[T], mut fails: impl FnMut(&[T]) -> Result<bool>) -> Result<Vec<T>> {
    let mut kept = all.to_vec();
    if kept.is_empty() || fails(&[])? {
        return Ok(Vec::new());
    }
    let mut parts = 2;
    while kept.len() > 1 {
        let size = kept.len().div_ceil(parts);
        let chunks: Vec<Vec<T>> = kept.chunks(size).map(<[T]>::to_vec).collect();
        let without = |left_out: usize| -> Vec<T> {
            let others = chunks.iter().enumerate().filter(|(number, _)| *number != left_out);
            others.flat_map(|(_, chunk)| chunk.clone()).collect()
        };
        let mut smaller = None;
        for number in 0..chunks.len() {
            if fails(&chunks[number])? {
                smaller = Some((chunks[number].clone(), 2));
                break;
            }
            // Of two parts the one is what is left without the other.
            if chunks.len() > 2 && fails(&without(number))? {
                smaller = Some((without(number), (parts - 1).max(2)));
                break;
            }
        }
        match smaller {
            Some((part, next)) => (kept, parts) = (part, next),
            None if parts >= kept.len() => break,
            None => parts = (2 * parts).min(kept.len()),
        }
    }
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use super::{minimize, *};

    #[test]
    fn the_clients_after_one_that_is_left_out_are_named_anew() {
        let client = |number| renamed(&Node::client(number), 1);
        assert_eq!(client(3), Some(Node::client(2)));
        assert_eq!(client(1), Some(Node::client(1)));
        assert_eq!(client(2), None);
        assert_eq!(renamed(&Node::server(2), 1), Some(Node::server(2)));
    }

    #[test]
    fn what_is_left_fails_and_nothing_of_it_can_be_left_out() {
        let mut rng = fastrand::Rng::with_seed(1);
        for _ in 0..500 {
            let all: Vec<u32> = (0..rng.u32(0..12)).collect();
            // It fails where it has one of these sets whole.
            let set =
                |rng: &mut fastrand::Rng| -> Vec<u32> { all.iter().copied().filter(|_| rng.u32(0..4) == 0).collect() };
            let sets = [set(&mut rng), set(&mut rng)];
            let fails = |part: &[u32]| sets.iter().any(|set| set.iter().all(|element| part.contains(element)));
            let kept = minimize(&all, |part| Ok(fails(part))).unwrap();
            assert!(fails(&kept), "{all:?} {sets:?} {kept:?}");
            for left_out in &kept {
                let rest: Vec<u32> = kept.iter().copied().filter(|element| element != left_out).collect();
                assert!(!fails(&rest), "{all:?} {sets:?}: {kept:?} without {left_out}");
            }
        }
    }

    #[test]
    fn an_error_ends_it() {
        assert!(minimize(&[1, 2], |_| anyhow::bail!("no")).is_err());
    }
}
