//! A service whose only writable folder is that of its database, as in a container with a root that is read-only.

use std::{fmt::Write, fs, time::Duration};

use serde_json::Value;
use tokio::time::{interval, timeout};

use super::{
    exhausted_resources::with_private_mounts,
    program::{Service, client, create, directory, settle},
};

/// Animals with ids, of which the command remembers more than it keeps in memory.
const IMPORTED: usize = 300_000;

/// Makes everything read-only except the folder `data`, in which the script that follows starts.
const READ_ONLY: &str = "mkdir data && mount -t tmpfs none data && data=$PWD/data && \
    for at in / /tmp /var/tmp; do ! mountpoint -q $at || mount -o remount,bind,ro $at; done && \
    cd / && ! touch /tmp/here /var/tmp/here /usr/tmp/here here 2>/dev/null";

#[tokio::test]
async fn with_a_read_only_root_all_animals_are_added_imported_and_found() {
    let here = directory();
    let mut rows = "id,name,categoryId\n".to_owned();
    for id in 1..=IMPORTED {
        writeln!(rows, "{id},old {id},1").unwrap();
    }
    fs::write(here.path().join("animals.csv"), rows).unwrap();
    let mut command = with_private_mounts();
    let program = env!("CARGO_BIN_EXE_petstore");
    let script = format!(
        "{READ_ONLY} && export PETSTORE_DATABASE=sqlite:$data/petstore.db && \
         {program} keys create --create --name test --scope store:write >$data/key && \
         {program} import {}/animals.csv --keep-ids && \
         exec {program} serve --listen 127.0.0.1:0",
        here.path().display()
    );
    command.args(["sh", "-c", &script]);
    settle(&mut command, here.path());
    for name in ["TMPDIR", "SQLITE_TMPDIR"] {
        command.env_remove(name);
    }
    let service = Service::from(command);
    let root = format!("/proc/{}/root{}", service.pid(), here.path().display());
    let key = fs::read_to_string(format!("{root}/data/key")).unwrap();
    let client = client();
    for number in 0..40 {
        let added = create(
            &client,
            &service.url,
            key.trim_end(),
            &format!("new {number}"),
        );
        assert_eq!(
            added.send().await.unwrap().status(),
            201,
            "{number}: {}",
            service.said()
        );
    }
    let is_found = async |name: &str| {
        let url = format!("{}/store/pets?q={name}&limit=1", service.url);
        let reply = client
            .get(url)
            .bearer_auth(key.trim_end())
            .send()
            .await
            .unwrap();
        let page: Value = reply.json().await.unwrap();
        page.as_array().is_some_and(|pets| !pets.is_empty())
    };
    let mut looks = interval(Duration::from_millis(50));
    let all_found = async {
        for name in ["new+7", "old+299999"] {
            while !is_found(name).await {
                looks.tick().await;
            }
        }
    };
    timeout(Duration::from_mins(1), all_found)
        .await
        .expect("the search does not catch up");
    assert!(!service.said().contains("failed"), "{}", service.said());
}
