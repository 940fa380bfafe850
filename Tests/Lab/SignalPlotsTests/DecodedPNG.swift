import Glibc
import SignalPlots

/// The pixels of a PNG file, decoded by libcairo.
struct DecodedPNG {
  let width: Int
  let height: Int
  private let pixels: [UInt32]

  private typealias ReadFunction =
    @convention(c) (UnsafeMutableRawPointer?, UnsafeMutablePointer<UInt8>?, UInt32) -> UInt32
  private final class Reader {
    var bytes: ArraySlice<UInt8>
    init(_ bytes: [UInt8]) { self.bytes = bytes[...] }
  }

  /// Decodes a PNG file, or returns nil for other bytes.
  init?(_ bytes: [UInt8]) {
    guard let library = unsafe dlopen("libcairo.so.2", RTLD_NOW) else { return nil }
    func symbol<Function>(_ name: String) -> Function? {
      guard let address = unsafe dlsym(library, name) else { return nil }
      return unsafe unsafeBitCast(address, to: Function.self)
    }
    typealias CreateSurface =
      @convention(c) (ReadFunction?, UnsafeMutableRawPointer?) -> OpaquePointer?
    typealias GetInteger = @convention(c) (OpaquePointer) -> Int32
    typealias GetBytes = @convention(c) (OpaquePointer) -> UnsafeMutablePointer<UInt8>?
    guard
      let createSurface: CreateSurface = unsafe symbol(
        "cairo_image_surface_create_from_png_stream"),
      let getWidth: GetInteger = unsafe symbol("cairo_image_surface_get_width"),
      let getHeight: GetInteger = unsafe symbol("cairo_image_surface_get_height"),
      let getStride: GetInteger = unsafe symbol("cairo_image_surface_get_stride"),
      let getData: GetBytes = unsafe symbol("cairo_image_surface_get_data")
    else { return nil }
    let reader = Reader(bytes)
    let surface = unsafe createSurface(
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
        let pixel = unsafe data + row * stride + 4 * column
        let components = unsafe [pixel[0], pixel[1], pixel[2]].map(UInt32.init)
        pixels.append(components[2] << 16 | components[1] << 8 | components[0])
      }
    }
    self.pixels = pixels
  }

  /// Returns the color of the pixel at a point, `#rrggbb`.
  func css(x: Double, y: Double) -> String { PlotColor(pixels[Int(y) * width + Int(x)]).cssText }

  /// Returns whether each component of a pixel is within a tolerance, in 255ths, of a color.
  func isNear(_ color: PlotColor, x: Double, y: Double, tolerance: Double = 2) -> Bool {
    let pixelColor = PlotColor(pixels[Int(y) * width + Int(x)])
    return [
      pixelColor.red - color.red, pixelColor.green - color.green, pixelColor.blue - color.blue,
    ].allSatisfy {
      abs($0) <= tolerance / 255
    }
  }
}
