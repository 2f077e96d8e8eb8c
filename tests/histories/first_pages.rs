//! First pages that the service keeps, at the worst moments, which no history
//! meets for certain.

use std::sync::Arc;

use bytes::Bytes;
use hyper::{Request, header};

use super::{
    faulty_store::{Fault, Faulty},
    runtime,
    service::Place,
    sqlite,
};

#[test]
fn a_page_is_not_cached_under_a_version_newer_than_its_content() {
    let (stores, directory) = sqlite();
    runtime().block_on(async {
        assert!(stores[0].version().await.unwrap().is_some());
        let writes_after_each_read =
            Faulty::after(0, Arc::clone(&stores[0]), Fault::WrittenAfterRead);
        let store = Arc::new(writes_after_each_read.await).store();
        let place = Place::here(&[store], &directory.path().join("petstore.db")).await;
        for there_before in 0..5 {
            let request = Request::get("/v1/pets")
                .header(header::AUTHORIZATION, format!("Bearer {}", place.key));
            let page = place.services[0].send(request.body(Bytes::new()).unwrap()).await;
            let page: Vec<serde_json::Value> = serde_json::from_slice(&page.body).unwrap();
            assert_eq!(
                page.len(),
                there_before,
                "an animal that was there before is not on the page"
            );
        }
    });
}
