//! First pages that the service keeps, at the worst moments, which no history
//! meets for certain.

use std::sync::Arc;

use bytes::Bytes;
use hyper::{Request, header};
use tempfile::TempDir;

use super::{
    faulty_store::{Fault, Faulty},
    runtime,
    service::{Place, open},
    sqlite_url,
};

#[test]
fn a_page_is_not_cached_under_a_version_newer_than_its_content() {
    let directory = TempDir::new().unwrap();
    runtime().block_on(async {
        let store = open(&sqlite_url(directory.path())).await;
        assert!(store.version().await.unwrap().is_some());
        let writes_after_each_read = Faulty::after(0, store, Fault::WrittenAfterRead);
        let store = Arc::new(writes_after_each_read.await).store();
        let place = Place::here(&[store], None).await;
        for there_before in 0..5 {
            let request = Request::get("/v1/pets")
                .header(header::AUTHORIZATION, format!("Bearer {}", place.key));
            let page = place.services[0]
                .send(request.body(Bytes::new()).unwrap())
                .await
                .unwrap();
            let page: Vec<serde_json::Value> = serde_json::from_slice(&page.body).unwrap();
            assert_eq!(
                page.len(),
                there_before,
                "an animal that was there before is not on the page"
            );
        }
    });
}
