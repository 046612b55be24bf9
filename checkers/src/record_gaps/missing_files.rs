//! Files that the plan names and that are not there.

use super::{FileNeeds, SAMPLED, needed_by};
use crate::analysis::RecordView;
use crate::ensemble::{DIVERGING_LOGS, LESSER_VOTE_WON};
use crate::text::few;
use crate::verdict::NOTE;
use zooquake_history::plan::record_files::{SERVERS, TREE, TXNLOG, TXNLOGS, server_log};

/// What is lost with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileLoss {
    /// What the znode tree shows.
    Tree,
    /// What checkers of the transaction logs convict by.
    TransactionLogs,
    /// What checkers of the samples convict by.
    Samples,
    /// What the checker of votes convicts by.
    ServerLogs,
    /// Nothing that a verdict rests on.
    NoVerdict,
}

impl FileLoss {
    fn from_file(file: &str) -> Self {
        match file {
            TREE => Self::Tree,
            TXNLOG | TXNLOGS => Self::TransactionLogs,
            SERVERS => Self::Samples,
            log if server_log(log).is_some() => Self::ServerLogs,
            _ => Self::NoVerdict,
        }
    }

    /// The reason that these files are missing.
    fn reason(self, files: &[&str], needs: FileNeeds<'_>) -> String {
        let are = ["are", "is"][usize::from(files.len() == 1)];
        let missing = format!("{} {are} missing, which the plan names", few(files));
        let logged = || [needs.logged, &[DIVERGING_LOGS]].concat();
        let lost = match self {
            Self::Tree => needs.tree.to_owned(),
            Self::TransactionLogs => needed_by(&logged(), files.len()),
            Self::Samples => needed_by(SAMPLED, files.len()),
            Self::ServerLogs => needed_by(&[LESSER_VOTE_WON], files.len()),
            Self::NoVerdict => return format!("{NOTE}{missing}; no verdict rests on that"),
        };
        format!("{missing}: {lost}")
    }
}

/// The files that the plan names and that are not there, in reasons by what is lost with them.
pub fn reasons(record: &RecordView<'_>, needs: FileNeeds<'_>) -> Vec<String> {
    let mut losses: Vec<(FileLoss, Vec<&str>)> = Vec::new();
    for file in record.missing.iter().map(String::as_str) {
        let loss = FileLoss::from_file(file);
        match losses.iter_mut().find(|(known, _)| *known == loss) {
            Some((_, files)) => files.push(file),
            None => losses.push((loss, vec![file])),
        }
    }
    losses.iter().map(|(loss, files)| loss.reason(files, needs)).collect()
}
