use super::*;

#[test]
fn sheets_that_depend_on_the_viewer_stay_with_their_classes() {
    let sheet = "<style>.a{fill:red}@media (prefers-color-scheme:dark){.a{fill:blue}}</style><path class=\"a\" d=\"M0 0h9v9z\"/>";
    let text = optimised(sheet);
    assert!(
        text.contains("@media (prefers-color-scheme:dark){.a{fill:blue}}") && text.contains("class=\"a\""),
        "{text}"
    );
}

#[test]
fn what_no_rule_at_times_may_change_is_folded_and_optimised_beside_the_sheet() {
    let sheet = ".a{fill:red}#keep:hover{fill:blue}@font-face{font-family:x;src:url(data:font/woff2;base64,AAAA)}";
    let gradient = "<linearGradient id=\"long\"><stop/></linearGradient>";
    let text = optimised(&format!(
        "<style>{sheet}.b{{fill:#00ff00}}</style>{gradient}<g><path id=\"keep\" class=\"a\" d=\"M0 0h9v9z\"/></g>\
         <g><path class=\"b\" d=\"M20 0h9v9z\"/></g><path fill=\"url(#long)\" d=\"M40 0h9v9z\"/>"
    ));
    let gradient = gradient.replace("long", "a");
    assert_eq!(
        text,
        format!(
            "<style>{sheet}</style>{gradient}<path id=\"keep\" class=\"a\" d=\"m0 0h9v9\"/>\
             <path fill=\"#0f0\" d=\"m20 0h9v9\"/><path fill=\"url(#a)\" d=\"m40 0h9v9\"/>"
        )
    );
}

#[test]
fn rules_stay_with_those_at_times_that_they_rank_with() {
    let path = |class: &str| format!("<path class=\"{class}\"/>");
    let styled = |sheet: &str, classes: [&str; 2]| {
        ruled("styles", &format!("<svg><style>{sheet}</style>{}</svg>", classes.map(path).concat()))
    };
    // By way of an element that both are for, and then of one for the second and a third.
    let chain = ".a:hover{fill:red}.b{fill:blue}.c{fill:lime}";
    assert!(styled(chain, ["a b", "b c"]).contains(chain));
    assert!(styled(chain, ["a b", "c"]).ends_with("<path fill=\"lime\"/></svg>"));
    for whole in [".a:hover{fill:red}.b{mix-blend-mode:screen}", ".a:hover{fill:red}.b{fill:red!important}"] {
        assert!(styled(whole, ["a", "b"]).contains(whole), "{whole}");
    }
    let inline = "<svg><style>.a:hover{fill:red}</style><path class=\"a\" style=\"fill:blue\"/></svg>";
    assert_eq!(ruled("styles", inline), inline);
}

#[test]
fn no_element_becomes_one_of_those_that_a_sheet_asks_for() {
    let rects = "<rect transform=\"translate(1 2)\" width=\"9\" height=\"8\"/>".repeat(4);
    let beside = |selector: &str| {
        let inner = format!(
            "<style>{selector}:hover{{fill:red}}</style><g><circle class=\"a\" r=\"1\"/></g><path d=\"M0 0v1h1\"/>{rects}"
        );
        optimised_to(Goal::Smart(Preset::Medium), [90, 9], &inner)
    };
    let (paths, groups) = (beside("path"), beside("g .a"));
    assert!(paths.contains("<rect") && paths.contains("<g "), "{paths}");
    assert!(!groups.contains("<rect") && groups.contains("<g>") && !groups.contains("<g "), "{groups}");
}

#[test]
fn sheets_stay_with_their_classes_where_html_may_need_them() {
    let text = optimised(
        "<style>.l{color:red;font-size:20px}</style><foreignObject width=\"90\" height=\"9\"><div xmlns=\"http://www.w3.org/1999/xhtml\" class=\"l\">x</div></foreignObject>",
    );
    assert!(text.contains(".l{color:red;font-size:20px}") && text.contains("class=\"l\""), "{text}");
}

#[test]
fn classes_that_no_sheet_names_go() {
    let left = |sheet: &str| {
        optimised(&format!(
            "<style>{sheet}</style><path class=\"a b\" d=\"M0 0h9v9z\"/><path class=\"c\" d=\"M20 0h9v9z\"/>"
        ))
    };
    let text = left(".a:hover{fill:red}.b-c:hover{fill:blue}");
    assert!(text.contains("class=\"a\"") && text.matches("class").count() == 1, "{text}");
    for sheet in [".a:hover,.\\63:hover{fill:red}", "[class=c]:hover{fill:red}"] {
        let text = left(sheet);
        assert!(text.contains("class=\"a b\"") && text.contains("class=\"c\""), "{text}");
    }
}

#[test]
fn sheets_stay_where_a_copy_is_out_of_reach_of_what_they_say() {
    let copied = |sheet: &str| {
        let inner = format!(
            "<style>{sheet}</style><g><path id=\"z\" class=\"p\" d=\"M0 0h5v9z\"/></g><use href=\"#z\" x=\"50\"/>"
        );
        optimised(&inner)
    };
    assert!(copied("g .p{fill:blue}").contains("g .p{"), "{}", copied("g .p{fill:blue}"));
    assert!(!copied(".p{fill:blue}").contains("style"), "{}", copied(".p{fill:blue}"));
}
