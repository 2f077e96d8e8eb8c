//! The folder of `petstore demo`: gone when it ends, however it ends. See `demo.rs` for the rest.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
};

use super::program::{command, directory};

/// A demo that starts, with its folder below this one; killed on drop.
struct Starting(Child);

impl Starting {
    fn new(temporary: &Path) -> Self {
        let mut command = command(temporary, &["demo"]);
        command
            .env("TMPDIR", temporary)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        Self(command.spawn().unwrap())
    }

    /// Waits for this many folders, without those of `others`, and returns them.
    fn folders(&mut self, temporary: &Path, others: &[PathBuf], count: usize) -> Vec<PathBuf> {
        loop {
            let found = folders(temporary);
            if found.len() == count && others.iter().all(|other| !found.contains(other)) {
                return found;
            }
            assert!(self.0.try_wait().unwrap().is_none(), "{found:?}");
            thread::yield_now();
        }
    }

    /// Ends it by a signal, and returns its exit status.
    fn end(mut self, signal: &str) -> Option<i32> {
        let pid = self.0.id().to_string();
        assert!(
            Command::new("kill")
                .args(["-s", signal, &pid])
                .status()
                .unwrap()
                .success()
        );
        self.0.wait().unwrap().code()
    }
}

impl Drop for Starting {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The folders of demos, without links.
fn folders(temporary: &Path) -> Vec<PathBuf> {
    let all = fs::read_dir(temporary)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let is_of_demo = |path: &PathBuf| path.to_str().unwrap().contains("/.petstore-demo-");
    all.filter(|path| is_of_demo(path) && !path.is_symlink())
        .collect()
}

#[test]
fn the_folder_of_a_demo_is_only_for_its_user_and_gone_after_each_signal_however_early_it_comes() {
    for signal in ["INT", "TERM", "HUP"] {
        let temporary = directory();
        let mut demo = Starting::new(temporary.path());
        let found = demo.folders(temporary.path(), &[], 1);
        assert_eq!(
            fs::metadata(&found[0]).unwrap().permissions().mode() & 0o777,
            0o700
        );
        assert_eq!(demo.end(signal), Some(0), "{signal}");
        assert!(folders(temporary.path()).is_empty(), "{signal}");
    }
}

#[test]
fn a_folder_that_a_kill_left_goes_at_the_next_demo_and_that_of_a_running_one_stays() {
    let temporary = directory();
    let mut killed = Starting::new(temporary.path());
    let left = killed.folders(temporary.path(), &[], 1);
    drop(killed);
    assert!(left[0].exists());
    // Of others.
    let of_others = ["petstore-data", "petstore-demo-mine"].map(|name| temporary.path().join(name));
    for path in &of_others {
        fs::create_dir(path).unwrap();
    }
    let target = directory();
    symlink(target.path(), temporary.path().join(".petstore-demo-link")).unwrap();
    let mut running = Starting::new(temporary.path());
    let of_running = running.folders(temporary.path(), &left, 1);
    let mut next = Starting::new(temporary.path());
    let both = next.folders(temporary.path(), &left, 2);
    assert!(both.contains(&of_running[0]));
    assert_eq!(next.end("TERM"), Some(0));
    assert_eq!(folders(temporary.path()), of_running);
    assert!(of_others.iter().all(|path| path.exists()) && target.path().exists());
}
