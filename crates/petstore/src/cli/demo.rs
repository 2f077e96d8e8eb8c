//! `petstore demo`: the whole service with a store full of animals, in a folder that is gone afterwards.

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
    #[arg(long, value_parser = values::word(&Language::ALL), default_value = "en")]
    language: Language,
}

/// The prefix of the names of the folders. A person who tries petstore in a folder of their own does not choose such a name.
const PREFIX: &str = ".petstore-demo-";

impl Demo {
    pub(super) fn run(self) -> anyhow::Result<()> {
        // First, so that no signal ends the process before its folder is gone.
        let runtime = Builder::new_current_thread().enable_io().build()?;
        let kinds = [
            SignalKind::terminate(),
            SignalKind::interrupt(),
            SignalKind::hangup(),
        ];
        let signals = runtime.block_on(async { EndSignals::watch(&kinds) })?;
        remove_left_folders();
        let (folder, _lock) = new_folder().context("cannot make a folder for the demo")?;
        let link = Token::generate(&mut runtime::random());
        let demo = demo_store::Demo {
            language: self.language,
            link,
        };
        let result = self
            .service(folder.path())?
            .with_demo(demo, signals)
            .run(Vec::new());
        folder
            .close()
            .context("the folder of the demo is not gone")?;
        result
    }

    /// Returns the service as it starts with these arguments and without variables.
    fn service(&self, folder: &Path) -> anyhow::Result<Serve> {
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
        let command = Serve::augment_args(clap::Command::new("demo").no_binary_name(true));
        let command = command.mut_args(|option| option.env(Resettable::Reset));
        Ok(Serve::from_arg_matches(
            &command.try_get_matches_from(arguments)?,
        )?)
    }
}

/// Returns a folder for this process, locked until the process ends. One that is not locked yet can
/// be taken for one that is left.
fn new_folder() -> anyhow::Result<(TempDir, File)> {
    loop {
        let folder = TempDir::with_prefix(PREFIX)?;
        if let Ok(open_folder) = File::open(folder.path())
            && open_folder.try_lock().is_ok()
            && folder.path().is_dir()
        {
            return Ok((folder, open_folder));
        }
    }
}

/// Removes the folders of demos that were killed. No process has locked such a folder.
fn remove_left_folders() {
    for entry in fs::read_dir(env::temp_dir())
        .into_iter()
        .flatten()
        .flatten()
    {
        if entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes())
            // A link to a folder stays.
            && entry.file_type().is_ok_and(|kind| kind.is_dir())
            && let Ok(folder) = File::open(entry.path())
            && folder.try_lock().is_ok()
        {
            // If it fails, the next demo tries again.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
