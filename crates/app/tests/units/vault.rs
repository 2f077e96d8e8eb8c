//! The file with the key that encrypts secrets.

use std::{fs, os::unix::fs::PermissionsExt, path::PathBuf};

use petstore_app::delivery::{Vault, VaultError};
use rand::{SeedableRng, rngs::StdRng};

#[test]
fn a_secret_is_read_only_with_the_same_file_for_the_same_subject() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("petstore.db.secret-key");
    let random = &mut StdRng::seed_from_u64(1);
    let vault = Vault::new(Some(path.clone()), None);
    let sealed = vault.seal("webhook 7", b"secret", true, random).unwrap();
    assert!(!sealed.windows(6).any(|part| part == b"secret"));
    // The file is for its owner, and nothing else is in the folder.
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o600
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    // Another process with the same file.
    let vault = Vault::new(Some(path.clone()), None);
    assert_eq!(vault.open("webhook 7", &sealed).unwrap(), b"secret");
    let failed = |result: Result<_, VaultError>| result.unwrap_err().to_string();
    assert!(failed(vault.open("webhook 8", &sealed)).contains("another key file"));
    assert!(failed(vault.open("webhook 7", &sealed[..20])).contains("another key file"));
    assert!(failed(vault.open("webhook 7", &[])).contains("another key file"));
    let other = Vault::new(Some(folder.path().join("other")), None);
    other.seal("webhook 7", b"secret", true, random).unwrap();
    assert!(failed(other.open("webhook 7", &sealed)).contains("another key file"));
}

#[test]
fn a_file_is_made_for_the_first_secret_and_never_for_others_or_for_reading() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("key");
    let random = &mut StdRng::seed_from_u64(1);
    let seal = |path: Option<&PathBuf>, random: &mut StdRng| {
        let vault = Vault::new(path.cloned(), None);
        vault
            .seal("x", b"secret", false, random)
            .unwrap_err()
            .to_string()
    };
    assert!(seal(None, random).contains("--secret-key-file"));
    let sealed = [1; 40];
    let read = Vault::new(Some(path.clone()), None)
        .open("x", &sealed)
        .unwrap_err();
    for error in [read.to_string(), seal(Some(&path), random)] {
        assert!(error.contains("key does not exist"), "{error}");
        assert!(error.contains("the machine that made it"), "{error}");
    }
    assert!(!path.exists());
    fs::write(&path, "dG9vIHNob3J0\n").unwrap();
    assert!(seal(Some(&path), random).contains("32 bytes"));
}
