import Glibc
import SignalPlots

/// The pixels of a PNG file, decoded by libcairo.
struct DecodedPNG {
  let width: Int
  let height: Int
  private let pixels: [UInt32]

  private typealias Source =
    @convention(c) (UnsafeMutableRawPointer?, UnsafeMutablePointer<UInt8>?, UInt32) -> UInt32
  private final class Reader {
    var bytes: ArraySlice<UInt8>
    init(_ bytes: [UInt8]) { self.bytes = bytes[...] }
  }

  /// Decodes a PNG file, or returns nil for other bytes.
  init?(_ bytes: [UInt8]) {
    guard let library = unsafe dlopen("libcairo.so.2", RTLD_NOW) else { return nil }
    func find<Function>(_ name: String) -> Function? {
      guard let address = unsafe dlsym(library, name) else { return nil }
      return unsafe unsafeBitCast(address, to: Function.self)
    }
    typealias Make = @convention(c) (Source?, UnsafeMutableRawPointer?) -> OpaquePointer?
    typealias Number = @convention(c) (OpaquePointer) -> Int32
    typealias Bytes = @convention(c) (OpaquePointer) -> UnsafeMutablePointer<UInt8>?
    guard let make: Make = unsafe find("cairo_image_surface_create_from_png_stream"),
      let getWidth: Number = unsafe find("cairo_image_surface_get_width"),
      let getHeight: Number = unsafe find("cairo_image_surface_get_height"),
      let getStride: Number = unsafe find("cairo_image_surface_get_stride"),
      let getData: Bytes = unsafe find("cairo_image_surface_get_data")
    else { return nil }
    let reader = Reader(bytes)
    let surface = unsafe make(
      { closure, data, count in
        guard let closure = unsafe closure, let data = unsafe data else { return 10 }
        let reader = unsafe Unmanaged<Reader>.fromOpaque(closure).takeUnretainedValue()
        guard reader.bytes.count >= Int(count) else { return 10 }
        for (index, byte) in reader.bytes.prefix(Int(count)).enumerated() {
          unsafe data[index] = byte
        }
        reader.bytes = reader.bytes.dropFirst(Int(count))
        return 0
      }, Unmanaged.passUnretained(reader).toOpaque())
    guard let surface = unsafe surface, let data = unsafe getData(surface) else { return nil }
    width = unsafe Int(getWidth(surface))
    height = unsafe Int(getHeight(surface))
    let stride = unsafe Int(getStride(surface))
    var pixels: [UInt32] = []
    for row in 0..<height {
      for column in 0..<width {
        let place = unsafe data + row * stride + 4 * column
        let parts = unsafe [place[0], place[1], place[2]].map(UInt32.init)
        pixels.append(parts[2] << 16 | parts[1] << 8 | parts[0])
      }
    }
    self.pixels = pixels
  }

  /// Returns the color of the pixel at a point, `#rrggbb`.
  func css(x: Double, y: Double) -> String { PlotColor(pixels[Int(y) * width + Int(x)]).cssText }

  /// Returns true if a pixel has a color, except for rounding.
  func isNear(_ color: PlotColor, x: Double, y: Double, parts: Double = 2) -> Bool {
    let seen = PlotColor(pixels[Int(y) * width + Int(x)])
    return [seen.red - color.red, seen.green - color.green, seen.blue - color.blue].allSatisfy {
      abs($0) <= parts / 255
    }
  }
}
