//! Encrypts the secrets in the database with a key that is stored in a file.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use parking_lot::Mutex;
use petstore_system::owner::FileOwner;
use rand::Rng;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use tempfile::NamedTempFile;
use tracing::info;

/// The first byte of an encrypted secret, which identifies its format.
const FORMAT_VERSION: u8 = 1;

/// The length of a key of ChaCha20-Poly1305 in bytes (RFC 8439, section 2.8).
const VAULT_KEY_LENGTH: usize = 32;

/// Encrypts and decrypts secrets with the key from a file outside of the database, so that the
/// database and its backups do not reveal the secrets.
///
/// An encrypted secret is the format version, the nonce, and the ciphertext with its tag.
pub struct Vault {
    /// The path of the key file, if one is configured.
    path: Option<PathBuf>,
    /// The owner to set on a key file that this process creates.
    owner: Option<FileOwner>,
    /// The key. It is `None` until the file is read for the first time.
    key: Mutex<Option<LessSafeKey>>,
}

/// A reason why a secret cannot be encrypted or decrypted. No message contains a secret.
#[expect(missing_docs, reason = "the messages describe the variants")]
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
    /// The ciphertext does not match the key: the key is a different one, or the database was
    /// changed by hand.
    #[error("the secret was encrypted with another key file, or changed")]
    OtherKey,
}

impl Vault {
    /// Returns a vault that reads its key from the file at `path`, on first use. `owner` gets the
    /// file if this process creates it.
    pub fn new(path: Option<PathBuf>, owner: Option<FileOwner>) -> Self {
        Self {
            path,
            owner,
            key: Mutex::default(),
        }
    }

    /// Returns the path of the key file, if one is configured.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Returns a vault with this key, which needs no file.
    pub fn with_key(key: [u8; VAULT_KEY_LENGTH]) -> Self {
        // A key of this length is always valid.
        let unbound_key = UnboundKey::new(&CHACHA20_POLY1305, &key).ok();
        Self {
            path: None,
            owner: None,
            key: Mutex::new(unbound_key.map(LessSafeKey::new)),
        }
    }

    /// Encrypts `secret` for `subject`, such as `webhook 7`. Creates the key file if it does not
    /// exist and `may_create_key_file` is set.
    ///
    /// The secret can be decrypted only for the same subject, so nobody can move an encrypted
    /// secret to another row.
    pub fn seal(
        &self,
        subject: &str,
        secret: &[u8],
        may_create_key_file: bool,
        random: &mut impl Rng,
    ) -> Result<Vec<u8>, VaultError> {
        let nonce: [u8; NONCE_LEN] = random_bytes(random);
        let new_key = may_create_key_file.then(|| random_bytes(random));
        self.with_loaded_key(new_key, |key| {
            let mut ciphertext = secret.to_vec();
            let unique_nonce = Nonce::assume_unique_for_key(nonce);
            // This fails only for a secret of many gigabytes, so which error is returned does not
            // matter.
            key.seal_in_place_append_tag(unique_nonce, Aad::from(subject), &mut ciphertext)
                .map_err(|_too_long| VaultError::OtherKey)?;
            Ok([&[FORMAT_VERSION][..], &nonce, &ciphertext].concat())
        })
    }

    /// Whether these bytes are an encrypted secret. Otherwise, they are a text, which never begins
    /// with the version byte.
    pub(crate) fn is_sealed(bytes: &[u8]) -> bool {
        bytes.first() == Some(&FORMAT_VERSION)
    }

    /// Decrypts a secret that was encrypted for `subject`.
    pub fn open(&self, subject: &str, sealed: &[u8]) -> Result<Vec<u8>, VaultError> {
        let (nonce, ciphertext) = sealed
            .strip_prefix(&[FORMAT_VERSION])
            .and_then(|bytes| bytes.split_first_chunk::<NONCE_LEN>())
            .ok_or(VaultError::OtherKey)?;
        // The secret was encrypted with the key of the file, so the file must exist.
        let new_key = None;
        self.with_loaded_key(new_key, |key| {
            let nonce = Nonce::assume_unique_for_key(*nonce);
            let mut buffer = ciphertext.to_vec();
            let secret = key
                .open_in_place(nonce, Aad::from(subject), &mut buffer)
                .map_err(|_| VaultError::OtherKey)?;
            Ok(secret.to_vec())
        })
    }

    /// Calls `work` with the key. On first use, loads the key with [`Self::read_or_create_key`].
    fn with_loaded_key<T>(
        &self,
        new_key: Option<[u8; VAULT_KEY_LENGTH]>,
        work: impl FnOnce(&LessSafeKey) -> Result<T, VaultError>,
    ) -> Result<T, VaultError> {
        let mut loaded_key = self.key.lock();
        if let Some(key) = &*loaded_key {
            return work(key);
        }
        let bytes = self.read_or_create_key(new_key)?;
        // A key of this length is always valid.
        let unbound_key =
            UnboundKey::new(&CHACHA20_POLY1305, &bytes).map_err(|_| VaultError::OtherKey)?;
        work(loaded_key.insert(LessSafeKey::new(unbound_key)))
    }

    /// Reads the key file. If it does not exist and a `new_key` is given, first creates it with
    /// this key.
    fn read_or_create_key(
        &self,
        new_key: Option<[u8; VAULT_KEY_LENGTH]>,
    ) -> Result<[u8; VAULT_KEY_LENGTH], VaultError> {
        let path = self.path.as_ref().ok_or(VaultError::NotSet)?;
        let path_text = || path.display().to_string();
        if let Some(new_key) = new_key
            && !path.exists()
        {
            self.write_key_file(path, new_key)
                .map_err(|error| VaultError::Io(path_text(), error))?;
            info!("made the key file {}; back it up", path_text());
        }

        let text = fs::read_to_string(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => VaultError::Absent(path_text()),
            _ => VaultError::Io(path_text(), error),
        })?;
        let Ok(bytes) = STANDARD.decode(text.trim()) else {
            return Err(VaultError::NotAKey(path_text()));
        };
        bytes
            .try_into()
            .map_err(|_other_length| VaultError::NotAKey(path_text()))
    }

    /// Creates the key file, unless another process has just created it.
    ///
    /// Writes a temporary file and renames it, so that no process reads an incomplete key.
    fn write_key_file(&self, path: &Path, key: [u8; VAULT_KEY_LENGTH]) -> io::Result<()> {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let mut draft = NamedTempFile::new_in(folder)?;
        writeln!(draft, "{}", STANDARD.encode(key))?;
        if let Some(owner) = self.owner {
            owner.chown(draft.as_file())?;
        }
        draft.as_file().sync_all()?;

        if let Err(failure) = draft.persist_noclobber(path)
            && failure.error.kind() != io::ErrorKind::AlreadyExists
        {
            return Err(failure.error);
        }
        // Sync the folder too, so that a power cut does not lose the name of the file.
        File::open(folder)?.sync_all()
    }
}

/// Returns `N` random bytes.
fn random_bytes<const N: usize>(random: &mut impl Rng) -> [u8; N] {
    let mut bytes = [0; N];
    random.fill_bytes(&mut bytes);
    bytes
}
