//! The plan in a file of the user's, played as it stands: `run --plan`.

use super::case::{Case, Subject};
use super::names::{self, NamedWorkload};
use super::spec::RunSpec;
use super::{admission, placement, values};
use std::path::Path;
use zooquake_backend::files;
use zooquake_backend::images::ImageRequest;
use zooquake_history::jsonl;
use zooquake_history::plan::{On, Plan};

/// The case of the plan in a file, or in the folder of a run, where the options ask for that.
///
/// # Errors
/// If there is no such plan, this program cannot run it, or an option contradicts it: a message for the user.
pub fn case(spec: &RunSpec, path: &Path) -> Result<Case, String> {
    let plan = read(path)?;
    if let Some((stated, way_out)) = contradiction(spec, &plan)? {
        return Err(format!(
            "the plan in {path:?} has {stated}: {way_out}, or change the file"
        ));
    }
    if let Some(way_out) = unasked(spec, &plan) {
        return Err(format!("the plan in {path:?} {way_out}"));
    }
    let on = spec.on.unwrap_or(plan.on);
    let mut plan = Plan {
        // What is replayed is a run; this is a plan, whatever run it is from.
        replay_of: None,
        ..plan.placed(on)
    };
    if plan.workload.recipe.is_some() {
        plan.workload = names::workload(&spec.workload)?;
    }
    let case = admission::admit(plan).map_err(|why| format!("{path:?} has no plan that could be run: it {why}"))?;
    if case.backend().capabilities.zookeeper {
        let number = |at: usize| case.plan().windows[at].id;
        admission::check_windows(case.plan())
            .map_err(|(at, why)| format!("window {} of the plan in {path:?} {why}", number(at)))?;
    }
    Ok(case)
}

/// The plan in a file, or in the folder of a run.
fn read(path: &Path) -> Result<Plan, String> {
    const WAY_OUT: &str = "give a plan.json, such as that in a run's folder";
    let file = match path.is_dir() {
        true => path.join("plan.json"),
        false => path.to_path_buf(),
    };
    let bytes =
        files::read(&file, files::RECORD).map_err(|why| format!("{file:?} cannot be read ({why}): {WAY_OUT}"))?;
    jsonl::parse_value(&bytes).map_err(|damage| format!("{file:?} is no plan ({damage}): {WAY_OUT}"))
}

/// What a plan has that an option contradicts, and what to do with the option; `None` if none does.
fn contradiction(spec: &RunSpec, plan: &Plan) -> Result<Option<(String, String)>, String> {
    let cluster = &plan.cluster;
    let given = named(spec)?.map(|named| named.workload.name());
    let own = plan.workload.name();
    if let Some(given) = given.filter(|given| *given != own) {
        return Ok(Some((format!("the workload {own}"), format!("leave {given} out"))));
    }
    let faults = spec.faults.as_deref().map(names::faults).transpose()?;
    let kinds = match plan.faults.as_slice() {
        [] => "no faults".to_owned(),
        kinds => format!("the faults {}", kinds.join(",")),
    };
    let addresses = cluster.hosts.iter().map(|host| &host.address);
    let placed = placement::placed(cluster);
    let differs = [
        ("--schedule", spec.schedule.is_some(), "windows of its own".to_owned()),
        ("--faults", faults.is_some_and(|faults| faults != plan.faults), kinds),
        (
            "--on",
            spec.on
                .is_some_and(|on| (on == On::Network) != (plan.on == On::Network)),
            match plan.on {
                On::Network => "a simulated network".to_owned(),
                On::Docker | On::Sim => "an ensemble of ZooKeeper".to_owned(),
            },
        ),
        (
            "--time",
            spec.time.is_some_and(|_| spec.time_ms() != plan.time_ms),
            format!("a time of {}", admission::seconds(plan.time_ms)),
        ),
        (
            "--seed",
            spec.seed.is_some_and(|seed| seed != plan.seed),
            format!("the seed {}", plan.seed),
        ),
        (
            "--servers",
            spec.servers.is_some_and(|servers| servers != cluster.servers),
            format!("{} servers", cluster.servers),
        ),
        (
            "--observers",
            spec.observers.is_some_and(|observers| observers != cluster.observers),
            format!("{} observers", cluster.observers),
        ),
        (
            "--clients",
            spec.clients.is_some_and(|clients| clients != cluster.clients),
            format!("{} clients", cluster.clients),
        ),
        (
            "--timing",
            spec.timing.is_some_and(|timing| timing != cluster.timing),
            format!("the timing {}", values::timing_text(&cluster.timing)),
        ),
        (
            "--zookeeper",
            spec.zookeeper.is_some() && spec.zookeeper != cluster.image,
            match &cluster.image {
                Some(image) => format!("the ZooKeeper {image:?}"),
                None => "the usual ZooKeeper".to_owned(),
            },
        ),
        (
            "--drawn-for",
            spec.drawn_for.is_some() && spec.drawn_for != plan.drawn_for,
            "windows of its own".to_owned(),
        ),
        (
            "--hosts",
            !spec.hosts.is_empty() && !addresses.eq(&spec.hosts),
            "other hosts".to_owned(),
        ),
        (
            "--place",
            !spec.place.iter().all(|place| placed.contains(place)),
            "other places of its nodes".to_owned(),
        ),
    ];
    let first = differs.into_iter().find(|(_, differs, _)| *differs);
    Ok(first.map(|(option, _, stated)| (stated, format!("leave {option} out"))))
}

fn named(spec: &RunSpec) -> Result<Option<NamedWorkload>, String> {
    match spec.workload.as_str() {
        "" => Ok(None),
        name => names::named(name).map(Some),
    }
}

/// What of a plan is run only where the user has named it too, with the option that does, as the end of a sentence
/// about the plan: a file from elsewhere is not to decide what is pulled, connected to and executed.
fn unasked(spec: &RunSpec, plan: &Plan) -> Option<String> {
    let recipe = plan.workload.recipe.as_ref();
    if let Some(recipe) = recipe.filter(|_| !matches!(named(spec), Ok(Some(named)) if is_own(&named))) {
        let (name, folder) = (plan.workload.name(), &recipe.folder);
        return Some(format!(
            "is of a recipe of one's own, {name} from {folder:?}: give its folder too, as in `run ./my-lock --plan FILE`"
        ));
    }
    if spec.hosts.is_empty() && !plan.cluster.hosts.is_empty() {
        let hosts = plan.cluster.hosts.iter().map(|host| host.address.as_str());
        let hosts = hosts.collect::<Vec<_>>().join(",");
        return Some(format!("names the hosts {hosts:?}: give them with --hosts too"));
    }
    let image = plan.cluster.image.as_ref().filter(|_| spec.zookeeper.is_none())?;
    let image = Some(image).filter(|image| !ImageRequest::SUITES.contains(&image.as_str()))?;
    Some(format!("names the image {image:?}: give it with --zookeeper too"))
}

fn is_own(named: &NamedWorkload) -> bool {
    matches!(named.subject, Subject::OwnRecipe)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planning::spec::tests::assert_same;
    use std::path::PathBuf;
    use tempfile::TempDir;
    use zooquake_history::plan::{RecipeSource, Target, Trigger};

    fn drawn(line: &str) -> Plan {
        RunSpec::from_args(line.split(' ')).unwrap().plan().unwrap()
    }

    /// A folder with this plan, and the path of its file.
    fn written(plan: &Plan) -> (TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("plan.json");
        std::fs::write(&file, serde_json::to_string_pretty(plan).unwrap()).unwrap();
        (folder, file)
    }

    /// What `run --plan` makes of a plan, with these options beside.
    fn played(plan: &Plan, options: &str) -> Result<Plan, String> {
        let (_folder, file) = written(plan);
        let spec = RunSpec::from_args(options.split_whitespace()).map_err(|error| error.to_string());
        let spec = RunSpec {
            plan_file: Some(file),
            ..spec.unwrap_or_else(|_| RunSpec::new(""))
        };
        spec.plan()
    }

    #[test]
    fn a_plan_is_played_as_it_stands_and_options_that_agree_with_it_may_stand_beside() {
        let mut plan = drawn("lock/fenced --seed 7 --faults pause,kill --on sim --time 30s --clients 6");
        plan.windows[0].trigger = Trigger::At { at_ms: 4_321 };
        plan.windows[0].target = Target::Node("c2".into());
        plan.replay_of = Some("another run".into());
        let mut as_it_stands = plan.clone();
        as_it_stands.replay_of = None;
        for options in [
            "lock/fenced",
            "lock/fenced --seed 7 --faults pause,kill --time 30s --clients 6 --timing 250/4/2000 --servers 3",
        ] {
            assert_same(&played(&plan, options).unwrap(), &as_it_stands, options);
        }
        let (folder, _) = written(&plan);
        let of_folder = RunSpec {
            plan_file: Some(folder.path().into()),
            on: Some(On::Docker),
            ..RunSpec::new("")
        };
        assert_same(
            &of_folder.plan().unwrap(),
            &as_it_stands.placed(On::Docker),
            "elsewhere",
        );
        let protocol = drawn("consensus/paxos --seed 1 --faults kill");
        assert_same(&played(&protocol, "consensus/paxos").unwrap(), &protocol, "a network");
    }

    #[test]
    fn what_contradicts_a_plan_is_refused_with_what_the_plan_has() {
        let plan = drawn("lock/fenced --seed 7 --faults pause,kill --time 30s");
        for (options, parts) in [
            (
                "lock/children",
                ["has the workload lock/fenced", "leave lock/children out"],
            ),
            ("lock/fenced --seed 8", ["has the seed 7", "leave --seed out"]),
            ("lock/fenced --time 20s", ["has a time of 30 s", "leave --time out"]),
            (
                "lock/fenced --faults kill",
                ["has the faults pause,kill", "leave --faults out"],
            ),
            ("lock/fenced --servers 5", ["has 3 servers", "leave --servers out"]),
            (
                "lock/fenced --observers 1",
                ["has 0 observers", "leave --observers out"],
            ),
            ("lock/fenced --clients 9", ["has 5 clients", "leave --clients out"]),
            (
                "lock/fenced --timing 500/4/4000",
                ["has the timing 250/4/2000", "leave --timing out"],
            ),
            (
                "lock/fenced --zookeeper trixie",
                ["has the usual ZooKeeper", "leave --zookeeper out"],
            ),
            (
                "lock/fenced --drawn-for 3:500/4/4000",
                ["has windows of its own", "leave --drawn-for out"],
            ),
            (
                "lock/fenced --hosts unix:///a,unix:///b",
                ["has other hosts", "leave --hosts out"],
            ),
        ] {
            let why = played(&plan, options).unwrap_err();
            let all = parts.iter().chain(&["plan.json\"", "or change the file"]);
            assert!(all.clone().all(|part| why.contains(part)), "{options}: {why}");
        }
        let network = drawn("consensus/paxos --seed 1");
        let why = played(&network, "consensus/paxos --on sim").unwrap_err();
        assert!(
            why.contains("has a simulated network") && why.contains("leave --on out"),
            "{why}"
        );
        assert!(played(&plan, "lock/fencd").unwrap_err().contains("did you mean"));
    }

    #[test]
    fn a_file_decides_alone_neither_what_is_executed_nor_what_is_pulled() {
        let plan = drawn("lock/fenced --seed 7 --faults none");
        let mut own = plan.clone();
        own.workload.recipe = Some(RecipeSource {
            folder: "/elsewhere".into(),
            command: vec!["rm".into()],
            ..RecipeSource::default()
        });
        let why = played(&own, "lock/fenced").unwrap_err();
        assert!(
            why.contains("of a recipe of one's own") && why.contains("--plan FILE"),
            "{why}"
        );
        let mut image = plan.clone();
        image.cluster.image = Some("evil.example/zk:1".into());
        let why = played(&image, "lock/fenced").unwrap_err();
        assert!(
            why.contains("evil.example/zk:1") && why.contains("with --zookeeper too"),
            "{why}"
        );
        assert!(played(&image, "lock/fenced --zookeeper evil.example/zk:1").is_ok());
        let mut suite = plan;
        suite.cluster.image = Some("trixie".into());
        assert!(played(&suite, "lock/fenced").is_ok());
    }

    #[test]
    fn what_is_no_plan_is_refused_with_its_place() {
        let refused = |text: &str| {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join("plan.json"), text).unwrap();
            let spec = RunSpec {
                plan_file: Some(folder.path().into()),
                ..RunSpec::new("")
            };
            spec.plan().unwrap_err()
        };
        assert!(
            refused("{\n\"seed\": 7,\n").contains("is no plan (line "),
            "{}",
            refused("{\n")
        );
        let mut plan = drawn("lock/fenced --seed 7 --faults none");
        plan.time_ms = u64::MAX;
        let why = refused(&serde_json::to_string(&plan).unwrap());
        assert!(why.contains("no plan that could be run: it takes"), "{why}");
        let nowhere = RunSpec {
            plan_file: Some("nowhere.json".into()),
            ..RunSpec::new("")
        };
        let why = nowhere.plan().unwrap_err();
        assert!(
            why.contains("nowhere.json") && why.contains("give a plan.json"),
            "{why}"
        );
    }
}
