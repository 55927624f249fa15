//! Which addresses lead to the public internet, by IANA's registries of special-purpose addresses.
//!
//! Sources: <https://www.iana.org/assignments/iana-ipv4-special-registry>, `…/iana-ipv6-special-registry`,
//! `…/ipv6-address-space`, and what vendors document of the metadata services of their clouds.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// How far an address reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// The internet.
    Public,
    /// This machine or a private network, which a host may open.
    Private,
    /// Nothing that a client could mean: link-local, multicast, reserved, documentation, tunnels, metadata of clouds.
    Never,
}

use Reach::{Never, Private, Public};

/// Exceptions before the block that they lie in.
const V4: &[(Ipv4Addr, u32, Reach)] = &[
    (Ipv4Addr::new(168, 63, 129, 16), 32, Never),   // Azure's host
    (Ipv4Addr::new(100, 100, 100, 200), 32, Never), // Alibaba's metadata
    (Ipv4Addr::new(0, 0, 0, 0), 8, Never),          // this network
    (Ipv4Addr::new(10, 0, 0, 0), 8, Private),
    (Ipv4Addr::new(100, 64, 0, 0), 10, Private), // carriers' NAT
    (Ipv4Addr::new(127, 0, 0, 0), 8, Private),
    (Ipv4Addr::new(169, 254, 0, 0), 16, Never), // link-local, with most clouds' metadata
    (Ipv4Addr::new(172, 16, 0, 0), 12, Private),
    (Ipv4Addr::new(192, 0, 0, 0), 24, Never), // protocol assignments, Oracle's metadata
    (Ipv4Addr::new(192, 0, 2, 0), 24, Never), // documentation
    (Ipv4Addr::new(192, 88, 99, 0), 24, Never), // relays of 6to4
    (Ipv4Addr::new(192, 168, 0, 0), 16, Private),
    (Ipv4Addr::new(198, 18, 0, 0), 15, Never),   // benchmarks
    (Ipv4Addr::new(198, 51, 100, 0), 24, Never), // documentation
    (Ipv4Addr::new(203, 0, 113, 0), 24, Never),  // documentation
    (Ipv4Addr::new(224, 0, 0, 0), 4, Never),     // multicast
    (Ipv4Addr::new(240, 0, 0, 0), 4, Never),     // reserved, broadcast
];

/// Exceptions before the block that they lie in. What is in no block is refused.
const V6: &[(Ipv6Addr, u32, Reach)] = &[
    (Ipv6Addr::LOCALHOST, 128, Private),
    (Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0), 32, Never), // Amazon's metadata
    (Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0), 32, Never),  // Google's metadata
    (Ipv6Addr::new(0xfc00, 0, 0, 0, 0, 0, 0, 0), 7, Private),    // unique local
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23, Never),     // protocol assignments: Teredo, benchmarks, ORCHID
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32, Never), // documentation
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16, Never),     // 6to4
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20, Never),     // documentation
    (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3, Public),     // global unicast
];

/// How far `address` reaches, whichever way it is written.
pub(super) fn reach(address: IpAddr) -> Reach {
    match address {
        IpAddr::V4(address) => reach_v4(address),
        IpAddr::V6(address) => embedded(address).map_or_else(|| reach_v6(address), reach_v4),
    }
}

fn reach_v4(address: Ipv4Addr) -> Reach {
    let within = |block: Ipv4Addr, prefix: u32| (address.to_bits() ^ block.to_bits()) >> (32 - prefix) == 0;
    V4.iter().find(|(block, prefix, _)| within(*block, *prefix)).map_or(Public, |(_, _, reach)| *reach)
}

fn reach_v6(address: Ipv6Addr) -> Reach {
    let within = |block: Ipv6Addr, prefix: u32| (address.to_bits() ^ block.to_bits()) >> (128 - prefix) == 0;
    let reach = V6.iter().find(|(block, prefix, _)| within(*block, *prefix)).map_or(Never, |(_, _, reach)| *reach);
    match (reach, isatap(address).map(reach_v4)) {
        (_, None | Some(Public)) => reach,
        _ => Never,
    }
}

/// The IPv4 address that packets end at: of mapped addresses and of NAT64's well-known prefix (RFC 6052). Prefixes that a
/// network chose for its own NAT64 cannot be known here.
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    match address.segments() {
        [0, 0, 0, 0, 0, 0xffff, ..] | [0x64, 0xff9b, 0, 0, 0, 0, ..] => Some(low(address)),
        _ => None,
    }
}

/// The IPv4 address in an interface identifier of ISATAP (RFC 5214).
fn isatap(address: Ipv6Addr) -> Option<Ipv4Addr> {
    matches!(address.segments(), [.., 0 | 0x200, 0x5efe, _, _]).then(|| low(address))
}

fn low(address: Ipv6Addr) -> Ipv4Addr {
    let [.., a, b, c, d] = address.octets();
    Ipv4Addr::new(a, b, c, d)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Reach {
        reach(text.parse().unwrap())
    }

    #[test]
    fn both_ends_of_every_block_are_inside_and_their_neighbours_outside() {
        for (first, last, inside) in [
            ("0.0.0.0", "0.255.255.255", Never),
            ("10.0.0.0", "10.255.255.255", Private),
            ("100.64.0.0", "100.127.255.255", Private),
            ("127.0.0.0", "127.255.255.255", Private),
            ("169.254.0.0", "169.254.255.255", Never),
            ("172.16.0.0", "172.31.255.255", Private),
            ("192.0.0.0", "192.0.0.255", Never),
            ("192.0.2.0", "192.0.2.255", Never),
            ("192.88.99.0", "192.88.99.255", Never),
            ("192.168.0.0", "192.168.255.255", Private),
            ("198.18.0.0", "198.19.255.255", Never),
            ("198.51.100.0", "198.51.100.255", Never),
            ("203.0.113.0", "203.0.113.255", Never),
            ("168.63.129.16", "168.63.129.16", Never),
        ] {
            let bits = |text: &str| text.parse::<Ipv4Addr>().unwrap().to_bits();
            assert_eq!((of(first), of(last)), (inside, inside), "{first}-{last}");
            assert_eq!(reach_v4(Ipv4Addr::from_bits(bits(last) + 1)), Public, "after {last}");
            if let Some(before) = bits(first).checked_sub(1) {
                assert_eq!(reach_v4(Ipv4Addr::from_bits(before)), Public, "before {first}");
            }
        }
        assert_eq!((of("223.255.255.255"), of("224.0.0.0"), of("255.255.255.255")), (Public, Never, Never));
        assert_eq!((of("100.100.100.199"), of("100.100.100.200"), of("100.100.100.201")), (Private, Never, Private));
    }

    #[test]
    fn only_global_unicast_of_ipv6_is_public() {
        for (text, reach) in [
            ("::", Never),
            ("::1", Private),
            ("::2", Never),
            ("::8.8.8.8", Never),
            ("::ffff:0:8.8.8.8", Never),
            ("64:ff9b:1::8.8.8.8", Never),
            ("100::1", Never),
            ("1fff:ffff::1", Never),
            ("2000::1", Public),
            ("2001::1", Never),
            ("2001:1ff:ffff::1", Never),
            ("2001:200::1", Public),
            ("2001:db8:ffff::1", Never),
            ("2001:db9::1", Public),
            ("2002:808:808::1", Never),
            ("2003::1", Public),
            ("3ffe::1", Public),
            ("3fff:fff::1", Never),
            ("3fff:1000::1", Public),
            ("4000::1", Never),
            ("5f00::1", Never),
            ("fbff::1", Never),
            ("fc00::1", Private),
            ("fd00:ec2::254", Never),
            ("fd00:ec3::254", Private),
            ("fd20:ce::254", Never),
            ("fdff::1", Private),
            ("fe80::1", Never),
            ("fec0::1", Never),
            ("ff02::1", Never),
        ] {
            assert_eq!(of(text), reach, "{text}");
        }
    }

    #[test]
    fn ipv4_inside_ipv6_is_judged_as_ipv4() {
        for (v4, reach) in [
            ("8.8.8.8", Public),
            ("127.0.0.1", Private),
            ("10.1.2.3", Private),
            ("169.254.169.254", Never),
            ("224.0.0.1", Never),
            ("0.0.0.0", Never),
        ] {
            assert_eq!(of(&format!("::ffff:{v4}")), reach, "mapped {v4}");
            assert_eq!(of(&format!("64:ff9b::{v4}")), reach, "NAT64 {v4}");
            let isatap = if reach == Public { Public } else { Never };
            assert_eq!(of(&format!("2606:4700::5efe:{v4}")), isatap, "ISATAP {v4}");
            assert_eq!(of(&format!("2606:4700::200:5efe:{v4}")), isatap, "ISATAP {v4}");
        }
    }
}
