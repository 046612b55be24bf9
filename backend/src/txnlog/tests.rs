use super::*;
use tar::{Builder, Header};

/// A log file of sessions that were opened, by their zxids; without a database id.
fn log(zxids: &[i64]) -> Vec<u8> {
    let mut bytes = b"ZKLG\0\0\0\x02\0\0\0\0\0\0\0\0".to_vec();
    for zxid in zxids {
        let mut payload = [&1_i64.to_be_bytes()[..], &0_i32.to_be_bytes(), &zxid.to_be_bytes()].concat();
        payload.extend(
            [
                &0_i64.to_be_bytes()[..],
                &(-10_i32).to_be_bytes(),
                &2000_i32.to_be_bytes(),
            ]
            .concat(),
        );
        let (low, high) = payload.iter().fold((1_u64, 0_u64), |(low, high), byte| {
            let low = (low + u64::from(*byte)) % 65_521;
            (low, (high + low) % 65_521)
        });
        bytes.extend((high << 16 | low).to_be_bytes());
        bytes.extend(u32::try_from(payload.len()).unwrap().to_be_bytes());
        bytes.extend(payload);
        bytes.push(b'B');
    }
    bytes
}

fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    for (name, bytes) in files {
        let mut header = Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o600);
        builder.append_data(&mut header, name, *bytes).unwrap();
    }
    builder.into_inner().unwrap()
}

fn zxids(logs: &FolderLogs) -> Vec<i64> {
    logs.entries.iter().map(|entry| entry.txn.zxid).collect()
}

#[test]
fn log_files_are_read_and_others_passed_over() {
    let padded = [log(&[1, 2]), vec![0; 3 << 20]].concat();
    let torn = log(&[5])[..40].to_vec();
    let logs = read_archive(
        &archive(&[
            ("version-2/snapshot.0", b"ZKSN"),
            ("version-2/log.1", &padded),
            ("./version-2/log.3", &log(&[3])),
            ("log.100000001", &log(&[0x1_0000_0001])),
            ("version-2/log.4", &torn),
            ("version-2/log.txt", b"no log"),
            ("version-2/old/log.9", &log(&[9])),
            ("version-2/acceptedEpoch", b"1"),
        ])[..],
    );
    assert_eq!(logs.problems, [""; 0]);
    assert_eq!(zxids(&logs), [1, 2, 3, 0x1_0000_0001]);
    assert_eq!(read_archive(&archive(&[])[..]).problems, [""; 0]);
}

#[test]
fn what_cannot_be_read_is_a_problem() {
    let mut broken = log(&[1, 2]);
    broken[40] ^= 1;
    let logs = read_archive(&archive(&[("log.1", &broken), ("log.2", &log(&[3]))])[..]);
    assert_eq!(
        logs.problems,
        ["log.1: an entry does not match its checksum, at byte 16"]
    );
    assert_eq!(zxids(&logs), [3]);
    let mut builder = Builder::new(Vec::new());
    let mut link = Header::new_gnu();
    link.set_entry_type(EntryType::Symlink);
    link.set_size(0);
    builder.append_link(&mut link, "log.1", "/elsewhere").unwrap();
    let logs = read_archive(&builder.into_inner().unwrap()[..]);
    assert_eq!(logs.problems, ["log.1 is not a regular file"]);
}

#[test]
fn an_archive_that_is_cut_anywhere_is_a_problem() {
    let whole = archive(&[("log.1", &log(&[1])), ("log.2", &log(&[2]))]);
    let end = whole.len() - 1024;
    for cut in 0..=end {
        assert_ne!(read_archive(&whole[..cut]).problems, [""; 0], "cut at {cut} of {end}");
    }
}

#[test]
fn an_archive_without_end_is_a_problem() {
    let mut header = Header::new_gnu();
    header.set_path("log.1").unwrap();
    header.set_size(7 << 30);
    header.set_mode(0o600);
    header.set_cksum();
    let start = || header.as_bytes().as_slice();
    let zeros = read_archive(start().chain(io::repeat(0)));
    assert_eq!(zeros.problems, ["the archive has more than 1024 MiB"]);
    let ones = read_archive(start().chain(io::repeat(1)));
    assert_eq!(
        ones.problems,
        ["log.1 has more than 64 MiB", "the archive has more than 1024 MiB"]
    );
    let noise = read_archive(io::repeat(b'x'));
    assert_eq!((noise.problems.len(), noise.entries.len()), (1, 0));
}

#[tokio::test]
async fn what_a_task_receives_is_read_in_a_thread() {
    let whole = archive(&[("log.1", &log(&[1, 2, 3]))]);
    for (pieces, sound) in [(1, true), (700, true), (700, false)] {
        let (sender, receiver) = mpsc::channel(1);
        let reading = tokio::task::spawn_blocking(|| read_archive(Chunks::from(receiver)));
        for chunk in whole[..600].chunks(pieces) {
            sender.send(Ok(chunk.to_vec())).await.unwrap();
        }
        let rest = if sound {
            Ok(whole[600..].to_vec())
        } else {
            Err(io::Error::other("it was reset"))
        };
        sender.send(rest).await.unwrap();
        drop(sender);
        let logs = reading.await.unwrap();
        match sound {
            true => assert_eq!((zxids(&logs), logs.problems), (vec![1, 2, 3], vec![])),
            false => assert!(logs.problems[0].contains("it was reset"), "{:?}", logs.problems),
        }
    }
}

#[test]
fn a_log_that_takes_too_much_memory_is_named_as_not_read_whole() {
    let zxids: Vec<i64> = (1..=100).collect();
    let logs = read_archive(&archive(&[("log.1", &log(&zxids))])[..]);
    let each = logs.entries.iter().map(size).sum::<usize>() / logs.entries.len();
    assert!(
        (2 * size_of::<LogEntry>()..MEMORY / 1_000_000).contains(&each),
        "{each} bytes each"
    );
    // As many as fit, four million do not.
    assert!(
        4_000_000 * each > MEMORY && 500_000 * each < MEMORY,
        "{each} bytes each"
    );
}
