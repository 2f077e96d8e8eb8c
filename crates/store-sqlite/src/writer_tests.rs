//! Tests of the writer.

use rusqlite::OpenFlags;

use super::*;
use crate::{opening, readers::WaitingWriter, wal_index::WalIndex};

/// Starts a writer on a new database with a table of unique numbers.
async fn start_writer() -> (Writer, tempfile::TempDir) {
    let directory = tempfile::TempDir::new().unwrap();
    let file = directory.path().join("test.db");
    let connection = opening::open_connection(&file, OpenFlags::default()).unwrap();
    // WAL mode, as in production: `Files` needs the WAL and its `-shm` file.
    connection
        .pragma_update(None, "journal_mode", "WAL")
        .unwrap();
    // SQLite creates the two files at the first read.
    connection
        .query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))
        .unwrap();
    let files = Files::open(&file, WalIndex::open(&file).unwrap()).unwrap();
    let writer = Writer::start(connection, files, WaitingWriter::default()).unwrap();
    writer
        .write(|connection| connection.execute("CREATE TABLE t (x INTEGER UNIQUE)", []))
        .await
        .unwrap();
    (writer, directory)
}

fn insert(connection: &Connection, number: i64) -> rusqlite::Result<usize> {
    connection.execute("INSERT INTO t VALUES (?1)", [number])
}

async fn count_rows(writer: &Writer) -> i64 {
    let count = |connection: &mut Connection| {
        connection.query_row("SELECT count(*) FROM t", [], |row| row.get(0))
    };
    writer.write(count).await.unwrap()
}

/// Returns a write that keeps the writer busy, once it is polled, until the returned sender is
/// dropped.
fn block_writer(writer: &Writer) -> (std::sync::mpsc::Sender<()>, impl Future) {
    let (release, release_receiver) = std::sync::mpsc::channel();
    let holding = writer.write(move |_| {
        let _ = release_receiver.recv();
        Ok(())
    });
    (release, holding)
}

/// Awaits `queued`, which queues several writes when it is first polled. The writer is busy until
/// all of them are queued, so they form one batch.
async fn in_one_batch<T>(writer: &Writer, queued: impl Future<Output = T>) -> T {
    let (release, holding) = block_writer(writer);
    // `join!` first polls each future once, in this order.
    let (_, results, ()) = tokio::join!(holding, queued, async { drop(release) });
    results
}

#[tokio::test]
async fn a_failed_write_does_not_affect_the_others_of_its_batch() {
    let (writer, _directory) = start_writer().await;
    let (before, failing, after) = in_one_batch(&writer, async {
        tokio::join!(
            writer.write(|connection| insert(connection, 1)),
            writer.write(|connection| {
                insert(connection, 2)?;
                insert(connection, 1)
            }),
            writer.write(|connection| insert(connection, 3)),
        )
    })
    .await;
    assert!(before.is_ok());
    assert!(matches!(failing, Err(StoreError::Internal(_))));
    assert!(after.is_ok());
    assert_eq!(count_rows(&writer).await, 2);
}

#[tokio::test]
async fn a_write_that_panics_fails_and_the_writer_continues() {
    let (writer, _directory) = start_writer().await;
    let result: Result<(), _> = writer
        .write(|connection| {
            insert(connection, 1)?;
            panic!("on purpose")
        })
        .await;
    assert!(matches!(result, Err(StoreError::Internal(_))));
    assert_eq!(count_rows(&writer).await, 0);
}

#[tokio::test]
async fn when_a_write_undoes_the_transaction_the_others_are_done_again() {
    let (writer, _directory) = start_writer().await;
    let (before, undoing, after) = in_one_batch(&writer, async {
        tokio::join!(
            writer.write(|connection| insert(connection, 1)),
            writer.write(|connection| connection.execute("ROLLBACK", [])),
            writer.write(|connection| insert(connection, 3)),
        )
    })
    .await;
    assert!(before.is_ok() && after.is_ok(), "{before:?} {after:?}");
    assert!(undoing.is_err());
    assert_eq!(count_rows(&writer).await, 2);
}

#[tokio::test]
async fn a_write_without_a_savepoint_that_fails_after_it_has_written_does_not_affect_the_others() {
    let (writer, _directory) = start_writer().await;
    let fails_at_once = |connection: &Connection, _: &mut Newest| insert(connection, 1);
    let fails_later = |connection: &Connection, _: &mut Newest| {
        insert(connection, 2)?;
        insert(connection, 1)
    };
    let (before, failing_at_once, failing_later, after) = in_one_batch(&writer, async {
        tokio::join!(
            writer.write(|connection| insert(connection, 1)),
            writer.write_without_savepoint(fails_at_once),
            writer.write_without_savepoint(fails_later),
            writer.write(|connection| insert(connection, 3)),
        )
    })
    .await;
    assert!(failing_at_once.is_err() && failing_later.is_err());
    assert!(before.is_ok() && after.is_ok(), "{before:?} {after:?}");
    assert_eq!(count_rows(&writer).await, 2);
}

#[tokio::test]
async fn a_write_for_which_the_disk_has_no_room_does_not_affect_the_others() {
    let (writer, _directory) = start_writer().await;
    // The database may have one more page than it has now.
    let limit_size = |connection: &mut Connection| {
        let pages: i64 = connection.pragma_query_value(None, "page_count", |row| row.get(0))?;
        connection.pragma_update_and_check(None, "max_page_count", pages + 1, |_| Ok(()))
    };
    let fill_disk = |connection: &mut Connection| {
        connection.execute("INSERT INTO t VALUES (zeroblob(100000))", [])
    };
    let (_, before, full, after) = in_one_batch(&writer, async {
        tokio::join!(
            writer.write(limit_size),
            writer.write(|connection| insert(connection, 1)),
            writer.write(fill_disk),
            writer.write(|connection| insert(connection, 3)),
        )
    })
    .await;
    assert!(before.is_ok() && after.is_ok(), "{before:?} {after:?}");
    assert!(matches!(full, Err(StoreError::Full(_))), "{full:?}");
    assert_eq!(count_rows(&writer).await, 2);
}

#[tokio::test]
async fn a_full_queue_rejects_at_once() {
    let (writer, _directory) = start_writer().await;
    let (release, holding) = block_writer(&writer);
    let mut holding = Box::pin(holding);
    assert!(futures_util::poll!(holding.as_mut()).is_pending());
    let mut waiting = Vec::new();
    // The first job, which blocks the writer, may or may not have left the queue yet.
    let rejected = loop {
        let number = i64::try_from(waiting.len()).unwrap();
        let mut write = Box::pin(writer.write(move |connection| insert(connection, number)));
        match futures_util::poll!(write.as_mut()) {
            std::task::Poll::Ready(rejected) => break rejected,
            std::task::Poll::Pending => waiting.push(write),
        }
        assert!(
            waiting.len() <= 2 * QUEUE_LENGTH + 1,
            "nothing was rejected"
        );
    };
    assert!(matches!(rejected, Err(StoreError::Overloaded)));
    drop(release);
    for write in waiting {
        write.await.unwrap();
    }
}

#[test]
fn a_batch_stays_within_its_limit_however_many_writes_come() {
    let mut batch = vec![0; SMALL_BATCH - 1];
    extend_to_limit(&mut batch, 0..10 * QUEUE_LENGTH);
    assert_eq!(batch.len(), QUEUE_LENGTH);
}

#[tokio::test]
async fn a_queued_write_is_not_done_if_its_caller_is_gone() {
    let (writer, _directory) = start_writer().await;
    let (release, holding) = block_writer(&writer);
    let mut holding = Box::pin(holding);
    assert!(futures_util::poll!(holding.as_mut()).is_pending());
    let mut write = Box::pin(writer.write(|connection| insert(connection, 1)));
    assert!(futures_util::poll!(write.as_mut()).is_pending());
    drop(write);
    drop(release);
    assert_eq!(count_rows(&writer).await, 0);
}

#[tokio::test]
async fn a_write_that_has_begun_is_done_even_if_its_caller_is_gone() {
    let (writer, _directory) = start_writer().await;
    let (begin_sender, begin_receiver) = std::sync::mpsc::channel();
    let (release, release_receiver) = std::sync::mpsc::channel::<()>();
    let mut write = Box::pin(writer.write(move |connection| {
        begin_sender.send(()).unwrap();
        let _ = release_receiver.recv();
        insert(connection, 1)
    }));
    assert!(futures_util::poll!(write.as_mut()).is_pending());
    begin_receiver.recv().unwrap();
    drop(write);
    drop(release);
    assert_eq!(count_rows(&writer).await, 1);
}
