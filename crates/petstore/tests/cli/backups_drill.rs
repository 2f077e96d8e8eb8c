//! The restore drill of docs/backup.md, on an empty machine: from a folder and from a bucket.

use std::{env, fs, path::Path, process::Command};

use petstore_testing::photo_storage::FakeBucket;

use super::{
    backups::{backups, until},
    photos::shop,
    program::{Done, Service, command, directory, finish, settle},
};

/// The lines of the drill, about this place.
fn lines(place: &str) -> String {
    let document = include_str!("../../../../docs/backup.md");
    let part = document.split("### A drill\n").nth(1).unwrap();
    let lines = part.lines().map(|line| line.strip_prefix("    "));
    let lines: Vec<&str> = lines
        .skip_while(Option::is_none)
        .map_while(|line| line)
        .collect();
    assert_eq!(lines.len(), 5, "{lines:?}");
    assert_eq!(
        lines.iter().filter(|line| line.contains("/backup")).count(),
        2,
        "{lines:?}"
    );
    lines.join("\n").replace("/backup", place)
}

/// Runs the drill in an empty folder, by a command that runs others.
pub(super) fn drill(
    here: &Path,
    mut by: Command,
    place: &str,
    variables: Vec<(String, String)>,
) -> Done {
    let program = Path::new(env!("CARGO_BIN_EXE_petstore")).parent().unwrap();
    let path = format!("{}:{}", program.display(), env::var("PATH").unwrap());
    settle(&mut by, here);
    by.args(["sh", "-e", "-c", &lines(place)])
        .env("PATH", path)
        .env("TMPDIR", here);
    let done = finish(by.envs(variables)).expect_success();
    assert_eq!(fs::read_dir(here).unwrap().count(), 0, "{done:?}");
    assert!(
        done.stdout.contains("is valid: 1 animal, 1 key, 1 photo\n"),
        "{done:?}"
    );
    done
}

#[tokio::test(flavor = "multi_thread")]
async fn the_five_lines_of_the_drill_run_from_a_folder_and_from_a_bucket() {
    let (here, _) = shop().await;
    let bucket = FakeBucket::start().await;
    for place in ["place", "s3://shop/backups"] {
        let serve = ["serve", "--listen", "127.0.0.1:0", "--backup", place];
        let mut serve = command(here.path(), &serve);
        let service = Service::from({
            serve.envs(bucket.variables());
            serve
        });
        until(|| service.said().contains("made a backup")).await;
    }
    let place = here.path().join("place");
    let (empty, by) = (directory(), || Command::new("env"));
    let said = drill(empty.path(), by(), &place.display().to_string(), Vec::new()).stdout;
    assert!(said.contains(&backups(&place)[0]), "{said}");
    drill(empty.path(), by(), "s3://shop/backups", bucket.variables());
}
