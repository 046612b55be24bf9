//! Variants by their names.

use super::planted;
use super::registry::registry;
use super::variant::Variant;
use zooquake_history::plan::Workload;

/// The variant of this name, be it one with a planted bug.
pub fn variant(family: &str, name: &str) -> Option<&'static Variant> {
    let mut all = registry().iter().chain(planted::variants());
    all.find(|variant| variant.family == family && variant.name == name)
}

/// The description of a variant in a plan.
pub fn workload(family: &str, name: &str) -> Option<Workload> {
    variant(family, name).map(Variant::workload)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipes::registry::FAMILIES;

    #[test]
    fn each_family_of_histories_with_clients_has_variants() {
        let all = zooquake_history::operation::FAMILIES.iter();
        let with_clients = all.filter(|family| family.recipes).map(|family| family.name);
        assert!(with_clients.eq(FAMILIES.iter().map(|family| family.spec.name)));
        for family in FAMILIES {
            assert!(family.variants.iter().all(|variant| variant.family == family.spec.name));
        }
    }

    #[test]
    fn names_are_unique_and_found() {
        for variant in registry() {
            let workload = workload(variant.family, variant.name).unwrap();
            assert_eq!(workload.name(), format!("{}/{}", variant.family, variant.name));
            let same = registry()
                .iter()
                .filter(|other| (other.family, other.name) == (variant.family, variant.name));
            assert_eq!(same.count(), 1);
        }
        assert!(workload("lock", "no-such").is_none());
    }

    #[test]
    fn nothing_is_accepted_without_faults_but_what_no_fault_has_to_do_with() {
        let mut without = Vec::new();
        for variant in registry() {
            for known in variant.accepted {
                assert!(!known.faults.is_empty(), "{}", variant.name);
                assert!(!known.reason.is_empty() && !known.source.is_empty());
                if known.faults.contains(&"none") {
                    assert_eq!(known.faults, ["none"], "{}", variant.name);
                    without.push((variant.family, variant.name, known.anomaly));
                }
            }
        }
        assert_eq!(
            without,
            [
                ("rwlock", "neighbour", "double-grant"),
                ("semaphore", "counted", "over-capacity"),
                ("membership", "tutorial", "stale-view")
            ]
        );
        for (family, name) in [("lock", "fenced"), ("rwlock", "fenced"), ("semaphore", "leases")] {
            assert!(variant(family, name).unwrap().accepted.is_empty());
        }
    }
}
