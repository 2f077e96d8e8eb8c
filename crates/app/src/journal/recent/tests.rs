//! What a follower gets from the newest events, and when its stream ends.

use jiff::Timestamp;

use super::{super::batch::truncate_to_room, *};
use petstore_domain::{
    Actor,
    store_area::{JournalEntry, JournalSubject, SubjectKind},
};

const EPOCH: Epoch = Epoch([1; 16]);
const KEY: KeyId = KeyId(7);

/// Returns a change with a representation of this length.
fn change(seq: i64, kind: ChangeType, length: usize) -> JournalEntry {
    JournalEntry {
        seq,
        at: Timestamp::UNIX_EPOCH,
        kind: kind.into(),
        subject: JournalSubject {
            kind: SubjectKind::Pet.into(),
            id: Some(1),
        },
        version: Some(seq),
        pet: Some(1),
        before: None,
        after: Some(format!("\"{}\"", "a".repeat(length)).into()),
        actor: Actor::Clock.into(),
        request_id: None,
    }
}

fn journal(epoch: Epoch, last: i64) -> JournalState {
    JournalState {
        epoch,
        first: 1,
        last,
    }
}

fn push(recent: &mut RecentEvents, changes: &[JournalEntry]) {
    recent.push(
        Batch::from_changes(EPOCH, changes),
        changes.last().unwrap().seq,
    );
}

/// Returns the sequence numbers of the next events after a position, and the new position. Returns
/// `None` if the events are not cached.
fn after(
    recent: &RecentEvents,
    position: i64,
    kind: Option<ChangeType>,
) -> Option<(Vec<i64>, i64)> {
    match recent.events_after(position, kind) {
        NextEvents::NotCached => None,
        NextEvents::Nothing { read_to } => Some((Vec::new(), read_to)),
        NextEvents::Events(RenderedEvents {
            text,
            count,
            read_to,
        }) => {
            let events = str::from_utf8(&text).unwrap();
            let seqs: Vec<i64> = events
                .split("{\"seq\":")
                .skip(1)
                .map(|event| event.split(',').next().unwrap().parse().unwrap())
                .collect();
            assert_eq!(seqs.len(), count);
            Some((seqs, read_to))
        }
    }
}

#[test]
fn a_follower_gets_everything_after_its_position_or_what_it_asks_for() {
    use ChangeType::{OrderPlaced, PetAdded, PetChanged};
    let mut recent = RecentEvents::default();
    assert!(recent.sync_with(&journal(EPOCH, 4)));
    let kinds = [PetAdded, OrderPlaced, PetChanged, PetChanged];
    let changes = (5..).zip(kinds).map(|(seq, kind)| change(seq, kind, 9));
    push(&mut recent, &changes.collect::<Vec<_>>());
    push(&mut recent, &[change(9, PetAdded, 9)]);
    assert_eq!(after(&recent, 4, None), Some((vec![5, 6, 7, 8], 8)));
    assert_eq!(after(&recent, 6, None), Some((vec![7, 8], 8)));
    assert_eq!(after(&recent, 8, None), Some((vec![9], 9)));
    assert_eq!(after(&recent, 4, Some(PetChanged)), Some((vec![7], 7)));
    assert_eq!(after(&recent, 7, Some(PetChanged)), Some((vec![8], 8)));
    assert_eq!(after(&recent, 5, Some(PetAdded)), Some((vec![], 8)));
    assert_eq!(after(&recent, 3, None), None, "only the store has change 4");
}

#[test]
fn only_the_newest_events_are_kept_in_batches_of_limited_size() {
    let mut recent = RecentEvents::default();
    recent.sync_with(&journal(EPOCH, 0));
    for seq in 1..=300 {
        push(&mut recent, &[change(seq, ChangeType::PetAdded, 20_000)]);
    }
    assert!(
        recent.size <= MAX_SIZE && recent.size > MAX_SIZE - 30_000,
        "{}",
        recent.size
    );
    assert_eq!(after(&recent, 0, None), None);
    assert_eq!(after(&recent, 299, None), Some((vec![300], 300)));
    let long_changes: Vec<_> = (1..=9)
        .map(|seq| change(seq, ChangeType::PetAdded, 20_000))
        .collect();
    assert_eq!(Batch::from_changes(EPOCH, &long_changes).len(), 5);
}

#[test]
fn one_reading_adds_half_of_what_is_kept_and_the_next_one_goes_on_there() {
    let changes: Vec<_> = (1..=100)
        .map(|seq| change(seq, ChangeType::PetAdded, 99_000))
        .collect();
    let mut read_to = 0_i64;
    let mut read_count = 0;
    while read_to < 100 {
        let unread_changes = &changes[usize::try_from(read_to).unwrap()..];
        let mut batches = Batch::from_changes(EPOCH, unread_changes);
        let start = read_to;
        let room = truncate_to_room(&mut batches, MAX_BYTES_PER_READ);
        read_to = batches.last().unwrap().last_seq();
        let size: usize = batches.iter().map(|batch| batch.text.len()).sum();
        assert!(
            size < MAX_BYTES_PER_READ + 100_000 && batches[0].first_seq == start + 1,
            "{size}"
        );
        let mut more_batches = Batch::from_changes(EPOCH, &changes);
        truncate_to_room(&mut more_batches, room);
        assert!(read_to == 100 || more_batches.is_empty());
        read_count += 1;
    }
    assert_eq!(read_count, 5);
}

#[test]
fn a_database_that_was_replaced_ends_the_following_and_a_long_pause_does_not() {
    let mut recent = RecentEvents::default();
    recent.sync_with(&journal(EPOCH, 5));
    let ticket = recent.ticket(KEY);
    assert!(!recent.sync_with(&journal(EPOCH, 6)));
    assert!(recent.sync_with(&journal(EPOCH, 5 + MAX_UNREAD_CHANGES + 1)));
    assert_eq!(
        (recent.end_reason(ticket), recent.last),
        (None, 5 + MAX_UNREAD_CHANGES + 1)
    );
    for replacement in [journal(EPOCH, 3), journal(Epoch([2; 16]), 9)] {
        let ticket = recent.ticket(KEY);
        recent.sync_with(&replacement);
        assert_eq!(recent.end_reason(ticket), Some(EndReason::OtherJournal));
    }
}

#[test]
fn an_invalid_key_and_the_shutdown_end_the_following() {
    let mut recent = RecentEvents::default();
    let ticket = recent.ticket(KEY);
    assert!(recent.set_invalid_keys(HashSet::from([KeyId(8)])));
    assert_eq!(recent.end_reason(ticket), None);
    assert!(recent.set_invalid_keys(HashSet::from([KEY])));
    assert!(!recent.set_invalid_keys(HashSet::from([KEY])));
    assert_eq!(recent.end_reason(ticket), Some(EndReason::InvalidKey));
    recent.sync_with(&journal(EPOCH, 5));
    assert_eq!(recent.end_reason(ticket), Some(EndReason::InvalidKey));
    recent.end_all();
    assert_eq!(recent.end_reason(ticket), Some(EndReason::ShuttingDown));
}

#[test]
fn the_animals_of_what_follows_are_known_while_it_is_here() {
    let mut recent = RecentEvents::default();
    recent.sync_with(&journal(EPOCH, 0));
    let change_of = |seq, pet| JournalEntry {
        pet,
        ..change(seq, ChangeType::PetChanged, 40_000)
    };
    for (seq, pet) in [
        (1, Some(9)),
        (2, Some(4)),
        (3, Some(9)),
        (4, None),
        (5, Some(2)),
    ] {
        recent.push(Batch::from_changes(EPOCH, &[change_of(seq, pet)]), seq);
        if seq == 3 {
            assert_eq!(recent.pets_after(0), Some(vec![4, 9]));
            assert_eq!(recent.pets_after(2), Some(vec![9]));
        }
    }
    assert_eq!(recent.pets_after(4), Some(vec![2]));
    // An import has no animal of its own.
    assert_eq!(recent.pets_after(3), None);
    for seq in 6..200 {
        recent.push(Batch::from_changes(EPOCH, &[change_of(seq, Some(1))]), seq);
    }
    assert_eq!(recent.pets_after(5), None);
    assert_eq!(recent.pets_after(198), Some(vec![1]));
}
