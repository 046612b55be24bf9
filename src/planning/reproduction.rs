//! The command lines that show a run again: its check, its replay, its plan drawn anew.

use super::admission;
use super::case::Case;
use super::spec::RunSpec;
use crate::shell;
use std::ffi::OsString;
use std::path::Path;
use zooquake_backend::images;
use zooquake_history::plan::Plan;

/// The lines for a run in this folder or pack. A plan may come from elsewhere: a line that this program would refuse,
/// or that would not run the same plan, is left out.
pub fn lines(run: &Path, plan: &Plan) -> Vec<String> {
    let path = shell::path(run);
    let mut replay = vec!["replay".into(), path.clone()];
    if plan.replay_of.is_some() {
        replay.push("--exact".into());
    }
    if plan.workload.recipe.is_some() || !plan.cluster.hosts.is_empty() {
        // The user that the line is printed for has run the recipe, and on these hosts.
        replay.push("--yes".into());
    }
    let check = shell::line([OsString::from("check"), path]);
    let case = Case::new(plan.clone()).ok();
    let admitted = case.as_ref().filter(|case| admission::check(case).is_ok());
    let replay = admitted.and_then(|_| shell::line(replay));
    [check, replay, case.as_ref().and_then(drawn)]
        .into_iter()
        .flatten()
        .collect()
}

/// The line that draws this case's plan from its seed and runs it; `None` if no `zooquake run` draws it.
pub fn drawn(case: &Case) -> Option<String> {
    let plan = case.plan();
    if !plan.has_known_format() {
        return None;
    }
    if !plan.cluster.image.as_deref().is_none_or(images::is_name) {
        return None;
    }
    let spec = RunSpec::from_case(case);
    // As it would be read, whose bounds a plan from elsewhere may exceed.
    let mut again = spec.read_again().ok()?.plan().ok()?;
    // Words about a variant may differ between versions, and decide nothing of what is run.
    again.workload.promise.clone_from(&plan.workload.promise);
    again.workload.accepted.clone_from(&plan.workload.accepted);
    // The image is prepared from the files, which are compared.
    if let (Some(again), Some(recipe)) = (&mut again.workload.recipe, &plan.workload.recipe) {
        again.digest.clone_from(&recipe.digest);
    }
    // A plan is drawn without the names of the files that a run records, and in the present format.
    (again.of_new_run() == plan.clone().of_new_run())
        .then(|| spec.line())
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(name: &str, arguments: &[&str]) -> Plan {
        let spec = RunSpec::from_args([&[name], arguments].concat()).unwrap();
        spec.plan().unwrap()
    }

    fn drawn(plan: &Plan) -> Option<String> {
        super::drawn(&Case::new(plan.clone()).ok()?)
    }

    /// The line without the program.
    fn words(plan: &Plan) -> Option<String> {
        Some(shlex::split(&drawn(plan)?).unwrap()[1..].join(" "))
    }

    #[test]
    fn a_line_draws_the_same_plan() {
        for (name, arguments, line) in [
            (
                "lock/fenced",
                &["--seed", "7"][..],
                "run lock/fenced --seed 7 --faults kill,pause,partition --time 60s",
            ),
            (
                "register/read",
                &["--seed", "7", "--faults", "none", "--timing", "250/4/2000"],
                "run register/read --seed 7 --faults none --time 60s --timing 250/4/2000",
            ),
            (
                "register/read",
                &["--seed", "7", "--time", "1s", "--faults", "kill"],
                "run register/read --seed 7 --faults kill --time 1s --anyway",
            ),
            (
                "ensemble/textbook",
                &["--observers", "0", "--zookeeper", "trixie"],
                "run ensemble/textbook --seed 0 --observers 0 --zookeeper trixie",
            ),
            (
                "lock/fenced",
                &["--seed", "7", "--faults", "none", "--on", "sim"],
                "run lock/fenced --seed 7 --faults none --time 60s --on sim",
            ),
            ("ensemble/textbook", &[], "run ensemble/textbook --seed 0 --observers 1"),
        ] {
            let plan = plan(name, arguments);
            assert_eq!(words(&plan).as_deref(), Some(line));
            let mut folder = lines(Path::new("runs/a b"), &plan);
            assert_eq!(folder.len(), 3, "{folder:?}");
            assert!(folder.remove(1).ends_with(" replay 'runs/a b'"));
        }
    }

    #[test]
    fn a_plan_from_elsewhere_gives_no_line_that_would_do_something_else() {
        let good = plan("lock/fenced", &["--seed", "7"]);
        let changed = |change: fn(&mut Plan)| {
            let mut plan = good.clone();
            change(&mut plan);
            plan
        };
        for foreign in [
            changed(|plan| plan.workload.variant = "fenced;touch x".into()),
            changed(|plan| plan.workload.family = "$(touch x)".into()),
            changed(|plan| plan.faults.push("`touch x`".into())),
            changed(|plan| plan.cluster.image = Some("a b\u{1b}[2J".into())),
            changed(|plan| plan.cluster.image = Some("--keep".into())),
            changed(|plan| plan.cluster.servers = 4),
            changed(|plan| plan.time_ms = 1),
            changed(|plan| plan.windows.clear()),
            changed(|plan| plan.cluster.timing.init_limit += 1),
            Plan::default(),
        ] {
            assert_eq!(drawn(&foreign), None, "{foreign:?}");
        }
        let pulled = changed(|plan| plan.cluster.image = Some("registry.example:5000/zk@sha256:0a".into()));
        assert!(words(&pulled).is_some_and(|line| line.ends_with("--zookeeper registry.example:5000/zk@sha256:0a")));
        let bare = lines(Path::new("runs/a"), &Plan::default());
        assert_eq!(bare.len(), 1, "it can only be checked: {bare:?}");
    }

    #[test]
    fn a_replay_is_replayed_by_its_own_clock() {
        let mut replay = plan("lock/fenced", &["--seed", "7"]);
        replay.replay_of = Some("other".into());
        let lines = lines(Path::new("-r"), &replay);
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(lines[1].ends_with(" replay ./-r --exact"), "{lines:?}");
    }
}
