//! One line of a server's log: its time, class and text.
//!
//! Two layouts are read. Ours (SLF4J's simple logger): `date time [thread] LEVEL package.Class - text`. The official
//! image's (Logback): `date time [myid:1] - LEVEL [thread:package.Class@line] - text`. Both write UTC in containers.

/// A line that begins an entry; the lines of a stack trace that follow it are none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogLine<'a> {
    /// Milliseconds since 1970 on the wall clock of the host.
    pub ms: i64,
    /// The class that wrote it, without its package.
    pub class: &'a str,
    /// The text after the dash, without trailing blanks.
    pub text: &'a str,
}

/// What a line turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineRead<'a> {
    Entry(LogLine<'a>),
    /// No entry: part of a stack trace, or what a script printed.
    Other,
    /// It begins like an entry and does not go on like one: something is cut off.
    Torn,
}

/// Reads a line.
pub fn read(line: &str) -> LineRead<'_> {
    let Some((ms, rest)) = stamp(line) else {
        return LineRead::Other;
    };
    match ours(rest).or_else(|| official(rest)) {
        // What a killed process left of a line runs into the first one of the next.
        Some((_, text)) if swallows(text) => LineRead::Torn,
        Some((class, text)) => LineRead::Entry(LogLine {
            ms,
            class: class.rsplit('.').next().unwrap_or(class),
            text: text.trim_end(),
        }),
        None => LineRead::Torn,
    }
}

/// ` [thread] LEVEL package.Class - text`
fn ours(rest: &str) -> Option<(&str, &str)> {
    let rest = rest.strip_prefix(" [")?;
    // A thread's name may hold brackets itself, so its end is where a level follows.
    let (at, level) = LEVELS
        .iter()
        .filter_map(|level| Some((rest.find(&format!("] {level} "))?, level)))
        .min()?;
    let (class, text) = rest[at + level.len() + 3..].split_once(" - ").or_else(|| {
        // An empty text leaves no blank behind the dash.
        Some((rest[at + level.len() + 3..].strip_suffix(" -")?, ""))
    })?;
    (!class.contains([' ', '['])).then_some((class, text))
}

/// ` [myid:1] - LEVEL  [thread:package.Class@line] - text`
fn official(rest: &str) -> Option<(&str, &str)> {
    let (_, rest) = rest.strip_prefix(" [myid:")?.split_once("] - ")?;
    let level = LEVELS.iter().find(|level| rest.starts_with(**level))?;
    let rest = rest[level.len()..].trim_start().strip_prefix('[')?;
    let (place, text) = rest
        .split_once("] - ")
        .or_else(|| Some((rest.strip_suffix("] -")?, "")))?;
    let (class, _) = place.rsplit_once(':')?.1.split_once('@')?;
    Some((class, text))
}

const LEVELS: [&str; 5] = ["TRACE", "DEBUG", "INFO", "WARN", "ERROR"];

/// Whether another entry begins within the text.
fn swallows(text: &str) -> bool {
    let begins = |(at, _): (usize, &str)| {
        at.checked_sub(STAMP.len())
            .and_then(|from| text.get(from..))
            .is_some_and(|rest| stamp(rest).is_some())
    };
    text.match_indices(" [").any(begins)
}

/// The shape of a time.
const STAMP: &[u8; 23] = b"0000-00-00 00:00:00,000";

/// `2026-11-20 21:24:55,985` as milliseconds since 1970, and what follows it.
fn stamp(line: &str) -> Option<(i64, &str)> {
    let (stamp, rest) = line.split_at_checked(STAMP.len())?;
    let fits = stamp.bytes().zip(STAMP).all(|(found, shape)| match shape {
        b'0' => found.is_ascii_digit(),
        b',' => matches!(found, b',' | b'.'),
        _ => found == *shape,
    });
    if !fits {
        return None;
    }
    let number = |from: usize, to: usize| stamp[from..to].parse::<i64>().unwrap_or_default();
    let seconds = number(11, 13) * 3600 + number(14, 16) * 60 + number(17, 19);
    let days = days(number(0, 4), number(5, 7), number(8, 10));
    Some(((days * 86_400 + seconds) * 1000 + number(20, 23), rest))
}

/// Days from 1970-01-01 to a day of the Gregorian calendar (Howard Hinnant, `days_from_civil`).
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_layouts_say_the_same() {
        let text = "New election. My id = 1, proposed zxid=0x0";
        let thread = "QuorumPeer[myid=1](plain=[0:0:0:0:0:0:0:0]:2181)(secure=disabled)";
        let class = "org.apache.zookeeper.server.quorum.FastLeaderElection";
        let expected = LineRead::Entry(LogLine {
            ms: 1_795_209_895_985,
            class: "FastLeaderElection",
            text,
        });
        let ours = format!("2026-11-20 21:24:55,985 [{thread}] INFO {class} - {text}");
        assert_eq!(read(&ours), expected);
        for place in ["FastLeaderElection@945", "o.a.z.s.q.FastLeaderElection@979"] {
            let official = format!("2026-11-20 21:24:55,985 [myid:1] - INFO  [{thread}:{place}] - {text}");
            assert_eq!(read(&official), expected);
        }
        assert_eq!(read(&ours[..90]), LineRead::Torn);
        let swallowed = format!("2026-11-20 21:24:55,900 [main] INFO a.B - so{ours}");
        assert_eq!(read(&swallowed), LineRead::Torn);
        let found = read("\tat java.base/java.net.Socket.connect(Unknown Source)");
        assert_eq!(found, LineRead::Other);
        assert_eq!(read(""), LineRead::Other);
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        assert_eq!(days(1970, 1, 1), 0);
        assert_eq!(days(2000, 3, 1), 11_017);
        assert_eq!(days(2024, 2, 29), 19_782);
    }
}
