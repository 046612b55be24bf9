//! Values that the command line and campaign files share: how each is read, within which bounds, and how it is written.

use crate::backends::{self, BACKENDS};
use jiff::SignedDuration;
use std::time::Duration;
use toml::Spanned;
use zooquake_backend::docker;
use zooquake_history::plan::{DrawnFor, On, Timing};

/// The text of a file whose keys are read, for the lines in error messages.
pub struct KeyText<'a>(pub &'a str);

impl KeyText<'_> {
    /// What is wrong with the value of a key, with its line.
    pub fn wrong<T>(&self, at: &Spanned<T>, key: &str, why: &str) -> String {
        self.wrong_at(at.span().start, key, why)
    }

    /// The same of a value that begins at this byte of the text.
    pub fn wrong_at(&self, at: usize, key: &str, why: &str) -> String {
        let before = self.0.get(..at).unwrap_or(self.0);
        format!("line {}, `{key}`: {why}", before.matches('\n').count() + 1)
    }
}

/// A length of time such as `60s`, `1h30m`, `500ms`, as [`jiff::fmt::friendly`] reads them; a bare number is seconds.
///
/// # Errors
/// If it is none, or not between one second and a day.
pub fn duration(text: &str) -> Result<Duration, String> {
    let number = text.parse().ok().map(SignedDuration::from_secs);
    let length = number.or_else(|| text.parse().ok());
    let length = length.ok_or_else(|| format!("`{text}` is not a length of time such as 60s, 2m or 500ms"))?;
    let bounds = SignedDuration::from_secs(1)..=SignedDuration::from_hours(24);
    let within = Some(length).filter(|length| bounds.contains(length));
    let ms = within.ok_or("give between one second and a day")?.as_millis();
    // Plans count milliseconds.
    Ok(Duration::from_millis(ms as u64))
}

/// A moment of a run, or a length of time in it, such as `5s` or `200ms`, in milliseconds.
///
/// # Errors
/// If it is none, or not between nothing and a day.
pub fn moment(text: &str) -> Result<u64, String> {
    let length: SignedDuration = text
        .parse()
        .map_err(|_| format!("`{text}` is not a length of time such as 5s, 1m30s or 200ms"))?;
    let within = (SignedDuration::ZERO..=SignedDuration::from_hours(24)).contains(&length);
    let ms = Some(length)
        .filter(|_| within)
        .ok_or("give between 0s and a day")?
        .as_millis();
    Ok(ms as u64)
}

/// A part of a whole as a number.
///
/// # Errors
/// If it is none from 0 to 1.
pub fn share(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| (0.0..=1.0).contains(number));
    number.ok_or_else(|| format!("`{text}` is not a share from 0 to 1, such as 0.5"))
}

/// The same length as [`duration`] reads it: whole seconds, or milliseconds.
pub fn duration_text(length: Duration) -> String {
    match length.subsec_millis() {
        0 => format!("{}s", length.as_secs()),
        _ => format!("{}ms", length.as_millis()),
    }
}

/// A time in milliseconds as the whole seconds that are no shorter: what people type.
pub fn whole_seconds(ms: u64) -> String {
    duration_text(Duration::from_secs(ms.div_ceil(1_000)))
}

/// The number that choices are drawn from.
///
/// # Errors
/// If it is none.
pub fn seed(text: &str) -> Result<u64, String> {
    let most = u64::MAX;
    let number = text.parse();
    number.map_err(|_| format!("a seed is a whole number from 0 to {most}, such as 7"))
}

/// The ZooKeeper of an ensemble: a suite of Debian, or an image.
///
/// # Errors
/// If it is a bare version, for which no image is called, or empty.
pub fn zookeeper(text: &str) -> Result<String, String> {
    let is_version = text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let why = match text {
        "" => "no image is named: give one such as `zookeeper:3.9.3`".to_owned(),
        _ if is_version => format!("`{text}` is a version, and no image: give `zookeeper:{text}`"),
        _ => return Ok(text.to_owned()),
    };
    Err(format!("{why}, or Debian's `bookworm` (3.8.0) or `trixie` (3.9.3)"))
}

/// A host of a run over several: the address of its Docker engine, read from docker's own files for the name of a
/// context.
///
/// # Errors
/// If it is neither.
pub fn host(text: &str) -> Result<String, String> {
    docker::host_address(text).map_err(|why| format!("{why:#}"))
}

/// Where to run.
///
/// # Errors
/// If there is no such backend.
pub fn on(text: &str) -> Result<On, String> {
    let known = BACKENDS.iter().map(|backend| backend.on).find(|on| on.name() == text);
    known.ok_or_else(|| format!("give {}", backends::choices()))
}

/// The number of an ensemble's voting servers.
///
/// # Errors
/// If it is not 1, 3 or 5.
pub fn servers(text: &str) -> Result<usize, String> {
    match text {
        "1" => Ok(1),
        "3" => Ok(3),
        "5" => Ok(5),
        _ => Err("an ensemble has 1, 3 or 5 servers".to_string()),
    }
}

/// The same, or the number of the nodes of a consensus protocol that decide, which may be others.
///
/// # Errors
/// If it is not 1 to 7.
pub fn nodes(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (1..=7).contains(number));
    number
        .ok_or_else(|| "an ensemble has 1, 3 or 5 servers, a consensus protocol up to 7 nodes that decide".to_string())
}

/// The number of an ensemble's observers.
///
/// # Errors
/// If it is not 0 to 4.
pub fn observers(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (0..=4).contains(number));
    number.ok_or_else(|| "there are 0 to 4 observers".to_string())
}

/// The number of clients.
///
/// # Errors
/// If it is not 1 to 50.
pub fn clients(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (1..=50).contains(number));
    number.ok_or_else(|| "there are 1 to 50 clients".to_string())
}

/// The timing of an ensemble, as tickTime/syncLimit/session timeout.
///
/// # Errors
/// If they are no such numbers, or ZooKeeper would not grant this session timeout.
pub fn timing(text: &str) -> Result<Timing, String> {
    let numbers: Vec<u64> = text.split('/').map_while(|part| part.parse().ok()).collect();
    let &[tick_ms, sync_limit, session_ms] = numbers.as_slice() else {
        return Err("give tickTime/syncLimit/session timeout, such as 250/4/2000".to_string());
    };
    let timing = Timing {
        tick_ms,
        sync_limit,
        session_ms,
        ..Timing::default()
    };
    within_bounds(&timing)?;
    Ok(timing)
}

/// Refuses a timing under which no ensemble could work, or only one that keeps nobody's bounds.
///
/// # Errors
/// The bounds that it breaks.
pub fn within_bounds(timing: &Timing) -> Result<(), String> {
    let Timing {
        tick_ms,
        init_limit,
        sync_limit,
        session_ms,
    } = *timing;
    if !(50..=10_000).contains(&tick_ms) || !(1..=100).contains(&sync_limit) || !(1..=100).contains(&init_limit) {
        return Err("tickTime is 50 to 10000 ms, syncLimit and initLimit 1 to 100 ticks".to_string());
    }
    // ZooKeeper negotiates the timeout into this range, so another one would be a lie in the plan.
    if !(2 * tick_ms..=20 * tick_ms).contains(&session_ms) {
        return Err(format!(
            "the session timeout must be 2 to 20 ticks: {} to {} ms",
            2 * tick_ms,
            20 * tick_ms
        ));
    }
    Ok(())
}

/// The timing as [`timing`] reads it: `250/4/2000`.
pub fn timing_text(timing: &Timing) -> String {
    format!("{}/{}/{}", timing.tick_ms, timing.sync_limit, timing.session_ms)
}

/// An ensemble that plans are drawn for, as `servers:tickTime/syncLimit/session timeout`.
///
/// # Errors
/// If it is none, or out of the bounds of [`servers`] and [`timing`].
pub fn drawn_for(text: &str) -> Result<DrawnFor, String> {
    let (size, times) = text
        .split_once(':')
        .ok_or("give servers:tickTime/syncLimit/session timeout, such as 3:250/4/2000")?;
    Ok(DrawnFor {
        servers: servers(size)?,
        timing: timing(times)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_lengths_of_time() {
        assert_eq!(duration("60s"), Ok(Duration::from_secs(60)));
        assert_eq!(duration("2m"), Ok(Duration::from_secs(120)));
        assert_eq!(duration("1500ms"), Ok(Duration::from_millis(1500)));
        for text in ["1500ms", "60s", "5400s"] {
            assert_eq!(duration_text(duration(text).unwrap()), text);
        }
        assert_eq!(
            (whole_seconds(20_000), whole_seconds(20_400)),
            ("20s".into(), "21s".into())
        );
        assert_eq!(duration("7"), Ok(Duration::from_secs(7)));
        assert_eq!(duration("90m"), Ok(Duration::from_secs(5_400)));
        assert_eq!(duration("1h30m"), Ok(Duration::from_secs(5_400)));
        assert_eq!(duration("24h"), Ok(Duration::from_secs(86_400)));
        assert_eq!(duration("1.5s"), Ok(Duration::from_millis(1_500)));
        for wrong in [
            "0s",
            "999ms",
            "25h",
            "-5s",
            "1mo",
            "x",
            "",
            "99999999999999999999",
            "9223372036854775807",
        ] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn reads_seeds_and_zookeepers() {
        assert_eq!(seed("18446744073709551615"), Ok(u64::MAX));
        for wrong in ["abc", "-1", "1.5", "", "18446744073709551616"] {
            assert!(
                seed(wrong).unwrap_err().contains("from 0 to 18446744073709551615"),
                "{wrong}"
            );
        }
        for name in [
            "bookworm",
            "trixie",
            "zookeeper:3.9",
            "registry.example:5000/zk@sha256:0a",
            "3.9-mine",
        ] {
            assert_eq!(zookeeper(name).as_deref(), Ok(name));
        }
        for (wrong, way_out) in [
            ("3.9.3", "`zookeeper:3.9.3`"),
            ("3.9", "`zookeeper:3.9`"),
            ("", "trixie"),
        ] {
            assert!(zookeeper(wrong).unwrap_err().contains(way_out), "{wrong}");
        }
    }

    #[test]
    fn reads_timings() {
        assert!(timing("500/4/1000").unwrap().hazardous());
        assert!(!timing("250/4/2000").unwrap().hazardous());
        assert!(timing("250/4/400").unwrap_err().contains("500 to 5000"));
        assert!(timing("250/4").is_err());
    }

    #[test]
    fn reads_sizes() {
        assert_eq!((observers("0"), observers("4")), (Ok(0), Ok(4)));
        assert_eq!((clients("1"), clients("50")), (Ok(1), Ok(50)));
        assert!(observers("5").is_err() && clients("0").is_err() && clients("51").is_err() && clients("x").is_err());
        let shape = drawn_for("3:500/4/1000").unwrap();
        assert_eq!((shape.servers, timing_text(&shape.timing).as_str()), (3, "500/4/1000"));
        assert!(drawn_for("2:500/4/1000").is_err() && drawn_for("3").is_err() && drawn_for("3:1/1/1").is_err());
    }
}
