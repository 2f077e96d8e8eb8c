//! `petstore completions`.

use clap::Args;
use clap_complete::{Shell, generate};

/// Print a completion script for a shell
///
/// The script completes the commands and options of petstore. For bash, add
/// `source <(petstore completions bash)` to ~/.bashrc.
#[derive(Debug, Args)]
pub(super) struct Completions {
    /// The shell to complete in
    shell: Shell,
}

impl Completions {
    pub(super) fn run(self, mut command: clap::Command) -> anyhow::Result<()> {
        let mut script = Vec::new();
        generate(self.shell, &mut command, "petstore", &mut script);
        super::output::print(std::str::from_utf8(&script)?)
    }
}
