//! Photos. Part of the suite.

use jiff::SignedDuration;
use petstore_domain::{
    PetId,
    PetStatus::Available,
    store_area::{AltText, Command, Focus, NewPhoto, PhotoId, Preconditions},
};
use petstore_testing::{
    area::{any, change, withdraw},
    stores::{AnyStore, at, create, new_pet},
};

/// Adds a photo with this identifier.
pub(crate) fn with_photo(id: PetId, photo: u128) -> Command {
    let alt = AltText::new("Luna \"on a chair\" \u{1}".to_owned());
    Command::AddPhoto {
        id,
        photo: NewPhoto {
            id: PhotoId(photo),
            alt,
            width: 1920,
            height: 1440,
            focus: Focus::new([2_500, 4_000]),
        },
    }
}

pub(crate) async fn the_store_knows_which_files_photos_need(store: AnyStore) {
    let pet = create(&store, new_pet("Rex", 1, Available)).await.id;
    let [low, high, other] = [1, (1 << 120) - 1, 1 << 120];
    for photo in [low, high, other] {
        change(&store, with_photo(pet, photo)).await;
    }
    assert_eq!(
        store.photos_in(0).await.unwrap(),
        [PhotoId(low), PhotoId(high)]
    );
    assert_eq!(store.photos_in(1).await.unwrap(), [PhotoId(other)]);
    change(&store, withdraw(pet)).await;
    assert_eq!(store.photos_in(0).await.unwrap().len(), 2);
    let kept = store.get_store_pet(pet).await.unwrap().unwrap().photos;
    assert_eq!(kept.all().len(), 3);
    assert_eq!(kept.all()[0].focus, Focus::new([2_500, 4_000]));
    assert_eq!(
        kept.all()[0].alt.as_ref().unwrap().as_str(),
        "Luna \"on a chair\" \u{1}"
    );
}

pub(crate) async fn a_file_is_due_a_day_after_it_was_seen_without_a_photo(store: AnyStore) {
    let pet = create(&store, new_pet("Rex", 1, Available)).await.id;
    change(&store, with_photo(pet, 1)).await;
    let (day, first) = (SignedDuration::from_hours(24), at(1_000_000));
    let files = || vec![PhotoId(1), PhotoId(2)];
    let note = async |files, now| store.note_orphans(0, files, now, now - day).await.unwrap();
    assert_eq!(note(files(), first).await, []);
    assert_eq!(
        note(files(), first + day - SignedDuration::from_secs(1)).await,
        []
    );
    assert_eq!(note(files(), first + day).await, [PhotoId(2)]);
    // A file that is gone and comes back is new.
    assert_eq!(note(vec![PhotoId(1)], first + day).await, []);
    assert_eq!(note(files(), first + day).await, []);
    // That of a deleted photo, too.
    let (photo, preconditions): (_, Preconditions) = (PhotoId(1), any());
    change(
        &store,
        Command::DeletePhoto {
            id: pet,
            photo,
            preconditions,
        },
    )
    .await;
    assert_eq!(note(vec![photo], first + day).await, []);
    assert_eq!(note(vec![photo], first + 2 * day).await, [photo]);
}
