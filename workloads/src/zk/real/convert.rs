//! The crate's words in ours.

use zookeeper_client as zkc;

use crate::zk::{CreateMode, Error, SessionState, Stat};

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
