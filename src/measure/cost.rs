//! What one change of leader or one transaction costs, and the medians over many.

use serde_json::{Value, json};
use std::time::Duration;
use zooquake_reports::measurement::{Measurement, Point};
use zooquake_workloads::zk::counted::Counts;

/// What is measured of each change of leader, or transaction.
pub const QUANTITIES: [&str; 4] = ["watch events", "reads", "writes", "milliseconds"];

/// The same in JSON.
const FIELDS: [&str; 4] = ["watch_events", "reads", "writes", "ms"];

/// What one change of leader, or one transaction, cost.
#[derive(Debug, Clone, Copy)]
pub struct Cost {
    /// What was asked of ZooKeeper, and heard.
    pub counts: Counts,
    /// How long it took.
    pub took: Duration,
}

/// The medians over what was measured at one size.
pub fn point(size: u16, costs: &[Cost]) -> Point {
    let of = |quantity: fn(&Cost) -> f64| median(costs.iter().map(quantity).collect());
    Point {
        size: size.into(),
        values: vec![
            of(|cost| cost.counts.events as f64),
            of(|cost| cost.counts.reads() as f64),
            of(|cost| cost.counts.writes() as f64),
            of(|cost| (cost.took.as_secs_f64() * 1e5).round() / 1e2),
        ],
    }
}

/// The middle value, or the mean of the two in the middle; 0 of none.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => 0.0,
        odd if odd % 2 == 1 => values[middle],
        _ => f64::midpoint(values[middle - 1], values[middle]),
    }
}

/// The numbers of a chart as JSON; each point is the median of so many samples.
pub fn numbers(measurement: &Measurement, samples: u16, servers: usize) -> Value {
    let points = measurement.series.iter().flat_map(|series| {
        let line = |point| {
            let mut line = point_fields(measurement, point, &FIELDS);
            line["variant"] = json!(series.name);
            line
        };
        series.points.iter().map(line)
    });
    let points: Vec<Value> = points.collect();
    json!({ "measurement": measurement.name, "servers": servers, "samples": samples, "points": points })
}

/// A point of a chart as JSON: its size by the name of the axis, then each quantity by its field.
pub fn point_fields(measurement: &Measurement, point: &Point, fields: &[&str]) -> Value {
    let mut line = json!({ &measurement.axis: point.size });
    for (field, value) in fields.iter().zip(&point.values) {
        line[*field] = json!(value);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(vec![]), 0.0);
        assert_eq!(median(vec![9.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![9.0, 1.0, 2.0, 4.0]), 3.0);
    }
}
