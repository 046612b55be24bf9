//! The end of two-phase commits: what is asked about transactions that nobody could decide, and when all of it was asked.

use super::*;

const BOUND: Duration = Duration::from_secs(10);

/// The generator after recovery; in so many transactions before that no site heard the decision.
fn undecided(transactions: usize) -> Box<dyn Generator> {
    let mut plan = plan("commit/atomic");
    plan.transactions = vec![Transaction {
        votes: vec![true; CLIENTS - 1],
        work_ms: vec![10; CLIENTS - 1],
        early: true,
    }];
    let mut generator = of(&plan).unwrap();
    for _ in 0..transactions {
        while !all_undecided(&mut *generator) {}
    }
    generator.recovered(BOUND);
    generator
}

/// One turn of the operations: all is answered but the decision. Whether a transaction has come to its end.
fn all_undecided(generator: &mut dyn Generator) -> bool {
    let (phase, now) = (Phase::Load, Duration::ZERO);
    let at = Moment { phase, now };
    let mut ended = 0;
    for client in 0..CLIENTS {
        if let Next::Ask(request) = generator.next(client, at) {
            let decides = request.f.starts_with("decide");
            ended += usize::from(decides);
            let kind = if decides { EventType::Info } else { EventType::Ok };
            let end = end(kind, request.value.clone());
            generator.ended(client, &op(request, at.now), &end, at);
        }
    }
    // Only sites are asked for it a second time.
    ended == CLIENTS - 1
}

/// What the site is asked at the end, while the others do all that they are asked; `knows` the decisions that it can tell.
/// Each with the time to answer.
fn asked(generator: &mut dyn Generator, site: usize, knows: &[&str], turns: usize) -> Vec<(String, u64)> {
    let mut asked = Vec::new();
    for _ in 0..turns {
        for client in 0..CLIENTS {
            let Next::Ask(request) = generator.next(client, at(Duration::ZERO)) else {
                continue;
            };
            let tx = request.value["tx"].as_str().unwrap_or_default().to_string();
            let mut kind = EventType::Ok;
            if client == site && request.f == "decided" {
                asked.push((tx.clone(), request.timeout_ms.unwrap()));
                if !knows.contains(&tx.as_str()) {
                    kind = EventType::Info;
                }
            }
            let (op, end) = (op(request, Duration::ZERO), end(kind, json!({ "tx": tx })));
            generator.ended(client, &op, &end, at(Duration::ZERO));
        }
    }
    asked
}

fn told(asked: &[(String, u64)]) -> Vec<(&str, u64)> {
    asked.iter().map(|(tx, ms)| (tx.as_str(), *ms)).collect()
}

#[test]
fn every_decision_is_asked_for_once_before_one_is_asked_for_the_whole_bound() {
    let mut generator = undecided(3);
    let all = asked(&mut *generator, 1, &["t2", "t4"], 10);
    let expected = [
        ("t4", 4_000),
        ("t1", 4_000),
        ("t2", 4_000),
        ("t3", 4_000),
        ("t1", 12_000),
        ("t3", 12_000),
    ];
    assert_eq!(told(&all)[..6], expected);
    assert!(
        !generator.unasked(1) && !generator.finished(1) && generator.finished(2),
        "{all:?}"
    );
}

#[test]
fn of_many_transactions_a_site_is_asked_about_the_oldest_and_the_newest() {
    let mut generator = undecided(6);
    let all = ["t1", "t2", "t3", "t4", "t5", "t6", "t7"];
    let asked = asked(&mut *generator, 1, &all, 10);
    let asked: Vec<&str> = told(&asked).into_iter().map(|(tx, _)| tx).collect();
    assert_eq!(asked, ["t7", "t1", "t2", "t3", "t6"]);
    assert!(finished(&*generator));
}

#[test]
fn what_was_not_asked_yet_is_told_until_it_was() {
    let mut generator = undecided(3);
    assert!(!generator.unasked(1), "the closing transaction comes first");
    asked(&mut *generator, 1, &[], 3);
    assert!(generator.unasked(1));
    asked(&mut *generator, 1, &[], 10);
    assert!(!generator.unasked(1));
}

/// What the coordinator is asked when its `begin` ends so, and no site can vote on that transaction if `lost`.
fn closing(kind: EventType, lost: bool) -> Vec<String> {
    let mut generator = undecided(0);
    let mut told = Vec::new();
    for _ in 0..12 {
        for client in 0..CLIENTS {
            let Next::Ask(request) = generator.next(client, at(Duration::ZERO)) else {
                continue;
            };
            let tx = request.value["tx"].as_str().unwrap().to_string();
            let first = tx == "t1";
            if client == 0 {
                told.push(format!("{} {tx}", request.f));
            }
            let kind = match request.f {
                "begin" if first => kind,
                "decide" if first && told.len() < 5 => EventType::Info,
                _ if first && lost => EventType::Info,
                _ => EventType::Ok,
            };
            let (op, end) = (op(request, Duration::ZERO), end(kind, json!({ "tx": tx })));
            generator.ended(client, &op, &end, at(Duration::ZERO));
        }
    }
    assert!(finished(&*generator), "{told:?}");
    told
}

#[test]
fn a_closing_transaction_that_never_began_as_far_as_is_known_is_followed_by_another() {
    let told = closing(EventType::Info, true);
    assert_eq!(told[..2], ["begin t1", "decide t1"]);
    let another = ["begin t2", "decide t2"];
    assert_eq!(told[told.len() - 2..], another, "{told:?}");
    assert_eq!(closing(EventType::Fail, true), ["begin t1", "begin t2", "decide t2"]);
}

#[test]
fn a_closing_transaction_that_somebody_voted_on_is_decided() {
    let told = closing(EventType::Info, false);
    assert_eq!(told, ["begin t1", "decide t1", "decide t1", "decide t1", "decide t1"]);
}
