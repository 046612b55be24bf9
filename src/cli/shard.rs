//! `--shard`: a part that is given, or that the engine which runs this job names in the environment.

use super::exit::Usage;
use crate::campaign::shard::Shard;
use std::str::FromStr;

/// The variable that names the part where the engine has none of its own, or where several have.
const OWN: &str = "ZOOQUAKE_SHARD";

/// The value of `--shard`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShardChoice {
    /// This part.
    Given(Shard),
    /// That which the environment names.
    Auto,
}

impl FromStr for ShardChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            text => text
                .parse()
                .map(Self::Given)
                .map_err(|why| format!("{why}, and not `auto`")),
        }
    }
}

impl ShardChoice {
    /// The part that was chosen.
    ///
    /// # Errors
    /// If the environment names none, or one that makes no sense.
    pub fn resolve(self) -> Result<Shard, Usage> {
        match self {
            Self::Given(shard) => Ok(shard),
            Self::Auto => named(|name| std::env::var(name).ok().filter(|value| !value.is_empty())).map_err(Usage),
        }
    }
}

/// The part that variables name: our own first, else those of GitLab or of Slurm.
fn named(variable: impl Fn(&str) -> Option<String>) -> Result<Shard, String> {
    if let Some(own) = variable(OWN) {
        return own.parse().map_err(|why| format!("{OWN}: {why}"));
    }
    match [gitlab(&variable)?, slurm(&variable)?] {
        [Some(one), Some(other)] if one != other => Err(format!(
            "--shard auto: GitLab's variables name part {one} and Slurm's {other}: set {OWN}=K/N to the one that is meant"
        )),
        [Some(shard), _] | [None, Some(shard)] => Ok(shard),
        [None, None] => Err(format!(
            "--shard auto finds no part in the environment: set {OWN}=K/N, or run it as GitLab's `parallel` \
             (CI_NODE_INDEX, CI_NODE_TOTAL) or as an array of Slurm (SLURM_ARRAY_TASK_ID, SLURM_ARRAY_TASK_MIN, \
             SLURM_ARRAY_TASK_COUNT)"
        )),
    }
}

/// GitLab's `parallel`: <https://docs.gitlab.com/ci/variables/predefined_variables/>. A job without it has a total of 1
/// and no index.
fn gitlab(variable: &impl Fn(&str) -> Option<String>) -> Result<Option<Shard>, String> {
    let Some(number) = variable("CI_NODE_INDEX") else {
        return Ok(None);
    };
    let total = variable("CI_NODE_TOTAL").ok_or("--shard auto: CI_NODE_INDEX is set, but CI_NODE_TOTAL is not")?;
    let shard = format!("{number}/{total}").parse();
    shard
        .map(Some)
        .map_err(|why: String| format!("--shard auto, CI_NODE_INDEX/CI_NODE_TOTAL: {why}"))
}

/// A job array of Slurm, whose ids may begin anywhere and go on in steps: <https://slurm.schedmd.com/job_array.html>.
fn slurm(variable: &impl Fn(&str) -> Option<String>) -> Result<Option<Shard>, String> {
    if variable("SLURM_ARRAY_TASK_ID").is_none() {
        return Ok(None);
    }
    let number = |name: &str| -> Result<u64, String> {
        let value =
            variable(name).ok_or_else(|| format!("--shard auto: SLURM_ARRAY_TASK_ID is set, but {name} is not"))?;
        let number = value.parse();
        number.map_err(|_| format!("--shard auto: {name} is `{value}`, which is no number"))
    };
    let (id, first) = (number("SLURM_ARRAY_TASK_ID")?, number("SLURM_ARRAY_TASK_MIN")?);
    let count = number("SLURM_ARRAY_TASK_COUNT")?;
    let step = match variable("SLURM_ARRAY_TASK_STEP") {
        None => 1,
        Some(_) => number("SLURM_ARRAY_TASK_STEP")?.max(1),
    };
    let last = match variable("SLURM_ARRAY_TASK_MAX") {
        None => id,
        Some(_) => number("SLURM_ARRAY_TASK_MAX")?,
    };
    let place = |id: u64| {
        let distance = id.checked_sub(first).filter(|distance| distance % step == 0)?;
        Some(distance / step + 1).filter(|number| *number <= count)
    };
    match (place(id), place(last)) {
        (Some(number), Some(_)) => format!("{number}/{count}").parse().map(Some),
        _ => Err(format!(
            "--shard auto: the ids of Slurm's array are not {count} numbers in equal steps from {first}: give sbatch \
             --array=1-{count}, or set {OWN}=K/N"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The part that these variables, as `NAME=VALUE` separated by spaces, name.
    fn of_environment(set: &str) -> Result<String, String> {
        let pairs: Vec<(&str, &str)> = set.split_whitespace().filter_map(|pair| pair.split_once('=')).collect();
        let value = |name: &str| {
            let found = pairs.iter().find(|(other, _)| *other == name);
            found.map(|(_, value)| (*value).to_string())
        };
        named(value).map(|shard| shard.to_string())
    }

    #[test]
    fn each_engine_names_its_part() {
        for (set, part) in [
            ("CI_NODE_INDEX=2 CI_NODE_TOTAL=4", "2/4"),
            (
                "SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_COUNT=3",
                "3/3",
            ),
            (
                "SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_MAX=2 SLURM_ARRAY_TASK_COUNT=3",
                "1/3",
            ),
            (
                "SLURM_ARRAY_TASK_ID=14 SLURM_ARRAY_TASK_MIN=10 SLURM_ARRAY_TASK_MAX=18 SLURM_ARRAY_TASK_STEP=4 \
                 SLURM_ARRAY_TASK_COUNT=3",
                "2/3",
            ),
            ("ZOOQUAKE_SHARD=5/6 CI_NODE_INDEX=2 CI_NODE_TOTAL=4", "5/6"),
            ("CI_NODE_TOTAL=1 ZOOQUAKE_SHARD=1/1", "1/1"),
        ] {
            assert_eq!(of_environment(set).as_deref(), Ok(part), "{set}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_named_with_the_way_out() {
        let slurm = "SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_MIN=1";
        for (set, parts) in [
            ("", vec!["ZOOQUAKE_SHARD=K/N", "CI_NODE_INDEX", "SLURM_ARRAY_TASK_ID"]),
            ("CI_NODE_TOTAL=1", vec!["ZOOQUAKE_SHARD=K/N"]),
            ("CI_NODE_INDEX=2", vec!["CI_NODE_TOTAL is not"]),
            ("CI_NODE_INDEX=5 CI_NODE_TOTAL=4", vec!["CI_NODE_INDEX", "`5/4`"]),
            ("ZOOQUAKE_SHARD=2", vec!["ZOOQUAKE_SHARD", "`2`", "1/4"]),
            (slurm, vec!["SLURM_ARRAY_TASK_COUNT is not"]),
            (
                &format!("{slurm} SLURM_ARRAY_TASK_COUNT=x"),
                vec!["SLURM_ARRAY_TASK_COUNT", "`x`"],
            ),
            // --array=1,3,7
            (
                &format!("{slurm} SLURM_ARRAY_TASK_MAX=7 SLURM_ARRAY_TASK_COUNT=3"),
                vec!["--array=1-3", "ZOOQUAKE_SHARD"],
            ),
            (
                &format!("{slurm} SLURM_ARRAY_TASK_COUNT=3 CI_NODE_INDEX=1 CI_NODE_TOTAL=3"),
                vec!["1/3", "3/3", "ZOOQUAKE_SHARD=K/N"],
            ),
        ] {
            let why = of_environment(set).unwrap_err();
            for part in parts {
                assert!(why.contains(part), "{set}: {why:?} should have {part:?}");
            }
        }
        assert!("x".parse::<ShardChoice>().unwrap_err().contains("auto"));
    }
}
