//! Answers of the shell to questions about the cluster.

use super::effect::Leader;
use zooquake_history::evidence::Reading;

/// The answer to a question that the shell was asked.
#[derive(Debug)]
pub enum ShellAnswer {
    /// To that for a steady leader.
    Steady(Result<Leader, String>),
    /// To that whether the same server leads.
    Leads(Result<(), String>),
    /// To that whether a client's process runs.
    Running(Result<String, String>),
    /// To that for the tree.
    Tree(Result<Reading, String>),
}
