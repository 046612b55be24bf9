//! The protected queue, and a znode with which the leader acknowledges its election: the first candidate runs its
//! leader procedure, then creates its acknowledgement, and leads only once the creation is confirmed.
//!
//! The acknowledgement has a GUID in its name too, so that it is found again after an unknown outcome. It belongs to
//! the session of the candidate's znode, and is removed before that one: no acknowledgement outlives its term.

use async_trait::async_trait;

use super::QUEUE;
use crate::recipes::grant::{BeforeGrant, ContenderQueue, FirstContender, NoZnode, ProtectedQueue};
use crate::recipes::{Env, Grant};

/// The parent of the acknowledgements.
pub const ACKS: &str = "/election-ack";

const ACK: ContenderQueue = ContenderQueue::single(ACKS, "-ack-");

/// A client of `election/acknowledged` that begins to open its session.
pub fn acknowledged(env: &Env) -> ProtectedQueue {
    ProtectedQueue::new(env, QUEUE, Acknowledge)
}

struct Acknowledge;

#[async_trait]
impl BeforeGrant for Acknowledge {
    async fn perform(&self, candidate: FirstContender<'_>, grant: Grant) -> Option<Grant> {
        // The leader procedure: to see who led before. There is nothing else for it to do here.
        if candidate.claim.zk.children(ACKS).await.is_err() {
            candidate.claim.steady().await;
            return None;
        }
        match candidate.create(ACK).await {
            Ok(own) => Some(Grant {
                ack: Some(own),
                ..grant
            }),
            Err(nothing) => {
                if let NoZnode::Refused(error) = nothing {
                    crate::stderr::say(&format!("acknowledge: {error}"));
                }
                candidate.claim.steady().await;
                None
            }
        }
    }

    fn acknowledges(&self) -> bool {
        true
    }
}
