//! Files of transaction logs as ZooKeeper writes them.

use super::SESSION;

/// A record in Jute.
#[derive(Debug, Clone, Default)]
pub struct Record(Vec<u8>);

impl Record {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn int(mut self, value: i32) -> Self {
        self.0.extend(value.to_be_bytes());
        self
    }

    pub fn long(mut self, value: i64) -> Self {
        self.0.extend(value.to_be_bytes());
        self
    }

    pub fn buffer(mut self, bytes: &[u8]) -> Self {
        self = self.int(i32::try_from(bytes.len()).expect("it is short"));
        self.0.extend(bytes);
        self
    }

    pub fn boolean(mut self, value: bool) -> Self {
        self.0.push(u8::from(value));
        self
    }

    pub fn then(mut self, other: &Self) -> Self {
        self.0.extend(&other.0);
        self
    }

    /// Without so many bytes at its end.
    pub fn cut(mut self, bytes: usize) -> Self {
        self.0.truncate(self.0.len() - bytes);
        self
    }

    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

pub fn path(path: &str) -> Record {
    Record::new().buffer(path.as_bytes())
}

/// An access control list of one entry.
fn access(record: Record) -> Record {
    record.int(1).int(31).buffer(b"world").buffer(b"anyone")
}

/// The record of a create, with some data.
pub fn create(at: &str, ephemeral: bool) -> Record {
    create_with(at, b"some data", ephemeral)
}

/// The record of a create with these data, and the number of the parent's next child.
pub fn create_with(at: &str, data: &[u8], ephemeral: bool) -> Record {
    access(path(at).buffer(data)).boolean(ephemeral).int(4)
}

/// The record of another type that names one znode.
pub fn typed(kind: i32, at: &str) -> Record {
    match kind {
        5 | 16 => path(at).buffer(b"data").int(2),
        7 => access(path(at)).int(2),
        13 => path(at).int(2),
        19 => access(path(at).buffer(b"")).int(4),
        21 => access(path(at).int(-1)).int(4).long(1000),
        _ => path(at),
    }
}

pub fn close(paths: &[&str]) -> Record {
    let count = i32::try_from(paths.len()).expect("they are few");
    paths
        .iter()
        .fold(Record::new().int(count), |all, one| all.then(&path(one)))
}

pub fn part(kind: i32, record: Record) -> Record {
    Record::new().int(kind).buffer(record.bytes())
}

pub fn multi(parts: &[Record]) -> Record {
    let count = i32::try_from(parts.len()).expect("they are few");
    parts.iter().fold(Record::new().int(count), |all, one| all.then(one))
}

/// A header alone.
pub fn headed(session: i64, zxid: i64, kind: i32) -> Vec<u8> {
    let header = Record::new()
        .long(session)
        .int(3)
        .long(zxid)
        .long(1_700_000_000_000)
        .int(kind);
    header.0
}

/// The bytes of a transaction of [`SESSION`].
pub fn payload(zxid: i64, kind: i32, record: &Record) -> Vec<u8> {
    [headed(SESSION, zxid, kind), record.0.clone()].concat()
}

fn adler(bytes: &[u8]) -> i64 {
    let step = |(low, high): (i64, i64), byte: &u8| {
        let low = (low + i64::from(*byte)) % 65_521;
        (low, (high + low) % 65_521)
    };
    let (low, high) = bytes.iter().fold((1, 0), step);
    high << 16 | low
}

/// A file of these transactions.
pub fn file(entries: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = [&b"ZKLG"[..], &2_i32.to_be_bytes(), &0_i64.to_be_bytes()].concat();
    for entry in entries {
        bytes.extend(Record::new().long(adler(entry)).buffer(entry).0);
        bytes.push(b'B');
    }
    bytes
}
