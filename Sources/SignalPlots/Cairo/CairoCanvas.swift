/// A sheet of pixels or shapes that is drawn on and then becomes the bytes of a file.
///
/// Places are pixels from the top left. One canvas is used on one thread.
@safe
final class CairoCanvas {
  /// How text lies to the place it is drawn at.
  enum Alignment { case left, centre, right }

  /// The width in pixels.
  let width: Double
  /// The height in pixels.
  let height: Double
  private let calls: CairoBindings
  private let format: PlotFormat
  private let sink = ByteSink()
  private let surface: OpaquePointer
  private let context: OpaquePointer

  /// The most pixels a picture has on a side: what every reader of PNG and SVG takes.
  static let longestSide = 32_000

  /// Makes an empty sheet.
  init(_ format: PlotFormat, width: Int, height: Int, title: String) throws(PlotError) {
    let calls = try CairoBindings.library.get()
    guard width > 0, height > 0, max(width, height) <= Self.longestSide else {
      throw PlotError(
        kind: .tooLarge,
        description:
          "invalid picture size \(width) × \(height); each side must be 1 to \(Self.longestSide) pixels"
      )
    }
    (self.width, self.height) = (Double(width), Double(height))
    (self.calls, self.format) = (calls, format)
    let surface =
      switch format {
      case .png: try unsafe calls.image(width: width, height: height)
      case .svg: try unsafe calls.svg(sink, width: Double(width), height: Double(height))
      case .pdf:
        try unsafe calls.pdf(sink, width: Double(width), height: Double(height), title: title)
      }
    do throws(PlotError) {
      unsafe context = try calls.context(on: surface)
    } catch {
      unsafe calls.destroySurface(surface)
      throw error
    }
    unsafe self.surface = surface
  }

  deinit {
    unsafe calls.destroy(context)
    unsafe calls.destroySurface(surface)
  }

  /// The file's bytes; nothing can be drawn afterwards.
  func finish() throws(PlotError) -> [UInt8] {
    try unsafe calls.checkContext(context)
    if format == .png {
      unsafe calls.flushSurface(surface)
      try unsafe calls.writePNG(of: surface, to: sink)
    }
    unsafe calls.finishSurface(surface)
    try unsafe calls.checkSurface(surface)
    return sink.bytes
  }

  /// Draws within a rectangle and leaves what is outside untouched.
  func clipped(to box: PlotBox, _ draw: () throws(PlotError) -> Void) throws(PlotError) {
    unsafe calls.save(context)
    unsafe calls.rectangle(context, box.left, box.top, box.width, box.height)
    unsafe calls.clip(context)
    defer { unsafe calls.restore(context) }
    try draw()
  }

  /// Sets the colour that lines, shapes and text are drawn with.
  func use(_ color: PlotColor, opacity: Double = 1) {
    unsafe calls.setColour(context, color.red, color.green, color.blue, opacity)
  }

  /// Sets colours that change from left to right between two places; stops are shares of the way.
  func use(
    _ stops: [(place: Double, color: PlotColor)], from left: Double, to right: Double,
    opacity: Double = 1
  ) {
    guard stops.count > 1, right > left, let gradient = unsafe calls.makeLinear(left, 0, right, 0)
    else {
      if let stop = stops.first { use(stop.color, opacity: opacity) }
      return
    }
    for (place, color) in stops {
      unsafe calls.addStop(gradient, place, color.red, color.green, color.blue, opacity)
    }
    unsafe calls.setSource(context, gradient)
    unsafe calls.destroyPattern(gradient)
  }

  /// Fills a rectangle.
  func fill(_ box: PlotBox) {
    unsafe calls.rectangle(context, box.left, box.top, box.width, box.height)
    unsafe calls.fill(context)
  }

  /// Fills the shape that a line encloses.
  func fill(_ points: [PlotPoint]) {
    trace(points)
    unsafe calls.closePath(context)
    unsafe calls.fill(context)
  }

  /// Fills a disc.
  func fillDisc(_ centre: PlotPoint, radius: Double) {
    unsafe calls.arc(context, centre.x, centre.y, radius, 0, 2 * Double.pi)
    unsafe calls.fill(context)
  }

  /// Draws along points; dashes are lengths of line and gap in turn.
  func stroke(
    _ points: [PlotPoint], width: Double, dashes: [Double] = [], isRound: Bool = false
  ) {
    guard points.count > 1 else { return }
    trace(points)
    unsafe calls.setLineWidth(context, width)
    unsafe calls.setLineEnds(context, areRound: isRound)
    unsafe calls.setDash(context, dashes, Int32(dashes.count), 0)
    unsafe calls.stroke(context)
  }

  /// Draws the edge of a disc.
  func strokeDisc(_ centre: PlotPoint, radius: Double, width: Double) {
    unsafe calls.arc(context, centre.x, centre.y, radius, 0, 2 * Double.pi)
    unsafe calls.setLineWidth(context, width)
    unsafe calls.setDash(context, nil, 0, 0)
    unsafe calls.stroke(context)
  }

  /// Draws the edge of a rectangle.
  func stroke(_ box: PlotBox, width: Double) {
    unsafe calls.rectangle(context, box.left, box.top, box.width, box.height)
    unsafe calls.setLineWidth(context, width)
    unsafe calls.setLineEnds(context, areRound: false)
    unsafe calls.setDash(context, nil, 0, 0)
    unsafe calls.stroke(context)
  }

  /// Writes a line of text whose base line is at the place's height.
  func write(
    _ text: String, at place: PlotPoint, size: Double, isBold: Bool = false,
    alignment: Alignment = .left
  ) {
    let shown = Self.plain(text)
    setFont(size: size, isBold: isBold)
    let advance = alignment == .left ? 0 : unsafe calls.advance(of: shown, in: context)
    let shift = alignment == .left ? 0 : (alignment == .right ? advance : advance / 2)
    unsafe calls.moveTo(context, place.x - shift, place.y)
    unsafe calls.showText(context, shown)
    unsafe calls.newPath(context)
  }

  /// How wide a text is.
  func width(of text: String, size: Double, isBold: Bool = false) -> Double {
    setFont(size: size, isBold: isBold)
    return unsafe calls.advance(of: Self.plain(text), in: context)
  }

  /// Draws cells of colour, row by row from the top, scaled to a rectangle.
  func drawCells(_ cells: [PlotColor.Packed], columns: Int, over box: PlotBox) throws(PlotError) {
    let rows = columns > 0 ? cells.count / columns : 0
    guard rows > 0 else { return }
    let image = try unsafe calls.image(width: columns, height: rows)
    defer { unsafe calls.destroySurface(image) }
    unsafe calls.flushSurface(image)
    let (data, stride) = unsafe calls.pixels(of: image)
    guard let data = unsafe data else { return }
    for row in 0..<rows {
      unsafe (data + row * stride).withMemoryRebound(to: UInt32.self, capacity: columns) { pixels in
        for column in 0..<columns { unsafe pixels[column] = cells[row * columns + column] }
      }
    }
    unsafe calls.markSurfaceDirty(image)
    unsafe calls.save(context)
    unsafe calls.translate(context, box.left, box.top)
    unsafe calls.scale(context, box.width / Double(columns), box.height / Double(rows))
    unsafe calls.setSourceSurface(context, image, 0, 0)
    unsafe calls.keepCells(context)
    unsafe calls.rectangle(context, 0, 0, Double(columns), Double(rows))
    unsafe calls.fill(context)
    unsafe calls.restore(context)
  }

  private func setFont(size: Double, isBold: Bool) {
    unsafe calls.selectFont(context, family: "sans-serif", isBold: isBold)
    unsafe calls.setFontSize(context, size)
  }

  /// Text without what is not printable: control characters have no glyph.
  private static func plain(_ text: String) -> String {
    String(
      String.UnicodeScalarView(
        text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
  }

  private func trace(_ points: [PlotPoint]) {
    unsafe calls.newPath(context)
    for (index, point) in points.enumerated() {
      if index == 0 {
        unsafe calls.moveTo(context, point.x, point.y)
      } else {
        unsafe calls.lineTo(context, point.x, point.y)
      }
    }
  }
}

extension PlotColor {
  /// A colour as Cairo's pixels hold it, `0x00RRGGBB`.
  typealias Packed = UInt32

  /// The colour as a pixel.
  var packed: Packed {
    let (red, green, blue) = bytes
    return UInt32(red) << 16 | UInt32(green) << 8 | UInt32(blue)
  }
}

/// Takes the bytes of a picture as they are written; it must outlive the surface that writes to it.
final class ByteSink {
  /// What has been written.
  var bytes: [UInt8] = []

  /// The sink as C passes it on.
  var closure: UnsafeMutableRawPointer { unsafe Unmanaged.passUnretained(self).toOpaque() }
}
