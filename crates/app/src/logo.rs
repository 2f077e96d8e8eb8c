//! The logo of the store.

use std::time::Duration;

use bytes::Bytes;
use petstore_domain::store_area::Logo;
use petstore_store::StoreError;

use super::App;

/// How long the file of the logo is used without a look at the database.
const KEPT: Duration = Duration::from_mins(1);

impl App {
    /// The file of a logo: that of the store, or one that was replaced less than a day ago.
    pub async fn logo(&self, logo: Logo) -> Result<Option<Bytes>, StoreError> {
        let known = || self.known_logo.lock();
        let now = self.clock.instant();
        let found = known().clone().filter(|&(of, _, at)| of == logo && now < at + KEPT);
        if let Some((_, png, _)) = found {
            return Ok(Some(png));
        }
        let Some((png, is_present)) = self.store.logo(logo, self.clock.now()).await? else {
            return Ok(None);
        };
        let png = Bytes::from(png);
        if is_present {
            *known() = Some((logo, png.clone(), now));
        }
        Ok(Some(png))
    }
}
