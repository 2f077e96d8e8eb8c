//! Tests of `src/observe/log.rs`.

use super::*;

#[test]
fn standard_error_is_the_journal_only_if_systemd_says_so() {
    let stderr = rustix::fs::fstat(io::stderr()).unwrap();
    let stream = format!("{}:{}", stderr.st_dev, stderr.st_ino);
    assert!(is_journal(Some(&stream)));
    for other in [None, Some(""), Some("0:0")] {
        assert!(!is_journal(other), "{other:?}");
    }
}
