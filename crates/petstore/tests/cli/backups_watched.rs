//! What a service does about backups without further settings, and what its metrics say of them.

use std::{fs, path::Path};

use jiff::{Timestamp, ToSpan};
use petstore::backups::{backup_name, backup_time};
use petstore_domain::{Clock, SystemClock};

use super::{
    management::MANAGED,
    metrics::Page,
    program::{Service, client, directory, new_key},
};

fn backups(here: &Path) -> Vec<Timestamp> {
    super::backup::files(&here.join("place"))
        .iter()
        .filter_map(|name| backup_time(name))
        .collect()
}

async fn value(service: &Service, metric: &str) -> u64 {
    Page::of(&client(), service)
        .await
        .value(&format!("petstore_backup_{metric}"), &[])
}

#[tokio::test]
async fn backups_are_off_until_a_place_is_named_and_then_every_24_hours_and_kept_for_14_days() {
    let here = directory();
    let path = here.path();
    new_key(path);
    let service = Service::start(path, &MANAGED);
    assert_eq!(value(&service, "interval_seconds").await, 0);
    assert_eq!(value(&service, "last_success_timestamp_seconds").await, 0);
    drop(service);
    fs::create_dir(path.join("place")).unwrap();
    let now = SystemClock.now();
    let [kept, old] = [13, 15].map(|days| now - (24 * days).hours());
    // The last two stay in any case.
    for at in [old, kept, now - 48.hours(), now - 72.hours()] {
        fs::write(path.join("place").join(backup_name(at)), "old").unwrap();
    }
    let service = Service::start(path, &[&MANAGED[..], &["--backup", "place"]].concat());
    let mut looks = tokio::time::interval(std::time::Duration::from_millis(20));
    while backups(path).len() != 4 || !service.said().contains("made a backup") {
        looks.tick().await;
    }
    let found = backups(path);
    let has = |at: Timestamp| {
        found
            .iter()
            .any(|found| found.as_second() == at.as_second())
    };
    assert!(has(kept) && !has(old), "{found:?}");
    let newest = found.into_iter().max().unwrap();
    assert_eq!(value(&service, "interval_seconds").await, 24 * 60 * 60);
    let last = u64::try_from(newest.as_second()).unwrap();
    assert_eq!(
        value(&service, "last_success_timestamp_seconds").await,
        last
    );
    let length = fs::metadata(path.join("place").join(backup_name(newest)))
        .unwrap()
        .len();
    assert_eq!(value(&service, "bytes").await, length);
    assert_eq!(value(&service, "failures_total").await, 0);
}

#[tokio::test]
async fn a_service_that_starts_again_and_again_makes_one_backup_in_each_interval() {
    let here = directory();
    let path = here.path();
    new_key(path);
    let task = ["task=\"make_backup\""];
    for _ in 0..4 {
        let service = Service::start(path, &[&MANAGED[..], &["--backup", "place"]].concat());
        let last = "petstore_task_last_success_timestamp_seconds";
        while Page::of(&client(), &service).await.value(last, &task) == 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(value(&service, "failures_total").await, 0);
        assert_ne!(value(&service, "last_success_timestamp_seconds").await, 0);
        assert_eq!(backups(path).len(), 1);
    }
}
