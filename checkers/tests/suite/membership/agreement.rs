//! The checkers agree with the definitions on random groups, convict only what no execution explains, and find nothing
//! of correct recipes.

use super::definitions::{self, RegressedViews};
use super::{executions, quiet_definitions, simulated_groups};
use crate::anomaly_tally::{AnomalyCounts, count, spread};
use crate::doubtful_evidence::lines;
use crate::expect::{minimal_as, of_kind};
use std::collections::BTreeSet;
use zooquake_checkers::{Anomaly, check};
use zooquake_history::{EventType, Record};

/// How many histories are drawn unless `ZOOQUAKE_HISTORIES` sets another number.
const USUAL: u64 = 2_000;

/// One history in so many has its witnesses tried.
const TRIED: u64 = 10;

/// What an anomaly of a view is about: its last event's client, and a word of its text.
pub fn path(anomaly: &Anomaly) -> &str {
    let rest = anomaly.why.split(" the member ").nth(1).expect("a member");
    rest.split(' ').next().expect("a path")
}

fn regressions(record: &Record, found: &[&Anomaly]) -> BTreeSet<RegressedViews> {
    let views = definitions::shown(record);
    let about = |anomaly: &&Anomaly| {
        let last = anomaly.witness.last().expect("a witness");
        let view = views.iter().find(|view| view.at == *last).expect("a view");
        (
            view.node.clone(),
            view.process,
            view.session.clone(),
            path(anomaly).to_owned(),
        )
    };
    let all: BTreeSet<RegressedViews> = found.iter().map(about).collect();
    assert_eq!(all.len(), found.len());
    all
}

/// The client of an anomaly of liveness.
pub fn client(record: &Record, anomaly: &Anomaly) -> String {
    let nodes = anomaly.witness.iter().filter_map(|&at| {
        let event = &record.history.events[at];
        event.node.as_ref().filter(|_| event.kind == EventType::Invoke)
    });
    let nodes: Vec<_> = nodes.collect();
    nodes.last().expect("a client").to_string()
}

fn agree(seed: u64, counts: &mut AnomalyCounts) {
    let record = simulated_groups::record(seed);
    let results = check(&record);
    let what = || format!("seed {seed}: {results:#?}\n{:#?}\n{}", record.tree, lines(&record));
    let phantoms = of_kind(&results, "phantom-member");
    let mut shown: Vec<usize> = phantoms.iter().map(|found| found.witness[0]).collect();
    shown.sort_unstable();
    assert_eq!(shown, definitions::phantoms(&record), "{}", what());
    let last = |kind: &str| -> Vec<usize> {
        let answer = |at: &&usize| {
            let event = &record.history.events[**at];
            event.kind == EventType::Ok && ["register", "update"].contains(&event.f.as_str())
        };
        let found = of_kind(&results, kind).into_iter();
        found
            .map(|found| *found.witness.iter().rfind(answer).expect("an answer"))
            .collect()
    };
    let sorted = |mut all: Vec<usize>| {
        all.sort_unstable();
        all
    };
    let (lost_updates, undone) = (sorted(last("lost-update")), sorted(last("undone-update")));
    assert_eq!(lost_updates, sorted(definitions::lost_updates(&record)), "{}", what());
    assert_eq!(undone, sorted(definitions::undone_updates(&record)), "{}", what());
    let regressed = regressions(&record, &of_kind(&results, "view-regression"));
    let sessions = definitions::sessions(&record);
    let wanted: BTreeSet<RegressedViews> = sessions
        .iter()
        .flat_map(|views| definitions::regressed(views))
        .collect();
    assert_eq!(regressed, wanted, "{}", what());
    for views in &sessions {
        let (node, process, session) = (&views[0].node, views[0].process, &views[0].session);
        let guilty = regressed
            .iter()
            .any(|(by, of, of_session, _)| (by, *of, of_session) == (node, process, session));
        // A member that was made up may fit no order of transactions.
        let explained = executions::explained(views);
        assert!(!guilty || !explained, "{node} {session} is explained: {}", what());
        assert!(
            guilty || explained || !shown.is_empty(),
            "{node} {session} is not explained: {}",
            what()
        );
    }
    let (stale, lost) = (of_kind(&results, "stale-view"), of_kind(&results, "lost-member"));
    let clients =
        |found: &[&Anomaly]| -> BTreeSet<String> { found.iter().map(|found| client(&record, found)).collect() };
    assert_eq!(clients(&stale), quiet_definitions::stale(&record), "{}", what());
    let (pending, believing): (Vec<&Anomaly>, Vec<&Anomaly>) =
        lost.iter().partition(|found| found.why.contains("was sent `register`"));
    assert_eq!(clients(&believing), quiet_definitions::lost(&record), "{}", what());
    assert_eq!(
        clients(&pending),
        quiet_definitions::unregistered(&record),
        "{}",
        what()
    );
    for (found, stale) in stale
        .iter()
        .map(|found| (found, true))
        .chain(believing.iter().map(|found| (found, false)))
    {
        assert!(
            unexplained(&record, found, stale),
            "{found:#?} is explained: {}",
            what()
        );
    }
    for anomaly in results.anomalies.iter().filter(|_| seed.is_multiple_of(TRIED)) {
        minimal_as(&record, anomaly, |other| {
            let paths = other.kind != "view-regression" || path(other) == path(anomaly);
            (&other.kind, other.advisory) == (&anomaly.kind, anomaly.advisory) && paths
        });
    }
    for (name, is) in [
        ("phantom-member", !phantoms.is_empty()),
        ("lost-update", !lost_updates.is_empty()),
        ("undone-update", !undone.is_empty()),
        ("view-regression", !regressed.is_empty()),
        ("stale-view", !stale.is_empty()),
        ("a znode that is gone", !believing.is_empty()),
        ("a register that is pending", !pending.is_empty()),
        ("none", results.anomalies.is_empty()),
    ] {
        count(counts, name, is);
    }
}

/// Whether each answer of a client in the span of an anomaly is right at no moment of any execution.
fn unexplained(record: &Record, anomaly: &Anomaly, stale: bool) -> bool {
    let node = client(record, anomaly);
    let asked = anomaly
        .witness
        .iter()
        .rfind(|&&at| record.history.events[at].f == "view");
    let asked = *asked.expect("a view");
    let around = quiet_definitions::quiet(record);
    let around = around
        .into_iter()
        .find(|(first, second)| (first.index..second.end_index).contains(&asked));
    let states = executions::between_readings(record, around.expect("readings"));
    let views = definitions::shown(record);
    let own: Vec<usize> = anomaly
        .witness
        .iter()
        .copied()
        .filter(|&at| record.history.events[at].f == "view")
        .collect();
    let span = own[0]..=own[own.len() - 1];
    let mut answers = views
        .iter()
        .filter(|view| view.node == node && !view.notice && span.contains(&view.at));
    answers.all(|view| {
        let members = view.members.as_ref();
        // A value that the transaction it names did not write was the group's at no moment.
        let written = |entry: &definitions::Entry| definitions::writes(record, &entry.0).contains(&(entry.2, entry.3));
        if stale && !members.is_none_or(|all| all.iter().all(written)) {
            return true;
        }
        let registered = &record.history.events[view.at].value["registered"];
        let named = registered["path"].as_str().zip(registered["czxid"].as_i64());
        states.iter().all(|state| {
            let shown = members.map(|all| all.iter().map(|entry| (entry.0.clone(), entry.1, entry.2)).collect());
            let same = shown.as_ref() == Some(state);
            let stands = |(path, czxid): (&str, i64)| state.iter().any(|entry| entry.0 == path && entry.1 == czxid);
            if stale { !same } else { !named.is_some_and(stands) }
        })
    })
}

#[test]
fn random_groups() {
    let (all, mut counts) = (crate::histories(USUAL), AnomalyCounts::new());
    (0..all).for_each(|seed| agree(seed, &mut counts));
    println!("{counts:?}");
    spread(100, (all, counts));
}

#[test]
fn correct_recipes() {
    for seed in 0..crate::histories(USUAL) {
        let record = simulated_groups::correct(seed);
        let results = check(&record);
        assert!(
            results.anomalies.is_empty(),
            "seed {seed}: {results:#?}\n{}",
            lines(&record)
        );
        for views in definitions::sessions(&record) {
            assert!(executions::explained(&views), "seed {seed}: {views:#?}");
        }
    }
}
