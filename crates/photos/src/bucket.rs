//! A bucket of a service with the interface of Amazon S3, with the files of photos.

use std::{
    fmt,
    io::{self, ErrorKind},
    time::Duration,
};

use bytes::Bytes;
use futures_util::{TryStreamExt, future::try_join_all};
use object_store::{
    ClientConfigKey, GetOptions, ObjectStore, ObjectStoreExt, RetryConfig,
    aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey},
    path::Path,
};
use petstore_domain::store_area::{PhotoFile, PhotoId};
use url::Url;

use super::{
    bucket_client::Connector,
    files::{LIMIT, OWNERS, Piece, ShardFiles, first_byte},
};

/// How often a request is repeated after a failure that may pass.
const RETRIES: usize = 2;

/// See the module.
#[derive(Debug)]
pub struct Bucket {
    /// As the operator wrote it.
    url: Url,
    client: AmazonS3,
    /// The first part of the names of all its objects.
    prefix: Path,
}

impl Bucket {
    /// Returns the bucket of the URL `s3://BUCKET/PREFIX`, with the settings in those of these
    /// variables that begin with `AWS_`. Each request gets its response within `limit`. The error
    /// is a sentence for the operator.
    pub fn new(
        url: &Url,
        variables: impl IntoIterator<Item = (String, String)>,
        limit: Duration,
    ) -> Result<Self, String> {
        let bucket = url.host_str().filter(|bucket| !bucket.is_empty());
        let bucket = bucket.ok_or("the URL names no bucket; write s3://BUCKET/PREFIX")?;
        if url.query().or(url.fragment()).is_some()
            || url.port().is_some()
            || !url.username().is_empty()
        {
            return Err(
                "only a bucket and a prefix are allowed; write s3://BUCKET/PREFIX".to_owned(),
            );
        }
        let prefix = Path::from_url_path(url.path().trim_end_matches('/'))
            .map_err(|error| format!("the prefix is not allowed: {error}"))?;
        let media_type = AmazonS3ConfigKey::Client(ClientConfigKey::DefaultContentType);
        let retry = RetryConfig {
            max_retries: RETRIES,
            retry_timeout: LIMIT / 2,
            ..RetryConfig::default()
        };
        let mut client = AmazonS3Builder::new().with_config(media_type, "image/jpeg");
        for (name, value) in variables {
            // Those that the client does not know are for other programs.
            if name.starts_with("AWS_")
                && !value.is_empty()
                && let Ok(setting) = name.to_ascii_lowercase().parse()
            {
                let is_http = |url: Url| matches!(url.scheme(), "http" | "https");
                if matches!(
                    setting,
                    AmazonS3ConfigKey::Endpoint | AmazonS3ConfigKey::S3Endpoint
                ) && !Url::parse(&value).is_ok_and(is_http)
                {
                    let example = "http://127.0.0.1:9000";
                    return Err(format!(
                        "{name} must be a URL such as {example}, but was {value}"
                    ));
                }
                client = client.with_config(setting, value);
            }
        }
        let client = client
            .with_bucket_name(bucket)
            .with_http_connector(Connector(limit))
            .with_retry(retry)
            // Some services do not have it, and a photo has few files.
            .with_disable_bulk_delete(true)
            .build()
            .map_err(|error| error.to_string())?;
        Ok(Self {
            url: url.clone(),
            client,
            prefix,
        })
    }

    /// Writes an object and deletes it, to know whether the bucket is there and allows this. An error
    /// whose kind is not [`ErrorKind::Other`] does not pass by itself.
    pub(super) async fn probe(&self) -> io::Result<()> {
        use object_store::Error::{PermissionDenied, Unauthenticated};
        let object = self.prefix.clone().join("probe");
        let probed = async {
            self.client.put(&object, Bytes::new().into()).await?;
            self.client.delete(&object).await
        };
        probed.await.map_err(|error| match error {
            PermissionDenied { .. } | Unauthenticated { .. } => {
                io::Error::new(ErrorKind::PermissionDenied, error)
            }
            error => error.into(),
        })
    }

    /// Leaves the mark of a database.
    pub(super) async fn mark(&self, owner: &str) -> io::Result<()> {
        let mark = self.owners().join(owner);
        Ok(self
            .client
            .put(&mark, Bytes::new().into())
            .await
            .map(drop)?)
    }

    /// Returns the names of all marks.
    pub(super) async fn marks(&self) -> io::Result<Vec<String>> {
        let marks = self.client.list(Some(&self.owners()));
        let names = marks.map_ok(|mark| mark.location.filename().unwrap_or_default().to_owned());
        Ok(names.try_collect().await?)
    }

    /// Writes files. When this returns, the bucket has acknowledged all, and has given each back as it was sent, because
    /// it can acknowledge what it does not keep, or keep other bytes.
    pub(super) async fn write(&self, files: Vec<(PhotoFile, Bytes)>) -> io::Result<()> {
        let written = files.into_iter().map(|(file, content)| async move {
            let path = self.of(file);
            self.client.put(&path, content.clone().into()).await?;
            let kept = self.client.get(&path).await?.bytes().await?;
            check_kept(&file.name(), &content, &kept)
        });
        try_join_all(written).await.map(drop)
    }

    /// See [`super::Place::read_piece`]. Each piece is a request, so that a client that reads slowly holds
    /// no connection to the bucket.
    pub(super) async fn read(
        &self,
        file: PhotoFile,
        at: u64,
        most: usize,
    ) -> io::Result<Option<Piece>> {
        let range = (most < usize::MAX).then(|| at..at + most as u64);
        let options = GetOptions::new().with_range(range);
        let found = match self.client.get_opts(&self.of(file), options).await {
            Err(object_store::Error::NotFound { .. }) => return Ok(None),
            found => found?,
        };
        let of = found.meta.size;
        Ok(Some((found.bytes().await?.into(), of)))
    }

    pub(super) async fn length(&self, file: PhotoFile) -> io::Result<Option<u64>> {
        match self.client.head(&self.of(file)).await {
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            found => Ok(Some(found?.size)),
        }
    }

    /// See [`super::Place::list`].
    pub(super) async fn list(&self, shard: u8) -> io::Result<ShardFiles> {
        let mut found = ShardFiles::default();
        let mut objects = self.client.list(Some(&self.shard(shard)));
        while let Some(object) = objects.try_next().await? {
            found.note(
                shard,
                object.location.filename().unwrap_or_default(),
                object.size,
            );
        }
        Ok(found)
    }

    pub(super) async fn delete(&self, id: PhotoId) -> io::Result<()> {
        for file in PhotoFile::all(id) {
            match self.client.delete(&self.of(file)).await {
                Err(object_store::Error::NotFound { .. }) => {}
                deleted => deleted?,
            }
        }
        Ok(())
    }

    /// Returns the client for other objects of the bucket, and the first part of their names.
    pub fn objects(&self) -> (&AmazonS3, &Path) {
        (&self.client, &self.prefix)
    }

    fn owners(&self) -> Path {
        self.prefix.clone().join(OWNERS)
    }

    fn shard(&self, byte: u8) -> Path {
        self.prefix.clone().join(format!("{byte:02x}"))
    }

    fn of(&self, file: PhotoFile) -> Path {
        self.shard(first_byte(file.id)).join(file.name())
    }
}

/// Checks that a bucket has kept the content of a file.
fn check_kept(name: &str, content: &Bytes, kept: &Bytes) -> io::Result<()> {
    let length = content.len();
    if kept.len() != length {
        let kept_length = kept.len();
        return Err(io::Error::other(format!(
            "the bucket has {kept_length} of {length} bytes of {name}"
        )));
    }
    if kept != content {
        return Err(io::Error::other(format!(
            "the bucket has changed bytes of {name}"
        )));
    }
    Ok(())
}

impl fmt::Display for Bucket {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.url.fmt(formatter)
    }
}
