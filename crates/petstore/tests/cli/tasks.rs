//! Background tasks: what `/metrics` shows of them, and their end.

use std::time::Duration;

use tokio::time::timeout;

use super::{
    certificates::Certificates,
    management::MANAGED,
    metrics::Page,
    program::{Service, client, directory, run},
    traces::Collector,
};

const LAST_SUCCESS: &str = "petstore_task_last_success_timestamp_seconds";

// The collector runs as a task of the test, which blocks on the program.
#[tokio::test(flavor = "multi_thread")]
async fn every_task_shows_its_last_success_and_ends_at_shutdown() {
    let here = directory();
    let (certificates, collector) = (Certificates::new(), Collector::start().await);
    let files = [certificates.certificate(), certificates.key()];
    let files = files.each_ref().map(|file| file.to_str().unwrap());
    let options = [
        "--tls-cert",
        files[0],
        "--tls-key",
        files[1],
        "--otlp-endpoint",
    ];
    let service = Service::start(
        here.path(),
        &[&MANAGED[..], &options, &[&collector.url()]].concat(),
    );
    // A request, which leaves a span.
    let docs = service.url.replace("/v1", "/docs/");
    run(here.path(), &["healthcheck", "--url", &docs]).expect_success();
    collector.spans(1).await;
    for task in [
        "save_key_uses",
        "forget_old_requests",
        "forget_old_sessions",
        "erase_contacts",
        "tend_photos",
        "make_cards",
        "expire_orders",
        "forget_old_changes",
        "number_changes",
        "tend_search",
        "renew_tls_certificate",
        "export_spans",
    ] {
        let label = format!("task=\"{task}\"");
        let succeeded = async {
            while Page::of(&client(), &service)
                .await
                .value(LAST_SUCCESS, &[&label])
                == 0
            {
                tokio::task::yield_now().await;
            }
        };
        timeout(Duration::from_secs(30), succeeded)
            .await
            .expect(task);
        let page = Page::of(&client(), &service).await;
        assert_eq!(
            page.value("petstore_task_failures_total", &[&label]),
            0,
            "{task}"
        );
    }
    service.signal("TERM");
    let (status, log) = service.wait();
    assert!(status.success());
    assert!(!log.contains("background task"), "{log}");
}

#[tokio::test]
async fn a_task_that_fails_is_counted_and_logged_by_name_once_until_it_succeeds_again() {
    let here = directory();
    let certificates = Certificates::new();
    let files = [certificates.certificate(), certificates.key()];
    let files = files.each_ref().map(|file| file.to_str().unwrap());
    let options = ["--tls-cert", files[0], "--tls-key", files[1]];
    let service = Service::start(here.path(), &[&MANAGED[..], &options].concat());
    let label = ["task=\"renew_tls_certificate\""];
    std::fs::remove_file(certificates.key()).unwrap();
    let failed_twice = async {
        while Page::of(&client(), &service)
            .await
            .value("petstore_task_failures_total", &label)
            < 2
        {
            tokio::task::yield_now().await;
        }
    };
    timeout(Duration::from_secs(30), failed_twice)
        .await
        .unwrap();
    certificates.renew(2);
    let recovered = async {
        while !service
            .said()
            .contains("the background task succeeds again")
        {
            tokio::task::yield_now().await;
        }
    };
    timeout(Duration::from_secs(30), recovered).await.unwrap();
    service.signal("TERM");
    let (status, log) = service.wait();
    assert!(status.success());
    let failures: Vec<&str> = log
        .lines()
        .filter(|l| l.contains("a background task failed"))
        .collect();
    assert_eq!(failures.len(), 1, "{log}");
    assert!(
        failures[0].contains("\"task\":\"renew_tls_certificate\""),
        "{log}"
    );
    assert!(failures[0].contains("the old one stays in use"), "{log}");
}
