//! The lines of ZooKeeper's own tool for transaction logs, `TxnLogToolkit -d`.

use zooquake_history::evidence::Txn;

/// Reads one line; `None` for a line that is no transaction (headings, log messages, the rest of an ACL).
///
/// The layout is that of ZooKeeper 3.8 and 3.9: when, `session S cxid C zxid Z OPERATION DETAILS`.
pub fn parse(line: &str) -> Option<Txn> {
    let (_, rest) = line.split_once(" session ")?;
    let mut words = rest.splitn(7, ' ');
    let session = words.next()?;
    let head = [words.next()?, words.next()?, words.next()?, words.next()?];
    let ["cxid", _, "zxid", zxid] = head else { return None };
    let zxid = i64::from_str_radix(zxid.strip_prefix("0x")?, 16).ok()?;
    let op = words.next()?;
    let paths = paths(op, words.next().unwrap_or(""));
    Some(Txn {
        zxid,
        session: session.to_string(),
        op: common_name(op).to_string(),
        paths,
        raw: line.to_string(),
        ..Txn::default()
    })
}

/// One name for all kinds of create: what matters is that the znode is there.
fn common_name(op: &str) -> &str {
    if op.starts_with("create") && op != "createSession" {
        "create"
    } else {
        op
    }
}

/// The znodes that a transaction touched. The parts of a multi are printed as hexadecimal, and left out here.
fn paths(op: &str, details: &str) -> Vec<String> {
    let details = details.trim();
    match op {
        "closeSession" => {
            let inner = details.trim_start_matches("v{").trim_end_matches('}');
            inner
                .split(',')
                .filter_map(|path| path.strip_prefix('\''))
                .map(str::to_string)
                .collect()
        }
        // A path ends at the first comma; behind it come data, ACL and version.
        "delete" | "deleteContainer" | "setData" | "setACL" => first(details),
        _ if common_name(op) == "create" => first(details),
        _ => Vec::new(),
    }
}

fn first(details: &str) -> Vec<String> {
    let path = details.split(',').next().unwrap_or("").trim_start_matches('\'');
    if path.starts_with('/') {
        vec![path.to_string()]
    } else {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::parse;

    fn read(details: &str) -> (String, Vec<String>) {
        let head = "11/20/26, 6:43:58 PM UTC session 0x300002446120002 cxid 0x2 zxid 0x10000001a ";
        let txn = parse(&format!("{head}{details}")).expect("a transaction");
        assert_eq!((txn.zxid, txn.session.as_str()), (0x1_0000_001a, "0x300002446120002"));
        (txn.op, txn.paths)
    }

    #[test]
    fn reads_what_zookeeper_prints() {
        let create = read("create2 /lock/sub0000000000,,[31,s{'world,'anyone}");
        assert_eq!(create, ("create".into(), vec!["/lock/sub0000000000".into()]));
        assert_eq!(
            read("setData /zooquake/probe,probe,1"),
            ("setData".into(), vec!["/zooquake/probe".into()])
        );
        assert_eq!(read("delete '/lock/x"), ("delete".into(), vec!["/lock/x".into()]));
        assert_eq!(read("delete /lock/x"), ("delete".into(), vec!["/lock/x".into()]));
        let close = read("closeSession v{'/lock/a,'/lock/b}");
        assert_eq!(close, ("closeSession".into(), vec!["/lock/a".into(), "/lock/b".into()]));
        assert_eq!(read("closeSession v{}"), ("closeSession".into(), vec![]));
        assert_eq!(read("createSession 2000"), ("createSession".into(), vec![]));
        assert_eq!(read("error -110"), ("error".into(), vec![]));
    }

    #[test]
    fn other_lines_are_no_transactions() {
        assert_eq!(
            parse("ZooKeeper Transactional Log File with dbid 0 txnlog format version 2"),
            None
        );
        assert_eq!(parse(",T,1"), None);
        assert_eq!(parse("EOF reached after 5 txns."), None);
        assert_eq!(parse("opening session cxid zxid"), None);
    }
}
