use super::*;
use crate::{
    Limits, Unattended,
    operation::{Raster, Shape},
    picture::Channels,
};

/// Repeats every pixel, and adds to its colours.
#[derive(Debug)]
struct Repeats {
    scale: u32,
    added: [f32; 3],
}

impl Model for Repeats {
    fn shape(&self) -> Shape {
        Shape { scale: self.scale, margin: 1, multiple: 1, tile: 8, work: 5 }
    }

    fn run(&self, tile: Raster, _: Run<'_>) -> Result<Raster> {
        let (width, height) = (tile.width() * self.scale, tile.height() * self.scale);
        let at = |x: u32, y: u32| ((y / self.scale * tile.width() + x / self.scale) * 3) as usize;
        let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        let samples = pixels
            .flat_map(|(x, y)| (0..3).map(move |c| (x, y, c)))
            .map(|(x, y, c)| tile.samples()[at(x, y) + c] + self.added[c]);
        Raster::new(width, height, samples.collect())
    }
}

fn repeats(scale: u32) -> Arc<dyn Model> {
    Arc::new(Repeats { scale, added: [0.0; 3] })
}

fn upscale(factor: u32, scale: u32) -> Upscale {
    Upscale { factor, first: vec![repeats(scale)], then: vec![repeats(scale)] }
}

fn applied(upscale: &Upscale, picture: Picture) -> Picture {
    let limits = Limits::default();
    let run = Run { limits: &limits, control: &Unattended };
    upscale.prepare(&picture, run).unwrap().unwrap().apply(picture, run).unwrap()
}

fn picture(width: u32, height: u32, channels: Channels, sample: impl Fn(usize) -> u8) -> Picture {
    let count = (width * height) as usize * channels.count();
    Picture::new(width, height, channels, Samples::Eight((0..count).map(sample).collect())).unwrap()
}

/// Of many colours, as photographs are.
fn photo(width: u32, height: u32) -> Picture {
    picture(width, height, Channels::Rgb, |at| (at * 89 + at / 7 * 31) as u8)
}

#[test]
fn every_factor_gives_the_size_that_was_planned_whatever_the_scale_of_the_network() {
    for scale in 2..=4 {
        for factor in 1..=8 {
            let upscale = upscale(factor, scale);
            let source = photo(13, 9);
            let planned = upscale.layout(source.layout()).unwrap();
            assert_eq!(applied(&upscale, source).layout(), planned, "{factor} by {scale}");
            assert_eq!((planned.width, planned.height), (13 * factor, 9 * factor));
        }
    }
}

#[test]
fn the_network_is_asked_once_for_two_twice_for_four_and_not_for_more() {
    let work = |factor| upscale(factor, 2).work(100);
    // Five a pixel, of 100 and then of 400.
    assert_eq!([1, 2, 3, 4, 8].map(work), [0, 500, 2500, 2500, 2500]);
    // For what may be a drawing the dearer way is counted.
    let [both, drawings] =
        [vec![repeats(4), repeats(2)], vec![repeats(2)]].map(|first| Upscale { first, ..upscale(4, 2) });
    assert_eq!([both, drawings].map(|upscale| upscale.work(100)), [2500, 2500]);
}

#[test]
fn of_several_networks_the_one_for_the_factor_works_alone() {
    let of =
        |first: [u32; 2], then| Upscale { factor: 0, first: first.map(repeats).to_vec(), then: vec![repeats(then)] };
    let scales = |upscale: &Upscale, factor| -> Vec<u32> {
        Upscale { factor, ..upscale.clone() }.steps(&upscale.first).map(|model| model.shape().scale).collect()
    };
    let both = of([4, 2], 4);
    assert_eq!([1, 2, 3, 4, 8].map(|factor| scales(&both, factor)), [vec![], vec![2], vec![4], vec![4], vec![4]]);
    assert_eq!(scales(&of([2, 1], 4), 3), [2, 4]);
    assert_eq!(scales(&of([1, 1], 4), 4), [0; 0]);
}

#[test]
fn factor_two_is_what_the_network_says_to_the_bit() {
    let source = photo(20, 11);
    let result = applied(&upscale(2, 2), source.clone());
    for (x, y) in [(0, 0), (39, 21), (17, 16), (16, 15)] {
        let (from, to) = ((y / 2 * 20 + x / 2) * 3, (y * 40 + x) * 3);
        assert_eq!(result.eight().unwrap()[to..to + 3], source.eight().unwrap()[from..from + 3], "{x},{y}");
    }
}

#[test]
fn grey_stays_grey_even_if_the_network_tints() {
    let tints: Arc<dyn Model> = Arc::new(Repeats { scale: 2, added: [0.1, 0.0, -0.1] });
    let upscale = Upscale { factor: 2, first: vec![Arc::clone(&tints)], then: vec![tints] };
    let gray = picture(6, 5, Channels::Gray, |at| (at * 7) as u8);
    assert!(applied(&upscale, gray.clone()).is_gray());
    assert!(applied(&upscale, gray.into_channels(Channels::Rgb)).is_gray());
}

#[test]
fn what_is_stored_under_full_transparency_does_not_reach_what_is_seen() {
    let half = |hidden: [u8; 3]| {
        picture(12, 4, Channels::Rgba, move |at| match (at / 4 % 12 < 6, at % 4) {
            (true, 3) => 0,
            (true, channel) => hidden[channel],
            (false, 3) => 255,
            (false, channel) => [200, 100, 50][channel],
        })
    };
    let seen = |picture: Picture| -> Vec<Vec<u8>> {
        picture.eight().unwrap().chunks(4).filter(|pixel| pixel[3] > 0).map(<[u8]>::to_vec).collect()
    };
    for factor in [2, 3] {
        let black = seen(applied(&upscale(factor, 2), half([0; 3])));
        assert_eq!(black, seen(applied(&upscale(factor, 2), half([255, 0, 255]))));
        assert!(black.iter().all(|pixel| pixel[..3] == [200, 100, 50]), "by {factor}");
    }
}

#[test]
fn a_drawing_of_few_colours_goes_through_the_network_for_clean_pictures() {
    let lightens: Arc<dyn Model> = Arc::new(Repeats { scale: 2, added: [0.2; 3] });
    let upscale = Upscale { factor: 2, first: vec![lightens], then: vec![repeats(2)] };
    let drawn = picture(8, 8, Channels::Rgb, |at| if at % 3 == 0 { 100 } else { 20 });
    assert_eq!(applied(&upscale, drawn).eight().unwrap()[0], 100);
    assert_eq!(applied(&upscale, photo(20, 20)).eight().unwrap()[0], 51);
}

#[test]
fn sixteen_bits_stay_sixteen() {
    let samples = (0..48u16).map(|at| at * 1300).collect();
    let source = Picture::new(4, 4, Channels::Rgb, Samples::Sixteen(samples)).unwrap();
    assert_eq!(applied(&upscale(2, 2), source).layout().depth, Depth::Sixteen);
}

#[test]
fn the_frame_that_tells_decides_whether_an_animation_is_drawn() {
    let limits = Limits::default();
    let run = Run { limits: &limits, control: &Unattended };
    let marks = Arc::new(Repeats { scale: 2, added: [0.2, 0.0, 0.0] });
    let upscale = Upscale { first: vec![marks], ..upscale(2, 2) };
    let title = picture(32, 32, Channels::Rgb, |at| [200, 10, 10][at % 3]);
    let mut chain = crate::operation::Chain::default();
    chain.push(upscale);
    let (_, steps) = chain.start(title.clone(), Some(photo(32, 32)), run).unwrap();
    let red = steps[0].apply(title, run).unwrap().into_eight().eight().unwrap()[0];
    assert_eq!(red, 251, "by the network for photographs");
}
