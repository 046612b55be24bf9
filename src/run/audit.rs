//! The audit: what stands in the tree at the end, and what of it the clients know to be their own.

use super::control::QUIESCE;
use super::interpreter::Interpreter;
use super::script::Mode;
use anyhow::{Context, Result};
use std::time::Instant;
use zooquake_checkers::evidence::{Reading, Tree};

/// How often the tree is read anew after a stall, at most.
const ATTEMPTS: usize = 3;

impl Interpreter {
    /// Reads the tree, asks every client once more which znodes are its own, and reads the tree again. A stall may have cost
    /// an answer, so that what fails around one is done again.
    ///
    /// # Errors
    /// If the history cannot be written; a tree that cannot be read gives a message instead.
    pub(super) async fn audit(&mut self) -> Result<Result<Tree, String>> {
        self.enter("audit", Mode::Quiet)?;
        let mut readings = Err(String::new());
        for _ in 0..ATTEMPTS {
            let before = self.recorder.stalls();
            readings = self.readings().await?;
            if readings.is_ok() || self.recorder.stalls() == before {
                break;
            }
        }
        self.enter("done", Mode::Quiet)?;
        Ok(readings)
    }

    async fn readings(&mut self) -> Result<Result<Tree, String>> {
        let first = self.reading().await?;
        self.ask_quiesce()?;
        let answered = |run: &Self| run.slots.iter().all(|slot| slot.quiesced);
        self.until(Instant::now() + QUIESCE, answered).await?;
        let second = self.reading().await?;
        Ok(match (first, second) {
            (Ok(first), Ok(second)) => Ok(Tree {
                readings: vec![first, second],
            }),
            (Err(why), _) | (_, Err(why)) => Err(why),
        })
    }

    async fn reading(&mut self) -> Result<Result<Reading, String>> {
        let index = self.recorder.len();
        let cluster = self.cluster.clone();
        let read = self
            .during(async move {
                let leader = crate::faults::leader(&*cluster).await.context("no server leads")?;
                cluster.tree(&leader).await
            })
            .await?;
        let end_index = self.recorder.len();
        Ok(read
            .map(|znodes| Reading {
                index,
                end_index,
                znodes,
            })
            .map_err(|error| format!("{error:#}")))
    }
}
