//! Photos with three files, as the service made them before it made cards.

use std::fs;

use super::{
    photos::{file, shop},
    program::{directory, run},
};

#[tokio::test]
async fn photos_with_three_files_are_checked_backed_up_and_restored() {
    let (here, url) = shop().await;
    let card = file(&here.path().join("photos"), &url.replace("-large", "-card"));
    fs::remove_file(&card).unwrap();
    let check = ["check", "--photos-content"];
    run(here.path(), &check).expect_success();
    run(here.path(), &["backup", "copy.db"]).expect_success();
    fs::remove_dir_all(here.path().join("photos")).unwrap();
    let copy = here.path().join("copy.db").display().to_string();
    let other = directory();
    run(other.path(), &["restore", &copy]).expect_success();
    run(other.path(), &check).expect_success();
    // A card that is there must be one.
    fs::write(
        file(
            &other.path().join("photos"),
            &url.replace("-large", "-card"),
        ),
        "",
    )
    .unwrap();
    let done = run(other.path(), &["check"]);
    assert!(
        done.stdout
            .contains("-card.jpg of a photo is missing or empty"),
        "{done:?}"
    );
}
