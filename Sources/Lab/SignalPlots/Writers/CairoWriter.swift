internal import CCairo
internal import Glibc

/// The functions of the library libcairo, which is loaded for the first figure.
///
/// A linked library would delay the start of programs that draw nothing. The functions are looked
/// up by name and have the types of Cairo's header. They can be called on any thread, but a handle
/// must not be used on two threads at the same time.
@safe final class CairoBindings: @unchecked Sendable {
  typealias CairoHandle = OpaquePointer
  typealias WriteCallback =
    @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<UInt8>?, UInt32) -> cairo_status_t

  /// The library, or the error that explains why it cannot be loaded.
  static let loadedLibrary: Result<CairoBindings, PlotError> = Result { () throws(PlotError) in
    try CairoBindings(named: "libcairo.so.2")
  }

  /// The functions of Cairo, whose names omit the prefix `cairo_`.
  let cairoFunctions: temblor_cairo_functions

  /// Loads a library. The library is never closed.
  init(named name: String) throws(PlotError) {
    guard let libraryHandle = unsafe dlopen(name, RTLD_NOW | RTLD_LOCAL) else {
      throw PlotError(
        .missingLibrary, "plots require \(name); install it with 'apt-get install libcairo2'")
    }
    var loadedFunctions = temblor_cairo_functions()
    if let missingName = unsafe temblor_cairo_load(libraryHandle, &loadedFunctions) {
      throw PlotError(
        .missingLibrary,
        unsafe """
        \(name) is older than version 1.16 and has no \(String(cString: missingName)); \
        install a newer version
        """
      )
    }
    cairoFunctions = loadedFunctions
  }
}

extension CairoBindings {
  /// Creates an image surface with 24-bit color, or a mask surface with 8 bits per pixel.
  func makeImage(width: Int, height: Int, isMask: Bool = false) throws(PlotError) -> CairoHandle {
    try unsafe checkedSurface(
      cairoFunctions.image_surface_create(
        isMask ? CAIRO_FORMAT_A8 : CAIRO_FORMAT_RGB24, Int32(clamping: width),
        Int32(clamping: height)))
  }

  /// Creates a mask surface with one pixel for each cell of a raster.
  func makeMask(of raster: PlotDrawing.Raster) throws(PlotError) -> CairoHandle {
    let maskWidth = raster.columnCount
    let maskHeight = raster.rowCount
    let maskImage = try unsafe makeImage(width: maskWidth, height: maskHeight, isMask: true)
    unsafe cairoFunctions.surface_flush(maskImage)
    if let data = unsafe cairoFunctions.image_surface_get_data(maskImage) {
      let stride = unsafe Int(cairoFunctions.image_surface_get_stride(maskImage))
      for (index, coverage) in raster.cellOpacities.prefix(maskWidth * maskHeight).enumerated() {
        unsafe data[index / maskWidth * stride + index % maskWidth] = coverage
      }
    }
    unsafe cairoFunctions.surface_mark_dirty(maskImage)
    return unsafe maskImage
  }

  /// Creates a PDF surface with a title and without a date.
  ///
  /// - Parameters:
  ///   - bytes: The receiver of the bytes, which must outlive the surface.
  ///   - width: The width, in points.
  ///   - height: The height, in points.
  ///   - title: The title of the document.
  func makePDFSurface(
    _ bytes: ByteSink, width: Double, height: Double, title: String
  ) throws(PlotError) -> CairoHandle {
    let pdfSurface = try unsafe checkedSurface(
      cairoFunctions.pdf_surface_create_for_stream(
        Self.writeCallback, bytes.userData, width, height))
    unsafe cairoFunctions.pdf_surface_set_metadata(pdfSurface, CAIRO_PDF_METADATA_TITLE, title)
    // A date would make the bytes of equal drawings different.
    unsafe cairoFunctions.pdf_surface_set_metadata(pdfSurface, CAIRO_PDF_METADATA_CREATE_DATE, nil)
    return unsafe pdfSurface
  }

  func writePNG(of surface: CairoHandle, to bytes: ByteSink) throws(PlotError) {
    try unsafe checkStatus(
      cairoFunctions.surface_write_to_png_stream(surface, Self.writeCallback, bytes.userData))
  }

  func makeContext(on surface: CairoHandle) throws(PlotError) -> CairoHandle {
    guard let context = unsafe cairoFunctions.create(surface) else {
      throw drawingError("out of memory")
    }
    try unsafe checkStatus(cairoFunctions.status(context))
    return unsafe context
  }

  /// Returns a surface without an error, or destroys the surface and throws its error.
  private func checkedSurface(_ surface: CairoHandle?) throws(PlotError) -> CairoHandle {
    guard let surface = unsafe surface else { throw drawingError("out of memory") }
    do throws(PlotError) {
      try unsafe checkStatus(cairoFunctions.surface_status(surface))
    } catch {
      unsafe cairoFunctions.surface_destroy(surface)
      throw error
    }
    return unsafe surface
  }

  func checkStatus(_ status: cairo_status_t) throws(PlotError) {
    guard status != CAIRO_STATUS_SUCCESS else { return }
    let statusText =
      unsafe cairoFunctions.status_to_string(status).map { unsafe String(cString: $0) } ?? "unknown"
    if status == CAIRO_STATUS_INVALID_SIZE || status == CAIRO_STATUS_NO_MEMORY {
      throw PlotError(.tooLarge, "the plot is too large to draw: \(statusText)")
    }
    throw drawingError(statusText)
  }

  private func drawingError(_ text: String) -> PlotError {
    PlotError(.drawingFailed, "cannot draw the plot: \(text)")
  }

  private static let writeCallback: WriteCallback = { userData, data, count in
    guard let userData = unsafe userData, let data = unsafe data else {
      return CAIRO_STATUS_WRITE_ERROR
    }
    let writtenBytes = unsafe UnsafeBufferPointer(start: data, count: Int(count))
    unsafe Unmanaged<ByteSink>.fromOpaque(userData).takeUnretainedValue().bytes += writtenBytes
    return CAIRO_STATUS_SUCCESS
  }
}

/// Writes a drawing as PNG or PDF with libcairo, in the colors of a theme.
///
/// - Note: A writer must be used on one thread.
@safe final class CairoWriter {
  private let cairoBindings: CairoBindings
  private let palette: PlotPalette
  private let writesPDF: Bool
  private let outputSink = ByteSink()
  private let cairoSurface: OpaquePointer
  private let cairoContext: OpaquePointer

  /// The maximum width and height in pixels, which every PNG reader supports.
  static let maximumSidePixels = 32_000

  /// The font of text. If it is missing, fontconfig selects a substitute.
  private static let fontFamily = "Arial"

  private init(_ drawing: PlotDrawing, theme: PlotTheme, writesPDF isPDF: Bool) throws(PlotError) {
    let bindings = try CairoBindings.loadedLibrary.get()
    let widthPixels = Int(drawing.width)
    let heightPixels = Int(drawing.height)
    guard widthPixels > 0, heightPixels > 0,
      max(widthPixels, heightPixels) <= Self.maximumSidePixels
    else {
      throw PlotError(
        .tooLarge,
        """
        invalid plot size \(widthPixels) × \(heightPixels); each side must be 1 to \
        \(Self.maximumSidePixels) pixels
        """
      )
    }
    self.cairoBindings = bindings
    palette = PlotPalette(theme)
    self.writesPDF = isPDF
    let outputSurface =
      isPDF
      ? try unsafe bindings.makePDFSurface(
        outputSink, width: drawing.width, height: drawing.height, title: drawing.title)
      : try unsafe bindings.makeImage(width: widthPixels, height: heightPixels)
    do throws(PlotError) {
      unsafe cairoContext = try bindings.makeContext(on: outputSurface)
    } catch {
      unsafe bindings.cairoFunctions.surface_destroy(outputSurface)
      throw error
    }
    unsafe self.cairoSurface = outputSurface
  }

  deinit {
    unsafe cairoBindings.cairoFunctions.destroy(cairoContext)
    unsafe cairoBindings.cairoFunctions.surface_destroy(cairoSurface)
  }

  /// Returns the bytes of a PNG file sized in pixels, or of a one-page PDF file sized in points.
  static func bytes(
    of drawing: PlotDrawing, theme: PlotTheme, isPDF: Bool
  ) throws(PlotError) -> [UInt8] {
    let writer = try CairoWriter(drawing, theme: theme, writesPDF: isPDF)
    for item in drawing.items {
      try writer.draw(item)
    }
    return try writer.finishOutput()
  }

  /// Returns a grayscale PNG file with the opacities of a raster's cells.
  static func png(of raster: PlotDrawing.Raster) throws(PlotError) -> [UInt8] {
    let bindings = try CairoBindings.loadedLibrary.get()
    let pngSink = ByteSink()
    let maskImage = try unsafe bindings.makeMask(of: raster)
    defer { unsafe bindings.cairoFunctions.surface_destroy(maskImage) }
    try unsafe bindings.writePNG(of: maskImage, to: pngSink)
    return pngSink.bytes
  }

  private func finishOutput() throws(PlotError) -> [UInt8] {
    try unsafe cairoBindings.checkStatus(cairoBindings.cairoFunctions.status(cairoContext))
    if !writesPDF {
      unsafe cairoBindings.cairoFunctions.surface_flush(cairoSurface)
      try unsafe cairoBindings.writePNG(of: cairoSurface, to: outputSink)
    }
    unsafe cairoBindings.cairoFunctions.surface_finish(cairoSurface)
    try unsafe cairoBindings.checkStatus(cairoBindings.cairoFunctions.surface_status(cairoSurface))
    return outputSink.bytes
  }

  private func draw(_ item: PlotDrawing.Item) throws(PlotError) {
    switch item {
    case .path(let lines, let fill, let stroke):
      unsafe cairoBindings.cairoFunctions.new_path(cairoContext)
      for line in lines {
        addPath(line, isClosed: fill != nil)
      }
      paintPath(fill: fill, stroke: stroke)
    case .disc(let center, let radius, let fill, let stroke):
      unsafe cairoBindings.cairoFunctions.new_path(cairoContext)
      unsafe cairoBindings.cairoFunctions.arc(
        cairoContext, center.x, center.y, radius, 0, 2 * Double.pi)
      paintPath(fill: fill, stroke: stroke)
    case .rectangle(let box, let radius, let fill):
      addRoundedRectangle(box, radius: radius)
      paintPath(fill: fill, stroke: nil)
    case .text(let runs, let position, let anchor):
      drawText(runs, at: position, anchor: anchor)
    case .raster(let raster):
      try draw(raster)
    }
  }

  private func addPath(_ points: [PlotPoint], isClosed: Bool) {
    for (index, point) in points.enumerated() {
      unsafe (index == 0
        ? cairoBindings.cairoFunctions.move_to : cairoBindings.cairoFunctions.line_to)(
          cairoContext, point.x, point.y)
    }
    if isClosed {
      unsafe cairoBindings.cairoFunctions.close_path(cairoContext)
    }
  }

  private func addRoundedRectangle(_ box: PlotBox, radius: Double) {
    let cornerRadius = min(radius, box.width / 2, box.height / 2)
    unsafe cairoBindings.cairoFunctions.new_path(cairoContext)
    let leftCenterX = box.left + cornerRadius
    let topCenterY = box.top + cornerRadius
    let rightCenterX = box.right - cornerRadius
    let bottomCenterY = box.bottom - cornerRadius
    let cornerCenters = [
      (rightCenterX, topCenterY), (rightCenterX, bottomCenterY), (leftCenterX, bottomCenterY),
      (leftCenterX, topCenterY),
    ]
    for (index, (x, y)) in cornerCenters.enumerated() {
      let startAngle = Double(index - 1) * .pi / 2
      unsafe cairoBindings.cairoFunctions.arc(
        cairoContext, x, y, cornerRadius, startAngle, startAngle + .pi / 2)
    }
    unsafe cairoBindings.cairoFunctions.close_path(cairoContext)
  }

  /// Fills and strokes the current path, and starts a new path.
  private func paintPath(fill: PlotDrawing.Fill?, stroke: PlotDrawing.Stroke?) {
    if let fill {
      setSource(fill.paint, opacity: fill.opacity)
      unsafe cairoBindings.cairoFunctions.fill_preserve(cairoContext)
    }
    if let stroke {
      setSource(stroke.paint, opacity: stroke.opacity)
      unsafe cairoBindings.cairoFunctions.set_line_width(cairoContext, stroke.widthPixels)
      unsafe cairoBindings.cairoFunctions.set_line_cap(cairoContext, CAIRO_LINE_CAP_BUTT)
      unsafe cairoBindings.cairoFunctions.set_line_join(cairoContext, CAIRO_LINE_JOIN_ROUND)
      unsafe cairoBindings.cairoFunctions.set_dash(
        cairoContext, stroke.dashPixelLengths, Int32(stroke.dashPixelLengths.count), 0)
      unsafe cairoBindings.cairoFunctions.stroke_preserve(cairoContext)
    }
    unsafe cairoBindings.cairoFunctions.new_path(cairoContext)
  }

  private func setSource(_ paint: PlotDrawing.Paint, opacity: Double = 1) {
    switch paint {
    case .role(let role):
      setSourceColor(palette.color(of: role), opacity: opacity)
    case .color(let color):
      setSourceColor(color, opacity: opacity)
    case .gradient(let stops, let from, let to):
      guard
        let gradient = cairoBindings.cairoFunctions.pattern_create_linear(
          from.x, from.y, to.x, to.y)
      else {
        return
      }
      for stop in stops {
        let color = stop.color
        unsafe cairoBindings.cairoFunctions.pattern_add_color_stop_rgba(
          gradient, stop.positionFraction, color.red, color.green, color.blue, opacity)
      }
      unsafe cairoBindings.cairoFunctions.set_source(cairoContext, gradient)
      unsafe cairoBindings.cairoFunctions.pattern_destroy(gradient)
    }
  }

  private func setSourceColor(_ color: PlotColor, opacity: Double) {
    unsafe cairoBindings.cairoFunctions.set_source_rgba(
      cairoContext, color.red, color.green, color.blue, opacity)
  }

  private func drawText(
    _ runs: [PlotDrawing.TextRun], at position: PlotPoint, anchor: PlotDrawing.Anchor
  ) {
    let runWidths = runs.map { run in
      setFont(of: run)
      var extents = cairo_text_extents_t()
      unsafe cairoBindings.cairoFunctions.text_extents(
        cairoContext, Self.printable(run.text), &extents)
      return run.leadingGapPixels + extents.x_advance
    }
    let totalWidth = runWidths.reduce(0, +)
    var runX = position.x
    switch anchor {
    case .start: break
    case .middle: runX -= totalWidth / 2
    case .end: runX -= totalWidth
    }
    for (run, width) in zip(runs, runWidths) {
      setFont(of: run)
      setSourceColor(palette.color(of: run.role), opacity: 1)
      unsafe cairoBindings.cairoFunctions.move_to(
        cairoContext, runX + run.leadingGapPixels, position.y)
      unsafe cairoBindings.cairoFunctions.show_text(cairoContext, Self.printable(run.text))
      runX += width
    }
    unsafe cairoBindings.cairoFunctions.new_path(cairoContext)
  }

  private func setFont(of run: PlotDrawing.TextRun) {
    unsafe cairoBindings.cairoFunctions.select_font_face(
      cairoContext, Self.fontFamily, CAIRO_FONT_SLANT_NORMAL,
      run.isBold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL)
    unsafe cairoBindings.cairoFunctions.set_font_size(cairoContext, run.fontSizePixels)
  }

  /// Returns a text with spaces in place of control characters, which have no glyphs.
  private static func printable(_ text: String) -> String {
    let printableScalars = text.unicodeScalars.map { scalar -> Unicode.Scalar in
      scalar.properties.generalCategory == .control ? " " : scalar
    }
    return String(String.UnicodeScalarView(printableScalars))
  }

  private func draw(_ raster: PlotDrawing.Raster) throws(PlotError) {
    guard raster.rowCount > 0 else { return }
    let maskImage = try unsafe cairoBindings.makeMask(of: raster)
    defer { unsafe cairoBindings.cairoFunctions.surface_destroy(maskImage) }
    let filledBox = raster.filledBox
    unsafe cairoBindings.cairoFunctions.save(cairoContext)
    unsafe cairoBindings.cairoFunctions.rectangle(
      cairoContext, filledBox.left, filledBox.top, filledBox.width, filledBox.height)
    unsafe cairoBindings.cairoFunctions.clip(cairoContext)
    setSource(raster.paint)
    unsafe cairoBindings.cairoFunctions.translate(cairoContext, filledBox.left, filledBox.top)
    unsafe cairoBindings.cairoFunctions.scale(
      cairoContext, filledBox.width / Double(raster.columnCount),
      filledBox.height / Double(raster.rowCount))
    unsafe cairoBindings.cairoFunctions.mask_surface(cairoContext, maskImage, 0, 0)
    unsafe cairoBindings.cairoFunctions.restore(cairoContext)
  }
}

/// The receiver of the bytes that Cairo writes. It must outlive the surface that writes to it.
final class ByteSink {
  var bytes: [UInt8] = []

  /// The pointer that Cairo passes to the write callback.
  var userData: UnsafeMutableRawPointer { unsafe Unmanaged.passUnretained(self).toOpaque() }
}
