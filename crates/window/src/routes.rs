//! The route table of the window: every page and file, one line each.

use petstore_web::edge::routes;

/// Declares the table, and the enum `Page` with a variant for each line, so that no page can lack a variant.
///
/// Example: `robots "/robots.txt";` becomes the variant `Page::robots`, and the line
/// `robots GET "/robots.txt" Page::robots;` of the table.
macro_rules! pages {
    ($($page:ident $path:literal;)*) => {
        /// A page or file. `Window::respond` calls the function of each.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[expect(non_camel_case_types, reason = "the names are those in metrics and logs")]
        pub enum Page {
            $($page,)*
        }

        routes! {
            /// All pages and files.
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
