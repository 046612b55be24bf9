//! Lines of the program, and what it says to them.

use serde_json::Value;
use std::fmt;
use std::process::{Child, Command, Output};

/// The program under test, with the words of this line as arguments.
pub fn zooquake(line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zooquake"));
    command.args(line.split_whitespace());
    command
}

/// What the program said, and how it ended.
pub struct Said {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Said {
    /// The program ended with this exit code.
    #[track_caller]
    pub fn ends(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self}");
        self
    }

    /// It said all of this.
    #[track_caller]
    pub fn with(self, parts: &[&str]) -> Self {
        for part in parts {
            assert!(self.has(part), "should say {part:?}: {self}");
        }
        self
    }

    /// It said none of this.
    #[track_caller]
    pub fn without(self, parts: &[&str]) -> Self {
        for part in parts {
            assert!(!self.has(part), "should not say {part:?}: {self}");
        }
        self
    }

    /// Whether it said this.
    pub fn has(&self, part: &str) -> bool {
        self.stdout.contains(part) || self.stderr.contains(part)
    }

    /// The JSON on stdout.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self}"))
    }
}

impl From<Output> for Said {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { code, stdout, stderr } = self;
        write!(f, "{code:?}: {stdout}{stderr}")
    }
}

/// Runs a program to its end.
pub fn said(command: &mut Command) -> Said {
    command.output().expect("starting zooquake").into()
}

/// Waits for a program's end.
pub fn ended(child: Child) -> Said {
    child.wait_with_output().expect("waiting for zooquake").into()
}

/// What the program says to this line.
pub fn call(line: &str) -> Said {
    said(&mut zooquake(line))
}

/// The program refuses this line as wrong usage, and says all of this.
#[track_caller]
pub fn refused(line: &str, parts: &[&str]) {
    call(line).ends(254).with(parts);
}

/// A line of the program where no engine answers.
pub fn without_engine(line: &str) -> Command {
    let mut command = zooquake(line);
    command.env("DOCKER_HOST", "unix:///nowhere/docker.sock");
    command
}
