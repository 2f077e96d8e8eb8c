//! Tests of `src/store/journal_rows.rs`.

use super::*;

#[test]
fn the_parts_with_the_newest_first_have_no_gap_and_do_not_overlap() {
    let (oldest, newest) = (5, 3 * SCAN);
    let mut query = AuditQuery { newest_first: true, ..AuditQuery::default() };
    let mut next = [newest, newest];
    loop {
        let part = Part::newest(&query, oldest, newest);
        assert_eq!([part.changes[1], part.acts[1]], next);
        assert!(part.changes[1] - part.changes[0] <= SCAN);
        next = [part.changes[0], part.acts[0] - 1];
        let Some(rest) = part.rest else { break };
        query.after = Some(rest);
    }
    assert_eq!(next, [oldest, BEGINNING.seq - 1]);
}
