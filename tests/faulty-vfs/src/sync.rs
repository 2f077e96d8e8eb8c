//! Syncs without SQLite: intercepts `fsync` of the C library, which `File::sync_all` calls.

use std::{
    ffi::{OsStr, c_char, c_int, c_void},
    fs,
    path::Path,
};

use crate::{Operation, Verdict, disk_of, lock, look_for_others};

const EIO: c_int = 5;

unsafe extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    fn __errno_location() -> *mut c_int;
    fn close(file: c_int) -> c_int;
}

/// The next definition of a symbol after this one.
const RTLD_NEXT: *mut c_void = -1_isize as *mut c_void;

/// Replaces `fsync` of the C library in every program that links this crate. Files that are not on
/// a [`Disk`](crate::Disk) get the original one.
#[unsafe(no_mangle)]
extern "C" fn fsync(file: c_int) -> c_int {
    let path = fs::read_link(format!("/proc/self/fd/{file}")).unwrap_or_default();
    let Some(disk) = disk_of(&path) else {
        return sync_for_real(file);
    };
    let name = path.file_name().unwrap_or(OsStr::new(""));
    let mut disk = lock(&disk);
    look_for_others(&mut disk, Path::new(&path));
    match disk.verdict(Operation::Sync) {
        Verdict::Go => disk.synced(name),
        Verdict::Pretend => {}
        Verdict::Fail(_) => {
            disk.lost(name);
            unsafe { *__errno_location() = EIO };
            return -1;
        }
    }
    0
}

fn sync_for_real(file: c_int) -> c_int {
    unsafe {
        let next = dlsym(RTLD_NEXT, c"fsync".as_ptr());
        assert!(!next.is_null(), "the C library has no fsync");
        let next: extern "C" fn(c_int) -> c_int = std::mem::transmute(next);
        next(file)
    }
}

/// Closes the files that a dropped store leaves open under a directory. A process never closes
/// files that SQLite locks, and a harness opens thousands.
pub fn close_files_under(directory: &Path) {
    for entry in fs::read_dir("/proc/self/fd")
        .into_iter()
        .flatten()
        .flatten()
    {
        let path = fs::read_link(entry.path()).unwrap_or_default();
        let Ok(file) = entry.file_name().to_string_lossy().parse() else {
            continue;
        };
        let is_kept = path.starts_with(directory) && !path.to_string_lossy().contains("-wal");
        if is_kept && is_read_only(file) {
            unsafe { close(file) };
        }
    }
}

fn is_read_only(file: c_int) -> bool {
    let information = fs::read_to_string(format!("/proc/self/fdinfo/{file}")).unwrap_or_default();
    let flags = information
        .lines()
        .find_map(|line| line.strip_prefix("flags:"));
    flags.is_some_and(|flags| flags.ends_with('0'))
}
