use super::*;
use crate::faults;
use zooquake_checkers::families;
use zooquake_workloads::recipes::planted::PLANTED;

fn outcome(id: &str, shrinking: Duration) -> BugOutcome {
    let planted = PlantedBug::all().find(|planted| planted.id() == id).unwrap();
    let settings = Settings {
        budget: Duration::from_secs(300),
        shrinking,
        twin: CHUNK,
        seed: 1,
        threads: 2,
        stop: &AtomicBool::new(false),
    };
    run(planted, settings).unwrap()
}

#[test]
fn each_names_an_anomaly_of_its_family_and_faults_that_there_are() {
    for planted in PLANTED {
        let (family, _) = planted.twin;
        let family = families::family(family).unwrap();
        assert!(family.checkers.contains(&planted.expected), "{}", planted.id);
        assert!(
            planted.faults.iter().all(|fault| faults::find(fault).is_some()),
            "{}",
            planted.id
        );
    }
}

#[test]
fn bugs_that_scheduling_shows_are_found_and_shrunk_and_their_recipes_are_silent() {
    for id in ["L12", "B1"] {
        let outcome = outcome(id, Duration::from_secs(60));
        assert!(outcome.passed(), "{outcome:?}");
        let Size {
            windows, operations, ..
        } = outcome.shown.unwrap().size;
        assert!(windows == 0 && operations <= 12, "{id}: {operations} operations");
    }
}

#[test]
fn bugs_that_faults_show_are_found_and_their_recipes_are_silent() {
    for id in ["Q1", "T1"] {
        let outcome = outcome(id, Duration::ZERO);
        assert!(outcome.passed(), "{outcome:?}");
        assert!(outcome.shown.is_some_and(|shown| shown.size.windows <= WINDOWS));
    }
}

#[test]
fn bugs_of_consensus_protocols_are_found_and_shrunk_and_their_twins_show_what_they_declare() {
    for planted in PlantedBug::all().filter(|planted| matches!(planted, PlantedBug::Protocol(_))) {
        let outcome = outcome(planted.id(), Duration::from_secs(20));
        assert!(outcome.passed(), "{outcome:?}");
        let size = outcome.shown.unwrap().size;
        let messages = size.messages.expect("it is a network's");
        // Logs differ at the end, when replicas have caught up; other violations end a run.
        let most = if planted.expected() == "diverging-replicas" {
            60
        } else {
            30
        };
        assert!(size.windows <= 1 && messages <= most, "{planted:?}: {size}");
    }
}
