//! `listPets`: `GET /v1/pets`.

use petstore_domain::{
    NewPet, PetName,
    PetStatus::{Available, Pending, Sold},
};
use petstore_testing::harness::{Server, Setup};
use reqwest::Method;

#[tokio::test]
async fn an_empty_catalogue_is_an_empty_array() {
    let server = Server::start().await;
    let reply = server.get("/v1/pets").await;
    assert_eq!(reply.body, b"[]");
    assert_eq!(reply.next(), None);
}

#[tokio::test]
async fn an_animal_is_listed_with_all_its_members() {
    let server = Server::start().await;
    server
        .post(r#"{"name": "Zoë \"Z\"", "categoryId": -7, "status": "sold"}"#)
        .await;
    let reply = server.get("/v1/pets").await;
    assert_eq!(
        String::from_utf8(reply.body).unwrap(),
        r#"[{"id":1,"name":"Zoë \"Z\"","categoryId":-7,"status":"sold"}]"#
    );
}

#[tokio::test]
async fn the_list_is_in_ascending_order_of_id() {
    let server = Server::start().await;
    server
        .fill([Sold, Available, Pending, Available, Sold])
        .await;
    assert_eq!(server.get("/v1/pets").await.ids(), [1, 2, 3, 4, 5]);
}

#[tokio::test]
async fn status_filters_the_list() {
    let server = Server::start().await;
    server
        .fill([Sold, Available, Pending, Available, Sold])
        .await;
    assert_eq!(server.get("/v1/pets?status=available").await.ids(), [2, 4]);
    assert_eq!(server.get("/v1/pets?status=pending").await.ids(), [3]);
    assert_eq!(server.get("/v1/pets?status=sold").await.ids(), [1, 5]);
}

#[tokio::test]
async fn limit_is_20_by_default_and_between_1_and_100() {
    let server = Server::start().await;
    server.fill([Available; 101]).await;
    for (query, length) in [
        ("", 20),
        ("?limit=1", 1),
        ("?limit=99", 99),
        ("?limit=100", 100),
    ] {
        assert_eq!(
            server.get(&format!("/v1/pets{query}")).await.ids().len(),
            length,
            "{query}"
        );
    }
}

#[tokio::test]
async fn an_invalid_empty_or_duplicate_limit_or_status_is_400() {
    let server = Server::start().await;
    let long = format!("limit={}", "9".repeat(50));
    for (query, names) in [
        (&*long, &*format!("but was \"{}\".", "9".repeat(40))),
        ("limit=%1B[2J%E2%80%AE", r#"but was "\u{1b}[2J\u{202e}"."#),
        ("limit=0", "limit must be between 1 and 100, but was 0."),
        ("limit=500", "limit must be between 1 and 100, but was 500."),
        ("limit=-1", "limit"),
        ("limit=9223372036854775808", "limit"),
        ("limit=1.0", "limit"),
        ("limit=1e1", "limit"),
        ("limit=%2B1", "limit"),
        ("limit=+1", "limit"),
        ("limit=01", "limit"),
        ("limit=1%20", "limit"),
        (
            "limit=ten",
            "limit must be an integer between 1 and 100, but was \"ten\".",
        ),
        ("limit=%D9%A1", "limit"),
        ("limit=", "limit"),
        ("limit", "limit"),
        ("limit=1&limit=1", "limit"),
        ("limit=1&limit=2", "limit"),
        ("status=", "status"),
        ("status", "status"),
        ("status=SOLD", "status"),
        ("status=adopted", "status"),
        ("status=sold,pending", "status"),
        ("status=sold%00", "status"),
        ("status=%FF", "status"),
        ("status=sold&status=sold", "status"),
        ("status=sold&limit=5&status=pending", "status"),
    ] {
        let reply = server.get(&format!("/v1/pets?{query}")).await;
        reply.expect_error(400, "invalid_parameter");
        let message = reply.json()["message"].as_str().unwrap().to_owned();
        assert!(message.contains(names), "{query}: {message}");
    }
}

#[tokio::test]
async fn an_unknown_query_parameter_is_400() {
    let server = Server::start().await;
    for query in [
        "page=2",
        "limit%00=1",
        "offset=20",
        "Status=sold",
        "LIMIT=1",
        "limit=5&x",
        "=",
        "status[]=x",
    ] {
        let reply = server.get(&format!("/v1/pets?{query}")).await;
        reply.expect_error(400, "unknown_parameter");
    }
    let reply = server.get("/v1/pets?page=2").await;
    let message =
        "Unknown query parameter \"page\". This operation has only limit, status, cursor.";
    assert_eq!(reply.json()["message"], message);
    assert_eq!(
        server
            .get("/v1/pets?st%61tus=s%6Fld&limit=%31")
            .await
            .status,
        200
    );
    assert_eq!(server.get("/v1/pets?").await.status, 200);
    assert_eq!(server.get("/v1/pets?&").await.status, 200);
}

#[tokio::test]
async fn the_next_link_is_absent_on_the_last_page_even_if_it_is_full() {
    let server = Server::start().await;
    server
        .fill([Available, Sold, Available, Available, Available])
        .await;
    for (query, has_next) in [
        ("limit=4", true),
        ("limit=5", false),
        ("limit=6", false),
        ("limit=3&status=available", true),
        ("limit=4&status=available", false),
        ("limit=1&status=sold", false),
        ("limit=1&status=pending", false),
    ] {
        let reply = server.get(&format!("/v1/pets?{query}")).await;
        assert_eq!(reply.next().is_some(), has_next, "{query}");
    }
}

#[tokio::test]
async fn the_next_link_contains_limit_status_and_cursor() {
    let server = Server::start().await;
    server.fill([Sold; 3]).await;
    let next = server
        .get("/v1/pets?status=sold&limit=2")
        .await
        .next()
        .unwrap();
    assert!(
        next.starts_with("/v1/pets?limit=2&status=sold&cursor="),
        "{next}"
    );
    let next = server.get("/v1/pets?limit=2").await.next().unwrap();
    assert!(next.starts_with("/v1/pets?limit=2&cursor="), "{next}");
    // It needs no escaping in a URL.
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    assert!(cursor_of(&next).bytes().all(is_plain), "{next}");
}

#[tokio::test]
async fn links_begin_with_the_path_of_the_base_url() {
    let server = Server::start_with(Setup {
        base_url: Some("https://shop.example/animals/v1"),
        ..Setup::default()
    })
    .await;
    server.fill([Sold; 2]).await;
    let next = server.get("/v1/pets?limit=1").await.next().unwrap();
    assert!(
        next.starts_with("/animals/v1/pets?limit=1&cursor="),
        "{next}"
    );
}

fn cursor_of(next: &str) -> &str {
    next.split_once("cursor=").unwrap().1
}

#[tokio::test]
async fn a_cursor_is_valid_with_another_limit_but_not_with_another_status() {
    let server = Server::start().await;
    server.fill([Sold; 9]).await;
    let next = server
        .get("/v1/pets?status=sold&limit=2")
        .await
        .next()
        .unwrap();
    let cursor = cursor_of(&next);
    let with_limit_3 = format!("/v1/pets?cursor={cursor}&limit=3&status=sold");
    assert_eq!(server.get(&with_limit_3).await.ids(), [3, 4, 5]);
    for other in ["", "status=available&", "status=pending&"] {
        let reply = server
            .get(&format!("/v1/pets?{other}cursor={cursor}"))
            .await;
        reply.expect_error(400, "invalid_cursor");
    }
    let next = server.get("/v1/pets?limit=2").await.next().unwrap();
    let reply = server
        .get(&format!("/v1/pets?status=sold&cursor={}", cursor_of(&next)))
        .await;
    reply.expect_error(400, "invalid_cursor");
}

#[tokio::test]
async fn an_altered_empty_invented_or_duplicate_cursor_is_400() {
    let server = Server::start().await;
    server.fill([Sold; 3]).await;
    let next = server.get("/v1/pets?limit=1").await.next().unwrap();
    let cursor = cursor_of(&next);
    let altered = (0..cursor.len()).map(|at| {
        let other = if &cursor[at..=at] == "A" { "B" } else { "A" };
        [&cursor[..at], other, &cursor[at + 1..]].concat()
    });
    let longer = format!("{cursor}A");
    let others = [
        "",
        "1",
        "AAAAAAAAAAAAAAAAAA",
        &longer,
        &cursor[1..],
        "%00",
        "%FF",
    ];
    for invalid in altered.chain(others.map(str::to_owned)) {
        let reply = server.get(&format!("/v1/pets?cursor={invalid}")).await;
        reply.expect_error(400, "invalid_cursor");
    }
    let reply = server
        .get(&format!("/v1/pets?cursor={cursor}&cursor={cursor}"))
        .await;
    reply.expect_error(400, "invalid_parameter");
}

#[tokio::test]
async fn a_new_animal_is_on_the_first_page_at_once() {
    let server = Server::start().await;
    let other = server.open_again().await;
    for id in 1..=10 {
        if id % 2 == 0 {
            server
                .post(r#"{"name": "Frank", "categoryId": 1, "status": "sold"}"#)
                .await;
        } else {
            // As another process on the same database does.
            let name = PetName::new("Frank".to_owned()).unwrap();
            let new = NewPet {
                name,
                category_id: 1,
                status: Sold,
                is_listed: true,
            };
            other
                .create_pet(new, server.act(), |_| unreachable!())
                .await
                .unwrap();
        }
        for _ in 0..2 {
            assert_eq!(server.get("/v1/pets").await.ids().last(), Some(&id));
            assert_eq!(
                server.get("/v1/pets?status=sold").await.ids().last(),
                Some(&id)
            );
        }
    }
}

#[tokio::test]
async fn head_gets_the_response_of_get_without_the_body() {
    let server = Server::start().await;
    server.fill([Sold; 3]).await;
    let get = server.get("/v1/pets?limit=2").await;
    let head = server.request(Method::HEAD, "/v1/pets?limit=2").await;
    assert_eq!(head.status, 200);
    for name in ["content-type", "content-length", "link"] {
        assert_eq!(head.header(name), get.header(name), "{name}");
    }
}

#[tokio::test]
async fn a_client_that_compares_header_names_by_case_finds_them_in_title_case() {
    let server = Server::start().await;
    server.fill([Available; 2]).await;
    let response = server
        .raw(format!(
            "GET /v1/pets?limit=1 HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\
             authorization: {}\r\n\r\n",
            server.bearer()
        ))
        .await;
    let (head, _) = response.split_once("\r\n\r\n").unwrap();
    let names: Vec<&str> = head
        .lines()
        .skip(1)
        .map(|line| line.split_once(": ").unwrap().0)
        .collect();
    for name in [
        "Link",
        "Content-Type",
        "Content-Length",
        "X-Request-Id",
        "Etag",
        "Date",
    ] {
        assert!(names.contains(&name), "{name} is not among {names:?}");
    }
    let is_title_case = |word: &str| {
        let (first, rest) = word.split_at(1);
        first.to_uppercase() == first && rest.to_lowercase() == rest
    };
    assert!(
        names.iter().all(|name| name.split('-').all(is_title_case)),
        "{names:?}"
    );
}
