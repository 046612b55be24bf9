//! The registry of families, and their variants by name. A new family is a folder and a line here.

use super::variant::{FamilyVariants, Variant};
use super::{barrier, commit, counter, election, lock, membership, planted, queue, register, rwlock, semaphore};
use std::sync::LazyLock;
use zooquake_history::operation::RECIPE_FAMILIES;
use zooquake_history::plan::Workload;

/// The families with recipes, in the order of [`zooquake_history::operation::FAMILIES`].
pub const FAMILIES: &[FamilyVariants; RECIPE_FAMILIES] = &[
    lock::FAMILY,
    rwlock::FAMILY,
    election::FAMILY,
    semaphore::FAMILY,
    commit::FAMILY,
    barrier::FAMILY,
    queue::FAMILY,
    register::FAMILY,
    counter::FAMILY,
    membership::FAMILY,
];

/// All variants but those with planted bugs, by family, in the order in which they are shown.
pub fn registry() -> &'static [Variant] {
    static ALL: LazyLock<Vec<Variant>> =
        LazyLock::new(|| FAMILIES.iter().flat_map(|family| family.variants).copied().collect());
    &ALL
}

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
