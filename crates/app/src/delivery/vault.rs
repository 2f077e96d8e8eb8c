//! The file with the key that encrypts secrets in the database.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use parking_lot::Mutex;
use petstore_system::owner::Owner;
use rand::Rng;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use tempfile::NamedTempFile;
use tracing::info;

/// Tells the format of what is encrypted.
const VERSION: u8 = 1;

/// Encrypts secrets with the key in a file, so that the database and its backups do not show them.
pub struct Vault {
    /// `None` if no file was named.
    path: Option<PathBuf>,
    owner: Option<Owner>,
    /// Read once.
    key: Mutex<Option<LessSafeKey>>,
}

/// Why a secret cannot be encrypted or read. A message contains no secret.
#[derive(Debug, thiserror::Error)]
pub enum VaultError {
    #[error("webhooks need the key file of the service; name it with --secret-key-file")]
    NotSet,
    #[error(
        "the key file {0} does not exist, but the database has secrets that need it; copy it from \
         its backup or from the machine that made it. If it is lost, make another one \
         (head -c 32 /dev/urandom | base64) and rotate the secret of each webhook"
    )]
    Absent(String),
    #[error("cannot use the key file {0}")]
    Io(String, #[source] io::Error),
    #[error("the key file {0} must contain 32 bytes as Base64")]
    NotAKey(String),
    /// The key is another one, or the database was changed by hand.
    #[error("the secret was encrypted with another key file, or changed")]
    OtherKey,
}

impl Vault {
    /// With this file. If this process makes it, it belongs to `owner`.
    pub fn new(path: Option<PathBuf>, owner: Option<Owner>) -> Self {
        Self {
            path,
            owner,
            key: Mutex::default(),
        }
    }

    /// Returns the file.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Returns a vault with this key, without a file.
    pub fn with_key(key: [u8; 32]) -> Self {
        let unbound = UnboundKey::new(&CHACHA20_POLY1305, &key);
        let key = Mutex::new(unbound.ok().map(LessSafeKey::new));
        Self {
            path: None,
            owner: None,
            key,
        }
    }

    /// Encrypts `secret`. It can be read only for the same `subject`. Makes the file if there is
    /// none, and `may_make`.
    pub fn seal(
        &self,
        subject: &str,
        secret: &[u8],
        may_make: bool,
        random: &mut impl Rng,
    ) -> Result<Vec<u8>, VaultError> {
        let mut nonce = [0; NONCE_LEN];
        random.fill_bytes(&mut nonce);
        let mut fresh = [0; 32];
        random.fill_bytes(&mut fresh);
        self.use_key(may_make.then_some(fresh), |key| {
            let mut text = secret.to_vec();
            let unique = Nonce::assume_unique_for_key(nonce);
            key.seal_in_place_append_tag(unique, Aad::from(subject), &mut text)
                .map_err(|_| VaultError::OtherKey)?;
            Ok([&[VERSION][..], &nonce, &text].concat())
        })
    }

    /// Whether this was encrypted. No text begins like that.
    pub(crate) fn is_sealed(bytes: &[u8]) -> bool {
        bytes.first() == Some(&VERSION)
    }

    /// Reads what was encrypted for `subject`.
    pub fn open(&self, subject: &str, sealed: &[u8]) -> Result<Vec<u8>, VaultError> {
        let (nonce, text) = sealed
            .strip_prefix(&[VERSION])
            .and_then(|rest| rest.split_first_chunk::<NONCE_LEN>())
            .ok_or(VaultError::OtherKey)?;
        self.use_key(None, |key| {
            let nonce = Nonce::assume_unique_for_key(*nonce);
            let mut text = text.to_vec();
            let secret = key.open_in_place(nonce, Aad::from(subject), &mut text);
            secret
                .map(|secret| secret.to_vec())
                .map_err(|_| VaultError::OtherKey)
        })
    }

    fn use_key<T>(
        &self,
        fresh: Option<[u8; 32]>,
        work: impl FnOnce(&LessSafeKey) -> Result<T, VaultError>,
    ) -> Result<T, VaultError> {
        let mut key = self.key.lock();
        if let Some(key) = &*key {
            return work(key);
        }
        let bytes = self.load(fresh)?;
        let unbound = UnboundKey::new(&CHACHA20_POLY1305, &bytes);
        let loaded = LessSafeKey::new(unbound.map_err(|_| VaultError::OtherKey)?);
        work(key.insert(loaded))
    }

    /// Reads the file, after writing `fresh` into it if it does not exist.
    fn load(&self, fresh: Option<[u8; 32]>) -> Result<[u8; 32], VaultError> {
        let path = self.path.as_ref().ok_or(VaultError::NotSet)?;
        let shown = || path.display().to_string();
        let failed = |error| VaultError::Io(shown(), error);
        if let Some(fresh) = fresh.filter(|_| !path.exists()) {
            // Written completely under another name, because another process may read it, or make one.
            let folder = path
                .parent()
                .filter(|folder| !folder.as_os_str().is_empty());
            let folder = folder.unwrap_or(Path::new("."));
            let write = || {
                let mut draft = NamedTempFile::new_in(folder)?;
                writeln!(draft, "{}", STANDARD.encode(fresh))?;
                self.owner
                    .map_or(Ok(()), |owner| owner.give(draft.as_file()))?;
                draft.as_file().sync_all()?;
                match draft.persist_noclobber(path) {
                    Err(failed) if failed.error.kind() != io::ErrorKind::AlreadyExists => {
                        Err(failed.error)
                    }
                    _ => File::open(folder)?.sync_all(),
                }
            };
            write().map_err(failed)?;
            info!("made the key file {}; back it up", shown());
        }
        let text = match fs::read_to_string(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(VaultError::Absent(shown()));
            }
            read => read.map_err(failed)?,
        };
        let bytes = STANDARD
            .decode(text.trim())
            .ok()
            .and_then(|bytes| bytes.try_into().ok());
        bytes.ok_or_else(|| VaultError::NotAKey(shown()))
    }
}
