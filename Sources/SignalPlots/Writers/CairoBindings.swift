internal import CCairo
internal import Glibc

/// The funnel to libcairo, which is loaded when the first picture is drawn.
///
/// Linking it would let every start of a program wait for it, pictures or not. The functions are looked
/// up by name and hold the types of Cairo's header. They may be called from any thread, on one handle
/// at a time.
@safe final class CairoBindings: @unchecked Sendable {
  typealias Handle = OpaquePointer
  typealias Sink = @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<UInt8>?, UInt32) -> cairo_status_t

  /// The library, or why there is none.
  static let library: Result<CairoBindings, PlotError> = Result { () throws(PlotError) in
    try CairoBindings(named: "libcairo.so.2")
  }

  private let imageSurface: @convention(c) (cairo_format_t, Int32, Int32) -> Handle?
  private let pdfSurface: @convention(c) (Sink?, UnsafeMutableRawPointer?, Double, Double) -> Handle?
  private let setPDFMetadata: @convention(c) (Handle, cairo_pdf_metadata_t, UnsafePointer<CChar>?) -> Void
  private let writePNG: @convention(c) (Handle, Sink?, UnsafeMutableRawPointer?) -> cairo_status_t
  private let surfaceStatus: @convention(c) (Handle) -> cairo_status_t
  private let contextStatus: @convention(c) (Handle) -> cairo_status_t
  private let statusText: @convention(c) (cairo_status_t) -> UnsafePointer<CChar>?
  private let imageData: @convention(c) (Handle) -> UnsafeMutablePointer<UInt8>?
  private let imageStride: @convention(c) (Handle) -> Int32
  private let makeContext: @convention(c) (Handle) -> Handle?
  private let measureText:
    @convention(c) (Handle, UnsafePointer<CChar>, UnsafeMutablePointer<cairo_text_extents_t>) -> Void
  private let selectFont: @convention(c) (Handle, UnsafePointer<CChar>, cairo_font_slant_t, cairo_font_weight_t) -> Void
  private let setLineCap: @convention(c) (Handle, cairo_line_cap_t) -> Void
  private let setLineJoin: @convention(c) (Handle, cairo_line_join_t) -> Void

  /// `cairo_surface_finish`, `_flush`, `_mark_dirty` and `_destroy`.
  let finishSurface, flushSurface, markSurfaceDirty, destroySurface: @convention(c) (Handle) -> Void
  /// `cairo_destroy`, `_save`, `_restore`, `_new_path`, `_close_path`, `_fill_preserve`,
  /// `_stroke_preserve` and `_clip`.
  let destroy, save, restore, newPath, closePath, fillPreserve, strokePreserve, clip: @convention(c) (Handle) -> Void
  /// `cairo_move_to`, `_line_to`, `_translate` and `_scale`.
  let moveTo, lineTo, translate, scale: @convention(c) (Handle, Double, Double) -> Void
  /// `cairo_rectangle`, and `cairo_set_source_rgba`.
  let rectangle, setColour: @convention(c) (Handle, Double, Double, Double, Double) -> Void
  /// `cairo_arc`.
  let arc: @convention(c) (Handle, Double, Double, Double, Double, Double) -> Void
  /// `cairo_set_line_width` and `cairo_set_font_size`.
  let setLineWidth, setFontSize: @convention(c) (Handle, Double) -> Void
  /// `cairo_set_dash`.
  let setDash: @convention(c) (Handle, UnsafePointer<Double>?, Int32, Double) -> Void
  /// `cairo_show_text`.
  let showText: @convention(c) (Handle, UnsafePointer<CChar>) -> Void
  /// `cairo_pattern_create_linear`.
  let makeLinear: @convention(c) (Double, Double, Double, Double) -> Handle?
  /// `cairo_pattern_add_color_stop_rgba`.
  let addStop: @convention(c) (Handle, Double, Double, Double, Double, Double) -> Void
  /// `cairo_set_source`.
  let setSource: @convention(c) (Handle, Handle) -> Void
  /// `cairo_pattern_destroy`.
  let destroyPattern: @convention(c) (Handle) -> Void
  /// `cairo_mask_surface`.
  let maskSurface: @convention(c) (Handle, Handle, Double, Double) -> Void

  /// Opens the library, which then stays open, and looks every function up.
  init(named name: String) throws(PlotError) {
    guard let library = unsafe dlopen(name, RTLD_NOW | RTLD_LOCAL) else {
      throw PlotError(
        kind: .missingLibrary, description: "pictures need \(name); install it with 'apt-get install libcairo2'")
    }
    func find<Function>(_ symbol: String) throws(PlotError) -> Function {
      guard let address = unsafe dlsym(library, "cairo_" + symbol) else {
        throw PlotError(
          kind: .missingLibrary,
          description: "\(name) is older than 1.16 and has no cairo_\(symbol); install a newer one")
      }
      return unsafe unsafeBitCast(address, to: Function.self)
    }
    unsafe imageSurface = try find("image_surface_create")
    unsafe pdfSurface = try find("pdf_surface_create_for_stream")
    unsafe setPDFMetadata = try find("pdf_surface_set_metadata")
    unsafe writePNG = try find("surface_write_to_png_stream")
    unsafe surfaceStatus = try find("surface_status")
    unsafe contextStatus = try find("status")
    unsafe statusText = try find("status_to_string")
    unsafe imageData = try find("image_surface_get_data")
    unsafe imageStride = try find("image_surface_get_stride")
    unsafe makeContext = try find("create")
    unsafe measureText = try find("text_extents")
    unsafe selectFont = try find("select_font_face")
    unsafe setLineCap = try find("set_line_cap")
    unsafe setLineJoin = try find("set_line_join")
    unsafe finishSurface = try find("surface_finish")
    unsafe flushSurface = try find("surface_flush")
    unsafe markSurfaceDirty = try find("surface_mark_dirty")
    unsafe destroySurface = try find("surface_destroy")
    unsafe destroy = try find("destroy")
    unsafe save = try find("save")
    unsafe restore = try find("restore")
    unsafe newPath = try find("new_path")
    unsafe closePath = try find("close_path")
    unsafe fillPreserve = try find("fill_preserve")
    unsafe strokePreserve = try find("stroke_preserve")
    unsafe clip = try find("clip")
    unsafe moveTo = try find("move_to")
    unsafe lineTo = try find("line_to")
    unsafe translate = try find("translate")
    unsafe scale = try find("scale")
    unsafe rectangle = try find("rectangle")
    unsafe setColour = try find("set_source_rgba")
    unsafe arc = try find("arc")
    unsafe setLineWidth = try find("set_line_width")
    unsafe setFontSize = try find("set_font_size")
    unsafe setDash = try find("set_dash")
    unsafe showText = try find("show_text")
    unsafe makeLinear = try find("pattern_create_linear")
    unsafe addStop = try find("pattern_add_color_stop_rgba")
    unsafe setSource = try find("set_source")
    unsafe destroyPattern = try find("pattern_destroy")
    unsafe maskSurface = try find("mask_surface")
  }
}

extension CairoBindings {
  /// `cairo_image_surface_create` with 24-bit colour, or with 8 bits of coverage.
  func image(width: Int, height: Int, isMask: Bool = false) throws(PlotError) -> Handle {
    try unsafe checked(
      imageSurface(isMask ? CAIRO_FORMAT_A8 : CAIRO_FORMAT_RGB24, Int32(clamping: width), Int32(clamping: height)))
  }

  /// `cairo_pdf_surface_create_for_stream`, sized in points, with a title and without a date.
  func pdf(_ bytes: ByteSink, width: Double, height: Double, title: String) throws(PlotError) -> Handle {
    let surface = try unsafe checked(pdfSurface(Self.sink, bytes.closure, width, height))
    unsafe setPDFMetadata(surface, CAIRO_PDF_METADATA_TITLE, title)
    // Equal pictures are to be equal bytes.
    unsafe setPDFMetadata(surface, CAIRO_PDF_METADATA_CREATE_DATE, nil)
    return unsafe surface
  }

  /// `cairo_surface_write_to_png_stream`.
  func writePNG(of surface: Handle, to bytes: ByteSink) throws(PlotError) {
    try unsafe check(writePNG(surface, Self.sink, bytes.closure))
  }

  /// `cairo_create`.
  func context(on surface: Handle) throws(PlotError) -> Handle {
    guard let context = unsafe makeContext(surface) else { throw refusal("out of memory") }
    try unsafe check(contextStatus(context))
    return unsafe context
  }

  /// `cairo_status`.
  func checkContext(_ context: Handle) throws(PlotError) { try unsafe check(contextStatus(context)) }

  /// `cairo_surface_status`.
  func checkSurface(_ surface: Handle) throws(PlotError) { try unsafe check(surfaceStatus(surface)) }

  /// `cairo_image_surface_get_data` and `_get_stride`: the pixels' bytes, and bytes in a row.
  func pixels(of surface: Handle) -> (data: UnsafeMutablePointer<UInt8>?, stride: Int) {
    (unsafe imageData(surface), unsafe Int(imageStride(surface)))
  }

  /// `cairo_select_font_face`, upright.
  func selectFont(_ context: Handle, family: String, isBold: Bool) {
    unsafe selectFont(
      context, family, CAIRO_FONT_SLANT_NORMAL, isBold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL)
  }

  /// `cairo_text_extents`: how far the text moves the pen.
  func advance(of text: String, in context: Handle) -> Double {
    var extents = cairo_text_extents_t()
    unsafe measureText(context, text, &extents)
    return extents.x_advance
  }

  /// `cairo_set_line_cap` and `cairo_set_line_join`: flat ends, and joins that do not stick out.
  func setLineEnds(_ context: Handle) {
    unsafe setLineCap(context, CAIRO_LINE_CAP_BUTT)
    unsafe setLineJoin(context, CAIRO_LINE_JOIN_ROUND)
  }

  private func checked(_ surface: Handle?) throws(PlotError) -> Handle {
    guard let surface = unsafe surface else { throw refusal("out of memory") }
    do throws(PlotError) { try unsafe checkSurface(surface) } catch {
      unsafe destroySurface(surface)
      throw error
    }
    return unsafe surface
  }

  private func check(_ status: cairo_status_t) throws(PlotError) {
    guard status != CAIRO_STATUS_SUCCESS else { return }
    let text = unsafe statusText(status).map { unsafe String(cString: $0) } ?? "unknown"
    if status == CAIRO_STATUS_INVALID_SIZE || status == CAIRO_STATUS_NO_MEMORY {
      throw PlotError(kind: .tooLarge, description: "the picture is too large to draw: \(text)")
    }
    throw refusal(text)
  }

  private func refusal(_ text: String) -> PlotError {
    PlotError(kind: .drawingFailed, description: "the picture cannot be drawn: \(text)")
  }

  private static let sink: Sink = { closure, data, count in
    guard let closure = unsafe closure, let data = unsafe data else { return CAIRO_STATUS_WRITE_ERROR }
    let bytes = unsafe UnsafeBufferPointer(start: data, count: Int(count))
    unsafe Unmanaged<ByteSink>.fromOpaque(closure).takeUnretainedValue().bytes += bytes
    return CAIRO_STATUS_SUCCESS
  }
}
