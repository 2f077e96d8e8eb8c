//! The VFS: forwards to the default one after checking each operation.
//!
//! See "The SQLite OS Interface or VFS" in SQLite's documentation. A file of this VFS is a
//! [`Shim`], followed by the file of the default VFS.

use std::{
    ffi::{CStr, OsStr, c_char, c_int, c_void},
    mem::size_of,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    ptr,
    sync::{
        Arc, Mutex, Once,
        atomic::{AtomicBool, Ordering},
    },
};

use rusqlite::ffi;

use crate::{Kind, Model, Operation, Verdict, disk_of, lock, look_for_others, watch_for_others};

#[repr(C)]
struct Shim {
    base: ffi::sqlite3_file,
    watched: *mut Watched,
}

/// A file on a disk.
struct Watched {
    file: Option<(Arc<Mutex<Model>>, PathBuf)>,
    /// Whether the next sync also syncs the directory, as the first one of a WAL or journal does.
    syncs_directory: AtomicBool,
}

impl Watched {
    fn verdict(&self, operation: Operation) -> Verdict {
        let Some((disk, path)) = &self.file else {
            return Verdict::Go;
        };
        let mut disk = lock(disk);
        look_for_others(&mut disk, path);
        if matches!(
            operation,
            Operation::Write | Operation::Truncate | Operation::Delete
        ) {
            disk.watched.remove(name_of(path));
        }
        disk.verdict(operation)
    }

    /// Records an operation if it succeeded.
    fn note(&self, code: c_int, note: impl FnOnce(&mut Model, &OsStr)) -> c_int {
        if let (ffi::SQLITE_OK, Some((disk, path))) = (code, &self.file) {
            note(&mut lock(disk), name_of(path));
        }
        code
    }
}

fn name_of(path: &Path) -> &OsStr {
    path.file_name().unwrap_or(path.as_os_str())
}

/// The code that the default VFS reports for this failure.
fn code(kind: Kind, operation: Operation) -> c_int {
    match (kind, operation) {
        (Kind::ShortWrite | Kind::Full, _) => ffi::SQLITE_FULL,
        (_, Operation::Open) => ffi::SQLITE_CANTOPEN,
        (_, Operation::Access) => ffi::SQLITE_IOERR_ACCESS,
        (_, Operation::Delete) => ffi::SQLITE_IOERR_DELETE,
        (_, Operation::Read) => ffi::SQLITE_IOERR_READ,
        (_, Operation::Write) => ffi::SQLITE_IOERR_WRITE,
        (_, Operation::Truncate) => ffi::SQLITE_IOERR_TRUNCATE,
        (_, Operation::Sync) => ffi::SQLITE_IOERR_FSYNC,
        (_, Operation::Size) => ffi::SQLITE_IOERR_FSTAT,
        (_, Operation::Lock) => ffi::SQLITE_IOERR_LOCK,
        (_, Operation::Shm) => ffi::SQLITE_IOERR_SHMMAP,
    }
}

/// Calls the method of the default VFS's file.
macro_rules! pass_on {
    ($file:expr, $method:ident $(, $argument:expr)*) => {{
        let real = unsafe { real_file($file) };
        match unsafe { (*(*real).pMethods).$method } {
            Some(method) => unsafe { method(real $(, $argument)*) },
            None => ffi::SQLITE_IOERR,
        }
    }};
}

/// Calls the method unless the operation must fail.
macro_rules! unless_it_fails {
    ($operation:ident, $file:expr, $method:ident $(, $argument:expr)*) => {
        match unsafe { watched($file) }.verdict(Operation::$operation) {
            Verdict::Fail(kind) => code(kind, Operation::$operation),
            _ => pass_on!($file, $method $(, $argument)*),
        }
    };
}

/// Makes this VFS the default one of the process.
pub(crate) fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| unsafe {
        ffi::sqlite3_initialize();
        let real = ffi::sqlite3_vfs_find(ptr::null());
        assert!(!real.is_null(), "SQLite has no VFS");
        let mut ours = *real;
        ours.pNext = ptr::null_mut();
        ours.zName = c"faulty".as_ptr();
        ours.pAppData = real.cast();
        ours.szOsFile += size_of::<Shim>() as c_int;
        ours.xOpen = Some(open);
        ours.xDelete = Some(delete);
        ours.xAccess = Some(access);
        // SQLite keeps the pointer.
        let ours = Box::leak(Box::new(ours));
        assert_eq!(ffi::sqlite3_vfs_register(ours, 1), ffi::SQLITE_OK);
    });
}

unsafe fn real_vfs(vfs: *mut ffi::sqlite3_vfs) -> *mut ffi::sqlite3_vfs {
    unsafe { (*vfs).pAppData.cast() }
}

unsafe fn real_file(file: *mut ffi::sqlite3_file) -> *mut ffi::sqlite3_file {
    unsafe { file.cast::<u8>().add(size_of::<Shim>()).cast() }
}

unsafe fn watched<'a>(file: *mut ffi::sqlite3_file) -> &'a Watched {
    unsafe { &*(*file.cast::<Shim>()).watched }
}

/// The file of this name. SQLite passes absolute paths, or null for unnamed files.
unsafe fn named(name: *const c_char) -> Watched {
    if name.is_null() {
        return Watched {
            file: None,
            syncs_directory: AtomicBool::new(false),
        };
    }
    let path = Path::new(OsStr::from_bytes(
        unsafe { CStr::from_ptr(name) }.to_bytes(),
    ));
    let file = disk_of(path).map(|disk| (disk, path.to_owned()));
    Watched {
        file,
        syncs_directory: AtomicBool::new(false),
    }
}

unsafe fn exists(name: *const c_char) -> bool {
    let path = unsafe { CStr::from_ptr(name) };
    Path::new(OsStr::from_bytes(path.to_bytes())).exists()
}

unsafe extern "C" fn open(
    vfs: *mut ffi::sqlite3_vfs,
    name: ffi::sqlite3_filename,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    out: *mut c_int,
) -> c_int {
    // SQLite closes a file only if this is set.
    unsafe { (*file).pMethods = ptr::null() };
    let watched = unsafe { named(name) };
    if let Verdict::Fail(kind) = watched.verdict(Operation::Open) {
        return code(kind, Operation::Open);
    }
    let is_new = watched.file.is_some() && !unsafe { exists(name) };
    let (usual, real) = unsafe { (real_vfs(vfs), real_file(file)) };
    let Some(method) = (unsafe { (*usual).xOpen }) else {
        return ffi::SQLITE_CANTOPEN;
    };
    let opened = unsafe { method(usual, name, real, flags, out) };
    if opened != ffi::SQLITE_OK {
        if !unsafe { (*real).pMethods }.is_null() {
            pass_on!(file, xClose);
        }
        return opened;
    }
    if is_new {
        watched.note(opened, Model::created);
    }
    let log = ffi::SQLITE_OPEN_WAL | ffi::SQLITE_OPEN_MAIN_JOURNAL;
    if flags & ffi::SQLITE_OPEN_CREATE != 0 && flags & log != 0 {
        watched.syncs_directory.store(true, Ordering::Relaxed);
    }
    unsafe {
        (*file.cast::<Shim>()).watched = Box::into_raw(Box::new(watched));
        (*file).pMethods = &raw const METHODS;
    }
    opened
}

unsafe extern "C" fn delete(
    vfs: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    sync_directory: c_int,
) -> c_int {
    unsafe {
        let watched = named(name);
        if let Verdict::Fail(kind) = watched.verdict(Operation::Delete) {
            return code(kind, Operation::Delete);
        }
        let Some(method) = (*real_vfs(vfs)).xDelete else {
            return ffi::SQLITE_IOERR_DELETE;
        };
        let deleted = method(real_vfs(vfs), name, sync_directory);
        watched.note(deleted, |disk, name| {
            disk.deleted(name, sync_directory != 0)
        })
    }
}

unsafe extern "C" fn access(
    vfs: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    flags: c_int,
    out: *mut c_int,
) -> c_int {
    unsafe {
        if let Verdict::Fail(kind) = named(name).verdict(Operation::Access) {
            return code(kind, Operation::Access);
        }
        let Some(method) = (*real_vfs(vfs)).xAccess else {
            return ffi::SQLITE_IOERR_ACCESS;
        };
        method(real_vfs(vfs), name, flags, out)
    }
}

static METHODS: ffi::sqlite3_io_methods = ffi::sqlite3_io_methods {
    // Version 2 has shared memory, but no memory-mapped files, whose writes this VFS would not see.
    iVersion: 2,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(lock_file),
    xUnlock: Some(unlock_file),
    xCheckReservedLock: Some(check_reserved_lock),
    xFileControl: Some(file_control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(device_characteristics),
    xShmMap: Some(shm_map),
    xShmLock: Some(shm_lock),
    xShmBarrier: Some(shm_barrier),
    xShmUnmap: Some(shm_unmap),
    xFetch: None,
    xUnfetch: None,
};

unsafe extern "C" fn close(file: *mut ffi::sqlite3_file) -> c_int {
    let closed = pass_on!(file, xClose);
    if let Some((disk, path)) = &unsafe { watched(file) }.file {
        watch_for_others(&mut lock(disk), path);
    }
    unsafe {
        drop(Box::from_raw((*file.cast::<Shim>()).watched));
        (*file).pMethods = ptr::null();
    }
    closed
}

unsafe extern "C" fn read(
    file: *mut ffi::sqlite3_file,
    into: *mut c_void,
    length: c_int,
    offset: i64,
) -> c_int {
    unless_it_fails!(Read, file, xRead, into, length, offset)
}

unsafe extern "C" fn write(
    file: *mut ffi::sqlite3_file,
    data: *const c_void,
    length: c_int,
    offset: i64,
) -> c_int {
    let watched = unsafe { watched(file) };
    let verdict = watched.verdict(Operation::Write);
    let length = match verdict {
        Verdict::Fail(Kind::ShortWrite) => length / 2,
        // The write was in progress when the power failed.
        Verdict::Fail(Kind::PowerCut) => length,
        Verdict::Fail(kind) => return code(kind, Operation::Write),
        Verdict::Go | Verdict::Pretend => length,
    };
    let bytes = unsafe { std::slice::from_raw_parts(data.cast::<u8>(), length as usize) };
    let written = pass_on!(file, xWrite, data, length, offset);
    watched.note(written, |disk, name| {
        disk.wrote(name, offset as usize, bytes)
    });
    match verdict {
        Verdict::Fail(kind) => code(kind, Operation::Write),
        Verdict::Go | Verdict::Pretend => written,
    }
}

unsafe extern "C" fn truncate(file: *mut ffi::sqlite3_file, size: i64) -> c_int {
    let done = unless_it_fails!(Truncate, file, xTruncate, size);
    unsafe { watched(file) }.note(done, |disk, name| disk.truncated(name, size as usize))
}

/// The model is the disk, so this need not wait for the real one.
unsafe extern "C" fn sync(file: *mut ffi::sqlite3_file, flags: c_int) -> c_int {
    let watched = unsafe { watched(file) };
    let Some((disk, path)) = &watched.file else {
        return pass_on!(file, xSync, flags);
    };
    let name = name_of(path);
    match watched.verdict(Operation::Sync) {
        Verdict::Go => {
            let mut disk = lock(disk);
            disk.synced(name);
            if watched.syncs_directory.swap(false, Ordering::Relaxed) {
                disk.synced_directory();
            }
            ffi::SQLITE_OK
        }
        Verdict::Pretend => ffi::SQLITE_OK,
        Verdict::Fail(kind) => {
            if matches!(kind, Kind::LostSync | Kind::RevertedSync) {
                let on_disk = lock(disk).lost(name);
                if kind == Kind::RevertedSync {
                    revert(file, &on_disk);
                }
            }
            code(kind, Operation::Sync)
        }
    }
}

const CHUNK: usize = 64 << 10;

/// Restores the file's content on disk.
fn revert(file: *mut ffi::sqlite3_file, on_disk: &[u8]) {
    pass_on!(file, xTruncate, 0);
    // The default VFS writes at most 128 KiB at a time.
    for (number, chunk) in (0..).zip(on_disk.chunks(CHUNK)) {
        let offset = number * CHUNK as i64;
        let written = pass_on!(
            file,
            xWrite,
            chunk.as_ptr().cast(),
            chunk.len() as c_int,
            offset
        );
        assert_eq!(written, ffi::SQLITE_OK, "the real disk failed");
    }
}

unsafe extern "C" fn file_size(file: *mut ffi::sqlite3_file, out: *mut i64) -> c_int {
    unless_it_fails!(Size, file, xFileSize, out)
}

unsafe extern "C" fn lock_file(file: *mut ffi::sqlite3_file, level: c_int) -> c_int {
    unless_it_fails!(Lock, file, xLock, level)
}

unsafe extern "C" fn unlock_file(file: *mut ffi::sqlite3_file, level: c_int) -> c_int {
    pass_on!(file, xUnlock, level)
}

unsafe extern "C" fn check_reserved_lock(file: *mut ffi::sqlite3_file, out: *mut c_int) -> c_int {
    unless_it_fails!(Lock, file, xCheckReservedLock, out)
}

unsafe extern "C" fn file_control(
    file: *mut ffi::sqlite3_file,
    operation: c_int,
    argument: *mut c_void,
) -> c_int {
    pass_on!(file, xFileControl, operation, argument)
}

unsafe extern "C" fn sector_size(file: *mut ffi::sqlite3_file) -> c_int {
    pass_on!(file, xSectorSize)
}

unsafe extern "C" fn device_characteristics(file: *mut ffi::sqlite3_file) -> c_int {
    pass_on!(file, xDeviceCharacteristics)
}

unsafe extern "C" fn shm_map(
    file: *mut ffi::sqlite3_file,
    region: c_int,
    size: c_int,
    extend: c_int,
    out: *mut *mut c_void,
) -> c_int {
    unless_it_fails!(Shm, file, xShmMap, region, size, extend, out)
}

unsafe extern "C" fn shm_lock(
    file: *mut ffi::sqlite3_file,
    offset: c_int,
    count: c_int,
    flags: c_int,
) -> c_int {
    if flags & ffi::SQLITE_SHM_UNLOCK != 0 {
        return pass_on!(file, xShmLock, offset, count, flags);
    }
    unless_it_fails!(Lock, file, xShmLock, offset, count, flags)
}

unsafe extern "C" fn shm_barrier(file: *mut ffi::sqlite3_file) {
    let real = unsafe { real_file(file) };
    if let Some(method) = unsafe { (*(*real).pMethods).xShmBarrier } {
        unsafe { method(real) };
    }
}

unsafe extern "C" fn shm_unmap(file: *mut ffi::sqlite3_file, delete: c_int) -> c_int {
    pass_on!(file, xShmUnmap, delete)
}
