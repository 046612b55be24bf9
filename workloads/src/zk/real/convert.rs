//! The crate's words in ours.

use super::ANYONE;
use crate::zk::{CreateMode, CreatedZnode, Error, MultiError, MultiOp, OpResult, SessionState, Stat};
use zookeeper_client as zkc;

impl From<zkc::Error> for Error {
    fn from(error: zkc::Error) -> Self {
        match error {
            zkc::Error::NoNode => Self::NoNode,
            zkc::Error::NodeExists => Self::NodeExists,
            zkc::Error::BadVersion => Self::BadVersion,
            zkc::Error::NotEmpty => Self::NotEmpty,
            zkc::Error::NoAuth => Self::NoAuth,
            zkc::Error::InvalidAcl => Self::InvalidAcl,
            zkc::Error::NoChildrenForEphemerals => Self::NoChildrenForEphemerals,
            zkc::Error::BadArguments(why) => Self::BadArguments(why.to_string()),
            other => Self::Unknown(other.to_string()),
        }
    }
}

impl From<zkc::SessionState> for SessionState {
    fn from(state: zkc::SessionState) -> Self {
        match state {
            zkc::SessionState::SyncConnected | zkc::SessionState::ConnectedReadOnly => Self::Connected,
            zkc::SessionState::Disconnected => Self::Disconnected,
            zkc::SessionState::Expired | zkc::SessionState::AuthFailed => Self::Expired,
            zkc::SessionState::Closed => Self::Closed,
        }
    }
}

impl From<CreateMode> for zkc::CreateMode {
    fn from(mode: CreateMode) -> Self {
        match mode {
            CreateMode::Persistent => Self::Persistent,
            CreateMode::PersistentSequential => Self::PersistentSequential,
            CreateMode::Ephemeral => Self::Ephemeral,
            CreateMode::EphemeralSequential => Self::EphemeralSequential,
        }
    }
}

impl From<zkc::Stat> for Stat {
    fn from(stat: zkc::Stat) -> Self {
        Self {
            czxid: stat.czxid,
            mzxid: stat.mzxid,
            version: stat.version,
            ephemeral_owner: stat.ephemeral_owner,
        }
    }
}

/// Does all of these or none.
pub(super) async fn commit(client: &zkc::Client, ops: Vec<MultiOp>) -> std::result::Result<Vec<OpResult>, MultiError> {
    let whole = |error: zkc::Error| MultiError {
        index: None,
        error: error.into(),
    };
    let mut writer = client.new_multi_writer();
    for op in &ops {
        match op {
            MultiOp::Check(path, version) => writer.add_check_version(path, version.unwrap_or(-1)),
            MultiOp::Create(path, data, mode) => {
                writer.add_create(path, data, &zkc::CreateMode::from(*mode).with_acls(ANYONE))
            }
            MultiOp::Set(path, data, version) => writer.add_set_data(path, data, *version),
            MultiOp::Delete(path, version) => writer.add_delete(path, *version),
        }
        .map_err(whole)?;
    }
    let results = writer.commit().await.map_err(|error| match error {
        zkc::MultiWriteError::RequestFailed { source } => whole(source),
        zkc::MultiWriteError::OperationFailed { index, source } => MultiError {
            index: Some(index),
            error: source.into(),
        },
    })?;
    results.into_iter().map(op_result).collect()
}

fn op_result(result: zkc::MultiWriteResult) -> std::result::Result<OpResult, MultiError> {
    Ok(match result {
        zkc::MultiWriteResult::Check => OpResult::Checked,
        zkc::MultiWriteResult::Delete => OpResult::Deleted,
        zkc::MultiWriteResult::Create { path, stat } => OpResult::Created(CreatedZnode {
            path,
            stat: (!stat.is_invalid()).then(|| stat.into()),
        }),
        zkc::MultiWriteResult::SetData { stat } => OpResult::Set(stat.into()),
        // It was applied, and its answer makes no sense to us.
        other => {
            return Err(MultiError {
                index: None,
                error: Error::Unknown(format!("{other:?}")),
            });
        }
    })
}
