use super::*;
use zooquake_history::plan::Workload;

#[test]
fn a_nested_znode_comes_after_those_above_it() {
    assert!(lineage("/lock").eq(["/lock"]));
    assert!(lineage("/batch/locks/daily").eq(["/batch", "/batch/locks", "/batch/locks/daily"]));
    assert!(lineage("/gr\u{fc}n/\u{e4}").eq(["/gr\u{fc}n", "/gr\u{fc}n/\u{e4}"]));
}

#[test]
fn a_workload_stands_on_its_contenders_parents_and_its_znodes() {
    let plan = Plan {
        workload: Workload {
            contenders: vec!["/batch/locks".into()],
            znodes: vec!["/batch/state/last".into()],
            ..Workload::default()
        },
        ..Plan::default()
    };
    assert_eq!(
        setup_paths(&plan),
        [
            "/zooquake",
            "/zooquake/scratch",
            "/resource",
            "/batch/locks",
            "/batch/state/last"
        ]
    );
}
