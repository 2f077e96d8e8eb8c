//! Guessing of names and passwords.

use std::{
    convert::Infallible,
    pin::{Pin, pin},
    sync::atomic::{AtomicUsize, Ordering::SeqCst},
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use futures_util::future::{Either, join_all, select};
use hyper::{
    Request, StatusCode,
    body::{Body, Frame, SizeHint},
    header,
};
use petstore_domain::{Role, store_area::AuditQuery};

use super::browser::{PASSWORD, Shop};

#[tokio::test]
async fn known_and_unknown_names_get_the_same_response_after_the_same_work() {
    let shop = Shop::open().await;
    shop.member("Ana", Role::Clerk).await;
    shop.invite("Bo", Role::Clerk).await;
    let mut manager = shop.member("Eve", Role::Manager).await;
    shop.member("Cy", Role::Clerk).await;
    let cy = shop.find("Cy").await.id;
    let path = format!("/settings/staff/{cy}");
    manager
        .post_and_confirm(&path, &[("do", "disable")])
        .await
        .expect(303);
    let wrong = async |name: &str, password: &str| {
        let before = shop.console.computed_hashes();
        let page = shop.browser().sign_in(name, password).await.expect(403);
        assert_eq!(shop.console.computed_hashes() - before, 1, "{name}");
        let headers = format!("{:?}", page.headers.keys().collect::<Vec<_>>());
        (page.text.replace(name, "NAME"), headers)
    };
    let unmatchable = wrong("Nobody", PASSWORD).await;
    assert!(unmatchable.0.contains("The name or the password is wrong."));
    // Of a wrong password, of a name without a password, and of one that is disabled.
    for (name, password) in [
        ("Ana", "wrong"),
        ("Bo", PASSWORD),
        ("Cy", PASSWORD),
        ("\u{202e}", ""),
        ("Ana", &"x".repeat(1000)),
    ] {
        assert_eq!(wrong(name, password).await, unmatchable, "{name}");
    }
}

#[tokio::test]
async fn a_stranger_cannot_keep_a_member_out_who_has_signed_in_before() {
    let shop = Shop::open().await;
    let mut known = shop.member("Ana", Role::Clerk).await;
    known.post("/sign-out", &[]).await.expect(303);
    let mut stranger = shop.browser();
    for _ in 0..60 {
        stranger.sign_in("Ana", "wrong password").await.expect(403);
    }
    let page = stranger.sign_in("ANA", PASSWORD).await.expect(429);
    assert!(
        page.text.contains("too many attempts") && page.text.contains("value=\"ANA\""),
        "{page:?}"
    );
    shop.browser().sign_in("Ana", PASSWORD).await.expect(429);
    known.sign_in("Ana", PASSWORD).await.expect(303);
    // Somebody else on the same machine, too.
    let link = shop.invite("Bo", Role::Clerk).await;
    shop.browser()
        .post(&link, &[("new", PASSWORD), ("again", PASSWORD)])
        .await
        .expect(303);
    shop.browser().sign_in("Bo", PASSWORD).await.expect(303);
    // The browser of one member is not that of another.
    let mut bo = shop.browser();
    bo.cookies.clone_from(&known.cookies);
    for _ in 0..59 {
        bo.sign_in("Bo", "wrong password").await.expect(403);
    }
    bo.sign_in("Bo", PASSWORD).await.expect(429);
    shop.clock.advance(Duration::from_mins(2));
    shop.browser().sign_in("Ana", PASSWORD).await.expect(303);
}

#[tokio::test]
async fn a_crowd_of_strangers_takes_neither_the_places_nor_the_attempts_of_members() {
    let shop = Shop::open().await;
    let mut known = shop.member("Ana", Role::Clerk).await;
    known.post("/sign-out", &[]).await.expect(303);
    let stranger = async |name: String| shop.browser().sign_in(&name, "wrong").await.status;
    let crowd = join_all((0..100).map(|at| stranger(format!("Nobody {at}"))));
    let of_ana = join_all((0..60).map(|_| stranger("Ana".to_owned())));
    let (crowd, of_ana, page) = tokio::join!(crowd, of_ana, known.sign_in("Ana", PASSWORD));
    page.expect(303);
    let count = |of: &[StatusCode], status| of.iter().filter(|found| **found == status).count();
    assert!(
        count(&crowd, StatusCode::SERVICE_UNAVAILABLE) > 0,
        "{crowd:?}"
    );
    // Those that were not carried out do not count.
    let mut carried_out = count(&of_ana, StatusCode::FORBIDDEN);
    assert_eq!(
        carried_out + count(&of_ana, StatusCode::SERVICE_UNAVAILABLE),
        60
    );
    while shop.browser().sign_in("Ana", "wrong").await.status == StatusCode::FORBIDDEN {
        carried_out += 1;
    }
    assert_eq!(carried_out, 60);
}

/// A body of a client that sends nothing of it, which counts those that are waited for.
struct Unsent<'c> {
    size: u64,
    waiting: Option<&'c AtomicUsize>,
}

impl Body for Unsent<'_> {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if let Some(waiting) = self.waiting.take() {
            waiting.fetch_add(1, SeqCst);
        }
        Poll::Pending
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.size)
    }
}

/// How many forms of which length: as many as fill the memory to the last byte, if each of the long
/// ones takes 64 KiB.
const CROWD: [(&str, u64, usize); 5] = [
    ("/sign-in", 200_000, 2100),
    ("/add/many", 1 << 20, 2100),
    ("/sign-in", 4096, 20),
    ("/sign-in", 100, 50),
    ("/sign-in", 1, 100),
];

#[tokio::test]
async fn forms_that_strangers_do_not_send_leave_memory_to_members() {
    let shop = Shop::open().await;
    let (mut ana, mut bo) = (
        shop.member("Ana", Role::Clerk).await,
        shop.member("Bo", Role::Clerk).await,
    );
    ana.post("/sign-out", &[]).await.expect(303);
    let stranger = shop.browser();
    let waiting = AtomicUsize::new(0);
    let slow = async |path: &str, size| {
        let request = Request::post(path)
            .header(header::HOST, "localhost:8081")
            .header(header::ORIGIN, &stranger.origin)
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
        let request = request
            .body(Unsent {
                size,
                waiting: Some(&waiting),
            })
            .unwrap();
        shop.console.handle(&stranger.client, request).await;
        // Rejected.
        waiting.fetch_add(1, SeqCst);
    };
    let crowd = CROWD
        .iter()
        .flat_map(|&(path, size, count)| std::iter::repeat_with(move || (path, size)).take(count));
    let crowd = join_all(crowd.map(|(path, size)| slow(path, size)));
    let members = async {
        while waiting.load(SeqCst) < CROWD.iter().map(|(.., count)| count).sum() {
            tokio::task::yield_now().await;
        }
        ana.sign_in("Ana", PASSWORD).await.expect(303);
        let form = [("name", "Rex"), ("category", "1"), ("status", "available")];
        bo.post("/add", &form).await.expect(303);
    };
    let Either::Right(_) = select(pin!(crowd), pin!(members)).await else {
        panic!("the strangers were faster");
    };
}

#[tokio::test]
async fn a_browser_is_known_for_several_members_until_they_get_another_password() {
    let shop = Shop::open().await;
    let (ana, bo) = (
        shop.invite("Ana", Role::Clerk).await,
        shop.invite("Bo", Role::Clerk).await,
    );
    let mut till = shop.browser();
    for link in [ana, bo] {
        till.post(&link, &[("new", PASSWORD), ("again", PASSWORD)])
            .await
            .expect(303);
        till.post("/sign-out", &[]).await.expect(303);
    }
    let mut stranger = shop.browser();
    for name in ["Ana", "Bo"] {
        for _ in 0..60 {
            stranger.sign_in(name, "wrong password").await.expect(403);
        }
        stranger.sign_in(name, PASSWORD).await.expect(429);
        till.sign_in(name, PASSWORD).await.expect(303);
    }
    // A cookie that was stolen is of no use after a change of the password.
    stranger.cookies.clone_from(&till.cookies);
    let new = "four other random words";
    let form = [("current", PASSWORD), ("new", new), ("again", new)];
    till.post("/account/password", &form).await.expect(303);
    till.get("/account").await.expect(200);
    stranger.sign_in("Bo", new).await.expect(429);
    till.post("/sign-out", &[]).await.expect(303);
    till.sign_in("Bo", new).await.expect(303);
    till.sign_in("Ana", PASSWORD).await.expect(303);
}

#[tokio::test]
async fn failed_attempts_are_in_the_audit_trail_without_what_was_typed_and_do_not_fill_it() {
    let shop = Shop::open().await;
    shop.member("Ana", Role::Clerk).await;
    shop.browser().sign_in("Ana", "wrong").await.expect(403);
    shop.browser()
        .sign_in("hunter2 is my password", "")
        .await
        .expect(403);
    let acts = shop.acts().await;
    assert_eq!(
        acts[2..],
        [
            "staff.sign_in_failed staff:1 by clock",
            "staff.sign_in_failed staff by clock"
        ]
    );
    let query = AuditQuery {
        limit: 1000,
        ..AuditQuery::default()
    };
    let shown = format!("{:?}", shop.store.list_audit(&query).await.unwrap());
    assert!(
        shown.contains("127.0.0.1") && !shown.contains("hunter2"),
        "{shown}"
    );
    assert_eq!(shop.find("Ana").await.version, 2);
}
