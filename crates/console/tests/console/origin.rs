//! From where requests may come, and what responses tell browsers.

use http_body_util::Full;
use hyper::{Request, header};
use petstore_console::ConsoleSettings;
use petstore_domain::{Actor, ApiKey, Clock, Deployment, NewKey, Role, Scope, WriteContext};
use rand::{SeedableRng, rngs::StdRng};

use super::browser::{PASSWORD, Shop};

#[tokio::test]
async fn a_form_of_another_site_is_rejected() {
    let shop = Shop::open().await;
    let mut browser = shop.member("Ana", Role::Manager).await;
    for (name, value, status) in [
        ("sec-fetch-site", "cross-site", 403),
        ("sec-fetch-site", "same-site", 403),
        ("sec-fetch-site", "same-origin\ncross-site", 403),
        ("sec-fetch-site", "none\nsame-site", 403),
        ("origin", "http://localhost:8081\nhttp://evil.example", 403),
        ("origin", "http://evil.example", 403),
        ("origin", "https://localhost:8081", 403),
        ("origin", "http://localhost:8080", 403),
        ("origin", "null", 403),
        // Neither field.
        ("origin", "", 403),
        ("sec-fetch-site", "same-origin", 200),
        ("sec-fetch-site", "same-origin\nsame-origin", 200),
        (
            "origin",
            "http://localhost:8081\nhttp://localhost:8081",
            200,
        ),
    ] {
        browser.fields.insert(name, value.to_owned());
        let added = format!("Bo {}", value.len());
        let add = [("name", &*added), ("role", "manager")];
        browser.post("/settings/staff", &add).await.expect(status);
        browser.fields.remove(name);
    }
    // Opened by hand, as far as the browser says.
    browser.fields.insert("sec-fetch-site", "none".to_owned());
    for (origin, status) in [
        ("http://evil.example", 403),
        ("null", 403),
        ("http://localhost:8081", 200),
    ] {
        browser.fields.insert("origin", origin.to_owned());
        browser
            .post("/settings/staff", &[("name", "Cy"), ("role", "clerk")])
            .await
            .expect(status);
    }
    browser.fields.remove("origin");
    browser
        .post("/settings/staff", &[("name", "Di"), ("role", "clerk")])
        .await
        .expect(200);
    // A form to sign in, too: a page must not sign somebody in as another.
    let mut browser = shop.browser();
    browser
        .fields
        .insert("sec-fetch-site", "cross-site".to_owned());
    browser.sign_in("Ana", PASSWORD).await.expect(403);
    assert!(!browser.cookies.contains_key("petstore-8081"));
}

#[tokio::test]
async fn a_form_through_a_proxy_that_loses_the_host_says_whom_to_ask() {
    let shop = Shop::open().await;
    let mut browser = shop.member("Ana", Role::Manager).await;
    browser
        .fields
        .insert("origin", "http://console.test".to_owned());
    let page = browser
        .post("/settings/staff", &[("name", "Bo"), ("role", "clerk")])
        .await;
    let page = page.expect(403);
    for hint in [
        "http://console.test",
        "http://localhost:8081",
        "ask the system administrator: the log of the service says what to correct",
    ] {
        assert!(page.text.contains(hint), "{page:?}");
    }
}

#[tokio::test]
async fn only_hosts_that_no_stranger_controls_are_accepted() {
    let url = "http://console.test:8081".parse().ok();
    let shop = Shop::with(ConsoleSettings {
        url,
        ..ConsoleSettings::default()
    })
    .await;
    for (origin, status) in [
        ("http://localhost", 200),
        ("http://LOCALHOST:8081", 200),
        ("http://127.0.0.1:8081", 200),
        ("http://[::1]:8081", 200),
        ("http://console.test:8081", 200),
        ("http://console.test:8082", 400),
        ("http://localhost.evil.example", 400),
        ("http://evil.example:8081", 400),
    ] {
        let mut browser = shop.browser();
        browser.origin = origin.to_owned();
        let page = browser.get("/sign-in").await.expect(status);
        if status == 400 {
            let host = origin.trim_start_matches("http://");
            let told = format!("The console is not at {host}. Open it at console.test:8081.");
            assert!(page.text.contains(&told), "{page:?}");
        }
    }
}

#[tokio::test]
async fn without_https_only_browsers_on_the_same_machine_are_served() {
    let shop = Shop::open().await;
    let far = || shop.browser().with_address([192, 0, 2, 1]);
    let page = far().get("/sign-in").await.expect(403);
    assert!(page.text.contains("HTTPS"), "{page:?}");
    far().sign_in("Ana", PASSWORD).await.expect(403);
    // A proxy on this machine that forwards requests of others.
    let mut proxied = shop.browser();
    proxied.origin = "http://192.0.2.9:8081".to_owned();
    proxied.get("/sign-in").await.expect(403);
}

#[tokio::test]
async fn a_proxy_may_write_the_port_that_browsers_leave_out() {
    let trusted_proxies = ["192.0.2.7".parse().unwrap()].into_iter().collect();
    let shop = Shop::with(ConsoleSettings {
        url: "https://console.shop.example".parse().ok(),
        trusted_proxies,
        ..ConsoleSettings::default()
    })
    .await;
    let link = shop.invite("Ana", Role::Manager).await;
    for (host, status) in [
        ("console.shop.example", 200),
        ("console.shop.example:443", 200),
        ("Console.Shop.Example:443", 200),
        ("console.shop.example:80", 400),
        ("console.shop.example:8443", 400),
        ("other.example:443", 400),
    ] {
        let mut browser = shop.browser().with_address([192, 0, 2, 7]);
        browser.origin = format!("https://{host}");
        browser.get(&link).await.expect(status);
    }
    // A form comes from the origin as the browser knows it.
    let mut browser = shop.browser().with_address([192, 0, 2, 7]);
    browser.origin = "https://console.shop.example:443".to_owned();
    browser
        .fields
        .insert("origin", "https://console.shop.example".to_owned());
    browser
        .post(&link, &[("new", PASSWORD), ("again", PASSWORD)])
        .await
        .expect(303);
}

#[tokio::test]
async fn behind_a_proxy_with_tls_the_session_is_for_https() {
    let url = "https://console.shop.example".parse().ok();
    let trusted_proxies = ["192.0.2.7".parse().unwrap()].into_iter().collect();
    let settings = ConsoleSettings {
        url,
        trusted_proxies,
        ..ConsoleSettings::default()
    };
    let shop = Shop::with(settings).await;
    let link = shop.invite("Ana", Role::Clerk).await;
    let through = |address| {
        let mut browser = shop.browser().with_address(address);
        browser.origin = "https://console.shop.example".to_owned();
        browser
    };
    through([192, 0, 2, 8]).get(&link).await.expect(403);
    for scheme in [
        "http",
        "HTTP",
        "http, https",
        "https,http",
        "http,http",
        "ws",
        "https,",
    ] {
        let mut plain = through([127, 0, 0, 1]);
        plain.fields.insert("x-forwarded-proto", scheme.to_owned());
        plain.get(&link).await.expect(403);
    }
    let mut encrypted = through([127, 0, 0, 1]);
    encrypted
        .fields
        .insert("x-forwarded-proto", "https, HTTPS".to_owned());
    encrypted.get(&link).await.expect(200);
    let mut browser = through([192, 0, 2, 7]);
    browser
        .fields
        .insert("x-forwarded-for", "198.51.100.3".to_owned());
    browser
        .fields
        .insert("x-forwarded-proto", "https".to_owned());
    browser
        .post(&link, &[("new", PASSWORD), ("again", PASSWORD)])
        .await
        .expect(303);
    assert!(browser.cookies.contains_key("__Host-petstore"));
    let sessions = shop.store.list_sessions(None).await.unwrap();
    assert_eq!(sessions[0].address, "198.51.100.3");
}

#[tokio::test]
async fn every_response_keeps_out_scripts_frames_caches_and_other_hosts() {
    let shop = Shop::open().await;
    let mut browser = shop.member("Ana", Role::Manager).await;
    browser.fields.insert("accept-encoding", "gzip".to_owned());
    let mut stranger = shop.browser();
    let mut wrong_host = shop.browser();
    wrong_host.origin = "http://evil.example".to_owned();
    for (page, status) in [
        (browser.get("/account").await, 200),
        (browser.get("/settings/keys").await, 200),
        (browser.get("/nothing").await, 404),
        (browser.post("/nothing", &[]).await, 404),
        (browser.post("/account", &[]).await, 405),
        (stranger.get("/account").await, 303),
        (stranger.get("/sign-in").await, 200),
        (stranger.sign_in("Ana", "wrong").await, 403),
        (wrong_host.get("/").await, 400),
    ] {
        let page = page.expect(status);
        let policy = page.field("content-security-policy");
        for part in [
            "default-src 'none'",
            "script-src 'self'",
            "form-action 'self'",
            "frame-ancestors 'none'",
            "base-uri 'none'",
        ] {
            assert!(policy.contains(part), "{page:?}");
        }
        // No other host, and no script or style in the page itself.
        let mut sources = policy
            .split(';')
            .flat_map(|part| part.split_whitespace().skip(1));
        assert!(
            sources.all(|source| ["'none'", "'self'"].contains(&source)),
            "{page:?}"
        );
        assert_eq!(
            page.field("cache-control"),
            "no-store, no-transform",
            "{page:?}"
        );
        assert_eq!(page.field("referrer-policy"), "same-origin", "{page:?}");
        assert_eq!(
            page.field("cross-origin-opener-policy"),
            "same-origin",
            "{page:?}"
        );
        assert_eq!(page.field("content-encoding"), "", "{page:?}");
        assert!(
            !page.text.contains("<script>") && !page.text.contains(" style="),
            "{page:?}"
        );
    }
}

#[tokio::test]
async fn signing_in_leads_only_to_pages_of_the_console() {
    let shop = Shop::open().await;
    shop.member("Ana", Role::Clerk).await;
    for (next, leads_to) in [
        ("/animals?status=sold", "/animals?status=sold"),
        ("/sign-in", "/sign-in"),
        ("https://evil.example/", "/"),
        ("//evil.example/", "/"),
        ("/\\evil.example/", "/"),
        ("/account\r\nx: y", "/"),
        ("/nothing", "/"),
        ("", "/"),
        ("javascript:alert(1)", "/"),
    ] {
        let form = [("name", "Ana"), ("password", PASSWORD), ("next", next)];
        let page = shop.browser().post("/sign-in", &form).await;
        assert_eq!(page.next(), leads_to, "{next}");
    }
    // A form is kept for no other site.
    let form = [
        ("name", "Ana"),
        ("password", PASSWORD),
        ("kept_path", "https://evil.example/"),
        ("kept", "a=b"),
    ];
    shop.browser().post("/sign-in", &form).await.expect(403);
}

#[tokio::test]
async fn the_interface_ignores_cookies_and_the_console_ignores_api_keys() {
    let shop = Shop::open().await;
    let browser = shop.member("Ana", Role::Manager).await;
    let key = ApiKey::generate(Deployment::Production, &mut StdRng::seed_from_u64(9));
    let new = NewKey {
        digest: key.digest(),
        name: "admin".to_owned(),
        scope: Scope::StoreAdmin,
        deployment: Deployment::Production,
        expires_at: None,
        rate_limit: None,
    };
    let context = WriteContext::new(Actor::Command, shop.clock.now());
    shop.store.create_key(new, context).await.unwrap();
    let get = async |path: &str, name: header::HeaderName, value: String, to_console: bool| {
        let request = Request::get(path)
            .header(header::HOST, "localhost:8081")
            .header(name, value);
        let request = request.body(Full::<bytes::Bytes>::default()).unwrap();
        let response = if to_console {
            shop.console.handle(&browser.client, request).await
        } else {
            shop.api.handle(&browser.client, request).await
        };
        response.status().as_u16()
    };
    let bearer = format!("Bearer {}", key.reveal());
    let cookie = format!("petstore-8081={}", browser.cookies["petstore-8081"]);
    assert_eq!(
        get("/v1/pets", header::AUTHORIZATION, bearer.clone(), false).await,
        200
    );
    assert_eq!(
        get("/account", header::COOKIE, cookie.clone(), true).await,
        200
    );
    for path in ["/v1/pets", "/v1/store/audit", "/v1/store/webhooks"] {
        assert_eq!(
            get(path, header::COOKIE, cookie.clone(), false).await,
            401,
            "{path}"
        );
    }
    for path in ["/account", "/settings/keys", "/"] {
        assert_eq!(
            get(path, header::AUTHORIZATION, bearer.clone(), true).await,
            303,
            "{path}"
        );
    }
    // Not even as the secret of a session.
    let cookie = format!("petstore-8081={}", key.reveal());
    assert_eq!(get("/account", header::COOKIE, cookie, true).await, 303);
}
