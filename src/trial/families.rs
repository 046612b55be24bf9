//! The registry of families. A new one is a file and a line here.

use super::family::FamilyTrial;
use super::holder::granting;
use super::{barrier, commit, counter, membership, queue, register};
use zooquake_history::operation::{Family, RECIPE_FAMILIES, election, lock, rwlock, semaphore};

/// The families with recipes, in the order of [`zooquake_history::operation::FAMILIES`].
pub const FAMILIES: &[FamilyTrial; RECIPE_FAMILIES] = &[
    granting(&lock::FAMILY),
    granting(&rwlock::FAMILY),
    granting(&election::FAMILY),
    granting(&semaphore::FAMILY),
    commit::FAMILY,
    barrier::FAMILY,
    queue::FAMILY,
    register::FAMILY,
    counter::FAMILY,
    membership::FAMILY,
];

/// How clients of a family are tried; `None` if it has none.
pub fn of(family: &Family) -> Option<&'static FamilyTrial> {
    FAMILIES.iter().find(|tried| tried.spec.name == family.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_family_of_histories_with_clients_is_tried() {
        let all = zooquake_history::operation::FAMILIES.iter();
        let with_clients = all.filter(|family| family.recipes).map(|family| family.name);
        assert!(with_clients.eq(FAMILIES.iter().map(|family| family.spec.name)));
    }
}
