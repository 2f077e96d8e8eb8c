//! The route table of the window: every page and file, one line each.

use hyper::Method;

use crate::edge::{ApiError, Label, Pattern, Table};

/// Makes the table, and a [`Page`] for each line.
macro_rules! pages {
    ($($page:ident $path:literal;)*) => {
        /// Names a page or file. `Window::respond` calls the function of each.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[expect(non_camel_case_types, reason = "the names are those in metrics and logs")]
        pub(crate) enum Page {
            $($page,)*
        }

        /// All pages and files.
        pub(super) static PAGES: [Route; <[&str]>::len(&[$(stringify!($page)),*])] = [
            $(Route {
                page: Page::$page,
                label: Label {
                    table: Table::Window,
                    index: Page::$page as usize,
                    id: concat!("window.", stringify!($page)),
                    path: $path,
                },
                pattern: Pattern::of($path),
            },)*
        ];
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

/// A page or file.
pub(super) struct Route {
    pub(super) page: Page,
    pub(super) label: Label,
    pattern: Pattern,
}

/// Looks for the page at this path, and returns it with the parameter in the path. Fails with 404 for
/// an unknown path, 405 for a method that could write.
pub(super) fn find<'p>(
    method: &Method,
    path: &'p str,
) -> Result<(&'static Route, &'p str), ApiError> {
    let at_path = |route: &'static Route| Some((route, route.pattern.parameter_in(path)?));
    let found = PAGES.iter().find_map(at_path).ok_or_else(ApiError::no_such_path)?;
    if matches!(*method, Method::GET | Method::HEAD) {
        Ok(found)
    } else {
        Err(ApiError::method_not_allowed("GET, HEAD"))
    }
}
