//! The photos of backups, which share files with each other.

use std::{
    fs,
    os::unix::fs::{MetadataExt, symlink},
};

use super::{
    photos::{file, shop},
    program::run,
};

#[tokio::test]
async fn a_backup_takes_no_damaged_file_of_another_one_and_no_file_of_the_service() {
    let (here, url) = shop().await;
    let of = |night: &str| file(&here.path().join(format!("{night}.db.photos")), &url);
    let backup = |night: &str, photos: &str| {
        run(
            here.path(),
            &["backup", &format!("{night}.db"), "--photos", photos],
        )
    };
    backup("first", "photos").expect_success();
    let content = fs::read(of("first")).unwrap();
    fs::write(of("first"), &content[..10]).unwrap();
    backup("second", "photos").expect_success();
    assert_eq!(fs::read(of("second")).unwrap(), content);
    // A damaged file in its own folder is replaced, too.
    fs::remove_file(of("second")).unwrap();
    fs::write(of("second"), &content[..10]).unwrap();
    run(here.path(), &["backup", "second.db", "--force"]).expect_success();
    assert_eq!(fs::read(of("second")).unwrap(), content);
    for night in ["first", "second"] {
        fs::remove_dir_all(here.path().join(format!("{night}.db.photos"))).unwrap();
    }
    fs::rename(here.path().join("photos"), here.path().join("pets.photos")).unwrap();
    let live = file(&here.path().join("pets.photos"), &url);
    backup("third", "pets.photos").expect_success();
    assert_ne!(
        fs::metadata(of("third")).unwrap().ino(),
        fs::metadata(&live).unwrap().ino()
    );
    // The user of the service must not make root read what that user may not.
    fs::remove_dir_all(here.path().join("third.db.photos")).unwrap();
    fs::remove_file(&live).unwrap();
    fs::write(here.path().join("secret"), "secret").unwrap();
    symlink(here.path().join("secret"), &live).unwrap();
    assert_eq!(backup("fourth", "pets.photos").status.code(), Some(1));
    assert!(!of("fourth").exists());
}
