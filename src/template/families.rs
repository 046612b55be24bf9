//! What the folder of a recipe states of its family. A new family is a file in `workloads/clients/manifests/` and an
//! entry here.

use zooquake_history::operation::{
    Family, barrier, commit, counter, election, lock, membership, queue, register, rwlock, semaphore,
};

/// A family and the manifest of a recipe of it.
#[derive(Debug)]
pub struct FamilyTemplate {
    /// Its name and operations.
    pub spec: &'static Family,
    /// The text of `zooquake.toml`, with `@NAME@` for the recipe's name and a line `@RUN@` for those that run a client.
    pub manifest: &'static str,
    /// The parent of the recipe's znodes, or its only znode.
    pub parent: &'static str,
}

macro_rules! manifest {
    ($family:literal) => {
        include_str!(concat!("../../workloads/clients/manifests/", $family, ".toml"))
    };
}

/// The families, as in [`zooquake_history::operation::FAMILIES`], but for `ensemble`, which has no clients.
pub const FAMILIES: &[FamilyTemplate] = &[
    FamilyTemplate {
        spec: &lock::FAMILY,
        manifest: manifest!("lock"),
        parent: "/lock",
    },
    FamilyTemplate {
        spec: &rwlock::FAMILY,
        manifest: manifest!("rwlock"),
        parent: "/rwlock",
    },
    FamilyTemplate {
        spec: &election::FAMILY,
        manifest: manifest!("election"),
        parent: "/election",
    },
    FamilyTemplate {
        spec: &semaphore::FAMILY,
        manifest: manifest!("semaphore"),
        parent: "/semaphore",
    },
    FamilyTemplate {
        spec: &commit::FAMILY,
        manifest: manifest!("commit"),
        parent: "/app",
    },
    FamilyTemplate {
        spec: &barrier::FAMILY,
        manifest: manifest!("barrier"),
        parent: "/barrier",
    },
    FamilyTemplate {
        spec: &queue::FAMILY,
        manifest: manifest!("queue"),
        parent: "/queue",
    },
    FamilyTemplate {
        spec: &register::FAMILY,
        manifest: manifest!("register"),
        parent: "/register",
    },
    FamilyTemplate {
        spec: &counter::FAMILY,
        manifest: manifest!("counter"),
        parent: "/counter",
    },
    FamilyTemplate {
        spec: &membership::FAMILY,
        manifest: manifest!("membership"),
        parent: "/members",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_family_of_histories_with_clients_has_a_manifest() {
        let all = zooquake_history::operation::FAMILIES.iter();
        let with_clients = all.filter(|family| family.recipes).map(|family| family.name);
        assert!(with_clients.eq(FAMILIES.iter().map(|template| template.spec.name)));
        for template in FAMILIES {
            let family = format!("family = \"{}\"\n", template.spec.name);
            assert!(template.manifest.contains(&family), "{}", template.manifest);
        }
    }
}
