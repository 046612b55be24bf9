//! Moments of a calendar, in UTC. Those of a record sort as text.

use jiff::Timestamp;
use jiff::civil::Date;
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

/// A day, such as `2026-11-20`.
///
/// # Errors
/// If it is none of the calendar, or not written so.
pub fn day(text: &str) -> Result<String, String> {
    let day: Option<Date> = text.parse().ok();
    let day = day.map(|day| day.to_string()).filter(|day| day == text);
    day.ok_or_else(|| format!("`{text}` is not a date such as 2026-11-20"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_one_of_the_calendar() {
        assert_eq!(day("2026-11-20").unwrap(), "2026-11-20");
        for wrong in ["2026-02-30", "20261120", "2026-11-20T01:00:00", "today", ""] {
            assert!(day(wrong).unwrap_err().contains("such as 2026-11-20"), "{wrong}");
        }
    }

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
