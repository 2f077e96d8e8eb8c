//! `petstore demo`: the whole service with a store full of animals, in a temporary folder.

use std::{
    env,
    fs::{self, File},
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

/// Show a store full of animals, until you stop it
///
/// The command starts the whole service on this machine only, with a store in a temporary folder: its
/// window, its console, and its interface. Everything is gone when it stops. No environment variable
/// and no settings file counts.
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

/// The prefix of the name of a demo's folder. The next demo deletes all unlocked folders with this
/// prefix, so it is unusual enough that no other program uses it.
const FOLDER_PREFIX: &str = ".petstore-demo-";

impl Demo {
    /// Serves the demo until a signal, then deletes its folder.
    pub(super) fn run(self) -> anyhow::Result<()> {
        // Signals are watched first, so that none can end the process before its folder is deleted.
        let runtime = Builder::new_current_thread().enable_io().build()?;
        let kinds = [
            SignalKind::terminate(),
            SignalKind::interrupt(),
            SignalKind::hangup(),
        ];
        let signals = runtime.block_on(async { EndSignals::watch(&kinds) })?;
        remove_abandoned_folders();
        let (folder, _lock) =
            create_locked_folder().context("cannot make a folder for the demo")?;
        let link = Token::generate(&mut runtime::random());
        let demo = demo_store::Demo {
            language: self.language,
            link,
        };
        let result = self
            .build_service(folder.path())?
            .with_demo(demo, signals)
            .run(Vec::new());
        folder
            .close()
            .context("the folder of the demo is not gone")?;
        result
    }

    /// Returns the service with the settings of a demo: parses arguments of `serve`, and ignores the
    /// environment variables.
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

/// Creates a folder, and locks it until the process ends. Repeats this if another demo has removed the
/// folder before the lock, because an unlocked folder looks abandoned.
fn create_locked_folder() -> anyhow::Result<(TempDir, File)> {
    loop {
        let folder = TempDir::with_prefix(FOLDER_PREFIX)?;
        if let Ok(open_folder) = File::open(folder.path())
            && open_folder.try_lock().is_ok()
            && folder.path().is_dir()
        {
            return Ok((folder, open_folder));
        }
    }
}

/// Removes the folders that killed demos have left behind. These folders are not locked.
fn remove_abandoned_folders() {
    for entry in fs::read_dir(env::temp_dir())
        .into_iter()
        .flatten()
        .flatten()
    {
        if entry.file_name().as_encoded_bytes().starts_with(FOLDER_PREFIX.as_bytes())
            // A symbolic link to a folder is left in place.
            && entry.file_type().is_ok_and(|kind| kind.is_dir())
            && let Ok(folder) = File::open(entry.path())
            && folder.try_lock().is_ok()
        {
            // If this fails, the next demo tries again.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
