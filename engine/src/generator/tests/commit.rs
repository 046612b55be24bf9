//! The end of two-phase commits: what is asked about transactions that nobody could decide, and when all of it was
//! asked.

use super::*;
use zooquake_history::operation::commit;

const BOUND: Duration = Duration::from_secs(10);

/// The generator after recovery. Before it no site received the decision of any transaction; `begun` states of each
/// whether it certainly began.
fn undecided(begun: &[bool]) -> Box<dyn Generator> {
    let mut plan = plan("commit/atomic");
    plan.transactions = vec![PlannedTransaction {
        votes: vec![true; CLIENTS - 1],
        work_ms: vec![10; CLIENTS - 1],
        early: true,
    }];
    let mut generator = from_plan(&plan).unwrap();
    begun.iter().for_each(|begun| leave_undecided(&mut *generator, *begun));
    generator.recovered(&AnsweredDurations::default());
    generator
}

/// Plays a transaction of which no decision is answered; where it is not known to have begun, nothing else is either.
fn leave_undecided(generator: &mut dyn Generator, begun: bool) {
    let (phase, now) = (GeneratorPhase::Load, Duration::ZERO);
    let at = GeneratorMoment { phase, now };
    // Each site is asked twice.
    let mut left = 2 * (CLIENTS - 1);
    for client in (0..CLIENTS).cycle() {
        if let Assignment::Ask(request) = generator.next(client, at) {
            left -= usize::from(request.f == "decided");
            let known = begun && !request.f.starts_with("decide");
            let kind = if known { EventType::Ok } else { EventType::Info };
            let end = end(kind, request.value.clone());
            generator.ended(client, &op(request, at.now), &end, at);
        }
        if left == 0 {
            return;
        }
    }
}

/// What the site is asked at the end, while all sites have these decisions only, and all else is answered. A site
/// that cannot takes all its time. Each with that time.
fn asked(generator: &mut dyn Generator, site: usize, knows: &[&str], turns: usize) -> Vec<(String, u64)> {
    let (mut asked, mut now) = (Vec::new(), Duration::ZERO);
    for _ in 0..turns {
        let begun = now;
        for client in 0..CLIENTS {
            let Assignment::Ask(request) = generator.next(client, at(begun)) else {
                continue;
            };
            let tx = request.value["tx"].as_str().unwrap_or_default().to_string();
            let known = request.f != "decided" || knows.contains(&tx.as_str());
            let time = request.timeout_ms.unwrap();
            if client == site && request.f == "decided" {
                asked.push((tx.clone(), time));
            }
            let kind = if known { EventType::Ok } else { EventType::Info };
            let ended = begun + Duration::from_millis(if known { 0 } else { time });
            now = now.max(ended);
            let (op, end) = (op(request, begun), end(kind, json!({ "tx": tx })));
            generator.ended(client, &op, &end, at(ended));
        }
    }
    asked
}

fn told(asked: &[(String, u64)]) -> Vec<(&str, u64)> {
    asked.iter().map(|(tx, ms)| (tx.as_str(), *ms)).collect()
}

#[test]
fn every_decision_is_asked_for_in_turn_until_each_was_asked_for_twice_over_the_bound() {
    let mut generator = undecided(&[true; 3]);
    let all = asked(&mut *generator, 1, &["t2", "t4"], 3);
    assert!(generator.unasked(1), "{all:?}");
    let expected = ["t4", "t1", "t2", "t3", "t1", "t3"].map(|tx| (tx, 4_000));
    let mut generator = undecided(&[true; 3]);
    let all = asked(&mut *generator, 1, &["t2", "t4"], 20);
    assert_eq!(told(&all), expected);
    assert!(!generator.unasked(1) && !generator.finished(1), "{all:?}");
}

#[test]
fn one_that_never_began_as_far_as_is_known_takes_no_time_from_one_that_did() {
    let mut generator = undecided(&[false, true]);
    let all = asked(&mut *generator, 1, &["t3"], 20);
    let expected = ["t3", "t1", "t2", "t2", "t2"].map(|tx| (tx, 4_000));
    assert_eq!(told(&all), expected, "from 4 s to 16 s, where 10 s are the bound");
    assert!(!generator.unasked(1) && !generator.finished(1));
    // Where none certainly began, one of them may have all the same.
    let mut generator = undecided(&[false, false]);
    let all = asked(&mut *generator, 1, &["t3"], 20);
    assert_eq!(told(&all)[1..], ["t1", "t2", "t1", "t2"].map(|tx| (tx, 4_000)));
}

#[test]
fn a_single_decision_is_asked_for_longer_than_the_bound() {
    for begun in [true, false] {
        let mut generator = undecided(&[begun]);
        let all = asked(&mut *generator, 1, &["t2"], 20);
        assert_eq!(told(&all), [("t2", 4_000), ("t1", 12_000)]);
        assert!(!generator.unasked(1) && !generator.finished(1));
    }
}

#[test]
fn a_decision_is_asked_for_over_the_bound_that_the_answers_give_also_those_after_recovery() {
    let mut generator = undecided(&[true]);
    asked(&mut *generator, 1, &["t2"], 20);
    assert!(!generator.unasked(1));
    // Two answers took no time, and now three take 4 s each.
    let request = OperationRequest::new(&commit::CommitRequest::Decided { tx: "t2".to_string() }, 4_000);
    let (late, end) = (op(request, BOUND), end(EventType::Ok, json!({ "tx": "t2" })));
    let ended = BOUND + Duration::from_secs(4);
    for _ in 0..3 {
        generator.ended(2, &late, &end, at(ended));
    }
    assert!(generator.unasked(1));
    let Assignment::Ask(request) = generator.next(1, at(ended)) else {
        panic!("it is asked about t1 again")
    };
    assert_eq!((&request.value["tx"], request.timeout_ms), (&json!("t1"), Some(42_000)));
}

#[test]
fn a_site_has_two_session_timeouts_for_a_question() {
    let mut plan = plan("commit/atomic");
    plan.cluster.timing.session_ms = 4_000;
    plan.transactions = vec![PlannedTransaction::default()];
    plan.transactions[0].votes = vec![true; CLIENTS - 1];
    plan.transactions[0].work_ms = vec![0; CLIENTS - 1];
    let mut generator = from_plan(&plan).unwrap();
    (0..2).for_each(|_| leave_undecided(&mut *generator, true));
    generator.recovered(&AnsweredDurations::default());
    let all = asked(&mut *generator, 1, &["t3"], 20);
    assert_eq!(told(&all), ["t3", "t1", "t2", "t1", "t2"].map(|tx| (tx, 8_000)));
}

#[test]
fn of_many_transactions_a_site_is_asked_about_the_oldest_and_the_newest() {
    let mut generator = undecided(&[true; 6]);
    let all = ["t1", "t2", "t3", "t4", "t5", "t6", "t7"];
    let asked = asked(&mut *generator, 1, &all, 10);
    let asked: Vec<&str> = told(&asked).into_iter().map(|(tx, _)| tx).collect();
    assert_eq!(asked, ["t7", "t1", "t2", "t3", "t6"]);
    assert!(finished(&*generator));
}

#[test]
fn a_site_is_asked_for_a_decision_that_another_was_told_as_often_again() {
    let mut generator = undecided(&[true; 2]);
    let first = asked(&mut *generator, 1, &["t3"], 4);
    assert_eq!(told(&first)[1..], [("t1", 4_000), ("t2", 4_000)]);
    // The other one is asked for t1, too, and knows it now; it is 8 s.
    let ask = generator.next(2, at(Duration::from_secs(8)));
    let Assignment::Ask(request) = ask else {
        panic!("{ask:?}")
    };
    assert_eq!(request.value["tx"], "t1");
    let (op, end) = (op(request, BOUND), end(EventType::Ok, json!({ "tx": "t1" })));
    generator.ended(2, &op, &end, at(Duration::from_secs(8)));
    let mut now = Duration::from_secs(8);
    let mut of_first = 0;
    while let Assignment::Ask(request) = generator.next(1, at(now)) {
        let tx = request.value["tx"].clone();
        of_first += usize::from(tx == "t1");
        now += Duration::from_millis(request.timeout_ms.unwrap());
        let end = super::end(EventType::Info, json!({ "tx": tx }));
        generator.ended(1, &super::op(request, BOUND), &end, at(now));
    }
    assert!(of_first >= 2, "{of_first}");
}

#[test]
fn who_died_over_a_question_is_asked_it_anew() {
    let mut generator = undecided(&[true; 2]);
    asked(&mut *generator, 1, &["t3"], 4);
    let mut asks = Vec::new();
    for seconds in [8, 12, 16, 20, 24, 28] {
        let now = Duration::from_secs(seconds);
        let Assignment::Ask(request) = generator.next(1, at(now)) else {
            break;
        };
        asks.push(request.value["tx"].as_str().unwrap().to_string());
        match seconds {
            8 => generator.died(1),
            _ => {
                let end = end(EventType::Info, request.value.clone());
                generator.ended(1, &op(request, now), &end, at(now + Duration::from_secs(4)));
            }
        }
    }
    assert_eq!(asks, ["t1", "t2", "t1", "t1", "t1"], "t1 from 16 s on");
}

/// What the coordinator is asked when its `begin` ends so, and no site can vote on that transaction if `lost`.
fn closing(kind: EventType, lost: bool) -> Vec<String> {
    let mut generator = undecided(&[]);
    let mut told = Vec::new();
    for _ in 0..12 {
        for client in 0..CLIENTS {
            let Assignment::Ask(request) = generator.next(client, at(Duration::ZERO)) else {
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
