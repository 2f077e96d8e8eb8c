//! `petstore demo`: the whole service with a store full of animals, in a temporary folder.

use std::{
    env,
    fs::{self, File, TryLockError},
    io::{self, ErrorKind},
    path::Path,
};

use anyhow::Context;
use clap::{Args, FromArgMatches, builder::Resettable};
use petstore_domain::{staff::Token, store_area::Language};
use tempfile::TempDir;
use tokio::{runtime::Builder, signal::unix::SignalKind};

use super::{
    demo_store,
    runtime::{self, EndSignals},
    serve::Serve,
    values,
};

/// The prefix of the name of a demo's folder. The next demo deletes all unlocked folders with this
/// prefix, so the prefix is so unusual that no other program uses it.
const FOLDER_PREFIX: &str = ".petstore-demo-";

/// Show a store full of animals, until you stop it
///
/// The command starts the whole service on this machine only, with a store in a temporary folder:
/// its window, its console, and its interface. Everything is gone when it stops. No environment
/// variable and no settings file counts.
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  petstore demo\n",
    "  petstore demo --language fr"
))]
pub(super) struct Demo {
    /// The language of the store: of its window, its console and its animals
    #[arg(long, value_parser = values::one_of(&Language::ALL), default_value = "en")]
    language: Language,
}

impl Demo {
    /// Serves the demo until a signal, then deletes its folder.
    pub(super) fn run(self) -> anyhow::Result<()> {
        // Signals are watched first, so that no signal can end the process before its folder is
        // deleted.
        let signal_runtime = Builder::new_current_thread().enable_io().build()?;
        let kinds = [
            SignalKind::terminate(),
            SignalKind::interrupt(),
            SignalKind::hangup(),
        ];
        let signals = signal_runtime.block_on(async { EndSignals::watch(&kinds) })?;
        remove_abandoned_folders();
        let demo_folder = DemoFolder::create().context("cannot make a folder for the demo")?;
        let demo = demo_store::DemoStore {
            language: self.language,
            link: Token::generate(&mut runtime::random()),
        };
        let no_warnings = Vec::new();
        let result = self
            .build_service(demo_folder.folder.path())?
            .with_demo(demo, signals)
            .run(no_warnings);
        demo_folder
            .remove()
            .context("the folder of the demo is not gone")?;
        result
    }

    /// Builds the service of a demo, with its database in `folder`. Parses arguments of `serve`,
    /// and ignores the environment variables.
    fn build_service(&self, folder: &Path) -> anyhow::Result<Serve> {
        let database = format!("sqlite:{}", folder.join("petstore.db").display());
        let arguments = [
            &*format!("--database={database}"),
            &*format!("--language={}", self.language.as_str()),
            "--console-listen=127.0.0.1:8081",
            "--window-listen=127.0.0.1:8082",
            "--log-format=text",
            "--log-level=error",
            "--shutdown-timeout=1s",
        ];
        let command = Serve::augment_args(clap::Command::new("demo").no_binary_name(true))
            .mut_args(|option| option.env(Resettable::Reset));
        let matches = command.try_get_matches_from(arguments)?;
        Ok(Serve::from_arg_matches(&matches)?)
    }
}

/// The temporary folder of a demo. It is locked while the demo runs, so that another demo does not
/// remove it.
struct DemoFolder {
    folder: TempDir,
    /// The open folder. The lock is released when this is dropped.
    _lock: File,
}

impl DemoFolder {
    /// Creates a folder, and locks it. Until the folder is locked, it looks abandoned to another
    /// demo, which may lock and remove it. If it does so, creates another folder.
    fn create() -> io::Result<Self> {
        loop {
            let folder = TempDir::with_prefix(FOLDER_PREFIX)?;
            // A folder that was removed after it was opened can still be locked.
            if let Some(lock) = lock_folder(folder.path())?
                && folder.path().is_dir()
            {
                return Ok(Self {
                    folder,
                    _lock: lock,
                });
            }
        }
    }

    /// Removes the folder with its content.
    fn remove(self) -> io::Result<()> {
        self.folder.close()
    }
}

/// Locks a folder until the returned file is dropped. Returns `None` if the folder is already
/// locked, or does not exist.
fn lock_folder(path: &Path) -> io::Result<Option<File>> {
    let folder = match File::open(path) {
        Ok(folder) => folder,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    match folder.try_lock() {
        Ok(()) => Ok(Some(folder)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Removes the folders that killed demos have left behind. These folders are not locked.
fn remove_abandoned_folders() {
    // A demo also works with old folders around it, so errors are ignored.
    let Ok(entries) = fs::read_dir(env::temp_dir()) else {
        return;
    };
    for entry in entries.flatten() {
        if is_demo_folder(&entry)
            && let Ok(Some(_lock)) = lock_folder(&entry.path())
        {
            // The lock is held during the removal, so that no other demo removes the folder, too.
            // If the removal fails, the next demo tries it again.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether an entry of the temporary folder is the folder of a demo, and not a symbolic link to a
/// folder.
fn is_demo_folder(entry: &fs::DirEntry) -> bool {
    let name = entry.file_name();
    let has_prefix = name
        .as_encoded_bytes()
        .starts_with(FOLDER_PREFIX.as_bytes());
    has_prefix && entry.file_type().is_ok_and(|kind| kind.is_dir())
}
