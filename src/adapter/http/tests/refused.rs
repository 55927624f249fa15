//! Addresses that are refused when they are dialled.

use super::{
    super::{Egress, Guard, Options, Proxy},
    *,
};

const NOT_PUBLIC: &str = "leads to no address on the public internet";

#[tokio::test(start_paused = true)]
async fn a_name_that_leads_anywhere_private_is_refused_and_nothing_is_dialled() {
    for answer in [
        &["10.0.0.1"] as &[&str],
        &["127.0.0.1"],
        &["192.168.1.1"],
        &["100.64.0.1"],
        &["169.254.169.254"],
        &["0.0.0.0"],
        &["::1"],
        &["fd00::1"],
        &["fe80::1"],
        &["::ffff:10.0.0.1"],
        &["64:ff9b::a9fe:a9fe"],
        &["2002:7f00:1::"],
        &["1.1.1.1", "10.0.0.1"],
        &["10.0.0.1", "1.1.1.1"],
        &["2606:4700::1", "::1"],
        &[],
    ] {
        let web = Web::new().site("a.com", "1.1.1.1:80", Site::ok("x")).name("a.com", &[answer]);
        let failure = failure(&web.http(), "http://a.com/").await;
        assert_eq!((failure.message, failure.may_pass), (format!("a.com {NOT_PUBLIC}"), true), "{answer:?}");
        assert_eq!(web.dialled(), [], "{answer:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn one_bad_address_among_a_thousand_refuses_the_name() {
    let mut answer = vec!["1.1.1.1"; 999];
    let web = |answer: &[&str]| Web::new().site("a.com", "1.1.1.1:80", Site::ok("x")).name("a.com", &[answer]);
    assert!(fetch(&web(&answer).http(), "http://a.com/").await.is_ok());
    answer.push("10.0.0.1");
    assert_eq!(failure(&web(&answer).http(), "http://a.com/").await.message, format!("a.com {NOT_PUBLIC}"));
}

#[tokio::test(start_paused = true)]
async fn a_name_that_leads_nowhere_reads_like_one_that_leads_inside() {
    let failure = failure(&Web::new().http(), "http://db.a.com/").await;
    assert_eq!((failure.message, failure.may_pass), (format!("db.a.com {NOT_PUBLIC}"), true));
}

#[tokio::test(start_paused = true)]
async fn a_name_that_turns_private_after_the_first_look_is_refused_at_the_second() {
    let web = Web::new()
        .site("a.com", "1.1.1.1:80", Site::paths([("/1", Site::to("/2")), ("/2", Site::ok("x"))]))
        .name("a.com", &[&["1.1.1.1"], &["127.0.0.1"]]);
    assert_eq!(failure(&web.http(), "http://a.com/1").await.message, format!("a.com {NOT_PUBLIC}"));
    assert_eq!(web.dialled().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_is_looked_up_once_is_what_is_dialled() {
    let web = Web::new().site("a.com", "1.1.1.1:80", Site::ok("x")).name("a.com", &[&["1.1.1.1"], &["127.0.0.1"]]);
    assert!(fetch(&web.http(), "http://a.com/").await.is_ok());
    assert_eq!(web.dialled(), [("1.1.1.1:80".parse().unwrap(), None)]);
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_ends_elsewhere_is_not_spoken_on() {
    let web = Web::new().site("a.com", "1.1.1.1:80", Site::ok("x")).peer("1.1.1.1:80", "127.0.0.1:80");
    assert_eq!(failure(&web.http(), "http://a.com/").await.message, format!("a.com {NOT_PUBLIC}"));
    assert_eq!(web.asked(), [""; 0]);
    let mapped = Web::new().site("a.com", "1.1.1.1:80", Site::ok("x")).peer("1.1.1.1:80", "[::ffff:1.1.1.1]:80");
    assert!(fetch(&mapped.http(), "http://a.com/").await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn literal_addresses_are_judged_without_a_resolver() {
    let web = Web::new().site("x", "127.0.0.1:80", Site::ok("x")).site("y", "1.1.1.1:80", Site::ok("x"));
    for url in ["http://127.0.0.1/", "http://2130706433/", "http://[::ffff:127.0.0.1]/", "http://[::1]/"] {
        failure(&web.http(), url).await;
    }
    assert_eq!(web.dialled(), []);
    for url in ["http://1.1.1.1/", "http://16843009/", "http://[::ffff:1.1.1.1]/"] {
        assert!(fetch(&web.http(), url).await.is_ok(), "{url}");
    }
    assert!(web.dialled().iter().all(|(to, _)| to.to_string() == "1.1.1.1:80"));
}

#[tokio::test(start_paused = true)]
async fn redirects_to_every_refused_kind_are_refused() {
    for location in [
        "http://127.0.0.1/",
        "http://2130706433/",
        "http://[::1]/",
        "http://169.254.169.254/latest/meta-data/",
        "http://localhost/",
        "http://private.com/",
        "http://metadata.google.internal/",
        "http://a.com:22/",
        "//127.0.0.1/",
        "file:///etc/passwd",
        "gopher://a.com/",
        "data:,x",
        "/a b",
        "/\\127.0.0.1/",
        "http://",
        "http://u:p@10.0.0.1/",
    ] {
        let web = Web::new().site("a.com", "1.1.1.1:80", Site::to(location)).name("private.com", &[&["10.0.0.1"]]);
        let failure = failure(&web.http(), "http://a.com/").await;
        assert_eq!(failure.may_pass, location == "http://private.com/", "{location}: {failure}");
        assert!(!failure.message.contains("10.0.0.1:"), "{location}: {failure}");
        assert_eq!(web.dialled().len(), 1, "{location}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_open_place_is_spoken_to_and_its_neighbours_are_not() {
    let web = Web::new().site("minio", "10.0.0.9:9000", Site::ok("x")).site("b", "127.0.0.1:9000", Site::ok("x"));
    let guard = Guard::default().open("minio:9000".parse().unwrap()).open("127.0.0.1:9000".parse().unwrap());
    let http = Http::new(Options { guard, ..web.options() }).unwrap();
    assert!(fetch(&http, "http://minio:9000/").await.is_ok());
    assert!(fetch(&http, "http://127.0.0.1:9000/").await.is_ok());
    for url in ["http://10.0.0.9:9000/", "http://b:9000/", "http://127.0.0.1/"] {
        failure(&http, url).await;
    }
}

#[tokio::test(start_paused = true)]
async fn connections_leave_from_the_local_address_of_their_family() {
    let both = &["2606:4700::1", "1.1.1.1"] as &[&str];
    let web = || Web::new().site("a.com", "1.1.1.1:80", Site::ok("x")).name("a.com", &[both]);
    let v4 = Egress { v4: Some([9, 9, 9, 9].into()), ..Egress::default() };
    let only_v4 = web();
    fetch(&Http::new(Options { egress: v4, ..only_v4.options() }).unwrap(), "http://a.com/").await.unwrap();
    assert_eq!(only_v4.dialled(), [("1.1.1.1:80".parse().unwrap(), Some([9, 9, 9, 9].into()))]);
    let v6 = Egress { v6: Some("2606::9".parse().unwrap()), ..Egress::default() };
    let only_v6 = web();
    let http = Http::new(Options { egress: v6, ..only_v6.options() }).unwrap();
    assert_eq!(failure(&http, "http://a.com/").await.message, "no connection to a.com");
    assert_eq!(only_v6.dialled(), [("[2606:4700::1]:80".parse().unwrap(), Some("2606::9".parse().unwrap()))]);
}

#[tokio::test(start_paused = true)]
async fn the_next_address_is_dialled_when_one_refuses_or_stays_silent() {
    let answer = &["2606:4700::1", "2606:4700::2", "1.1.1.1"] as &[&str];
    let web =
        Web::new().site("a.com", "1.1.1.1:80", Site::ok("x")).black_hole("[2606:4700::1]:80").name("a.com", &[answer]);
    assert!(fetch(&web.http(), "http://a.com/").await.is_ok());
    let nobody = Web::new().name("a.com", &[answer]).black_hole("[2606:4700::1]:80");
    let failure = failure(&nobody.http(), "http://a.com/").await;
    assert_eq!((failure.message.as_str(), failure.may_pass), ("no connection to a.com", true));
    assert_eq!(nobody.dialled().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_proxy_is_given_addresses_that_were_judged_here() {
    let tunnel = Site::Tunnel("HTTP/1.1 200 Fine\r\nvia: x\r\n\r\n".into(), Box::new(Site::ok("x")));
    let web = |site: Site| {
        Web::new().site("proxy", "10.0.0.1:3128", site).name("a.com", &[&["1.1.1.1"]]).name("b.com", &[&["10.0.0.2"]])
    };
    let proxy = Proxy { host: "proxy".into(), port: 3128, authorization: Some("Basic eA==".into()), resolves: false };
    let http = |web: &Web, proxy: Proxy| {
        let egress = Egress { proxy: Some(proxy), ..Egress::default() };
        Http::new(Options { egress, ..web.options() }).unwrap()
    };
    let judged = web(tunnel.clone());
    assert_eq!(fetch(&http(&judged, proxy.clone()), "http://a.com/").await.unwrap().bytes, b"x");
    let ask = "CONNECT 1.1.1.1:80 HTTP/1.1\r\nHost: 1.1.1.1:80\r\nProxy-Authorization: Basic eA==\r\n\r\n";
    assert_eq!(judged.asked()[0], ask);
    assert_eq!(failure(&http(&judged, proxy.clone()), "http://b.com/").await.message, format!("b.com {NOT_PUBLIC}"));
    assert_eq!(judged.dialled(), [("10.0.0.1:3128".parse().unwrap(), None)]);
    let named = web(tunnel);
    fetch(&http(&named, Proxy { resolves: true, ..proxy.clone() }), "http://b.com/").await.unwrap();
    assert!(named.asked()[0].starts_with("CONNECT b.com:80 HTTP/1.1\r\n"), "{:?}", named.asked());
    failure(&http(&named, Proxy { resolves: true, ..proxy.clone() }), "http://127.0.0.1/").await;
    let refused = web(Site::raw("HTTP/1.1 403 No\r\n\r\n"));
    assert_eq!(failure(&http(&refused, proxy), "http://a.com/").await.message, "no connection to a.com");
}

#[tokio::test(start_paused = true)]
async fn a_proxy_is_given_the_next_address_where_it_does_not_reach_one() {
    for (status, asked) in [(502, &["[2606:4700::1]:80", "1.1.1.1:80"][..]), (407, &["[2606:4700::1]:80"])] {
        let refused = format!("HTTP/1.1 {status} No\r\n\r\n").into();
        let web = Web::new()
            .site("proxy", "10.0.0.1:3128", Site::Tunnel(refused, Box::new(Site::ok("x"))))
            .name("a.com", &[&["2606:4700::1", "1.1.1.1"]]);
        let proxy = Proxy { host: "proxy".into(), port: 3128, authorization: None, resolves: false };
        let egress = Egress { proxy: Some(proxy), ..Egress::default() };
        let http = Http::new(Options { egress, ..web.options() }).unwrap();
        assert_eq!(failure(&http, "http://a.com/").await.message, "no connection to a.com");
        let all = web.asked();
        let authorities: Vec<_> = all.iter().filter_map(|ask| ask.split(' ').nth(1)).collect();
        assert_eq!(authorities, asked);
    }
}
