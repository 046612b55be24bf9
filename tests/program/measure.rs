//! Measurements on a real ensemble.

use crate::common::{EnsembleSlot, Runs, assert_nothing_left, output_of, zooquake};
use serde_json::Value;

/// Runs `zooquake measure … --json` to its end.
fn measure(folder: &Runs, line: &str) -> Value {
    let measured = output_of(zooquake(&format!("measure {line} --json --out")).arg(folder.path()));
    measured.ends(0).json()
}

/// A number of one variant at one size.
fn number(numbers: &Value, variant: &str, (axis, size): (&str, u64), field: &str) -> f64 {
    let points = numbers["points"].as_array().expect("points");
    let point = points
        .iter()
        .find(|point| point["variant"] == variant && point[axis] == size);
    let point = point.unwrap_or_else(|| panic!("{variant} with {size} in {numbers}"));
    point[field].as_f64().unwrap_or_else(|| panic!("{field} in {point}"))
}

#[test]
fn a_herd_grows_and_a_chain_does_not() {
    let _turn = EnsembleSlot::shared();
    let folder = Runs::new("measure-herd");
    let numbers = measure(&folder, "herd --candidates 5,10 --changes 5");
    let of = |variant: &str, size: u64, field: &str| number(&numbers, variant, ("candidates", size), field);
    for size in [5, 10] {
        let (waiting, all) = (size as f64 - 1.0, size as f64);
        // Everybody who waits hears of it and looks.
        assert_eq!(of("election/ticket", size, "watch_events"), waiting, "{numbers}");
        assert_eq!(of("election/ticket", size, "reads"), waiting, "{numbers}");
        assert_eq!(of("election/ephemeral", size, "watch_events"), waiting, "{numbers}");
        // One resigns, and all others try to create the leader's znode.
        assert_eq!(of("election/ephemeral", size, "writes"), all, "{numbers}");
        assert_eq!(of("election/sequential", size, "watch_events"), 1.0, "{numbers}");
        assert_eq!(of("election/sequential", size, "reads"), 1.0, "{numbers}");
    }
    for file in ["herd.png", "herd.html", "herd.json"] {
        let size = std::fs::metadata(folder.path().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert!(size.len() > 0, "{file} is empty");
    }
    assert_nothing_left();
}

#[test]
fn a_broadcast_hears_every_vote_at_every_site() {
    let _turn = EnsembleSlot::shared();
    let folder = Runs::new("measure-commit");
    // Votes come one by one on a busy machine, too: those that come together are looked at together.
    let line = "commit --variants commit/broadcast,commit/coordinated --sites 5 --transactions 3 --stagger 200";
    let numbers = measure(&folder, line);
    let of = |variant: &str, field: &str| number(&numbers, variant, ("sites", 5), field);
    assert!(
        of("commit/broadcast", "reads") > 1.5 * of("commit/coordinated", "reads"),
        "{numbers}"
    );
    // The transaction, a znode for each site, a vote of each site; and the decision, where it is published.
    assert_eq!(of("commit/broadcast", "writes"), 11.0, "{numbers}");
    assert_eq!(of("commit/coordinated", "writes"), 12.0, "{numbers}");
    assert_nothing_left();
}

#[test]
fn the_harness_is_measured_with_more_and_more_clients() {
    let _turn = EnsembleSlot::shared();
    let folder = Runs::new("measure-clients");
    let numbers = measure(&folder, "clients --clients 3,1,3 --seconds 1 --servers 1");
    let points = numbers["points"].as_array().expect("points");
    let sizes: Vec<u64> = points.iter().filter_map(|point| point["clients"].as_u64()).collect();
    assert_eq!(sizes, [1, 3], "{numbers}");
    for point in points {
        for field in ["bring_up_s", "round_trip_ms", "events_per_second", "removal_s"] {
            let value = point[field].as_f64();
            assert!(value.is_some_and(|value| value > 0.0), "{field} in {point}");
        }
    }
    for file in ["clients.png", "clients.html", "clients.json"] {
        assert!(folder.path().join(file).is_file(), "{file}");
    }
}
