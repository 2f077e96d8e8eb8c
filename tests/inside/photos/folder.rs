//! Tests of `src/photos/folder.rs`.

use super::*;

#[test]
fn what_is_read_without_waiting_is_what_the_file_has() {
    let place = tempfile::tempdir().unwrap();
    let folder = Folder::new(place.path().to_owned());
    let id = PhotoId(7);
    let contents = [vec![1; 3], vec![2; 100_000], Vec::new(), vec![3; 4]];
    folder.write(id, &contents.clone().map(Bytes::from)).unwrap();
    let files = PhotoFile::all(id);

    // Not before the folder was read by a thread that may wait.
    assert_eq!(folder.read_cached(files[0], 0, 10), None);
    assert_eq!(folder.read(files[0], 0, 10).unwrap().unwrap().0, contents[0]);
    let is_local = folder.is_local.get() == Some(&true);
    for (file, content) in files.into_iter().zip(contents) {
        for (at, most) in [(0, 200_000), (0, 70_000), (70_000, 70_000), (100_000, 1)] {
            let found = folder.read(file, at as u64, most).unwrap().unwrap();
            let from = content.len().min(at);
            assert_eq!(found.0, content[from..content.len().min(from + most)]);
            assert_eq!(found.1, content.len() as u64);
            // A kernel can refuse it at any time.
            let cached = folder.read_cached(file, at as u64, most);
            assert!(cached.is_none() || is_local && cached == Some(found));
        }
    }
    let missing = PhotoFile { id: PhotoId(8), size: PhotoSize::Small };
    assert_eq!(folder.read_cached(missing, 0, 1), None);
    assert_eq!(folder.read(missing, 0, 1).unwrap(), None);
}
