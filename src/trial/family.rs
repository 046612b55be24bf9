//! A family of recipes, as it is tried.

use super::{SentenceResult, Trial};
use anyhow::Result;
use futures_util::future::BoxFuture;
use zooquake_history::operation::Family;

/// A family and how its clients are tried.
pub struct FamilyTrial {
    /// Its name and operations.
    pub spec: &'static Family,
    /// Tries the sentences that are about its operations.
    pub course: for<'t> fn(&'t mut Trial) -> BoxFuture<'t, Result<()>>,
    /// Does once what the family is for; with `true` an operation that did not succeed is asked again.
    pub once: for<'t> fn(&'t mut Trial, bool) -> BoxFuture<'t, SentenceResult>,
    /// The operation that is asked with a value that makes no sense; `None` where a value means nothing.
    pub nonsense: Option<&'static str>,
}
