//! Locks and elections.

use super::told;
use crate::expect::has_reason;
use crate::script::{changed, lock, standing, znode};
use zooquake_checkers::check;
use zooquake_history::plan::Resource;

#[test]
fn one_client_may_have_both_grants_of_a_stale_write() {
    let both = "
        c1 acquire g1; c1 granted g1 czxid=10
        c1 acquire g2; c1 granted g2 czxid=20
        c1 write g2; c1 wrote g2; c1 write g1; c1 wrote g1";
    let said = ["under an older grant of the lock"];
    told(&lock(both), "stale-write", &said, &["another"]);
    let ageless = "
        c1 acquire g1; c1 granted g1
        c1 acquire g2; c1 granted g2
        c1 write g1; c1 wrote g1; c1 write g2; c1 wrote g2; c1 write g1; c1 wrote g1";
    let said = "one of these writes was made under a grant of the lock that was not held then";
    told(&lock(ageless), "stale-write", &[said], &["client"]);
}

#[test]
fn a_writes_order_is_not_judged_wherever_the_resource_may_be() {
    let text = "c1 acquire g1; c1 granted g1; c1 write g1; c1 wrote g1";
    let inside = changed(lock(text), |inside| inside.plan.workload.resource = Resource::Zookeeper);
    has_reason(&check(&inside), "1 of 1 accepted write gave no transaction");
}

/// What was removed may be the client's own, made by an attempt that it did not report.
#[test]
fn a_release_may_remove_another_znode_of_the_same_client() {
    let text = "c1 acquire g1; c1 granted g1 czxid=10; c1 release g1; c1 released g1 removed=11";
    let said = "which is another than the one that the grant rests on";
    told(&lock(text), "unowned-release", &[said], &["own"]);
}

#[test]
fn all_refusals_of_a_spell_are_counted_though_somebody_held_during_one() {
    let text = "
        1 run recovered
        2 c2 acquire g2; 2.1 c2 failed acquire g2
        3 c1 acquire g1; 3.1 c1 granted g1
        4 c2 acquire g3; 4.1 c2 failed acquire g3
        5 c1 release g1; 5.1 c1 released g1
        40 c2 acquire g4; 40.1 c2 failed acquire g4
        50 run audit";
    told(&lock(text), "lost-wakeup", &["it was refused 3 times by 40.100 s"], &[]);
}

#[test]
fn an_orphan_may_be_found_though_not_every_client_was_asked() {
    let text = "c1 hello session=0x1; run recovered; run audit; c1 quiesce; c1 quiesced sessions=0x1; run done";
    let silent = standing(lock(text), vec![znode("/lock/x", 10, "0x1")]);
    let said = ["before and after c1 was last asked", "it stays until that session ends"];
    told(&silent, "orphan-node", &said, &["every client"]);
}

#[test]
fn a_process_may_end_after_recovery_while_a_fault_is_on() {
    let pause = "nemesis pause 1 begin; nemesis pause 1 on target=c2 verified=true";
    let reasons = check(&lock(&format!("{pause}; run recovered; c2 exit; run audit"))).reasons;
    let said = "the process of c2 ended after recovery".to_owned();
    assert!(reasons.contains(&said), "{reasons:?}");
}
