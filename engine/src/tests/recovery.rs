//! What follows the faults: recovery, the last operations within the bound of liveness, the drain, the audit.

use super::*;
use zooquake_history::evidence::Reading;

/// The bound of liveness of a run whose waits were short, and what the engine waits beyond it.
const BOUND_MS: u64 = 10_300;

pub fn leader() -> Leader {
    Leader {
        server: Node::server(2),
        epoch: 3,
    }
}

/// Recovered, with an operation of each client pending since before.
fn last_ops(name: &str, clients: usize) -> Bench {
    let mut bench = Bench::recovering(name, clients);
    bench.step(Input::Answer(ShellAnswer::Steady(Ok(leader()))));
    bench.all_ok("quiesce");
    assert_eq!(bench.phases(), ["ops", "heal", "recover", "recovered", "final"]);
    bench
}

/// Every client does what it is asked and what follows from it, until nothing is asked.
fn finish(bench: &mut Bench) {
    while let Some((client, request)) = bench.sent.first().cloned() {
        bench.ok(client, &request.f);
        bench.pass(100);
    }
}

fn stall(bench: &mut Bench, count: usize) {
    bench.step(Input::Stalled(Stalls {
        count,
        last: Duration::from_secs(3),
        lost: Duration::from_secs(3) * count as u32,
    }));
}

#[test]
fn each_client_finishes_one_thing_more_and_the_tree_is_audited() {
    let mut bench = last_ops("lock/fenced", 2);
    finish(&mut bench);
    assert_eq!(bench.phases()[5..], ["audit"]);
    let reading = |index| Reading {
        index,
        end_index: index + 1,
        znodes: Vec::new(),
    };
    assert!(took!(bench, Effect::Ask(Question::Tree)));
    bench.step(Input::Answer(ShellAnswer::Tree(Ok(reading(10)))));
    assert!(!took!(bench, Effect::Ask(Question::Tree)), "first all are asked");
    bench.all_ok("quiesce");
    assert!(took!(bench, Effect::Ask(Question::Tree)));
    bench.step(Input::Answer(ShellAnswer::Tree(Ok(reading(20)))));
    assert_eq!(bench.phases()[5..], ["audit", "done"]);
    assert!(took!(bench, Effect::Done(Conclusion::Audited(Ok(tree))) if tree.readings.len() == 2));
}

#[test]
fn a_tree_that_cannot_be_read_gives_the_reason() {
    let mut bench = last_ops("lock/fenced", 1);
    finish(&mut bench);
    bench.step(Input::Answer(ShellAnswer::Tree(Err("no server leads".to_string()))));
    bench.pass(10_000);
    bench.step(Input::Answer(ShellAnswer::Tree(Err("no server leads".to_string()))));
    assert!(took!(bench, Effect::Done(Conclusion::Audited(Err(why))) if why == "no server leads"));
}

#[test]
fn recovery_is_begun_three_times_at_most() {
    let mut bench = Bench::recovering("lock/fenced", 2);
    bench.step(Input::Answer(ShellAnswer::Steady(Err(
        "two servers report that they lead".to_string(),
    ))));
    assert!(took!(bench, Effect::Ask(Question::Steady)));
    // c2 answers no `quiesce`.
    bench.step(Input::Answer(ShellAnswer::Steady(Ok(leader()))));
    bench.ok(0, "quiesce");
    bench.pass(9_999);
    assert!(!took!(bench, Effect::Ask(Question::Steady)));
    bench.pass(1);
    assert!(took!(bench, Effect::Ask(Question::Steady)));
    bench.step(Input::Answer(ShellAnswer::Steady(Err("no server leads".to_string()))));
    let why = "not-recovered: in 3 attempts; the last one: no steady leader: no server leads";
    assert_eq!(bench.phases()[2..], ["recover", "recover", "recover", why, "audit"]);
}

#[test]
fn what_stays_pending_for_the_bound_is_its_own_doing_if_all_answer_and_the_same_server_leads() {
    for well in [true, false] {
        let mut bench = last_ops("lock/fenced", 2);
        for _ in 0..(BOUND_MS / 100) {
            bench.pass(100);
            bench.all_ok("quiesce");
        }
        assert!(
            took!(bench, Effect::Ask(Question::Leader(asked)) if *asked == leader()),
            "{:?}",
            bench.phases()
        );
        bench.step(Input::Answer(ShellAnswer::Leads(
            well.then_some(()).ok_or("n3 leads".to_string()),
        )));
        let next = if well { "audit" } else { "recover" };
        assert_eq!(bench.phases()[5..], [next]);
    }
}

#[test]
fn a_client_that_falls_silent_within_the_bound_begins_recovery_anew() {
    let mut bench = last_ops("lock/fenced", 2);
    let session = bench.engine.run.plan.cluster.timing.session_ms;
    bench.pass(session);
    assert!(bench.asked(0, "quiesce") && bench.asked(1, "quiesce"));
    bench.ok(0, "quiesce");
    bench.pass(session);
    assert_eq!(bench.phases()[5..], ["recover"]);
}

#[test]
fn a_stall_begins_recovery_anew_only_if_something_did_not_finish() {
    let mut bench = last_ops("lock/fenced", 1);
    stall(&mut bench, 1);
    finish(&mut bench);
    bench.pass(2_000);
    assert_eq!(bench.phases()[5..], ["audit"]);

    let mut bench = last_ops("lock/fenced", 1);
    stall(&mut bench, 1);
    bench.pass(1_999);
    assert_eq!(bench.phases()[5..], [""; 0]);
    bench.pass(1);
    assert_eq!(bench.phases()[5..], ["recover"]);
}

#[test]
fn deadlines_move_by_what_stalls_take() {
    let mut bench = Bench::running("lock/fenced", 1);
    bench.pass(TIME_MS - 1_000);
    stall(&mut bench, 1);
    bench.pass(3_900);
    assert_eq!(bench.phases(), ["ops"]);
    bench.pass(100);
    assert_eq!(bench.phases(), ["ops", "heal", "recover"]);
}

#[test]
fn one_that_cannot_answer_beside_its_operation_is_looked_at() {
    for runs in [true, false] {
        let mut bench = Bench::new("lock/fenced", 1);
        bench.step(Input::Begin);
        bench.greet(&["beside"]);
        bench.report(0, NemesisReport::Done);
        bench.pass(TIME_MS);
        bench.effects.clear();
        bench.step(Input::Answer(ShellAnswer::Steady(Ok(leader()))));
        assert!(!bench.asked(0, "quiesce"));
        assert!(took!(bench, Effect::Ask(Question::Runs(0))));
        match runs {
            true => bench.step(Input::Answer(ShellAnswer::Running(Ok("not paused".to_string())))),
            false => bench.step(Input::Answer(ShellAnswer::Running(Err("one is stopped".to_string())))),
        }
        bench.pass(10_000);
        let seen = bench.history.iter().filter(|entry| entry.f == "running").count();
        assert_eq!((seen > 0, bench.phases()[3] == "recovered"), (runs, runs));
    }
}

#[test]
fn a_queue_is_drained_by_three_empty_reads_each_after_a_quorum_write() {
    let mut bench = last_ops("queue/fifo", 3);
    while !bench.asked(2, "confirm") {
        assert!(!bench.sent.is_empty(), "{:?}", bench.phases());
        finish_but_drain(&mut bench);
    }
    let confirmed = |bench: &mut Bench, item: Value| {
        bench.answer(2, "confirm", Outcome::Ok, json!({ "holds": false }));
        bench.answer(2, "dequeue", Outcome::Ok, json!({ "item": item }));
    };
    confirmed(&mut bench, Value::Null);
    confirmed(&mut bench, Value::Null);
    confirmed(&mut bench, json!(4));
    assert!(
        bench.asked(2, "dequeue"),
        "after an item the next one is taken without another write"
    );
    bench.answer(2, "dequeue", Outcome::Ok, json!({ "item": null }));
    bench.answer(2, "confirm", Outcome::Info, Value::Null);
    assert!(!bench.asked(2, "confirm") && !bench.asked(2, "dequeue"));
    bench.pass(100);
    for _ in 0..3 {
        assert!(!bench.phases().contains(&"drained".to_string()));
        confirmed(&mut bench, Value::Null);
    }
    assert_eq!(bench.phases()[5..], ["drained", "audit"]);
}

fn finish_but_drain(bench: &mut Bench) {
    let (client, request) = bench.sent[0].clone();
    let value = match request.f.as_str() {
        "dequeue" => json!({ "item": null }),
        _ => request.value,
    };
    bench.answer(client, &request.f, Outcome::Ok, value);
    bench.pass(100);
}

/// A coordinator and a site after recovery. The site has not heard the decisions about `t1`, `t2` and `t3`; it is asked
/// about these as soon as all about the closing transaction was answered.
fn undecided() -> Bench {
    let mut bench = Bench::with("commit/coordinated", 2, |plan| {
        plan.transactions = vec![PlannedTransaction {
            votes: vec![true],
            work_ms: vec![0],
            early: true,
        }];
    });
    let before = |sent: &&(usize, Request)| sent.1.value["tx"] != "t4";
    while let Some((client, request)) = bench.sent.first().filter(before).cloned() {
        let decides = request.f.starts_with("decide");
        let outcome = if decides { Outcome::Info } else { Outcome::Ok };
        bench.answer(client, &request.f, outcome, request.value);
        bench.pass(0);
    }
    bench.pass(TIME_MS);
    finish(&mut bench);
    bench.step(Input::Answer(ShellAnswer::Steady(Ok(leader()))));
    bench.all_ok("quiesce");
    bench.pass(0);
    assert_eq!(bench.phases().last().unwrap(), "final");
    bench
}

#[test]
fn the_audit_begins_when_each_decision_was_asked_for_over_the_bound() {
    let mut bench = undecided();
    let about = |bench: &Bench| {
        let decided = bench.sent.iter().find(|(_, request)| request.f == "decided");
        decided.map(|(_, request)| request.value["tx"].as_str().unwrap().to_string())
    };
    while about(&bench).is_none_or(|tx| tx != "t1") {
        let (client, request) = bench.sent[0].clone();
        bench.ok_at_once(client, &request.f);
    }
    for tx in ["t1", "t2", "t3", "t1", "t2", "t3"] {
        assert_eq!(about(&bench).unwrap(), tx);
        for _ in 0..40 {
            bench.pass(100);
            bench.all_ok("quiesce");
        }
        assert!(!took!(bench, Effect::Ask(Question::Leader(_))), "{tx}");
        bench.answer(1, "decided", Outcome::Info, json!({ "tx": tx }));
        bench.pass(250);
        bench.all_ok("quiesce");
    }
    bench.step(Input::Answer(ShellAnswer::Leads(Ok(()))));
    assert_eq!(bench.phases()[5..], ["audit"]);
}
