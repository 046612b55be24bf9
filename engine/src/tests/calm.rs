//! The calm of a group: before the last operations nothing is changed, and all are asked for their views.

use super::recovery::leader;
use super::*;
use zooquake_history::evidence::{Reading, Znode};

/// The bound of liveness where operations are answered at once.
const BOUND: Duration = Duration::from_secs(10);

/// The group: one member.
fn tree() -> Reading {
    Reading {
        znodes: vec![Znode {
            path: "/members/m1".to_owned(),
            czxid: 5,
            mzxid: 7,
            ..Znode::default()
        }],
        ..Reading::default()
    }
}

fn asks_for_tree(bench: &mut Bench) -> bool {
    took!(bench, Effect::Ask(Question::Tree))
}

fn read(bench: &mut Bench, reading: Reading) {
    bench.step(Input::Answer(ShellAnswer::Tree(Ok(reading))));
}

/// Every client that is asked answers that it shows the group, of which the first alone is a member.
fn show(bench: &mut Bench, mzxid: i64) {
    let asked = bench.sent.iter().filter(|(_, request)| request.f == "view");
    for (client, _) in asked.cloned().collect::<Vec<_>>() {
        let member = json!({"member": "m1", "path": "/members/m1", "czxid": 5, "mzxid": mzxid, "value": 1});
        let registered = json!({"member": "m1", "path": "/members/m1", "czxid": 5});
        let registered = if client == 0 { registered } else { Value::Null };
        let value = json!({"view": {"n": 1, "session": "0x1", "members": [member]}, "registered": registered});
        bench.answer(client, "view", Outcome::Ok, value);
    }
}

/// Plays a calm in which every client shows the group.
pub fn pass(bench: &mut Bench) {
    read(bench, tree());
    show(bench, 7);
    read(bench, tree());
}

fn calm() -> Bench {
    let mut bench = Bench::running("membership/cached", 2);
    for _ in 0..=TIME_MS / 50 {
        finish(&mut bench);
        bench.pass(50);
    }
    finish(&mut bench);
    bench.step(Input::Answer(ShellAnswer::Steady(Ok(leader()))));
    bench.all_ok("quiesce");
    assert_eq!(bench.phases()[3..], ["recovered", "calm"]);
    assert!(asks_for_tree(&mut bench));
    bench
}

/// What is pending is answered.
fn finish(bench: &mut Bench) {
    for f in ["register", "update", "deregister"] {
        bench.all_ok(f);
    }
}

fn operations(bench: &Bench) -> usize {
    let named = |f: &str| ["register", "update", "deregister"].contains(&f);
    bench.sent.iter().filter(|(_, request)| named(&request.f)).count()
}

#[test]
fn all_are_asked_between_two_readings_and_nothing_is_changed() {
    let mut bench = calm();
    bench.pass(1_000);
    assert!(
        bench.sent.is_empty(),
        "nobody is asked while the tree is read: {:?}",
        bench.sent
    );
    read(&mut bench, tree());
    assert_eq!((bench.asked(0, "view"), bench.asked(1, "view")), (true, true));
    show(&mut bench, 7);
    assert!(asks_for_tree(&mut bench));
    assert_eq!(operations(&bench), 0);
    read(&mut bench, tree());
    assert_eq!(bench.phases()[5..], ["final"]);
    bench.pass(100);
    assert!(operations(&bench) > 0);
}

#[test]
fn who_shows_an_old_value_is_asked_for_the_bound() {
    let mut bench = calm();
    read(&mut bench, tree());
    let began = bench.now;
    while !asks_for_tree(&mut bench) {
        show(&mut bench, 6);
        bench.pass(50);
        assert!(bench.now - began < BOUND * 2);
    }
    assert!(bench.now - began >= BOUND, "{:?}", bench.now - began);
    assert_eq!((operations(&bench), bench.phases()[5..].len()), (0, 0));
}

#[test]
fn a_tree_that_is_not_read_keeps_nobody_from_the_last_operations() {
    let mut bench = calm();
    bench.step(Input::Answer(ShellAnswer::Tree(Err("no session".to_owned()))));
    assert_eq!(bench.phases()[5..], ["final"]);
}
