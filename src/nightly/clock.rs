//! Moments of a calendar, as they stand in a night's record: in UTC, and sorted as text they are in order.

use anyhow::{Context, Result};
use std::time::Duration;
use time::OffsetDateTime;

/// This moment, such as `2026-11-20T21:31:35Z`.
///
/// # Errors
/// If the machine's clock shows a year that has no four digits.
pub fn now() -> Result<String> {
    before(Duration::ZERO)
}

/// The moment this long ago.
///
/// # Errors
/// If the machine's clock shows a year that has no four digits.
pub fn before(ago: Duration) -> Result<String> {
    let format = time::macros::format_description!("[year]-[month]-[day]T[hour]:[minute]:[second]Z");
    (OffsetDateTime::now_utc() - ago)
        .format(&format)
        .context("formatting the time")
}

/// The date of a moment.
pub fn date(moment: &str) -> &str {
    moment.split('T').next().unwrap_or(moment)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_sort_as_text() {
        let (now, earlier) = (now().unwrap(), before(Duration::from_secs(86_400)).unwrap());
        assert!(earlier < now && now.ends_with('Z'), "{earlier} {now}");
        assert_eq!(date("2026-11-20T21:31:35Z"), "2026-11-20");
    }
}
