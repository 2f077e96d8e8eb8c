//! Tests of `src/server/activity.rs`.

use http_body_util::BodyExt;

use super::*;

#[test]
fn a_connection_without_requests_or_written_bytes_is_stalled() {
    let activity = Arc::new(Activity::default());
    assert!(activity.is_stalled(10));
    let begun = activity.begin(Version::HTTP_11);
    assert!(!activity.is_stalled(10), "a request came");
    assert!(!activity.is_stalled(10), "it is in flight");
    drop(begun);
    assert!(activity.is_stalled(10));
    activity.wrote(10);
    assert!(!activity.is_stalled(10), "the client reads");
    activity.wrote(9);
    assert!(activity.is_stalled(10), "too slowly");
}

#[test]
fn a_client_that_reads_no_responses_is_stalled_despite_new_requests() {
    let activity = Arc::new(Activity::default());
    let response = activity.track_bytes(Bytes::from_static(b"response"), None);
    drop(activity.begin(Version::HTTP_2));
    assert!(!activity.is_stalled(10), "it may only just have been made");
    let _begun = activity.begin(Version::HTTP_2);
    assert!(activity.is_stalled(10));
    activity.wrote(10);
    assert!(!activity.is_stalled(10), "the client reads");
    let part = response.slice(..1);
    drop(response);
    assert!(activity.is_stalled(10), "a part is unread");
    drop(part);
    assert!(!activity.is_stalled(10));
}

#[tokio::test]
async fn a_stream_is_in_flight_until_its_end_and_each_piece_unread_until_it_is_sent() {
    let activity = Arc::new(Activity::default());
    let pieces = Body::Stream(Box::pin(stream::iter([Bytes::from_static(b"piece")])));
    let mut body = activity.track_response(pieces, activity.begin(Version::HTTP_11), None);
    assert!(!activity.is_stalled(10));
    assert!(!activity.is_stalled(10), "a stream without pieces stalls nothing");
    let piece = body.frame().await;
    assert!(!activity.is_stalled(10), "the piece may only just have been made");
    assert!(activity.is_stalled(10), "the piece is unread");
    drop(piece);
    assert!(!activity.is_stalled(10), "the stream continues");
    drop(body);
    assert!(activity.is_stalled(10));
}

#[tokio::test]
async fn a_stream_without_end_ends_after_its_next_piece_once_the_connection_is_old() {
    let activity = Arc::new(Activity::default());
    let pieces = Body::Stream(Box::pin(stream::repeat(Bytes::from_static(b"piece"))));
    let mut body = activity.track_response(pieces, activity.begin(Version::HTTP_2), None);
    for _ in 0..3 {
        assert!(body.frame().await.is_some());
    }
    activity.mark_old();
    assert!(body.frame().await.is_some());
    assert!(body.frame().await.is_none());
}

#[tokio::test]
async fn a_file_is_sent_to_its_end_although_the_connection_is_old() {
    let activity = Arc::new(Activity::default());
    let pieces = stream::iter([1, 2, 3].map(|_| Ok(Bytes::from_static(b"piece"))));
    let body = Body::File(Box::pin(pieces));
    let body = activity.track_response(body, activity.begin(Version::HTTP_11), None);
    activity.mark_old();
    assert!(!activity.nothing_in_flight());
    assert_eq!(body.collect().await.unwrap().to_bytes().len(), 15);
    assert!(activity.nothing_in_flight());
}
