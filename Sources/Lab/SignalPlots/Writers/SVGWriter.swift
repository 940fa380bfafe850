/// Writes a drawing as SVG. Roles become CSS classes, so that one file fits light and dark pages.
struct SVGWriter {
  private let drawing: PlotDrawing
  /// The color theme, or nil to follow the theme of the page that shows the file.
  private let theme: PlotTheme?
  private var bodyMarkup = ""
  /// The gradients and masks for the SVG element `defs`.
  private var definitionMarkup = ""
  private var gradientIDs: [PlotDrawing.Paint: String] = [:]
  private var maskCount = 0
  /// The roles that need CSS rules.
  private var usedRoles: Set<PlotRole> = []

  static let fontFamilies =
    "-apple-system,\"Segoe UI\",Inter,Roboto,\"Noto Sans\",\"Liberation Sans\",Arial,sans-serif"

  /// Creates a writer.
  ///
  /// - Parameters:
  ///   - drawing: The drawing.
  ///   - theme: The colors, or nil to follow the page that shows the file.
  init(_ drawing: PlotDrawing, theme: PlotTheme?) {
    self.drawing = drawing
    self.theme = theme
  }

  /// Returns the text of the SVG file.
  mutating func makeDocument() throws(PlotError) -> String {
    for item in drawing.items {
      try append(item)
    }
    let width = Self.numberText(drawing.width)
    let height = Self.numberText(drawing.height)
    let title = drawing.title.isEmpty ? drawing.accessibleDescription : drawing.title
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 \(width) \(height)\" "
      + "width=\"\(width)\" height=\"\(height)\" fill=\"none\" role=\"img\" "
      + "aria-label=\"\(Self.escapedXML(drawing.accessibleDescription))\">"
      + "<title>\(Self.escapedXML(title))</title><style>\(styleSheet)</style>"
      + (definitionMarkup.isEmpty ? "" : "<defs>\(definitionMarkup)</defs>") + bodyMarkup
      + "</svg>\n"
  }

  private var styleSheet: String {
    let common = "text{font-family:\(Self.fontFamilies);font-variant-numeric:tabular-nums}"
    if let theme { return common + cssRules(for: theme) }
    return common + cssRules(for: .light)
      + "@media (prefers-color-scheme:dark){\(cssRules(for: .dark))}"
  }

  private func cssRules(for theme: PlotTheme) -> String {
    let palette = PlotPalette(theme)
    let roles = usedRoles.sorted { $0.cssName < $1.cssName }
    let rules = roles.map { role in
      let color = palette.color(of: role).cssText
      return ".f-\(role.cssName){fill:\(color)}.s-\(role.cssName){stroke:\(color)}"
    }
    return rules.joined()
  }

  /// Returns the attributes of a fill and a stroke.
  private mutating func makePaintAttributes(
    fill: PlotDrawing.Fill?, stroke: PlotDrawing.Stroke? = nil
  ) -> String {
    var classes = [String]()
    var attributes = ""
    func add(_ paint: PlotDrawing.Paint, as property: String) {
      switch paint {
      case .role(let role):
        classes.append(registerClassName(prefix: property.prefix(1), role: role))
      case .color(let color):
        attributes += " \(property)=\"\(color.cssText)\""
      case .gradient(let stops, let from, let to):
        let id = makeGradient(for: paint, stops: stops, from: from, to: to)
        attributes += " \(property)=\"url(#\(id))\""
      }
    }
    if let fill {
      add(fill.paint, as: "fill")
      if fill.opacity < 1 {
        attributes += Self.attribute("fill-opacity", fill.opacity, decimalPlaces: 2)
      }
    }
    if let stroke {
      add(stroke.paint, as: "stroke")
      if stroke.widthPixels != 1 {
        attributes += Self.attribute("stroke-width", stroke.widthPixels, decimalPlaces: 2)
      }
      let dashes = stroke.dashPixelLengths.map { Self.numberText($0) }.joined(separator: " ")
      if !dashes.isEmpty {
        attributes += " stroke-dasharray=\"\(dashes)\""
      }
      if stroke.opacity < 1 {
        attributes += Self.attribute("stroke-opacity", stroke.opacity, decimalPlaces: 2)
      }
    }
    return (classes.isEmpty ? "" : " class=\"\(classes.joined(separator: " "))\"") + attributes
  }

  /// Returns the CSS class of a role: `f-…` for fills, `s-…` for strokes.
  private mutating func registerClassName(prefix: Substring, role: PlotRole) -> String {
    usedRoles.insert(role.withRepeatedTakeIndex)
    return "\(prefix)-\(role.cssName)"
  }

  /// Returns the identifier of a gradient. Equal gradients share one definition.
  private mutating func makeGradient(
    for paint: PlotDrawing.Paint, stops: [PlotDrawing.GradientStop], from: PlotPoint, to: PlotPoint
  ) -> String {
    if let id = gradientIDs[paint] { return id }
    let id = "g\(gradientIDs.count)"
    gradientIDs[paint] = id
    let ends = [("x1", from.x), ("y1", from.y), ("x2", to.x), ("y2", to.y)]
    let line = ends.map { Self.attribute($0, $1) }.joined()
    let stopElements = stops.map { stop in
      let offset = Self.attribute("offset", stop.positionFraction, decimalPlaces: 4)
      return "<stop\(offset) stop-color=\"\(stop.color.cssText)\"/>"
    }
    definitionMarkup +=
      """
      <linearGradient id="\(id)" \
      gradientUnits="userSpaceOnUse"\(line)>\(stopElements.joined())</linearGradient>
      """
    return id
  }

  private mutating func append(_ item: PlotDrawing.Item) throws(PlotError) {
    switch item {
    case .path(let lines, let fill, let stroke):
      let outline = lines.map { Self.pathData($0) + (fill == nil ? "" : "z") }.joined()
      bodyMarkup += "<path\(makePaintAttributes(fill: fill, stroke: stroke)) d=\"\(outline)\"/>"
    case .disc(let center, let radius, let fill, let stroke):
      let circle =
        Self.attribute("cx", center.x) + Self.attribute("cy", center.y)
        + Self.attribute("r", radius, decimalPlaces: 2)
      bodyMarkup += "<circle\(makePaintAttributes(fill: fill, stroke: stroke))\(circle)/>"
    case .rectangle(let box, let radius, let fill):
      let corners = radius > 0 ? Self.attribute("rx", radius) : ""
      bodyMarkup += "<rect\(makePaintAttributes(fill: fill))\(Self.boxAttributes(box))\(corners)/>"
    case .text(let runs, let position, let anchor):
      appendText(runs, at: position, anchor: anchor)
    case .raster(let raster):
      try appendRaster(raster)
    }
  }

  private mutating func appendText(
    _ runs: [PlotDrawing.TextRun], at position: PlotPoint, anchor: PlotDrawing.Anchor
  ) {
    guard let first = runs.first else { return }
    let anchorAttribute = anchor == .start ? "" : " text-anchor=\"\(anchor.rawValue)\""
    let start = Self.attribute("x", position.x) + Self.attribute("y", position.y)
    bodyMarkup += "<text\(makeFontAttributes(of: first))\(start)\(anchorAttribute)>"
    bodyMarkup += Self.escapedXML(first.text)
    for run in runs.dropFirst() {
      let gap = Self.attribute("dx", run.leadingGapPixels)
      bodyMarkup +=
        "<tspan\(makeFontAttributes(of: run))\(gap)>\(Self.escapedXML(run.text))</tspan>"
    }
    bodyMarkup += "</text>"
  }

  private mutating func makeFontAttributes(of run: PlotDrawing.TextRun) -> String {
    let size = Self.attribute("font-size", run.fontSizePixels)
    let weight = run.isBold ? 600 : 400
    let className = registerClassName(prefix: "f", role: run.role)
    return " class=\"\(className)\"\(size) font-weight=\"\(weight)\""
  }

  /// Appends a raster as a rectangle whose mask is a PNG image of the cell opacities.
  private mutating func appendRaster(_ raster: PlotDrawing.Raster) throws(PlotError) {
    guard raster.rowCount > 0 else { return }
    let image = String(decoding: Base64.encoded(try CairoWriter.png(of: raster)), as: UTF8.self)
    let id = "m\(maskCount)"
    let box = Self.boxAttributes(raster.filledBox)
    maskCount += 1
    definitionMarkup +=
      "<mask id=\"\(id)\" maskUnits=\"userSpaceOnUse\"\(box)><image\(box) "
      + "preserveAspectRatio=\"none\" href=\"data:image/png;base64,\(image)\"/></mask>"
    let fill = makePaintAttributes(fill: PlotDrawing.Fill(paint: raster.paint))
    bodyMarkup += "<rect\(fill)\(box) mask=\"url(#\(id))\"/>"
  }

  private static func boxAttributes(_ box: PlotBox) -> String {
    let values = [("x", box.left), ("y", box.top), ("width", box.width), ("height", box.height)]
    return values.map { attribute($0, $1) }.joined()
  }

  private static func attribute(
    _ name: String, _ value: Double, decimalPlaces: Int = 1
  ) -> String {
    " \(name)=\"\(numberText(value, decimalPlaces: decimalPlaces))\""
  }

  /// Returns the path data of a polyline, rounded to a tenth of a pixel.
  static func pathData(_ points: [PlotPoint]) -> String {
    var text = ""
    var previousX = ""
    var previousY = ""
    for (index, point) in points.enumerated() {
      let x = numberText(point.x)
      let y = numberText(point.y)
      if index == 0 {
        text += "M\(x) \(y)"
      } else if x == previousX {
        if y != previousY {
          text += "V\(y)"
        }
      } else if y == previousY {
        text += "H\(x)"
      } else {
        text += "L\(x) \(y)"
      }
      previousX = x
      previousY = y
    }
    return text
  }

  /// Returns the text of a value rounded to a number of decimal places, without trailing zeros.
  static func numberText(_ value: Double, decimalPlaces: Int = 1) -> String {
    guard abs(value) < 1e10 else { return "0" }
    let text = AxisTick.shortText(value, decimalPlaces: decimalPlaces)
    return text.hasPrefix("\u{2212}") ? "-" + text.dropFirst() : text
  }

  /// Returns a text escaped for XML, with spaces instead of characters that XML does not allow.
  static func escapedXML(_ text: String) -> String {
    let allowed = text.unicodeScalars.map { scalar -> Unicode.Scalar in
      scalar.value >= 32 && scalar.value != 0xFFFE && scalar.value != 0xFFFF ? scalar : " "
    }
    return String(String.UnicodeScalarView(allowed)).escapedForMarkup
  }
}
