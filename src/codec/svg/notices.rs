//! What a document says of its author and its rights: in metadata as editors write it, and in comments.

use crate::picture::{comment_of, notice_in, notices_in_rdf};

/// How many notices are kept, and of how many characters at most.
const MOST: usize = 8;
const LONGEST: usize = 2000;

/// Keyword and text of each, in the order that they are written in again.
pub(crate) fn notices(text: &str) -> Vec<(String, String)> {
    let metadata = text.split_once("<metadata").and_then(|(_, behind)| behind.split_once("</metadata"));
    let described = metadata.map(|(rdf, _)| notices_in_rdf(rdf)).unwrap_or_default();
    let comments = text.split("<!--").skip(1).filter_map(|comment| comment.split_once("-->"));
    // Comments that tools should keep begin with an exclamation mark.
    let stated = comments.filter_map(|(comment, _)| notice_in(comment.trim().trim_start_matches('!').trim()));
    let mut notices = Vec::new();
    for (keyword, text) in described.into_iter().chain(stated) {
        let notice = (keyword, text.split_whitespace().collect::<Vec<_>>().join(" "));
        if notices.len() < MOST && notice.1.chars().count() <= LONGEST && !notices.contains(&notice) {
            notices.push(notice);
        }
    }
    notices
}

/// `text` with `notices` in comments behind it, from which [`notices`] reads them again.
pub(crate) fn with_notices(mut text: Vec<u8>, notices: &[(String, String)]) -> Vec<u8> {
    for comment in notices.iter().map(comment_of) {
        // Two dashes end a comment.
        let mut comment = comment.replace("--", "- -").replace("--", "- -");
        comment.extend(comment.ends_with('-').then_some(' '));
        text.extend_from_slice(format!("<!--{comment}-->").as_bytes());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> String {
        String::from_utf8(with_notices(b"<svg/>".to_vec(), &notices(text))).unwrap()
    }

    #[test]
    fn rights_are_read_from_metadata_and_comments_and_written_as_comments() {
        let work = |inner: &str| {
            format!("<svg><metadata id=\"m\"><rdf:RDF><cc:Work>{inner}</cc:Work></rdf:RDF></metadata></svg>")
        };
        let agent = "<dc:creator>\n<cc:Agent><dc:title>Jane &amp; Jo</dc:title></cc:Agent></dc:creator>";
        let licence = "<cc:license rdf:resource=\"http://creativecommons.org/licenses/by/4.0/\"/>";
        let rights = "<dc:rights><cc:Agent><dc:title>(c) 2020 J</dc:title></cc:Agent></dc:rights>";
        let cases = [
            (work(agent), "<svg/><!--Author: Jane & Jo-->"),
            (work(&licence.replace("licenses/by/4.0", "publicdomain/zero/1.0")), "<svg/>"),
            (work(licence), "<svg/><!--Copyright: http://creativecommons.org/licenses/by/4.0/-->"),
            (work(&[licence, rights].concat()), "<svg/><!--(c) 2020 J; http://creativecommons.org/licenses/by/4.0/-->"),
            (work("<dc:title>A</dc:title><dc:creator><cc:Agent><dc:title/></cc:Agent></dc:creator>"), "<svg/>"),
            (
                "<svg><!--! Copyright 2023\n  F, Inc. --><!-- nothing --></svg>".into(),
                "<svg/><!--Copyright 2023 F, Inc.-->",
            ),
            ("<!-- Author: a----b- --><svg/>".into(), "<svg/><!--Author: a- - - -b- -->"),
            ("<svg><!-- (c) not closed </svg>".into(), "<svg/>"),
        ];
        for (text, expected) in cases {
            assert_eq!(written(&text), expected, "{text}");
            assert_eq!(written(expected), expected, "the same from what was written");
        }
    }

    #[test]
    fn only_so_many_and_so_long_ones_are_kept() {
        let many: String = (0..100).map(|year| format!("<!--(c) {year}-->")).collect();
        assert_eq!(notices(&many).len(), MOST);
        assert!(notices(&format!("<!--(c) {}-->", "x".repeat(LONGEST))).is_empty());
    }
}
