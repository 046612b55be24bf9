//! Moments of a calendar, in UTC. Those of a record sort as text.

use jiff::Timestamp;
use std::time::Duration;

/// This moment, such as `2026-11-20T21:31:35Z`.
pub fn now() -> String {
    before(Duration::ZERO)
}

/// The moment this long ago; the earliest that a calendar has if there is none so early.
pub fn before(ago: Duration) -> String {
    let moment = Timestamp::now().checked_sub(ago).unwrap_or(Timestamp::MIN);
    moment.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// This moment as names of folders have it: `20261120T213135`.
pub fn compact() -> String {
    Timestamp::now().strftime("%Y%m%dT%H%M%S").to_string()
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
        let (now, earlier) = (now(), before(Duration::from_secs(86_400)));
        assert!(
            earlier < now && now.ends_with('Z') && now.len() == 20,
            "{earlier} {now}"
        );
        assert_eq!(date("2026-11-20T21:31:35Z"), "2026-11-20");
        assert_eq!((compact().len(), compact().find('T')), (15, Some(8)));
    }
}
