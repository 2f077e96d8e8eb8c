//! What a command does to the files of one directory, as the kernel sees it, and what a power cut
//! may leave.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    path::Path,
    process::{Command, Output, Stdio},
};

use rand::{RngExt, SeedableRng, rngs::StdRng};

/// All system calls that change a file or directory. A question mark marks those that not every
/// machine has.
const CALLS: &str = "openat,?open,?creat,close,write,writev,pwrite64,pwritev,?pwritev2,ftruncate,\
    truncate,fallocate,fsync,fdatasync,sync_file_range,?rename,?renameat,renameat2,?link,linkat,\
    ?unlink,unlinkat,copy_file_range,sendfile,splice,?dup2,dup,dup3,chdir";

/// The unit that a disk writes completely or not at all.
const SECTOR: usize = 512;

/// Up to this many lost changes of names, every combination is tried.
const ALL_CHOICES: usize = 6;

/// A change. Files have numbers, because a name can later belong to another file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    Link {
        file: usize,
        name: String,
    },
    Unlink {
        file: usize,
        name: String,
    },
    Rename {
        file: usize,
        from: String,
        to: String,
    },
    Write {
        file: usize,
        at: usize,
        data: Vec<u8>,
    },
    Truncate {
        file: usize,
        size: usize,
    },
    SyncFile {
        file: usize,
    },
    SyncFolder,
}

impl Change {
    fn is_of_names(&self) -> bool {
        matches!(
            self,
            Self::Link { .. } | Self::Unlink { .. } | Self::Rename { .. }
        )
    }
}

/// The files of a directory, by name.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

pub(crate) fn files(folder: &Path) -> Files {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    entries
        .filter(|entry| entry.path().is_file())
        .map(|entry| {
            (
                entry.file_name().into_string().unwrap(),
                fs::read(entry.path()).unwrap(),
            )
        })
        .collect()
}

/// Runs `petstore` in a directory, under strace with these options. strace writes to `report`.
pub(crate) fn traced(folder: &Path, report: &Path, options: &[&str], arguments: &[&str]) -> Output {
    let mut strace = Command::new("strace");
    strace
        .args(["-f", "-o"])
        .arg(report)
        .args(options)
        .arg(env!("CARGO_BIN_EXE_petstore"));
    strace
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null());
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("PETSTORE_")) {
        strace.env_remove(name);
    }
    strace
        .output()
        .unwrap_or_else(|error| panic!("strace cannot run: {error}"))
}

/// Everything that a command did.
#[derive(Debug, Clone)]
pub(crate) struct Recording {
    names: BTreeMap<String, usize>,
    contents: Vec<Vec<u8>>,
    pub(crate) changes: Vec<Change>,
}

impl Recording {
    /// Runs `petstore`, under strace with these options.
    pub(crate) fn of(folder: &Path, options: &[&str], arguments: &[&str]) -> Self {
        let folder = folder.canonicalize().unwrap();
        let (mut names, mut contents) = (BTreeMap::new(), Vec::new());
        for (name, content) in files(&folder) {
            names.insert(name, contents.len());
            contents.push(content);
        }
        let mut reader = Reader {
            names: names.clone(),
            folder,
            count: contents.len(),
            ..Reader::default()
        };
        let report = tempfile::NamedTempFile::new().unwrap();
        let calls = format!("trace={CALLS}");
        let options = [&["-xx", "-s", "10000000", "-e", &calls], options].concat();
        let done = traced(&reader.folder, report.path(), &options, arguments);
        assert!(done.status.code().is_some(), "{done:?}");
        fs::read_to_string(report.path())
            .unwrap()
            .lines()
            .for_each(|line| reader.read(line));
        contents.resize(reader.count, Vec::new());
        Self {
            names,
            contents,
            changes: reader.changes,
        }
    }

    /// Calls `check` with the files that each power cut may leave, and whether the command had
    /// ended. Returns the number of different results.
    pub(crate) fn each_power_cut(&self, mut check: impl FnMut(&Files, bool)) -> usize {
        let mut random = StdRng::seed_from_u64(1);
        let mut met = BTreeSet::new();
        for done in 0..=self.changes.len() {
            let has_ended = done == self.changes.len();
            let disk = Disk::after(self, done);
            let is_all_of_names = disk.pending.iter().all(|change| change.is_of_names());
            let sectors: &[f64] = if is_all_of_names {
                &[0.0]
            } else {
                &[0.0, 0.5, 1.0]
            };
            let count = disk
                .pending
                .iter()
                .filter(|change| change.is_of_names())
                .count();
            let choices: Vec<u64> = if count <= ALL_CHOICES {
                (0..1 << count).collect()
            } else {
                (0..=count)
                    .map(|kept| (1 << kept) - 1)
                    .chain((0..200).map(|_| random.random()))
                    .collect()
            };
            for names in choices {
                for &sectors in sectors {
                    let files = disk.salvage(names, || random.random_bool(sectors));
                    let mut hasher = DefaultHasher::new();
                    (&files, has_ended).hash(&mut hasher);
                    if met.insert(hasher.finish()) {
                        check(&files, has_ended);
                    }
                }
            }
        }
        met.len()
    }

    /// The position of the first change for which this is true.
    pub(crate) fn find(&self, is_it: impl FnMut(&Change) -> bool) -> usize {
        self.changes.iter().position(is_it).unwrap()
    }
}

/// Parses the output of strace.
#[derive(Default)]
struct Reader {
    folder: std::path::PathBuf,
    names: BTreeMap<String, usize>,
    /// How many files there were.
    count: usize,
    /// The open descriptors: a file, or the directory.
    open: HashMap<String, Option<usize>>,
    changes: Vec<Change>,
}

impl Reader {
    fn read(&mut self, line: &str) {
        let (_, call) = line.split_once(' ').unwrap();
        let call = call.trim_start();
        assert!(
            !call.contains("unfinished") && !call.contains("resumed"),
            "two threads: {line}"
        );
        let Some((call, result)) = call.rsplit_once(" = ") else {
            return;
        };
        if result.starts_with('-') {
            return;
        }
        let (call, arguments) = call
            .trim_end()
            .strip_suffix(')')
            .unwrap()
            .split_once('(')
            .unwrap();
        let arguments: Vec<&str> = arguments.split(", ").collect();
        let number = |at: usize| arguments[at].parse::<usize>().unwrap();
        // The open file of the call; `None` if it is not in the directory.
        let opened = self.open.get(arguments[0]).copied();
        match (call, opened) {
            ("openat", _) => self.open(&arguments, result),
            ("close", _) => drop(self.open.remove(arguments[0])),
            ("fsync" | "fdatasync", Some(Some(file))) => {
                self.changes.push(Change::SyncFile { file });
            }
            ("fsync" | "fdatasync", Some(None)) => self.changes.push(Change::SyncFolder),
            ("pwrite64", Some(Some(file))) => {
                let mut data = bytes(arguments[1]);
                data.truncate(result.split(' ').next().unwrap().parse().unwrap());
                self.changes.push(Change::Write {
                    file,
                    at: number(3),
                    data,
                });
            }
            ("ftruncate", Some(Some(file))) => {
                self.changes.push(Change::Truncate {
                    file,
                    size: number(1),
                });
            }
            ("unlink", _) => self.unlink(arguments[0]),
            ("unlinkat", _) => self.unlink(arguments[1]),
            ("rename", _) => self.rename(arguments[0], arguments[1]),
            ("renameat" | "renameat2", _) => self.rename(arguments[1], arguments[3]),
            ("link", _) => self.link(arguments[0], arguments[1]),
            ("linkat", _) => self.link(arguments[1], arguments[3]),
            // To a pipe.
            ("write" | "writev", None) => {}
            _ => panic!("unknown system call: {line:.200}"),
        }
    }

    /// The name of a file in the directory; `.` for the directory itself.
    fn name(&self, argument: &str) -> Option<String> {
        let path = self
            .folder
            .join(String::from_utf8(bytes(argument)).unwrap());
        let path = if path.ends_with(".") {
            path.parent().unwrap().to_owned()
        } else {
            path
        };
        if path == self.folder || path == self.folder.join(".") {
            return Some(".".to_owned());
        }
        let is_here = path.parent() == Some(&*self.folder);
        is_here.then(|| path.file_name().unwrap().to_str().unwrap().to_owned())
    }

    fn open(&mut self, arguments: &[&str], descriptor: &str) {
        let Some(name) = self.name(arguments[1]) else {
            return;
        };
        let descriptor = descriptor.to_owned();
        if name == "." {
            self.open.insert(descriptor, None);
            return;
        }
        let file = self.names.get(&name).copied().unwrap_or_else(|| {
            assert!(arguments[2].contains("O_CREAT"));
            let file = self.count;
            self.count += 1;
            self.names.insert(name.clone(), file);
            self.changes.push(Change::Link { file, name });
            file
        });
        if arguments[2].contains("O_TRUNC") {
            self.changes.push(Change::Truncate { file, size: 0 });
        }
        self.open.insert(descriptor, Some(file));
    }

    fn unlink(&mut self, argument: &str) {
        let Some(name) = self.name(argument) else {
            return;
        };
        let file = self.names.remove(&name).unwrap();
        self.changes.push(Change::Unlink { file, name });
    }

    fn rename(&mut self, from: &str, to: &str) {
        let (from, to) = (self.name(from).unwrap(), self.name(to).unwrap());
        let file = self.names.remove(&from).unwrap();
        self.names.insert(to.clone(), file);
        self.changes.push(Change::Rename { file, from, to });
    }

    fn link(&mut self, from: &str, to: &str) {
        let (from, name) = (self.name(from).unwrap(), self.name(to).unwrap());
        let file = self.names[&from];
        self.names.insert(name.clone(), file);
        self.changes.push(Change::Link { file, name });
    }
}

/// A quoted string in strace's output: `\x` and two digits for each byte.
fn bytes(argument: &str) -> Vec<u8> {
    let digits = argument.trim_matches('"');
    assert!(!digits.contains('.'), "it is cut off");
    digits
        .split("\\x")
        .skip(1)
        .map(|byte| u8::from_str_radix(byte, 16).unwrap())
        .collect()
}

/// The state of the disk, and the changes that have not reached it.
struct Disk<'r> {
    names: BTreeMap<String, usize>,
    contents: Vec<Vec<u8>>,
    pending: Vec<&'r Change>,
}

impl<'r> Disk<'r> {
    /// How many changes came before.
    fn after(recording: &'r Recording, done: usize) -> Self {
        let (names, contents) = (recording.names.clone(), recording.contents.clone());
        let mut disk = Self {
            names,
            contents,
            pending: Vec::new(),
        };
        for change in &recording.changes[..done] {
            match change {
                Change::SyncFile { file } => disk.settle(|of| {
                    matches!(of, Change::Write { file: of, .. } | Change::Truncate { file: of, .. } if of == file)
                }),
                Change::SyncFolder => disk.settle(Change::is_of_names),
                change => disk.pending.push(change),
            }
        }
        disk
    }

    /// Writes some of the pending changes to the disk.
    fn settle(&mut self, which: impl Fn(&Change) -> bool) {
        let (settled, pending) = self.pending.iter().partition(|change| which(change));
        self.pending = pending;
        let settled: Vec<&Change> = settled;
        for change in settled {
            self.apply(change);
        }
    }

    fn apply(&mut self, change: &Change) {
        match change {
            Change::Link { file, name } => drop(self.names.insert(name.clone(), *file)),
            Change::Unlink { file, name } => self.forget(*file, name),
            Change::Rename { file, from, to } => {
                self.forget(*file, from);
                self.names.insert(to.clone(), *file);
            }
            Change::Write { file, at, data } => {
                let content = &mut self.contents[*file];
                let end = at + data.len();
                content.resize(content.len().max(end), 0);
                content[*at..end].copy_from_slice(data);
            }
            Change::Truncate { file, size } => self.contents[*file].resize(*size, 0),
            Change::SyncFile { .. } | Change::SyncFolder => {}
        }
    }

    fn forget(&mut self, file: usize, name: &str) {
        if self.names.get(name) == Some(&file) {
            self.names.remove(name);
        }
    }

    /// The files after a power cut: with the pending changes of names whose bit is set, and the
    /// sectors of the other changes that `keep` selects.
    fn salvage(&self, names: u64, mut keep: impl FnMut() -> bool) -> Files {
        let (durable, contents) = (self.names.clone(), self.contents.clone());
        let mut left = Self {
            names: durable,
            contents,
            pending: Vec::new(),
        };
        let mut bit = 0;
        for change in &self.pending {
            match change {
                Change::Write { file, at, data } => {
                    for (number, sector) in data.chunks(SECTOR).enumerate() {
                        if keep() {
                            let (at, data) = (at + number * SECTOR, sector.to_vec());
                            left.apply(&Change::Write {
                                file: *file,
                                at,
                                data,
                            });
                        }
                    }
                }
                Change::Truncate { .. } => {
                    if keep() {
                        left.apply(change);
                    }
                }
                change => {
                    if names >> bit & 1 == 1 {
                        left.apply(change);
                    }
                    bit += 1;
                }
            }
        }
        left.names
            .iter()
            .map(|(name, file)| (name.clone(), left.contents[*file].clone()))
            .collect()
    }
}
