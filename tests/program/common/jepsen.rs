//! Other people's histories, and `check` of them.

use super::{ProgramOutput, output_of, zooquake};
use std::path::Path;

/// Invalid: a read of an old value, as Jepsen writes histories.
pub const STALE: &str = "; the write was answered before the read began
[{:process 0, :type :invoke, :f :write, :value 3, :index 7}
 {:process 0, :type :ok, :f :write, :value 3}
 {:process 1, :type :invoke, :f :read, :value nil}
 {:process 1, :type :ok, :f :read, :value 0}]
";
/// Valid, as Jepsen logs.
pub const FRESH: &str = "INFO  jepsen.util - 0\t:invoke\t:write\t3
INFO  jepsen.util - 1\t:invoke\t:read\tnil
INFO  jepsen.util - 1\t:ok\t:read\tnil
INFO  jepsen.util - 0\t:info\t:write\t:timed-out
";

/// `check` of a path, with more words.
pub fn check(path: &Path, line: &str) -> ProgramOutput {
    output_of(zooquake(&format!("check {line}")).arg(path))
}
