//! Tests of `src/store/sqlite/wal.rs`.

use std::fs;

use super::*;

#[test]
fn a_rewritten_file_is_the_same() {
    let directory = tempfile::TempDir::new().unwrap();
    let path = directory.path().join("wal");
    for length in [0, 1, CHUNK, 2 * CHUNK + 7] {
        let content: Vec<u8> = (0..=250).cycle().take(length).collect();
        fs::write(&path, &content).unwrap();
        rewrite(&path).unwrap();
        assert!(fs::read(&path).unwrap() == content, "{length}");
    }
}
