//! Where a night lies on the disk, and what is on record there.

use super::cell::CellAttempt;
use super::header::NightHeader;
use crate::calendar;
use crate::campaign::ledger::{self, CampaignHeader as _};
use anyhow::Result;
use schemars::Schema;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Name of the record in a night's folder.
pub const NAME: &str = "night.jsonl";

/// How long after its beginning a night that is not through is still taken up again, if the command line names no
/// folder.
const STALE: Duration = Duration::from_secs(24 * 3600);

/// The content of a night's record.
pub type LedgerContent = ledger::LedgerContent<NightHeader, CellAttempt>;

/// The record of a night that goes on.
pub type NightLedger = ledger::CampaignLedger<NightHeader, CellAttempt>;

/// The schema of a line of a night's record.
pub fn line_schema() -> Schema {
    ledger::line_schema::<NightHeader, CellAttempt>()
}

/// The name of a folder, also of one given as `.` or through a link.
pub fn name_of(path: &Path) -> String {
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    path.file_name().map_or_else(
        || path.display().to_string(),
        |name| name.to_string_lossy().into_owned(),
    )
}

/// The folder in `nights` for a night without a folder on the command line: the one of today that is not through yet,
/// else a new one by the date and the part.
///
/// # Errors
/// If the folder of nights, or a record in it, cannot be read.
pub fn choose(nights: &Path, header: &NightHeader) -> Result<PathBuf> {
    let oldest = calendar::before(STALE);
    let going_on =
        |recorded: &LedgerContent| recorded.header.is(header) && !recorded.closed && recorded.header.begun > oldest;
    let all = super::previous_nights::all(nights)?;
    if let Some((path, _)) = all.iter().rfind(|(_, recorded)| going_on(recorded)) {
        return Ok(path.clone());
    }
    let part = header
        .shard
        .as_ref()
        .map(|shard| format!("-{}", shard.replace('/', "of")));
    let base = format!("{}{}", header.date(), part.unwrap_or_default());
    let free = |name: &String| !nights.join(name).join(NAME).exists();
    let numbered = (2..).map(|number| format!("{base}-{number}"));
    let name = std::iter::once(base.clone()).chain(numbered).find(free);
    Ok(nights.join(name.unwrap_or(base)))
}

#[cfg(test)]
pub mod tests {
    use super::super::campaign::tests::campaign;
    use super::super::cell::tests::{attempt, cell};
    use super::super::conclusion;
    use super::super::header::FORMAT;
    use super::*;
    use crate::campaign::ledger::{ForeignRecord, read};
    use crate::planning::values;
    use std::io::Write;
    use zooquake_checkers::Verdict;

    /// The header of a night that began on this date.
    pub fn header(date: &str) -> NightHeader {
        NightHeader {
            format: FORMAT,
            zooquake: "0.1.0".into(),
            commit: None,
            checkout: None,
            campaign: campaign(&[1]),
            shard: None,
            date: None,
            begun: format!("{date}T01:00:00Z"),
            require: conclusion::REQUIRE,
        }
    }

    /// The first line of a night's record, as former versions wrote it.
    pub fn line(header: &NightHeader) -> String {
        let mut line = serde_json::to_value(header).unwrap();
        line["line"] = "night".into();
        line.to_string()
    }

    fn today() -> NightHeader {
        NightHeader {
            begun: calendar::now(),
            ..header("2026-11-20")
        }
    }

    #[test]
    fn a_night_that_is_not_through_goes_on_and_one_that_is_does_not() {
        let nights = tempfile::tempdir().unwrap();
        let nights = nights.path();
        let header = today();
        let first = choose(nights, &header).unwrap();
        assert_eq!(name_of(&first), calendar::date(&header.begun));
        let mut night = NightLedger::open(&first, header.clone()).unwrap();
        assert_eq!(choose(nights, &header).unwrap(), first, "it is not through");
        let shard = NightHeader {
            shard: Some("2/4".into()),
            ..header.clone()
        };
        let part = choose(nights, &shard).unwrap();
        assert_ne!(part, first, "another part is another night");
        assert!(name_of(&part).ends_with("-2of4"), "{part:?}");
        night.close().unwrap();
        drop(night);
        let second = choose(nights, &header).unwrap();
        assert!(name_of(&second).ends_with("-2"), "{second:?}");
        let refused = NightLedger::open(&first, shard).unwrap_err();
        assert!(refused.downcast_ref::<ForeignRecord>().is_some(), "{refused:#}");
        assert!(NightLedger::open(&first, header).unwrap().recorded.closed);
    }

    #[test]
    fn the_date_is_that_of_the_beginning_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        drop(NightLedger::open(folder.path(), header("2026-11-20")).unwrap());
        let later = |date: Option<&str>| NightHeader {
            date: date.map(String::from),
            ..header("2026-11-21")
        };
        let again = NightLedger::open(folder.path(), later(None)).unwrap();
        assert_eq!(again.recorded.header.date.as_deref(), Some("2026-11-20"));
        drop(again);
        drop(NightLedger::open(folder.path(), later(Some("2026-11-20"))).unwrap());
        let refused = NightLedger::open(folder.path(), later(Some("2026-11-21"))).unwrap_err();
        assert!(refused.to_string().contains("another date"), "{refused:#}");
        assert!(name_of(&choose(folder.path(), &later(Some("2026-11-22"))).unwrap()) == "2026-11-22");
    }

    #[test]
    fn what_was_recorded_is_read_back_and_a_torn_line_is_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        let (path, header) = (folder.path(), today());
        let one = attempt(
            &cell("pause", 1),
            Some(Verdict::Invalid),
            &[("stale-write", false, true)],
        );
        let mut night = NightLedger::open(path, header.clone()).unwrap();
        night.record(one.clone()).unwrap();
        let busy = NightLedger::open(path, header.clone()).unwrap_err().to_string();
        assert!(busy.contains("another zooquake is at the night"), "{busy}");
        drop(night);
        let mut torn = fs::OpenOptions::new().append(true).open(path.join(NAME)).unwrap();
        torn.write_all(b"{\"line\":\"attempt\",\"variant\":\"lo").unwrap();
        drop(torn);
        let mut night = NightLedger::open(path, header.clone()).unwrap();
        assert_eq!(night.recorded.attempts, std::slice::from_ref(&one));
        assert_eq!(night.since_opened(), []);
        night.record(one.clone()).unwrap();
        night.close().unwrap();
        assert_eq!(night.since_opened(), [one]);
        assert_eq!(night.runs().into_iter().collect::<Vec<_>>(), ["run-1"]);
        let recorded: LedgerContent = read(&fs::read(path.join(NAME)).unwrap()).unwrap().unwrap();
        assert_eq!(recorded, night.recorded);
        assert!(recorded.closed && recorded.attempts.len() == 2);
    }

    #[test]
    fn damage_is_named_with_its_line() {
        let header = line(&header("2026-11-20"));
        let said = |text: &str| format!("{:#}", read::<NightHeader, CellAttempt>(text.as_bytes()).unwrap_err());
        assert!(said(&format!("{header}\n{{\"line\":\n")).contains("line 2"));
        assert!(said(&format!("{header}\n{header}\n")).contains("line 2"));
        assert!(said("{\"line\":\"closed\",\"at\":\"x\"}\n").contains("does not begin"));
        assert_eq!(read::<NightHeader, CellAttempt>(b"{\"line\":\"nig").unwrap(), None);
    }

    /// A record of version 1, of a campaign without `timing`.
    const FORMER: &str = r#"{"line":"night","format":1,"zooquake":"0.1.0","campaign":{"name":"test","variants":["register/read","lock/fenced"],"faults":["pause"],"seeds":[1],"time_ms":30000,"cluster":{"servers":3,"clients":5,"image":null,"timing":{"tick_ms":250,"init_limit":20,"sync_limit":4,"session_ms":2000}}},"shard":null,"begun":"2026-11-20T01:00:00Z"}
{"line":"attempt","variant":"lock/fenced","faults":"pause","seed":1,"run_seed":1,"verdict":"valid","anomalies":[],"reasons":[],"run":"r1","begun":"2026-11-20T01:00:01Z","seconds":50.0,"again":"zooquake run","sitting":0}
{"line":"resumed","at":"2026-11-20T02:00:00Z"}
{"line":"attempt","variant":"register/read","faults":"pause","seed":1,"run_seed":2,"verdict":null,"error":"no engine","anomalies":[],"reasons":[],"run":null,"begun":"2026-11-20T02:00:01Z","seconds":1.0,"again":"zooquake run","sitting":1}
{"line":"closed","at":"2026-11-20T03:00:00Z"}
"#;

    #[test]
    fn a_night_of_a_former_version_goes_on_with_its_own_timing() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(NAME), FORMER).unwrap();
        let mut asked = header("2026-11-21");
        asked.campaign.variants = ["register/read", "lock/fenced"].map(String::from).into();
        asked.campaign.faults = vec!["pause".into()];
        let night = NightLedger::open(folder.path(), asked.clone()).unwrap();
        assert!(night.recorded.closed);
        let seeds: Vec<u64> = night.recorded.attempts.iter().map(CellAttempt::seed).collect();
        assert_eq!(seeds, [1, 2]);
        let campaign = &night.recorded.header.campaign;
        let register = campaign.spec(&campaign.cells("2026-11-20")[0], 1).plan().unwrap();
        assert_eq!(register.cluster.timing.session_ms, 2_000, "as it began");
        drop(night);
        asked.campaign.cluster.timing = Some(values::timing("500/4/1000").unwrap());
        let refused = NightLedger::open(folder.path(), asked).unwrap_err();
        assert!(refused.downcast_ref::<ForeignRecord>().is_some(), "{refused:#}");
    }
}
