//! Places of backups in which a list of photos is damaged.

use std::fs;

use super::{
    backups::{backups, names, plant, serve, until},
    program::{directory, new_key},
};

#[tokio::test]
async fn a_damaged_list_of_an_old_backup_goes_and_the_photos_of_others_go_too() {
    let here = directory();
    new_key(here.path());
    let place = here.path().join("place");
    let [old, unknown] = ["11", "22"].map(|digits| digits.repeat(16));
    plant(&place, "20200101T000000Z", &[&old]);
    plant(&place, "20200102T000000Z", &[&unknown]);
    plant(&place, "20990101T000000Z", &[]);
    fs::write(place.join("petstore-20200102T000000Z.photos"), "0\n2222\n").unwrap();
    let service = serve(here.path(), "1s");
    until(|| {
        names(&place, ".photos")
            .iter()
            .all(|name| !name.starts_with("petstore-2020"))
    })
    .await;
    let of = |id: &str| {
        place
            .join("photos")
            .join(&id[..2])
            .join(format!("{id}-large.jpg"))
    };
    assert!(!of(&old).exists() && of(&unknown).exists());
    assert!(
        service.said().contains("petstore-20200102T000000Z.photos"),
        "{}",
        service.said()
    );
    assert!(
        !service.said().contains("a background task failed"),
        "{}",
        service.said()
    );
}

#[tokio::test]
async fn a_damaged_list_of_a_kept_backup_is_told_and_keeps_every_photo() {
    let here = directory();
    new_key(here.path());
    let (place, id) = (here.path().join("place"), "11".repeat(16));
    plant(&place, "20200101T000000Z", &[&id]);
    plant(&place, "20990101T000000Z", &[]);
    let damaged = format!("0\n{}X\n", &id[1..]);
    fs::write(place.join("petstore-20990101T000000Z.photos"), damaged).unwrap();
    let service = serve(here.path(), "1s");
    until(|| !place.join("petstore-20200101T000000Z.db.gz").exists()).await;
    let count = backups(&place).len();
    until(|| backups(&place).len() > count + 1).await;
    assert!(
        service.said().contains("petstore-20990101T000000Z.photos"),
        "{}",
        service.said()
    );
    assert!(
        !service.said().contains("a background task failed"),
        "{}",
        service.said()
    );
    assert!(
        place
            .join("photos/11")
            .join(format!("{id}-large.jpg"))
            .exists()
    );
}
