//! Small histograms of latencies, for a table.

use super::Svg;
use super::scale::LogScale;
use crate::text;

const BINS: usize = 40;
const WIDTH: f64 = 240.0;
const HEIGHT: f64 = 30.0;

/// Draws a sorted list of latencies on an axis that several histograms share.
pub fn draw(latencies: &[u64], log: &LogScale, name: &str) -> String {
    let mut counts = [0usize; BINS];
    for ns in latencies {
        counts[((log.at(*ns) * BINS as f64) as usize).min(BINS - 1)] += 1;
    }
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    let width = WIDTH / BINS as f64;
    let mut svg = Svg::new(WIDTH);
    for (i, n) in counts.iter().enumerate().filter(|(_, n)| **n > 0) {
        let height = (HEIGHT * *n as f64 / most as f64).max(1.5);
        svg.rect("histbar", (i as f64 * width, HEIGHT - height, width - 0.8, height), "");
    }
    svg.line("row", (0.0, HEIGHT), (WIDTH, HEIGHT));
    let apart = ((log.high - log.low) / 4.0).ceil().max(1.0) as usize;
    for power in log.powers().step_by(apart) {
        let x = log.at(power) * WIDTH;
        svg.line("row", (x, HEIGHT), (x, HEIGHT + 3.0));
        let class = if x < 10.0 {
            "axis"
        } else if x > WIDTH - 10.0 {
            "axis end"
        } else {
            "axis mid"
        };
        svg.text(class, (x, HEIGHT + 13.0), &super::charts::short(power));
    }
    let label = format!("Histogram of latencies of {}", text::clip(name, 40));
    svg.finish("", HEIGHT + 15.0, &label).replacen(r#" id="""#, "", 1)
}
