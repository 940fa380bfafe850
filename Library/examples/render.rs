// Renders a pattern file and prints how long and how loud it is: render FILE
use std::ffi::c_void;

#[link(name = "temblor")]
extern "C" {
    fn temblor_create() -> *mut c_void;
    fn temblor_release(host: *mut c_void);
    fn temblor_open(host: *mut c_void, slot: i32, name: *const u8, name_length: i32, content: *const u8, length: i32) -> i32;
    fn temblor_render(host: *mut c_void, slot: i32, profile: i32, rate: f64) -> i32;
    fn temblor_samples(host: *mut c_void) -> *const f32;
    fn temblor_output(host: *mut c_void) -> *const u8;
    fn temblor_output_length(host: *mut c_void) -> i32;
}

fn main() {
    let path = std::env::args().nth(1).expect("render FILE");
    let content = std::fs::read(&path).expect("the file cannot be read");
    unsafe {
        let host = temblor_create();
        if temblor_open(host, 0, path.as_ptr(), path.len() as i32, content.as_ptr(), content.len() as i32) == 0 {
            let why = std::slice::from_raw_parts(temblor_output(host), temblor_output_length(host) as usize);
            eprintln!("{}", String::from_utf8_lossy(why));
            std::process::exit(2);
        }
        let frames = temblor_render(host, 0, 0, 48_000.0) as usize;
        let samples = std::slice::from_raw_parts(temblor_samples(host), frames);
        let peak = samples.iter().fold(0f32, |peak, sample| peak.max(sample.abs()));
        println!("{:.3} s, peak {:.3}", frames as f64 / 48_000.0, peak);
        temblor_release(host);
    }
}
