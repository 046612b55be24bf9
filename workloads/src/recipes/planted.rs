//! Planted bugs: recipes that leave out a care, each as a library for ZooKeeper once did. The suite earns trust by
//! finding each of them, and by staying silent on the recipe with that care.
//!
//! A bug is a row of [`PLANTED`] and a few lines where the recipe has its care, found by `Bug::` and the id.

use std::sync::LazyLock;

pub use super::bug::{PLANTED, PlantedVariant};
use super::registry;
use super::variant::Variant;

/// The family in the names that users give, `planted/L12`. In plans the family is the recipe's: `lock/planted-L12`.
pub const FAMILY: &str = "planted";

impl PlantedVariant {
    /// The variant with this bug: its recipe without, but for the name and what is stated of it.
    fn variant(&self) -> Option<Variant> {
        // Among those without bugs: this makes the others.
        let mut all = registry::registry().iter();
        let twin = all.find(|variant| (variant.family, variant.name) == self.twin)?;
        Some(Variant {
            name: self.variant,
            promise: self.mechanism,
            bug: Some(self.bug),
            ..*twin
        })
    }

    /// Whether the expected anomaly is an advisory one.
    pub fn advisory(&self) -> bool {
        matches!(self.expected, "idle-lock" | "leaderless" | "persistent-contender")
    }

    /// The name that users give, `planted/L12`.
    pub fn name(&self) -> String {
        format!("{FAMILY}/{}", self.id)
    }

    /// The name of the recipe without the bug, `lock/fenced`.
    pub fn twin(&self) -> String {
        let (family, name) = self.twin;
        format!("{family}/{name}")
    }
}

/// The variant with the bug of this id.
pub fn find(id: &str) -> Option<&'static Variant> {
    let planted = PLANTED.iter().find(|planted| planted.id == id)?;
    variants().iter().find(|variant| variant.bug == Some(planted.bug))
}

/// The variants with planted bugs, in the order of the table.
pub fn variants() -> &'static [Variant] {
    static ALL: LazyLock<Vec<Variant>> = LazyLock::new(|| PLANTED.iter().filter_map(PlantedVariant::variant).collect());
    &ALL
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn each_is_a_variant_of_the_family_that_it_is_planted_in() {
        let mut families: BTreeMap<&str, usize> = BTreeMap::new();
        assert_eq!(variants().len(), PLANTED.len());
        for planted in PLANTED {
            let (family, _) = planted.twin;
            *families.entry(family).or_default() += 1;
            let variant = find(planted.id).unwrap();
            assert_eq!((variant.bug, variant.family), (Some(planted.bug), family));
            assert_eq!(registry::variant(family, variant.name).unwrap().bug, variant.bug);
            let same = PLANTED.iter().filter(|other| other.id == planted.id);
            assert_eq!(same.count(), 1);
            let known = variant.accepted.iter().find(|known| known.anomaly == planted.expected);
            assert!(
                known.is_none(),
                "{} would show {} without the bug",
                planted.id,
                planted.expected
            );
        }
        assert!(
            families.len() == 9 && families.values().all(|count| *count >= 2),
            "{families:?}"
        );
        assert!(registry::registry().iter().all(|variant| variant.bug.is_none()));
    }
}
