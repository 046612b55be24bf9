use super::*;
use crate::planning::spec::tests::assert_same;
use zooquake_history::plan::{On, Plan};

/// A comparison of these locks.
pub fn setup(variants: &[&str], faults: &[&str], seeds: &[u64]) -> Setup {
    let subject = |variant: &&str| Subject {
        variant: (*variant).into(),
        folder: None,
        zookeeper: None,
        timing: Timing::default(),
        servers: 3,
    };
    Setup {
        family: "lock".into(),
        subjects: variants.iter().map(subject).collect(),
        faults: faults.iter().map(ToString::to_string).collect(),
        seeds: seeds.to_vec(),
        time_ms: 20_000,
        clients: 5,
        on: On::Docker,
    }
}

fn plan(setup: &Setup, subject: usize, faults: usize, seed: u64) -> Plan {
    let turn = Turn {
        round: 0,
        faults,
        subject,
        seed,
    };
    setup.resolve().unwrap().spec(turn).plan().unwrap()
}

#[test]
fn all_subjects_run_the_same_plan() {
    let mut setup = setup(&["predecessor", "fenced"], &["pause+kill", "partition"], &[7]);
    setup.subjects[1].servers = 5;
    setup.subjects[1].zookeeper = Some("trixie".into());
    for faults in 0..2 {
        let (one, two) = (plan(&setup, 0, faults, 7), plan(&setup, 1, faults, 7));
        assert!(!one.windows.is_empty());
        assert_eq!((&one.windows, &one.clients), (&two.windows, &two.clients));
        assert_eq!((one.cluster.servers, two.cluster.servers), (3, 5));
        assert_eq!(two.cluster.image.as_deref(), Some("trixie"));
        assert_eq!(two.workload.name(), "lock/fenced");
        assert_eq!(one.faults.len(), if faults == 0 { 2 } else { 1 });
    }
    assert_ne!(plan(&setup, 0, 0, 7), plan(&setup, 0, 0, 8));
    setup.subjects[1].timing.session_ms = 4000;
    let (one, two) = (plan(&setup, 0, 0, 7), plan(&setup, 1, 0, 7));
    assert_eq!((&one.windows, &one.clients), (&two.windows, &two.clients));
}

#[test]
fn variants_that_are_alike_have_one_plan() {
    for first in names::variants().iter().map(|name| names::workload(name).unwrap()) {
        let draw = |workload: &Workload| {
            let spec = RunSpec {
                seed: Some(7),
                timing: Some(Timing::default()),
                faults: Some(crate::faults::names().join(",")),
                ..RunSpec::new(workload.name())
            };
            spec.plan().unwrap()
        };
        let of_first = draw(&first);
        for other in names::variants().iter().map(|name| names::workload(name).unwrap()) {
            if drawing::alike(&first, &other) {
                let of_other = Plan {
                    workload: first.clone(),
                    ..draw(&other)
                };
                assert_same(&of_other, &of_first, &other.name());
            }
        }
    }
}

#[test]
fn what_clients_have_other_words_for_is_drawn_for_them() {
    let mut setup = setup(&["tutorial", "double"], &["kill"], &[7]);
    setup.family = "barrier".into();
    let (one, two) = (plan(&setup, 0, 0, 7), plan(&setup, 1, 0, 7));
    assert_ne!(one.windows, two.windows);
    let alone = drawing::plan(
        7,
        setup.resolve().unwrap().workloads.remove(1),
        two.cluster.clone(),
        20_000,
        &["kill".into()],
    );
    assert_eq!(two, alone);
}

#[test]
fn nothing_is_compared_with_itself() {
    let refused = |setup: Setup| setup.check().unwrap_err();
    assert_eq!(
        setup(&["predecessor", "fenced"], &["none", "pause"], &[1]).check(),
        Ok(())
    );
    assert!(refused(setup(&["fenced", "fenced"], &["none"], &[1])).contains("fenced is there twice"));
    assert!(refused(setup(&["fenced"], &["none", "none"], &[1])).contains("none are there twice"));
}

#[test]
fn a_label_says_what_differs() {
    let mut setup = setup(&["fenced", "fenced"], &["none"], &[1]);
    setup.subjects[1].servers = 5;
    setup.subjects[1].timing.session_ms = 4000;
    assert_eq!(setup.label(1), "250/4/4000, 5 servers");
    assert_eq!(super::tests::setup(&["fenced"], &[], &[]).label(0), "fenced");
}
