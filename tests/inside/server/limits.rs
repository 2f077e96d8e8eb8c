//! Tests of `src/server/limits.rs`.

use super::*;

#[test]
fn some_files_are_reserved_for_other_uses_than_connections() {
    assert_eq!(connections_under(4096), 3376);
    assert_eq!(connections_under(100), 50);
    assert_eq!(connections_under(1), 1);
}
