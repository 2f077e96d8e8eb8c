//! Lines of the log that strangers can cause in any number.

use petstore_testing::harness::soon;
use serde_json::Value;
use tokio::task::yield_now;

use super::program::{Service, client, directory, free_address};

/// The lines about logout tokens so far.
fn lines(service: &Service) -> Vec<Value> {
    let said = service.said();
    let lines = said
        .lines()
        .filter(|line| line.contains("a logout token was rejected"));
    lines
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

#[tokio::test]
async fn of_many_logout_tokens_that_are_rejected_the_log_has_a_few_and_the_number_of_the_others() {
    let here = directory();
    let console = free_address();
    let provider = free_address();
    let options = [
        format!("--console-listen={console}"),
        format!("--oidc-issuer=http://{provider}"),
        "--oidc-client-id=shop".to_owned(),
        "--oidc-role=groups=shop:clerk".to_owned(),
        "--console-url=https://console.example".to_owned(),
    ];
    let service = Service::start(here.path(), &options.each_ref().map(String::as_str));
    let client = client();
    let reject = async || {
        let request = client
            .post(format!("http://{console}/sign-in/back-channel"))
            .header("content-type", "application/x-www-form-urlencoded")
            .body("logout_token=invented");
        assert_eq!(request.send().await.unwrap().status(), 400);
    };
    for _ in 0..30 {
        reject().await;
    }
    // The next line comes within seconds, and says how many there were.
    while !lines(&service)
        .iter()
        .any(|line| line["left_out"].as_u64() > Some(0))
    {
        reject().await;
    }
    assert!(lines(&service).len() < 20, "{}", service.said());
}

#[tokio::test]
async fn a_request_for_another_host_is_in_the_log_with_both_hosts_and_what_the_proxy_must_do() {
    let here = directory();
    let console = free_address();
    let options = [
        format!("--console-listen={console}"),
        "--console-url=https://console.example".to_owned(),
    ];
    let service = Service::start(here.path(), &options.each_ref().map(String::as_str));
    let request = client()
        .get(format!("http://{console}/sign-in"))
        .header("host", "animals.example");
    assert_eq!(request.send().await.unwrap().status(), 400);
    soon(async {
        while !service.said().contains("the console is at another host") {
            yield_now().await;
        }
    })
    .await;
    let said = service.said();
    for words in [
        r#""request_for":"animals.example""#,
        r#""console_url":"https://console.example""#,
        "proxy_set_header Host $http_host",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
}
