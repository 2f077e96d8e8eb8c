//! The route table of the window: one line for each page and file.

use petstore_web::edge::routes;

/// Declares the enum `Page` and the route table `PAGES` from the same list, so that they cannot
/// diverge.
///
/// Example: `robots "/robots.txt";` expands to the variant `Page::robots` and to the table entry
/// `robots GET "/robots.txt" Page::robots;`.
macro_rules! pages {
    ($($page:ident $path:literal;)*) => {
        /// A page or file of the window. The variants are spelled like the routes in metrics and logs.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[expect(non_camel_case_types, reason = "the names are those in metrics and logs")]
        pub enum Page {
            $($page,)*
        }

        routes! {
            /// The routes of all pages and files.
            pub(super) static PAGES: Page = Window "window.";
            $($page GET $path Page::$page;)*
        }
    };
}

pages! {
    list        "/";
    animal      "/animals/{id}";
    embed       "/embed";
    json        "/animals.json";
    csv         "/animals.csv";
    atom        "/animals.atom";
    sitemap     "/sitemap.xml";
    sitemapPart "/sitemap-{before}.xml";
    robots      "/robots.txt";
    photo       "/photos/{file}";
    asset       "/assets/{name}";
    favicon     "/favicon.ico";
    touchIcon   "/apple-touch-icon.png";
}

impl Page {
    /// Whether the page has the parameter `limit`, with which a request chooses the number of
    /// animals.
    pub(super) fn takes_limit(self) -> bool {
        matches!(self, Self::embed | Self::json)
    }
}
