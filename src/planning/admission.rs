//! Whether a plan may run, asked before anything of it begins. [`admit`] is for plans from elsewhere: a plan is data,
//! so what it names must exist, and what it counts be within the bounds of `zooquake run`. [`check_backend`] holds what
//! a plan requires against its backend's capabilities. [`shortfalls`] are what forbids a valid verdict whatever
//! happens; a plan without any may still end unknown.

use super::case::{Case, Subject};
use super::spec::RunSpec;
use super::{drawing, placement, recipe, values};
use crate::backends::{BackendKind, docker};
use crate::faults::overlap::Reach;
use crate::faults::{self, FAULTS, Fault};
use zooquake_backend::images;
use zooquake_checkers::ENOUGH_TRANSACTIONS as ENOUGH;
use zooquake_history::plan::{
    ClusterPlan, On, Plan, PlannedTransaction, RecipeSource, Scheduler, Target, Trigger, Window, Workload,
};
use zooquake_history::{Node, node};
use zooquake_network::play::{self, PlannedRun};
use zooquake_workloads::consensus::variants::ConsensusVariant;

/// The longest time of operations, and of all that takes place in them, in milliseconds: a day.
const LONGEST_MS: u64 = 24 * 3_600_000;

/// The longest time of a run on a network, in milliseconds; moments there are 32 bits of microseconds.
const LONGEST_NETWORK_MS: u64 = 1_000_000;

/// The most windows, requests, and steps of a script of a run on a network.
const MOST_STEPS: usize = 100_000;

/// The case of a plan from elsewhere.
///
/// # Errors
/// If it cannot be run: what is wrong with it, as the end of a sentence about the plan.
pub fn admit(plan: Plan) -> Result<Case, String> {
    known_format(&plan)?;
    let case = Case::new(plan)?;
    check(&case).map(|()| case)
}

fn known_format(plan: &Plan) -> Result<(), String> {
    match plan.unknown_format() {
        Some(why) => Err(why),
        None if !plan.has_known_format() => Err("was not read".into()),
        None => Ok(()),
    }
}

/// Refuses the case of a plan from elsewhere that cannot be run.
///
/// # Errors
/// As [`admit`].
pub fn check(case: &Case) -> Result<(), String> {
    let plan = case.plan();
    known_format(plan)?;
    if let Some(recipe) = &plan.workload.recipe {
        recipe_plan(&plan.workload, recipe)?;
    }
    match case.subject() {
        Subject::Protocol(variant) => return network_plan(plan, variant),
        Subject::Scenes(_) => scene_plan(plan)?,
        Subject::Recipe(_) | Subject::OwnRecipe => client_plan(plan)?,
    }
    let cluster = &plan.cluster;
    if !(1..=5).contains(&cluster.servers) || cluster.observers > 4 {
        return Err("has an ensemble of another size than 1 to 5 servers and 4 observers".into());
    }
    placement::check(cluster)?;
    for window in &plan.windows {
        if let Target::Host(host) = &window.target
            && cluster.nodes_on(host).is_none()
        {
            return Err(format!("strikes {host:?}, which is none of its hosts"));
        }
    }
    for timing in [cluster.timing].iter().chain(&plan.drawn_for.map(|drawn| drawn.timing)) {
        values::within_bounds(timing).map_err(|bounds| {
            let text = values::timing_text(timing);
            format!(
                "has an ensemble with the timing {text} and initLimit {}: {bounds}",
                timing.init_limit
            )
        })?;
    }
    if longest_time_ms(plan) > LONGEST_MS {
        return Err("takes, or has something that takes, longer than a day".into());
    }
    match &cluster.image {
        Some(image) if !images::is_name(image) => Err(format!("names {image:?}, which is not an image")),
        _ => Ok(()),
    }
}

/// What a network takes: sizes that the variant can have, and no more windows, requests and steps than a search makes.
fn network_plan(plan: &Plan, variant: &ConsensusVariant) -> Result<(), String> {
    variant
        .check(&plan.cluster)
        .map_err(|why| format!("has another size: {why}"))?;
    if plan.on != On::Network {
        return Err(format!("is of {}, which runs on networks alone", plan.workload.name()));
    }
    let steps = match &plan.scheduler {
        Scheduler::Script(steps) => steps.len(),
        _ => 0,
    };
    let requests: usize = plan.clients.iter().map(|client| client.cycles.len()).sum();
    if plan.windows.len().max(requests).max(steps) > MOST_STEPS {
        return Err(format!("has more than {MOST_STEPS} windows, requests or steps"));
    }
    if longest_time_ms(plan) > LONGEST_NETWORK_MS {
        return Err(format!(
            "takes, or has something that takes, longer than {LONGEST_NETWORK_MS} ms"
        ));
    }
    let names = play::setting(plan).map(|setting| setting.names());
    let run = names.and_then(|names| PlannedRun::new(plan, &names));
    run.map(drop).map_err(|why| format!("cannot be played: {why}"))
}

/// The longest of all times in a plan.
fn longest_time_ms(plan: &Plan) -> u64 {
    let begins = |trigger: &Trigger| match *trigger {
        Trigger::At { at_ms } => at_ms,
        Trigger::State { from_ms, after_ms, .. } => from_ms.max(after_ms),
        Trigger::Op {
            work_ms,
            after_ms,
            by_ms,
            ..
        } => work_ms.max(after_ms).max(by_ms),
        Trigger::Count { by_ms, .. } => by_ms,
    };
    let windows = plan.windows.iter();
    let windows = windows.map(|window| window.duration_ms.max(begins(&window.trigger)));
    let cycles = plan.clients.iter().flat_map(|client| &client.cycles);
    let cycles = cycles.flat_map(|cycle| cycle.writes.iter().copied().chain([cycle.think_ms]));
    let work = plan.transactions.iter().flat_map(|one| one.work_ms.iter().copied());
    let all = windows.chain(cycles).chain(work).chain([plan.time_ms]);
    all.max().unwrap_or_default()
}

/// A recipe's names become those of images and folders, its paths those of files.
fn recipe_plan(workload: &Workload, recipe: &RecipeSource) -> Result<(), String> {
    if !recipe::is_name(&workload.variant) {
        let name = workload.name();
        return Err(format!("is of {name:?}, which is not the name of a recipe"));
    }
    if let Some(path) = recipe
        .files
        .keys()
        .chain(&recipe.carried)
        .find(|path| !images::is_below(path))
    {
        return Err(format!(
            "has the file {path:?}, which would lie outside its recipe's folder"
        ));
    }
    match &recipe.image {
        _ if recipe.command.is_empty() => Err("has a recipe without a command".into()),
        Some(image) if !images::is_name(image) => Err(format!("names {image:?}, which is not an image")),
        _ => Ok(()),
    }
}

/// Refuses windows of a plan for an ensemble that nobody has drawn: whom and how each strikes, and which are on at
/// once by the clock.
///
/// # Errors
/// The place of the first one that cannot strike, from 0, and why, as a sentence without its subject.
pub fn check_windows(plan: &Plan) -> Result<(), (usize, String)> {
    let cluster = &plan.cluster;
    for (at, window) in plan.windows.iter().enumerate() {
        check_window(window, cluster).map_err(|why| (at, why))?;
        let reach = Reach::planned(window, cluster);
        let beside = |other: &&Window| other.beside && window.beside && meet(other, window);
        for other in plan.windows[..at].iter().filter(beside) {
            if let Some(why) = reach.excludes(&Reach::planned(other, cluster)) {
                let (id, fault) = (other.id, &other.fault);
                return Err((at, format!("overlaps with window {id} ({fault}), and {why}")));
            }
        }
    }
    Ok(())
}

fn check_window(window: &Window, cluster: &ClusterPlan) -> Result<(), String> {
    let Window {
        fault: name, target, ..
    } = window;
    let known = faults::find(name);
    let fault = known.ok_or_else(|| super::names::unknown("fault", name, &faults::all_names()))?;
    if !fault.victims.include(target, cluster) {
        return Err(format!(
            "strikes {}, and a `{name}` strikes {}",
            target_text(target),
            fault.victims.words()
        ));
    }
    match (fault.payload)(window.payload.clone()) {
        Ok(payload) if payload == window.payload => {}
        Ok(_) => {
            return Err(format!(
                "does not state its `{}`",
                fault.kind.payload.unwrap_or_default()
            ));
        }
        Err(why) => return Err(format!("is a `{name}`, which {why}")),
    }
    let of_client = |client: &Node| match cluster.client_nodes().contains(client) {
        true => Ok(()),
        false => Err(format!(
            "waits for {client}, which is none of the {} clients",
            cluster.clients
        )),
    };
    match &window.trigger {
        Trigger::At { .. } | Trigger::Count { .. } if *target == Target::Client => {
            Err("strikes the client whose state it waits for, and waits for none".into())
        }
        Trigger::State {
            client: Some(client), ..
        }
        | Trigger::Op { client, .. } => of_client(client),
        _ => Ok(()),
    }
}

/// Whether two windows are on at once, if each begins as soon as its trigger lets it; those that wait for operations do
/// not say when that is.
fn meet(one: &Window, other: &Window) -> bool {
    let span = |window: &Window| match window.trigger {
        Trigger::At { at_ms } => Some((at_ms, at_ms + window.duration_ms)),
        Trigger::State { from_ms, after_ms, .. } => Some((from_ms + after_ms, from_ms + after_ms + window.duration_ms)),
        Trigger::Op { .. } | Trigger::Count { .. } => None,
    };
    span(one)
        .zip(span(other))
        .is_some_and(|((from, until), (other_from, other_until))| from <= other_until && other_from <= until)
}

/// The target of a window, in words.
fn target_text(target: &Target) -> String {
    match target {
        Target::Node(node) => node.to_string(),
        Target::Servers(servers) => node::join(servers, ", "),
        Target::Host(host) => format!("the host {host}"),
        Target::Client => "a client".into(),
        Target::Leader => "the leader".into(),
        Target::Follower => "a follower".into(),
        Target::HolderServer => "a holder's server".into(),
    }
}

fn scene_plan(plan: &Plan) -> Result<(), String> {
    let plain = |name: &str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    match plan.scenes.iter().find(|scene| !plain(&scene.name)) {
        // It becomes the name of a folder.
        Some(scene) => Err(format!("has a scene of the name {:?}", scene.name)),
        None if plan.scenes.is_empty() => Err("has no scenes".into()),
        None => Ok(()),
    }
}

fn client_plan(plan: &Plan) -> Result<(), String> {
    let clients = plan.clients.len();
    if !(1..=50).contains(&clients) || plan.cluster.clients != clients || !plan.scenes.is_empty() {
        return Err("does not state what its clients do".into());
    }
    let sites = |of: &[_]| of.len() == clients - 1;
    let whole = |t: &zooquake_history::plan::PlannedTransaction| sites(&t.votes) && t.work_ms.len() == clients - 1;
    if !plan.transactions.iter().all(whole) {
        return Err("has transactions of other sites than its clients".into());
    }
    Ok(())
}

/// Refuses a case that its own backend cannot run.
///
/// # Errors
/// Why it cannot, and what can be done.
pub fn check_backend(case: &Case) -> Result<(), String> {
    case_on(case.backend(), case).map_err(|why| format!("{why}: give --on {}", On::default().name()))
}

/// Whether a backend can run a case.
///
/// # Errors
/// Why it cannot.
pub fn case_on(backend: &BackendKind, case: &Case) -> Result<(), String> {
    let plan = case.plan();
    workload_on(backend, &plan.workload, case.subject())?;
    if !plan.cluster.hosts.is_empty() && !backend.capabilities.containers {
        return Err(format!("{} stands on no hosts", backend.ensemble()));
    }
    match &plan.cluster.image {
        Some(image) if !backend.capabilities.images => Err(format!(
            "{} has no ZooKeeper that could be {image:?}",
            backend.ensemble()
        )),
        _ => Ok(()),
    }
}

/// Whether a backend can run the clients of a workload, or its scenes.
///
/// # Errors
/// Why it cannot.
pub fn workload_on(backend: &BackendKind, workload: &Workload, subject: Subject) -> Result<(), String> {
    let (name, capabilities) = (workload.name(), backend.capabilities);
    let protocol = matches!(subject, Subject::Protocol(_));
    if protocol == capabilities.zookeeper {
        return Err(match protocol {
            true => format!("{name} runs on a simulated network alone"),
            false => format!("{name} needs ZooKeeper, which is not on {}", backend.ensemble()),
        });
    }
    if workload.recipe.is_some() && !capabilities.containers {
        return Err(format!(
            "{name} is a program of its own, which {} cannot run",
            backend.ensemble()
        ));
    }
    if matches!(subject, Subject::Scenes(_)) && !capabilities.election_logs {
        return Err(format!(
            "{name} shows ZooKeeper's own elections, which are not {}",
            backend.adjective
        ));
    }
    if matches!(subject, Subject::Recipe(variant) if variant.client_library) && !capabilities.connections {
        return Err(format!(
            "{name} is built on the client library itself, which needs {}",
            docker::KIND.ensemble()
        ));
    }
    Ok(())
}

/// Milliseconds that a transaction takes beside the work of its sites, on a slow machine.
const TRANSACTION_MS: u64 = 150;

/// What forbids a valid verdict whatever happens, a clause each.
pub fn shortfalls(plan: &Plan) -> Vec<String> {
    // Scenes have no windows, no clients and their own time.
    if !plan.scenes.is_empty() {
        return Vec::new();
    }
    if plan.on == On::Network {
        return missing_windows(plan).into_iter().collect();
    }
    let planned = |fault: &&Fault| plan.faults.iter().any(|kind| kind == fault.kind.name);
    let of_faults = FAULTS.iter().filter(planned);
    let of_faults = of_faults.filter_map(|fault| (fault.shortfall)(plan));
    missing_windows(plan)
        .into_iter()
        .chain(of_faults)
        .chain(lone_client(plan))
        .chain(few_transactions(plan))
        .collect()
}

/// Whether all that forbids a valid verdict is that some kinds of fault find no place, while another one does: what it
/// brings about is worth the run.
pub fn others_strike(plan: &Plan) -> bool {
    let fault_of = |window: &Window| FAULTS.iter().find(|fault| fault.kind.name == window.fault);
    let in_vain = |fault: &Fault| (fault.shortfall)(plan).is_some();
    let idle = lone_client(plan).or(few_transactions(plan));
    idle.is_none() && plan.windows.iter().any(|window| !fault_of(window).is_some_and(in_vain))
}

/// Each kind of fault that is asked for needs a window.
fn missing_windows(plan: &Plan) -> Option<String> {
    let planned = |fault: &str| plan.windows.iter().any(|window| window.fault == fault);
    let mut lacking: Vec<&str> = Vec::new();
    for fault in &plan.faults {
        if !planned(fault) && !lacking.contains(&fault.as_str()) {
            lacking.push(fault);
        }
    }
    (!lacking.is_empty()).then(|| {
        format!(
            "no window of {} fits into {}",
            lacking.join(", "),
            seconds(plan.time_ms)
        )
    })
}

/// Where one client waits, or coordinates, another one has to do something.
fn lone_client(plan: &Plan) -> Option<String> {
    let Workload { family, .. } = &plan.workload;
    let capabilities = plan.workload.capabilities();
    let two = matches!(family.as_str(), "commit" | "queue") || capabilities.members || capabilities.gate;
    (two && plan.cluster.clients < 2).then(|| format!("{} does nothing with one client", plan.workload.name()))
}

/// Transactions come one after the other, and each takes as long as its slowest site works; faults may cut it short.
fn few_transactions(plan: &Plan) -> Option<String> {
    if !plan.windows.is_empty() {
        return None;
    }
    let needed = needed(&plan.transactions);
    let last_begins: u64 = needed.iter().rev().skip(1).map(work_ms).sum();
    (last_begins >= plan.time_ms && !needed.is_empty()).then(|| {
        format!(
            "a valid run has {ENOUGH} commits and {ENOUGH} aborts at least, which {} are too short for",
            seconds(plan.time_ms)
        )
    })
}

/// The transactions up to the last abort that a valid run needs; the commits among them are enough with the one at the
/// end.
fn needed(transactions: &[PlannedTransaction]) -> &[PlannedTransaction] {
    let aborts = (0..transactions.len()).filter(|&n| transactions[n].votes.contains(&false));
    let last = aborts.take(ENOUGH).last();
    &transactions[..last.map_or(0, |last| last + 1)]
}

fn work_ms(transaction: &PlannedTransaction) -> u64 {
    transaction.work_ms.iter().copied().max().unwrap_or(0)
}

/// The shortest time for which a plan has no shortfalls, in milliseconds: what is drawn for that time has none. `None`
/// if no time would do.
pub fn shortest_ms(draw: impl Fn(u64) -> Plan) -> Option<u64> {
    let mut time_ms = 30_000;
    loop {
        let plan = draw(time_ms);
        if shortfalls(&plan).is_empty() {
            return Some(needed_ms(&plan));
        }
        if time_ms >= LONGEST_MS {
            return None;
        }
        time_ms = (2 * time_ms).min(LONGEST_MS);
    }
}

/// The time that a plan without shortfalls would have needed.
fn needed_ms(plan: &Plan) -> u64 {
    let first = |fault: &String| plan.windows.iter().find(|window| window.fault == *fault);
    let windows: Vec<_> = plan.faults.iter().filter_map(first).collect();
    let until = windows
        .iter()
        .map(|window| drawing::until_ms(window) + drawing::LAST_MS)
        .max();
    let needed = needed(&plan.transactions);
    // While a fault is on, no transaction may come to its end.
    let faulty: u64 = windows.iter().map(|window| window.duration_ms).sum();
    let transactions = match needed.len() as u64 {
        0 => 0,
        count => needed.iter().map(work_ms).sum::<u64>() + count * TRANSACTION_MS + faulty,
    };
    until.unwrap_or(0).max(transactions).max(drawing::LAST_MS)
}

/// A time, in milliseconds, for which a plan of these has no shortfalls whatever it is drawn from; `None` if none would
/// do.
pub fn enough_ms(workload: &Workload, cluster: &ClusterPlan, kinds: &[String]) -> Option<u64> {
    shortest_ms(|time_ms| drawing::plan(0, workload.clone(), cluster.clone(), time_ms, kinds))?;
    let longest: Vec<u64> = drawing::longest_ms(workload, cluster, kinds);
    let faulty: u64 = longest.iter().sum();
    let gaps = longest.len().saturating_sub(1) as u64 * drawing::longest_gap_ms(&cluster.timing);
    let transactions = match workload.family.as_str() {
        "commit" => 2 * ENOUGH as u64 * (drawing::LONGEST_VOTE_MS + TRANSACTION_MS) + faulty,
        _ => 0,
    };
    let windows = if longest.is_empty() {
        0
    } else {
        drawing::FIRST_FAULT_MS + faulty + gaps
    };
    Some((windows + drawing::LAST_MS).max(transactions))
}

/// The message about plans with shortfalls: each with its name, and the way out.
pub fn refusal(plans: &[(String, Vec<String>)], way_out: &str) -> String {
    const SHOWN: usize = 20;
    let mut lines = vec!["the verdict could not be valid:".to_string()];
    let line = |(name, shortfalls): &(String, Vec<String>)| format!("  {name}: {}", shortfalls.join("; "));
    lines.extend(plans.iter().take(SHOWN).map(line));
    if plans.len() > SHOWN {
        lines.push(format!("  and {} more", plans.len() - SHOWN));
    }
    lines.push(format!("The way out: {way_out}; --anyway runs it all the same."));
    lines.join("\n")
}

/// `5 s`, `5.25 s`.
pub fn seconds(ms: u64) -> String {
    format!("{} s", ms as f64 / 1000.0)
}

/// Refuses specs whose runs cannot end valid, each with its name.
///
/// # Errors
/// Which they are and why, with the way out; or that a variant or a fault does not exist.
pub fn refuse(specs: &[(String, RunSpec)], way_out: impl FnOnce() -> String) -> Result<(), String> {
    let mut short = Vec::new();
    for (name, spec) in specs {
        let shortfalls = shortfalls(&spec.plan()?);
        if !shortfalls.is_empty() {
            short.push((name.clone(), shortfalls));
        }
    }
    match short.is_empty() {
        true => Ok(()),
        false => Err(refusal(&short, &way_out())),
    }
}

/// The shortest time with which all these plans can end valid, in milliseconds; `None` if no time would do.
pub fn enough_for_all_ms(specs: impl IntoIterator<Item = RunSpec>) -> Option<u64> {
    let mut each = specs.into_iter().map(|spec| spec.shortest_ms());
    each.try_fold(0, |enough, shortest| Some(shortest?.max(enough)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planning::{names, scenes};
    use zooquake_history::plan::{ClusterPlan, DrawnFor};

    fn check(plan: &Plan) -> Result<(), String> {
        admit(plan.clone()).map(drop)
    }

    fn drawn(name: &str, clients: usize) -> Plan {
        let cluster = ClusterPlan {
            servers: 3,
            clients,
            ..ClusterPlan::default()
        };
        drawing::plan(1, names::workload(name).unwrap(), cluster, 60_000, &["kill".into()])
    }

    #[test]
    fn what_is_drawn_can_be_run() {
        for name in names::variants() {
            assert_eq!(check(&drawn(&name, 1)), Ok(()), "{name}");
            assert_eq!(check(&drawn(&name, 5)), Ok(()), "{name}");
        }
        for variant in scenes::VARIANTS {
            let cluster = ClusterPlan {
                servers: variant.servers,
                ..ClusterPlan::default()
            };
            assert_eq!(check(&(variant.plan)(0, cluster)), Ok(()));
        }
    }

    #[test]
    fn what_leads_elsewhere_is_refused() {
        let refused = |name: &str, change: fn(&mut Plan)| {
            let mut plan = drawn(name, 5);
            change(&mut plan);
            check(&plan).unwrap_err()
        };
        assert!(refused("lock/fenced", |plan| plan.workload.family = "../../x".into()).contains("../../x"));
        assert!(!refused("lock/fenced", |plan| plan.workload.variant = "\u{1b}[2J".into()).contains('\u{1b}'));
        refused("lock/fenced", |plan| plan.clients.clear());
        refused("lock/fenced", |plan| plan.cluster.clients = 4);
        refused("lock/fenced", |plan| plan.cluster.servers = 1_000_000);
        refused("lock/fenced", |plan| plan.time_ms = u64::MAX);
        refused("lock/fenced", |plan| plan.cluster.image = Some("-v /:/host".into()));
        for format in [0, 3, u32::MAX] {
            let mut plan = drawn("lock/fenced", 5);
            plan.format = format;
            let why = check(&plan).unwrap_err();
            assert!(
                why.contains("reads formats 1 to 2") || format == 0 && why == "was not read",
                "{why}"
            );
        }
        for format in [1, 2] {
            let mut plan = drawn("lock/fenced", 5);
            plan.format = format;
            assert_eq!(check(&plan), Ok(()));
        }
        let bounds = |change| {
            let why = refused("lock/fenced", change);
            assert!(why.contains("50 to 10000 ms") || why.contains("2 to 20 ticks"), "{why}");
        };
        bounds(|plan| plan.cluster.timing.tick_ms = 0);
        bounds(|plan| plan.cluster.timing.tick_ms = u64::MAX);
        bounds(|plan| plan.cluster.timing.sync_limit = 0);
        bounds(|plan| plan.cluster.timing.init_limit = u64::MAX);
        bounds(|plan| plan.cluster.timing.session_ms = 1);
        bounds(|plan| {
            let mut timing = plan.cluster.timing;
            timing.tick_ms = 0;
            plan.drawn_for = Some(DrawnFor { servers: 3, timing });
        });
        refused("lock/fenced", |plan| plan.windows[0].duration_ms = u64::MAX);
        refused("lock/fenced", |plan| {
            plan.windows[0].trigger = Trigger::At { at_ms: u64::MAX }
        });
        refused("lock/fenced", |plan| plan.clients[0].cycles[0].think_ms = u64::MAX);
        refused("commit/atomic", |plan| plan.transactions[0].work_ms[0] = u64::MAX);
        refused("commit/atomic", |plan| plan.transactions[3].votes.clear());
        let mut plan = (scenes::VARIANTS[0].plan)(0, drawn("lock/fenced", 0).cluster);
        plan.scenes[0].name = "../../outside".into();
        assert!(check(&plan).unwrap_err().contains("../../outside"));
    }

    /// The plan of a run with the settings that are usual.
    fn usual_plan(seed: u64, workload: &Workload, clients: usize, time_ms: u64, kinds: &[String]) -> Plan {
        drawing::plan(seed, workload.clone(), cluster(workload, clients), time_ms, kinds)
    }

    fn cluster(workload: &Workload, clients: usize) -> ClusterPlan {
        ClusterPlan {
            servers: 3,
            clients,
            timing: drawing::timing(workload),
            ..ClusterPlan::default()
        }
    }

    fn workload_of(name: &str) -> Workload {
        names::workload(name).unwrap()
    }

    /// Variants of which each has other words for what its clients do.
    fn variants() -> Vec<Workload> {
        let mut kinds: Vec<Workload> = Vec::new();
        for workload in names::variants().iter().map(|name| workload_of(name)) {
            if !kinds.iter().any(|other| drawing::alike(other, &workload)) {
                kinds.push(workload);
            }
        }
        kinds
    }

    #[test]
    fn the_shortest_time_is_enough_and_less_is_not() {
        let names = faults::names();
        // Of each variant all pairs, and as many sets of more; each variant draws others.
        let pairs = (0..names.len()).flat_map(|one| (0..=one).map(move |other| 1_u32 << one | 1 << other));
        let pairs: Vec<u32> = pairs.chain([0]).collect();
        let mut rng = fastrand::Rng::with_seed(1);
        for workload in variants() {
            let larger: Vec<u32> = pairs.iter().map(|_| rng.u32(0..1 << names.len())).collect();
            // What the variant cannot have finds no place in any time.
            let any = usual_plan(1, &workload, 5, 60_000, &[]);
            let can_have = |name: &String| faults::find(name).is_some_and(|fault| (fault.shortfall)(&any).is_none());
            for chosen in pairs.iter().chain(&larger) {
                let kinds: Vec<String> = (0..names.len())
                    .filter(|n| chosen >> n & 1 == 1)
                    .map(|n| names[n].clone())
                    .filter(can_have)
                    .collect();
                let enough = enough_ms(&workload, &cluster(&workload, 5), &kinds).unwrap();
                for seed in 1..=20 {
                    let plan = |time_ms| usual_plan(seed, &workload, 5, time_ms, &kinds);
                    let shortest = shortest_ms(plan).unwrap();
                    let why = format!("{} {kinds:?} seed {seed}: {shortest} ms", workload.name());
                    assert_eq!(shortfalls(&plan(shortest)), Vec::<String>::new(), "{why}");
                    assert!(shortest <= enough, "{why}, for any seed {enough} ms");
                    if !kinds.is_empty() && workload.family != "commit" {
                        assert!(!shortfalls(&plan(shortest - 1)).is_empty(), "{why}");
                    }
                }
            }
        }
    }

    #[test]
    fn only_what_is_certain_is_said() {
        let kinds = |list: &str| names::faults(list).unwrap();
        let lock = workload_of("lock/fenced");
        assert_eq!(
            shortfalls(&usual_plan(1, &lock, 5, 60_000, &kinds("kill,pause,partition"))),
            [""; 0]
        );
        assert_eq!(
            shortfalls(&usual_plan(1, &lock, 1, 1_000, &[])),
            [""; 0],
            "the last operations will do"
        );
        let short = shortfalls(&usual_plan(1, &lock, 5, 3_000, &kinds("pause,disconnect,pause")));
        assert_eq!(short, ["no window of pause, disconnect fits into 3 s"]);
        // A fault that finds no place takes none from the others, wherever it was drawn.
        for seed in 1..=50 {
            let plan = usual_plan(seed, &lock, 5, 6_000, &kinds("pause,kill"));
            assert_eq!(shortfalls(&plan), ["no window of pause fits into 6 s"]);
            assert!(others_strike(&plan), "seed {seed}: {:?}", plan.windows);
            assert!(!others_strike(&usual_plan(seed, &lock, 5, 3_000, &kinds("pause,kill"))));
        }

        let commit = workload_of("commit/atomic");
        assert_eq!(shortfalls(&usual_plan(1, &commit, 5, 5_000, &[])), [""; 0]);
        let short = shortfalls(&usual_plan(1, &commit, 5, 1_000, &[]));
        assert!(short[0].contains("5 commits and 5 aborts"), "{short:?}");
        // Faults cut transactions short, so that nothing is certain.
        assert_eq!(
            shortfalls(&usual_plan(1, &commit, 5, 3_000, &kinds("drop-reply"))),
            [""; 0]
        );
    }

    #[test]
    fn a_follower_falls_behind_only_where_a_majority_does_without_it() {
        let lock = workload_of("lock/fenced");
        for (servers, observers, can) in [(1, 0, false), (1, 1, true), (3, 0, true), (3, 1, true), (5, 0, true)] {
            let cluster = ClusterPlan {
                servers,
                observers,
                ..cluster(&lock, 5)
            };
            let lag = ["lag".to_string()];
            let plan = drawing::plan(1, lock.clone(), cluster.clone(), 20_000, &lag);
            assert_eq!(shortfalls(&plan).is_empty(), can, "{servers}, {observers}");
            assert_eq!(
                enough_ms(&lock, &cluster, &lag).is_some(),
                can,
                "{servers}, {observers}"
            );
            let other = drawing::plan(1, lock.clone(), cluster, 20_000, &["kill".to_string()]);
            assert_eq!(shortfalls(&other), [""; 0]);
        }
    }

    #[test]
    fn no_time_makes_up_for_a_client_that_is_not_there() {
        for (name, lacking) in [
            ("queue/fifo", true),
            ("barrier/tutorial", true),
            ("barrier/gate", true),
            ("commit/atomic", true),
            ("barrier/double", false),
            ("lock/fenced", false),
            ("register/read", false),
        ] {
            let workload = workload_of(name);
            let shortest = shortest_ms(|time_ms| usual_plan(1, &workload, 1, time_ms, &[]));
            assert_eq!(shortest.is_none(), lacking, "{name}");
            assert_eq!(
                enough_ms(&workload, &cluster(&workload, 1), &[]).is_none(),
                lacking,
                "{name}"
            );
            assert_eq!(shortfalls(&usual_plan(1, &workload, 2, 60_000, &[])), [""; 0], "{name}");
        }
    }
}
