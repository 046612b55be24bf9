//! A variant of a recipe, with what it promises and what is known to go wrong with it.

use super::Env;
use super::bug::Bug;
use crate::service::Recipe;
use zooquake_history::operation::Family;
use zooquake_history::plan::{AcceptedAnomaly, Capabilities, ConsensusGoal, Resource, Workload};

/// A family and its variants.
pub struct FamilyVariants {
    /// Its name and operations.
    pub spec: &'static Family,
    /// The variants, in the order in which they are shown.
    pub variants: &'static [Variant],
}

/// A variant of a recipe.
#[derive(Clone, Copy)]
pub struct Variant {
    /// `lock`, …
    pub family: &'static str,
    /// `predecessor`, …
    pub name: &'static str,
    /// What it is and promises, in a sentence.
    pub promise: &'static str,
    /// Where the protected resource lives.
    pub resource: Resource,
    /// Whether its grants carry a token.
    pub fenced: bool,
    /// Parents of its contender znodes.
    pub contenders: &'static [&'static str],
    /// Persistent znodes, beside those parents, that exist before a client starts.
    pub znodes: &'static [&'static str],
    /// Whether each client may use one server only.
    pub pinned: bool,
    /// Whether it is built on the client library itself, which needs connections to servers.
    pub client_library: bool,
    /// What it promises beyond its family.
    pub capabilities: Capabilities,
    /// What is known to go wrong.
    pub accepted: &'static [KnownAnomaly],
    /// What it does wrong on purpose; `None` of all but planted variants.
    pub bug: Option<Bug>,
    /// Makes a client's recipe object.
    pub(super) build: fn(&Env) -> anyhow::Result<Recipe>,
}

/// An anomaly that is known and accepted.
pub struct KnownAnomaly {
    /// Its name.
    pub anomaly: &'static str,
    /// The kinds of fault under which it is.
    pub faults: &'static [&'static str],
    /// Why it happens.
    pub reason: &'static str,
    /// Where that is known from.
    pub source: &'static str,
}

impl KnownAnomaly {
    /// Its description in a plan.
    pub fn accepted(&self) -> AcceptedAnomaly {
        AcceptedAnomaly {
            anomaly: self.anomaly.to_string(),
            faults: owned(self.faults),
            reason: self.reason.to_string(),
            source: self.source.to_string(),
        }
    }
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| name.to_string()).collect()
}

/// Constants of what is known: the anomaly, the kinds of fault under which it is, why it happens, where that is known
/// from.
macro_rules! known {
    ($($name:ident: $anomaly:literal under $faults:expr, $reason:literal, $source:literal;)*) => {
        $(const $name: KnownAnomaly = KnownAnomaly {
            anomaly: $anomaly,
            faults: $faults,
            reason: $reason,
            source: $source,
        };)*
    };
}
pub(super) use known;

impl Variant {
    /// A variant without a name, for what the variants of a family have in common.
    pub const PLAIN: Self = Self {
        family: "",
        name: "",
        promise: "",
        resource: Resource::Zookeeper,
        fenced: false,
        contenders: &[],
        znodes: &[],
        pinned: false,
        client_library: false,
        capabilities: Capabilities::NONE,
        accepted: &[],
        bug: None,
        build: |_| anyhow::bail!("it has no name"),
    };

    /// A client's recipe object.
    ///
    /// # Errors
    /// If the client lacks what the recipe is built on.
    pub fn recipe(&self, env: &Env) -> anyhow::Result<Recipe> {
        let bug = self.bug;
        (self.build)(&Env { bug, ..env.clone() })
    }

    /// Its description in a plan.
    pub fn workload(&self) -> Workload {
        Workload {
            family: self.family.to_string(),
            variant: self.name.to_string(),
            promise: self.promise.to_string(),
            resource: self.resource,
            fenced: self.fenced,
            contenders: owned(self.contenders),
            znodes: owned(self.znodes),
            pinned: self.pinned,
            capabilities: Some(self.capabilities),
            accepted: self.accepted.iter().map(KnownAnomaly::accepted).collect(),
            goal: ConsensusGoal::Nothing,
            recipe: None,
        }
    }
}
