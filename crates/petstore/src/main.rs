//! The `petstore` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    petstore::cli::main()
}
