//! The listener of the window.

use std::net::TcpListener;

use super::program::{Service, client, command, create, directory, new_key, run};

/// Where the window of a service is.
async fn url_of_window(service: &Service) -> String {
    url_of("window", service).await
}

async fn url_of(face: &str, service: &Service) -> String {
    let before = format!("{face} at ");
    while !service.said().contains(&before) {
        tokio::task::yield_now().await;
    }
    let log = service.said();
    log.split(&before)
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap()
        .to_owned()
}

#[tokio::test]
async fn a_service_speaks_the_language_of_the_store_on_every_listener_for_people_and_the_console_has_its_time_zone()
 {
    let here = directory();
    let options = [
        "--language=de",
        "--time-zone=europe/berlin",
        "--window-listen=127.0.0.1:0",
        "--console-listen=127.0.0.1:0",
    ];
    let service = Service::start(here.path(), &options);
    let (client, window) = (client(), url_of("window", &service).await);
    let console = url_of("console", &service).await;
    for url in [
        format!("{window}/"),
        format!("{window}/x"),
        format!("{console}/sign-in"),
    ] {
        let page = client.get(&url).send().await.unwrap().text().await.unwrap();
        assert!(page.contains("<html lang=\"de"), "{url}: {page}");
        let has_zone = page.contains("data-zone=\"Europe/Berlin\"");
        assert_eq!(has_zone, url.starts_with(&console), "{url}: {page}");
    }
}

#[tokio::test]
async fn a_service_shows_its_animals_without_a_key_with_the_address_and_the_style_of_the_store() {
    let here = directory();
    let key = new_key(here.path());
    std::fs::write(here.path().join("own.css"), "h1 { color: red }").unwrap();
    let options = [
        "--window-listen=127.0.0.1:0",
        "--window-style=own.css",
        "--window-url=https://animals.example",
        "--store-name=Paws",
        "--access-log",
    ];
    let service = Service::start(here.path(), &options);
    assert_eq!(url_of_window(&service).await, "https://animals.example");
    service.kill();
    let service = Service::start(
        here.path(),
        &[options[0], options[1], options[3], options[4]],
    );
    let (client, window) = (client(), url_of_window(&service).await);
    for name in ["Luna", "Mia"] {
        create(&client, &service.url, &key, name)
            .send()
            .await
            .unwrap()
            .error_for_status()
            .unwrap();
    }
    let page = client.get(&window).send().await.unwrap();
    assert_eq!(page.headers()["x-content-type-options"], "nosniff");
    let page = page.text().await.unwrap();
    assert!(
        page.contains(&format!("<link rel=\"canonical\" href=\"{window}/\">")),
        "{page}"
    );
    let sheet = page
        .split("<link rel=\"stylesheet\" href=\"")
        .nth(2)
        .unwrap();
    let sheet = format!("{window}{}", sheet.split('"').next().unwrap());
    let sheet = client
        .get(sheet)
        .send()
        .await
        .unwrap()
        .text()
        .await
        .unwrap();
    assert_eq!(sheet, "h1 { color: red }");
    let file = client
        .get(format!("{window}/animals.csv"))
        .send()
        .await
        .unwrap();
    assert_eq!(file.text().await.unwrap().lines().count(), 3);
    service.signal("TERM");
    let (status, log) = service.wait();
    assert!(status.success() && log.contains("/animals.csv"), "{log}");
}

#[test]
fn a_service_starts_without_a_window_if_the_default_address_is_taken() {
    let here = directory();
    // By this test, or by another program.
    let _taken = TcpListener::bind("127.0.0.1:8082");
    let mut serve = command(here.path(), &["serve", "--listen", "127.0.0.1:0"]);
    serve.env_remove("PETSTORE_WINDOW_LISTEN");
    let service = Service::from(serve);
    let warning = service.first_lines[0]["message"].as_str().unwrap();
    assert!(warning.contains("there is no window"), "{warning}");
    assert!(warning.contains("--window-listen off"), "{warning}");
}

#[test]
fn only_a_database_that_serve_makes_has_labels_in_the_language_of_the_option() {
    let here = directory();
    let serve = |language: &str| Service::start(here.path(), &[language]).kill();
    serve("--language=fr");
    let database = format!("sqlite:{}", here.path().join("petstore.db").display());
    let export = || {
        run(here.path(), &["export", "--all", "--database", &database])
            .expect_success()
            .stdout
    };
    let fields = export();
    assert!(
        fields.contains("\"choiceLabels\":{\"Female\":\"Femelle\",\"Male\":\"Mâle\""),
        "{fields}"
    );
    assert!(fields.contains("\"label\":\"Numéro de puce\""), "{fields}");
    serve("--language=de");
    assert_eq!(export(), fields);
}
