//! Exchanges of both clients in which every operation of a family succeeds.

use super::holder::ok;
use super::sentences::{OPERATES, QUIESCE};
use super::{PATIENT, Trial};
use anyhow::Result;
use serde_json::Value;

impl Trial {
    /// Does once what the family is for, and asks for what that leaves behind.
    pub(super) async fn exchange(&mut self) -> Result<()> {
        let seen = (self.family.once)(self, false).await;
        self.note(OPERATES, seen);
        let seen = self.quiet(0, None).await?;
        self.note(QUIESCE, seen);
        Ok(())
    }

    /// The value of the answer `ok` to an operation.
    pub(super) async fn asked(&mut self, client: usize, f: &'static str, value: Value) -> Result<Value, String> {
        ok(self.clients[client].ask(f, value, PATIENT).await)
    }
}

/// That a field of an answer is what it has to be.
pub(super) fn expect(answer: &Value, field: &str, wanted: &Value, what: &str) -> Result<(), String> {
    match answer[field] == *wanted {
        true => Ok(()),
        false => Err(format!("{answer}, where `{field}` has to be {wanted}: {what}")),
    }
}
