/// Writes a picture as PNG or PDF through libcairo, in the colours of one theme.
///
/// One writer is used on one thread.
@safe final class CairoWriter {
  private let calls: CairoBindings
  private let palette: PlotPalette
  private let isPDF: Bool
  private let sink = ByteSink()
  private let surface: OpaquePointer
  private let context: OpaquePointer

  /// The most pixels a picture has on a side: what every reader of PNG takes.
  static let longestSide = 32_000

  /// The font of text: fontconfig knows what stands for it where it is missing.
  private static let font = "Arial"

  private init(_ drawing: PlotDrawing, theme: PlotTheme, isPDF: Bool) throws(PlotError) {
    let calls = try CairoBindings.library.get()
    let (width, height) = (Int(drawing.width), Int(drawing.height))
    guard width > 0, height > 0, max(width, height) <= Self.longestSide else {
      throw PlotError(
        kind: .tooLarge,
        description: "invalid picture size \(width) × \(height); each side must be 1 to \(Self.longestSide) pixels")
    }
    (self.calls, palette, self.isPDF) = (calls, PlotPalette(theme), isPDF)
    let surface =
      isPDF
      ? try unsafe calls.pdf(sink, width: drawing.width, height: drawing.height, title: drawing.title)
      : try unsafe calls.image(width: width, height: height)
    do throws(PlotError) { unsafe context = try calls.context(on: surface) } catch {
      unsafe calls.destroySurface(surface)
      throw error
    }
    unsafe self.surface = surface
  }

  deinit {
    unsafe calls.destroy(context)
    unsafe calls.destroySurface(surface)
  }

  /// The bytes of a PNG file, in pixels, or of a PDF file of one page, in points.
  static func bytes(of drawing: PlotDrawing, theme: PlotTheme, isPDF: Bool) throws(PlotError) -> [UInt8] {
    let writer = try CairoWriter(drawing, theme: theme, isPDF: isPDF)
    for item in drawing.items { try writer.draw(item) }
    return try writer.finish()
  }

  /// The levels of a raster as a PNG file in grey.
  static func png(of raster: PlotDrawing.Raster) throws(PlotError) -> [UInt8] {
    let calls = try CairoBindings.library.get()
    let sink = ByteSink()
    let image = try unsafe calls.image(of: raster)
    defer { unsafe calls.destroySurface(image) }
    try unsafe calls.writePNG(of: image, to: sink)
    return sink.bytes
  }

  private func finish() throws(PlotError) -> [UInt8] {
    try unsafe calls.checkContext(context)
    if !isPDF {
      unsafe calls.flushSurface(surface)
      try unsafe calls.writePNG(of: surface, to: sink)
    }
    unsafe calls.finishSurface(surface)
    try unsafe calls.checkSurface(surface)
    return sink.bytes
  }

  // MARK: Shapes

  private func draw(_ item: PlotDrawing.Item) throws(PlotError) {
    switch item {
    case .path(let lines, let fill, let stroke):
      unsafe calls.newPath(context)
      for line in lines { trace(line, isClosed: fill != nil) }
      finishPath(fill, stroke)
    case .disc(let centre, let radius, let fill, let stroke):
      unsafe calls.newPath(context)
      unsafe calls.arc(context, centre.x, centre.y, radius, 0, 2 * Double.pi)
      finishPath(fill, stroke)
    case .bar(let box, let radius, let fill):
      trace(box, radius: radius)
      finishPath(fill, nil)
    case .text(let runs, let place, let anchor): write(runs, at: place, anchor: anchor)
    case .raster(let raster): try draw(raster)
    }
  }

  private func trace(_ points: [PlotPoint], isClosed: Bool) {
    for (index, point) in points.enumerated() {
      if index == 0 {
        unsafe calls.moveTo(context, point.x, point.y)
      } else {
        unsafe calls.lineTo(context, point.x, point.y)
      }
    }
    if isClosed { unsafe calls.closePath(context) }
  }

  private func trace(_ box: PlotBox, radius: Double) {
    let radius = min(radius, box.width / 2, box.height / 2)
    unsafe calls.newPath(context)
    let quarter = Double.pi / 2
    for (corner, centre) in [
      PlotPoint(box.right - radius, box.top + radius), PlotPoint(box.right - radius, box.bottom - radius),
      PlotPoint(box.left + radius, box.bottom - radius), PlotPoint(box.left + radius, box.top + radius),
    ].enumerated() {
      let start = Double(corner - 1) * quarter
      unsafe calls.arc(context, centre.x, centre.y, radius, start, start + quarter)
    }
    unsafe calls.closePath(context)
  }

  private func finishPath(_ fill: PlotDrawing.Fill?, _ stroke: PlotDrawing.Stroke?) {
    if let fill {
      use(fill.paint, opacity: fill.opacity)
      unsafe calls.fillPreserve(context)
    }
    if let stroke {
      use(stroke.paint, opacity: stroke.opacity)
      unsafe calls.setLineWidth(context, stroke.width)
      unsafe calls.setLineEnds(context)
      unsafe calls.setDash(context, stroke.dashes, Int32(stroke.dashes.count), 0)
      unsafe calls.strokePreserve(context)
    }
    unsafe calls.newPath(context)
  }

  private func use(_ paint: PlotDrawing.Paint, opacity: Double = 1) {
    switch paint {
    case .role(let role): use(palette.color(of: role), opacity)
    case .color(let color): use(color, opacity)
    case .gradient(let stops, let from, let to):
      guard let gradient = unsafe calls.makeLinear(from.x, from.y, to.x, to.y) else { return }
      for stop in stops {
        let color = stop.color
        unsafe calls.addStop(gradient, stop.share, color.red, color.green, color.blue, opacity)
      }
      unsafe calls.setSource(context, gradient)
      unsafe calls.destroyPattern(gradient)
    }
  }

  private func use(_ color: PlotColor, _ opacity: Double) {
    unsafe calls.setColour(context, color.red, color.green, color.blue, opacity)
  }

  // MARK: Text

  private func write(_ runs: [PlotDrawing.Run], at place: PlotPoint, anchor: PlotDrawing.Anchor) {
    let widths = runs.map { run in
      select(run)
      return run.gap + (unsafe calls.advance(of: Self.plain(run.text), in: context))
    }
    let whole = widths.reduce(0, +)
    var x = place.x - (anchor == .start ? 0 : (anchor == .end ? whole : whole / 2))
    for (run, width) in zip(runs, widths) {
      select(run)
      use(palette.color(of: run.role), 1)
      unsafe calls.moveTo(context, x + run.gap, place.y)
      unsafe calls.showText(context, Self.plain(run.text))
      x += width
    }
    unsafe calls.newPath(context)
  }

  private func select(_ run: PlotDrawing.Run) {
    unsafe calls.selectFont(context, family: Self.font, isBold: run.isBold)
    unsafe calls.setFontSize(context, run.size)
  }

  /// Text without what is not printable: control characters have no glyph.
  private static func plain(_ text: String) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
  }

  // MARK: Levels

  private func draw(_ raster: PlotDrawing.Raster) throws(PlotError) {
    guard raster.rows > 0 else { return }
    let image = try unsafe calls.image(of: raster)
    defer { unsafe calls.destroySurface(image) }
    let box = raster.box
    unsafe calls.save(context)
    unsafe calls.rectangle(context, box.left, box.top, box.width, box.height)
    unsafe calls.clip(context)
    use(raster.paint)
    unsafe calls.translate(context, box.left, box.top)
    unsafe calls.scale(context, box.width / Double(raster.columns), box.height / Double(raster.rows))
    unsafe calls.maskSurface(context, image, 0, 0)
    unsafe calls.restore(context)
  }
}

extension CairoBindings {
  /// A surface of coverage that holds the levels of a raster.
  fileprivate func image(of raster: PlotDrawing.Raster) throws(PlotError) -> Handle {
    let (columns, rows) = (raster.columns, raster.rows)
    let image = try unsafe image(width: columns, height: rows, isMask: true)
    unsafe flushSurface(image)
    let (data, stride) = unsafe pixels(of: image)
    if let data = unsafe data {
      for row in 0..<rows {
        for column in 0..<columns { unsafe data[row * stride + column] = raster.levels[row * columns + column] }
      }
    }
    unsafe markSurfaceDirty(image)
    return unsafe image
  }
}

/// Takes the bytes of a picture as they are written; it must outlive the surface that writes to it.
final class ByteSink {
  /// What has been written.
  var bytes: [UInt8] = []

  /// The sink as C passes it on.
  var closure: UnsafeMutableRawPointer { unsafe Unmanaged.passUnretained(self).toOpaque() }
}
