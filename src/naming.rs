//! Names that users give, of variants and faults: what they stand for, and the nearest one if they stand for nothing.

use crate::faults;
use zooquake_history::plan::Workload;
use zooquake_history::renamed;
use zooquake_workloads::recipes;

/// The names of all variants, in the order in which they are shown.
pub fn variants() -> Vec<String> {
    recipes::registry()
        .iter()
        .map(|variant| variant.workload().name())
        .collect()
}

/// The workload of this name, such as `lock/fenced`, or of a former one.
///
/// # Errors
/// If there is none: what is said to the user.
pub fn workload(name: &str) -> Result<Workload, String> {
    name.split_once('/')
        .and_then(|(family, variant)| match renamed::variant(family, variant) {
            Some((family, variant)) => recipes::workload(&family, &variant),
            None => recipes::workload(family, variant),
        })
        .ok_or_else(|| unknown("variant", name, &variants()))
}

/// The kinds of fault in a list such as `kill,pause`; none for `none`.
///
/// # Errors
/// If one of them does not exist: what is said to the user.
pub fn faults(list: &str) -> Result<Vec<String>, String> {
    let fault = |name: &str| match faults::find(name) {
        Some(fault) => Ok(fault.kind.name.to_string()),
        None => Err(unknown("fault", name, &faults::names())),
    };
    match list {
        "none" => Ok(Vec::new()),
        list => list.split(',').map(|name| fault(name.trim())).collect(),
    }
}

/// What is said of a name that does not exist: the nearest one, and the list.
pub fn unknown(what: &str, name: &str, known: &[String]) -> String {
    let nearest = known.iter().max_by(|a, b| {
        let closeness = |other: &str| strsim::jaro_winkler(name, other);
        closeness(a).total_cmp(&closeness(b))
    });
    let nearest = nearest.map(|n| format!("did you mean `{n}`? ")).unwrap_or_default();
    format!("there is no {what} `{name}`; {nearest}There are: {}", known.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_nearest() {
        let known = ["lock/children", "lock/predecessor", "lock/fenced"].map(String::from);
        let text = unknown("variant", "lock/predecesor", &known);
        assert!(text.contains("did you mean `lock/predecessor`?"), "{text}");
        assert!(text.contains("lock/children, lock/predecessor, lock/fenced"), "{text}");
    }

    #[test]
    fn former_names_are_understood() {
        assert_eq!(
            faults("cut,kill"),
            Ok(vec!["disconnect".to_string(), "kill".to_string()])
        );
        assert_eq!(workload("queue/barrier").unwrap().name(), "barrier/tutorial");
        assert_eq!(workload("queue/double-barrier").unwrap().name(), "barrier/double");
        let former = |name: &String| name.starts_with("queue/") && name.contains("barrier");
        assert!(!variants().iter().any(former) && !faults::names().contains(&"cut".to_string()));
    }

    #[test]
    fn a_list_of_faults_may_be_none() {
        assert_eq!(faults("none"), Ok(vec![]));
        assert_eq!(faults("kill, pause"), Ok(vec!["kill".to_string(), "pause".to_string()]));
        assert!(faults("kill,pauze").unwrap_err().contains("did you mean `pause`?"));
    }
}
