//! The photos of the animals in the window.

use hyper::Method;
use serde_json::json;

use super::street::{Street, URL};

#[tokio::test]
async fn photos_are_shown_in_their_order_with_their_sizes_and_texts() {
    let street = Street::open().await;
    let id = street.add("Luna", &[("species", "Cat")]).await;
    let first = street.photo(id, Some("Luna asleep on a chair")).await;
    let second = street.photo(id, None).await;

    let list = street.get("/").await.expect(200).text;
    assert!(list.contains(&format!("/photos/{first}-")), "{list}");
    assert!(list.contains("alt=\"Luna asleep on a chair\""), "{list}");
    assert!(!list.contains(&second.to_string()), "{list}");

    let page = street.get(&format!("/animals/{id}")).await.expect(200);
    let [at_first, at_second] = [first, second].map(|id| page.text.find(&id.to_string()).unwrap());
    assert!(at_first < at_second);
    assert!(page.text.contains("alt=\"Photo 2 of Luna, cat\""), "{page:?}");
    assert!(page.text.contains("width=\"960\" height=\"72\""), "{page:?}");
    assert!(page.text.contains("loading=\"lazy\""), "{page:?}");
    let large = format!("{URL}/photos/{first}-large.jpg");
    assert!(page.text.contains(&format!("<meta property=\"og:image\" content=\"{large}\">")));
    assert!(page.schema().to_string().contains(&large));

    let photos = &street.get("/animals.json").await.expect(200).json()[0]["photos"];
    assert_eq!(photos[0]["large"], json!(large));
    assert_eq!(photos[1]["alt"], "Photo 2 of Luna, cat");
    let csv = street.get("/animals.csv").await.expect(200).text;
    assert!(csv.contains(&large), "{csv}");
}

#[tokio::test]
async fn the_files_of_photos_are_served_forever_and_everything_else_is_404() {
    let street = Street::open().await;
    let id = street.add("Luna", &[]).await;
    let photo = street.photo(id, None).await;
    for size in ["small", "medium", "large"] {
        let file = street.get(&format!("/photos/{photo}-{size}.jpg")).await.expect(200);
        assert_eq!(file.field("content-type"), "image/jpeg");
        assert_eq!(file.field("cache-control"), "public, max-age=31536000, immutable");
    }
    for other in [
        format!("{photo}-huge.jpg"),
        format!("{photo}-small.png"),
        format!("{}-small.jpg", "0".repeat(32)),
        "..%2Fpets.db".to_owned(),
    ] {
        street.get(&format!("/photos/{other}")).await.expect(404);
    }
    let path = format!("/photos/{photo}-small.jpg");
    street.ask(Method::DELETE, &path, &[]).await.expect(405);
}
