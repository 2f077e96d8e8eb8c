//! Backups, retention and restores that are killed: no half file has the name of a backup, nothing of others is
//! deleted, and the newest complete backup can always be restored.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io,
    path::Path,
    process::Child,
    thread,
};

use flate2::read::GzDecoder;
use rand::{RngExt, SeedableRng, rngs::StdRng};

use super::{
    backups::backups,
    photos::{file, shop},
    program::{Service, command, run},
};

/// Adds so many animals that a backup takes a while.
fn fill(database: &Path) {
    let database = rusqlite::Connection::open(database).unwrap();
    let animals = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
         INSERT INTO pets (name, category_id, status) SELECT 'Frank ' || i, i, 'sold' FROM n";
    database.execute(animals, ()).unwrap();
    database
        .execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")
        .unwrap();
}

/// Fails unless each backup is complete. Old ones that the test has put there are short.
fn expect_complete(place: &Path, known: &mut BTreeSet<String>) {
    for name in backups(place)
        .into_iter()
        .filter(|name| !name.starts_with("petstore-2020"))
    {
        if known.insert(name.clone()) {
            let mut content = GzDecoder::new(File::open(place.join(&name)).unwrap());
            let length = io::copy(&mut content, &mut io::sink()).unwrap();
            assert!(length > 1_000_000, "{name} has {length} bytes");
            assert!(
                place.join(name.replace(".db.gz", ".photos")).exists(),
                "{name}"
            );
        }
    }
}

/// Waits until something has happened in the place, and some time that nobody knows.
fn wait_for(
    random: &mut StdRng,
    process: &mut impl FnMut() -> bool,
    has_happened: impl Fn() -> bool,
) {
    while process() && !has_happened() {
        thread::yield_now();
    }
    for _ in 0..random.random_range(0..300) {
        thread::yield_now();
    }
}

#[tokio::test]
async fn no_kill_leaves_a_half_backup_deletes_what_others_need_or_prevents_a_restore() {
    let seed = std::env::var("BACKUP_KILLS_SEED").map_or(20_261_127, |seed| seed.parse().unwrap());
    let kills = std::env::var("BACKUP_KILLS").map_or(4, |kills| kills.parse().unwrap());
    let (mut random, mut known) = (StdRng::seed_from_u64(seed), BTreeSet::new());
    let (here, url) = shop().await;
    let (path, place) = (here.path(), here.path().join("place"));
    fill(&path.join("petstore.db"));
    fs::create_dir_all(place.join("photos/ff")).unwrap();
    let of_others = ["notes.txt", "petstore-2020.db.gz", "photos/ff/notes.jpg"];
    for name in of_others {
        fs::write(place.join(name), "mine").unwrap();
    }
    let start = || Service::start(path, &["--backup", "place", "--backup-every", "1s"]);
    for kill in 0..kills {
        // Retention deletes them, and their photos.
        for second in 0..3 {
            let name = format!("petstore-202001{:02}T00000{second}Z", kill % 28 + 1);
            fs::write(
                place.join(format!("{name}.photos")),
                format!("1\n{second:032x}\n"),
            )
            .unwrap();
            fs::write(place.join(format!("{name}.db.gz")), "old").unwrap();
        }
        let planted = format!("petstore-202001{:02}T000000Z.db.gz", kill % 28 + 1);
        let count = backups(&place).len();
        let what = random.random_range(0..5);
        let mut service = start();
        let has_happened = || match what {
            0 => place.join(".petstore-backup.db").exists(),
            1 => place.join(".petstore-backup.part").exists(),
            2 => backups(&place).len() > count,
            3 => !place.join(&planted).exists(),
            _ => true,
        };
        wait_for(&mut random, &mut || service.is_running(), has_happened);
        service.kill();
        expect_complete(&place, &mut known);
        if known.is_empty() {
            continue;
        }
        let restore = [
            "restore",
            "place",
            "--database",
            "sqlite:trial/petstore.db",
            "--force",
        ];
        fs::create_dir_all(path.join("trial")).unwrap();
        let mut killed: Child = command(path, &restore).spawn().unwrap();
        let is_unpacked =
            || fs::read_dir(path.join("trial")).unwrap().count() > usize::from(what % 2 == 0);
        wait_for(
            &mut random,
            &mut || killed.try_wait().unwrap().is_none(),
            is_unpacked,
        );
        let _ = killed.kill();
        killed.wait().unwrap();
        if path.join("trial/petstore.db").exists() {
            run(path, &["check", "--database", "sqlite:trial/petstore.db"]);
        }
        let said = run(path, &restore).expect_success().stdout;
        let newest = known.last().unwrap();
        assert!(
            said.starts_with(&format!("Restoring place/{newest} of ")),
            "{said}"
        );
        let check = [
            "check",
            "--database",
            "sqlite:trial/petstore.db",
            "--photos-content",
        ];
        let said = run(path, &check).expect_success().stdout;
        assert!(said.contains("is valid: 20001 animals"), "{said}");
        assert!(file(&path.join("trial/photos"), &url).exists());
        for name in of_others {
            assert_eq!(fs::read(place.join(name)).unwrap(), b"mine", "{name}");
        }
    }
    assert!(!known.is_empty());
    eprintln!(
        "{kills} times kill -9 of the service and of a restore, {} backups, seed {seed}",
        known.len()
    );
}
